"""The changes that faults make: to the numbers of the axes, to tables, cells, arrays and results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from npconv.geometry import Axis, Shape
from npconv.problem import Problem
from npconv.testing.fault import Axes
from npconv.testing.parts import geometry_of
from npconv.testing.reading import as_stored

OUTSIDE = -(10**6)  # a position that is outside any array
UNWRITTEN = np.nan


def each(change: Callable[[Axis], Axis]) -> Callable[[Axes], Axes]:
    """The same change on every axis."""
    return lambda axes: tuple(map(change, axes))


def on(number: int, change: Callable[[Axis], Axis]) -> Callable[[Axes], Axes]:
    """A change of one axis only, counted from the last: W is -1, H is -2."""

    def changed(axes: Axes) -> Axes:
        count = len(axes)
        return tuple(change(a) if n - count == number else a for n, a in enumerate(axes))

    return changed


def other_axis(*names: str) -> Callable[[Axes], Axes]:
    """The last two axes trade these numbers."""

    def change(axes: Axes) -> Axes:
        if len(axes) < 2:
            return axes
        *front, h, w = axes
        return (
            *front,
            replace(h, **{name: getattr(w, name) for name in names}),
            replace(w, **{name: getattr(h, name) for name in names}),
        )

    return change


def first_axis(*names: str) -> Callable[[Axes], Axes]:
    """Every axis takes these numbers from the first."""
    return lambda axes: tuple(replace(a, **{name: getattr(axes[0], name) for name in names}) for a in axes)


def last_axis(*names: str) -> Callable[[Axes], Axes]:
    """Every axis takes these numbers from the last."""
    return lambda axes: tuple(replace(a, **{name: getattr(axes[-1], name) for name in names}) for a in axes)


def begins_then_ends(axes: Axes) -> Axes:
    """The pads (lo, hi, lo, hi) taken for (lo, lo, hi, hi)."""
    if len(axes) != 2:
        return axes
    h, w = axes
    return replace(h, hi=w.lo), replace(w, lo=h.hi)


def only(number: int, change: Callable[..., Any]) -> Callable[..., Any]:
    """A change of the table on one axis only; counted from the last, as W is -1 and H is -2."""
    change.axis = number  # type: ignore[attr-defined]
    return change


def shifted(by: int) -> Callable[[np.ndarray, Axis], np.ndarray]:
    return lambda table, axis: table + by


def without(rows: Any = slice(0), taps: Any = slice(0)) -> Callable[[np.ndarray, Axis], np.ndarray]:
    """Some outputs or taps meet nothing."""

    def change(table: np.ndarray, axis: Axis) -> np.ndarray:
        table = table.copy()
        table[rows] = OUTSIDE
        table[:, taps] = OUTSIDE
        return table

    return change


def channels_last(shape: Shape, groups: int) -> np.ndarray:
    """Memory in the order (first, *spatial, second), read as such where it is not."""
    return as_stored(shape, (0, *range(2, len(shape)), 1))


def channels_first(shape: Shape, groups: int) -> np.ndarray:
    """Memory that lies in the order (first, *spatial, second), read as if it did not."""
    flat = np.arange(prod(shape)).reshape(shape).transpose((0, *range(2, len(shape)), 1)).reshape(-1)
    return flat.reshape(shape)


def planes_turned(shape: Shape, groups: int) -> np.ndarray:
    """The last two axes in the other order."""
    rank = len(shape)
    return as_stored(shape, (*range(rank - 2), rank - 1, rank - 2))


def channels_swapped(shape: Shape, groups: int) -> np.ndarray:
    """The first two axes in the other order."""
    return as_stored(shape, (1, 0, *range(2, len(shape))))


def channels_swapped_in_groups(shape: Shape, groups: int) -> np.ndarray:
    """Each group's part of the weight with its channel axes in the other order."""
    O, *rest = shape
    inside = channels_swapped((O // groups, *rest), 1)
    return np.concatenate([inside + group * inside.size for group in range(groups)])


def rows_dealt_out(shape: Shape, groups: int) -> np.ndarray:
    """The weight's output channels dealt out to the groups in turn."""
    return np.arange(prod(shape)).reshape(shape)[interleaved(shape[0], groups)]


def wrong_pitch(shape: Shape, groups: int) -> np.ndarray:
    """Rows counted with the height in place of the width."""
    *front, H, W = shape
    if len(front) < 2:
        return np.arange(prod(shape)).reshape(shape)
    plane = np.minimum(np.arange(H)[:, None] * H + np.arange(W), H * W - 1)
    return np.arange(prod(front)).reshape(*front, 1, 1) * (H * W) + plane


def interleaved(count: int, groups: int) -> np.ndarray:
    """0, groups, 2*groups, ..., 1, ...: channels dealt out like cards."""
    return np.arange(count).reshape(count // groups, groups).T.reshape(-1)


def from_axis(axis: int, start: Callable[[int], int], stop: Callable[[int], int] = lambda n: n) -> Any:
    """The elements of one axis from start(size) on are never written."""

    def change(y: np.ndarray, problem: Problem, arrays: Any) -> np.ndarray:
        y = y.copy()
        if -y.ndim <= axis < y.ndim:
            size = y.shape[axis]
            np.moveaxis(y, axis, 0)[start(size) : stop(size)] = UNWRITTEN
        return y

    return change


def wrapped(bits: int, signed: bool = True) -> Any:
    offset = 2 ** (bits - 1) if signed else 0
    return lambda y, problem, arrays: (y + offset) % 2**bits - offset


def only_first_group(y: np.ndarray, problem: Problem, arrays: Any) -> np.ndarray:
    channels = 0 if y.shape == problem.weight_shape else 1
    y = np.array(y)
    np.moveaxis(y, channels, 0)[y.shape[channels] // problem.G :] = UNWRITTEN
    return y


def unread_unwritten(y: np.ndarray, problem: Problem, arrays: Any) -> np.ndarray:
    y = np.array(y)
    for number, axis in enumerate(geometry_of(problem).axes, start=2):
        np.moveaxis(y, number, 0)[list(axis.unread)] = UNWRITTEN
    return y


def only_first_sample(name: str, array: np.ndarray) -> np.ndarray:
    if name not in ("grad_output", "input"):
        return array
    array = array.copy()
    array[1:] = 0
    return array


def outputs(problem: Problem) -> int:
    return prod(axis.o for axis in geometry_of(problem).axes)


def along(axis: int) -> Callable[[np.ndarray, Shape, Problem], np.ndarray]:
    """A bias laid along a spatial axis, again and again."""

    def change(bias: np.ndarray, shape: Shape, problem: Problem) -> np.ndarray:
        line = np.resize(bias.reshape(-1), shape[axis])
        return line.reshape([-1 if n == axis % len(shape) else 1 for n in range(len(shape))])

    return change


def by_channel(order: Callable[[Problem], Any]) -> Callable[[np.ndarray, Shape, Problem], np.ndarray]:
    return lambda bias, shape, problem: np.broadcast_to(bias, shape)[:, order(problem)]


def first_only(axis: int) -> Callable[[np.ndarray, Shape, Problem], np.ndarray]:
    """A bias that reaches only the first index of an axis of the output."""

    def change(bias: np.ndarray, shape: Shape, problem: Problem) -> np.ndarray:
        full = np.array(np.broadcast_to(bias, shape))
        np.moveaxis(full, axis, 0)[1:] = 0
        return full

    return change


def extra_taps(believed: Axes, true: Axes) -> list[int]:
    return [a.k + a.remainder // a.d for a in true]


def cut_at_front(table: np.ndarray, axis: Axis) -> np.ndarray:
    return table + axis.d * (axis.remainder // axis.d)


def crop_then_dilate(table: np.ndarray, axis: Axis) -> np.ndarray:
    """grad_output is cropped by as many of its own elements as of the zeros between them."""
    front, back = (max(-end, 0) for end in axis.input_gradient_padding)
    table = table - axis.s * front + front
    table[:front] = OUTSIDE
    table[max(axis.o - back, 0) :] = OUTSIDE
    return table


def to_bfloat16(y: np.ndarray) -> np.ndarray:
    fraction, exponent = np.frexp(y)
    return np.ldexp(np.rint(np.ldexp(fraction, 8)), exponent - 8)
