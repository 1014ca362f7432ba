"""From what users write, one number or one an axis, to tuples of Python ints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Union

Pair = tuple[int, int]
Shape = tuple[int, ...]
IntOrInts = Union[int, Sequence[int]]
Padding = Union[int, str, Sequence[Union[int, Sequence[int]]]]


def integer(value: object, name: str, at_least: int | None = None) -> int:
    """A Python int from any integer, NumPy's included; never from a bool or a float.

    >>> integer(2.0, "stride")
    Traceback (most recent call last):
    TypeError: stride: it is 2.0, a float; it must be an integer
    """
    try:
        # NumPy 1.26 lets its own bool pass for an index; its dtype gives it away.
        if isinstance(value, bool) or getattr(value, "dtype", None) == "bool":
            raise TypeError
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name}: it is {_shown(value)}; it must be an integer") from None
    if at_least is not None and number < at_least:
        raise ValueError(f"{name}: it is {number}, but it must be {at_least} or more")
    return number


def _shown(value: object) -> str:
    """A wrong value as a message can bear it: an array by its shape alone."""
    if getattr(value, "ndim", 0):
        return f"an array of shape {value.shape}"  # type: ignore[attr-defined]
    return f"{value!r}, a {type(value).__name__}"


def shape(sizes: IntOrInts, name: str) -> Shape:
    """A shape as Python ints, none of them negative."""
    if isinstance(sizes, (str, bytes)) or not isinstance(sizes, Iterable) or _is_scalar_array(sizes):
        raise TypeError(f"{name}: it is {_shown(sizes)}; it must be a sequence of integers")
    return tuple(integer(size, f"{name} axis {number}", at_least=0) for number, size in enumerate(sizes))


def per_axis(value: IntOrInts, rank: int, name: str, at_least: int | None = None) -> Shape:
    """One integer an axis, from one integer or one an axis.

    >>> per_axis(2, 3, "stride"), per_axis((1, 2), 2, "stride")
    ((2, 2, 2), (1, 2))
    """
    if not isinstance(value, Iterable) or _is_scalar_array(value):
        return (integer(value, name, at_least),) * rank
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name}: it is {_shown(value)}; it must be an integer or one integer an axis")
    entries = tuple(value)
    if len(entries) == 1:
        entries *= rank
    if len(entries) != rank:
        raise ValueError(
            f"{name}: {len(entries)} values for {rank} spatial axes; give one integer or one an axis"
        )
    return tuple(
        integer(entry, f"{name} of spatial axis {number}", at_least) for number, entry in enumerate(entries)
    )


def _is_scalar_array(value: object) -> bool:
    """Whether this is an array without axes: iterable by its type, an integer by its content."""
    return getattr(value, "ndim", None) == 0


def paddings(padding: Padding, same_totals: Sequence[int]) -> tuple[Pair, ...]:
    """One (lo, hi) pair an axis, from any of the forms in which a padding may be written.

    >>> paddings(1, [0, 0]), paddings([(1, 2), 3], [0, 0])
    (((1, 1), (1, 1)), ((1, 2), (3, 3)))
    >>> paddings("same", [3, 0]), paddings("same_lower", [3, 0])
    (((1, 2), (0, 0)), ((2, 1), (0, 0)))
    """
    rank = len(same_totals)
    if isinstance(padding, str):
        halves = {
            "valid": lambda total: (0, 0),
            "same": lambda total: (total // 2, total - total // 2),
            "same_lower": lambda total: (total - total // 2, total // 2),
        }
        if padding not in halves:
            raise ValueError(
                f"padding: {padding!r} is not one of {', '.join(map(repr, halves))}; "
                f"or give integers, or one (lo, hi) pair an axis"
            )
        return tuple(halves[padding](total) for total in same_totals)
    if not isinstance(padding, Iterable) or _is_scalar_array(padding):
        lo = integer(padding, "padding")
        return ((lo, lo),) * rank
    entries = tuple(padding)
    if len(entries) == 1 and rank > 1 and not isinstance(entries[0], Iterable):
        entries *= rank
    if len(entries) != rank:
        raise ValueError(
            f"padding: {len(entries)} entries for {rank} spatial axes; give one integer, one an axis, "
            f"or one (lo, hi) pair an axis, as in {((1, 2),) * rank}"
        )
    return tuple(_ends(entry, number) for number, entry in enumerate(entries))


def _ends(entry: int | Sequence[int], number: int) -> Pair:
    if not isinstance(entry, Iterable) or _is_scalar_array(entry):
        lo = integer(entry, f"padding of spatial axis {number}")
        return lo, lo
    ends = tuple(entry)
    if isinstance(entry, str) or len(ends) != 2:
        raise ValueError(f"padding: on spatial axis {number} it is {entry!r}, but a pair has two numbers, (lo, hi)")
    lo, hi = (integer(end, f"padding of spatial axis {number}") for end in ends)
    return lo, hi
