"""Padding modes: what stands beyond the border, and where its gradient belongs.

Every mode but zeros says that a padded cell is a copy of some cell inside.  So padding reads through
an index map, and its adjoint adds each border cell's gradient back to the cell that was copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from npconv import dtypes, rules, transforms
from npconv.form import Form, View
from npconv.geometry import Geometry, Padding, Pair, paddings


def _reflect(p: np.ndarray, i: int) -> np.ndarray:
    period = 2 * (i - 1)
    return np.minimum(p % period, period - p % period)


# Which cell inside an axis of size i stands at position p of the line, inside or out.
SOURCES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "reflect": _reflect,
    "replicate": lambda p, i: np.clip(p, 0, i - 1),
    "circular": lambda p, i: p % i,
}
LARGEST = 2**48  # elements of an axis
SMALLEST = {"reflect": 2, "replicate": 1, "circular": 1}


NO_WINDOWS = Geometry(N=0, C=0, O=0, G=1, axes=())


def pad(input: np.ndarray, padding: Padding, mode: str = "zeros") -> np.ndarray:
    """The array with a border, or without the border where the padding is negative.

    Shapes: (N, C, *spatial) -> (N, C, *(i + lo + hi)).  `padding` is an int, one int a spatial axis
    or one (lo, hi) pair a spatial axis, in the order of the axes.  A sequence names the last axes,
    so an array with other leading axes is padded as well; an int stands for all but the first two.
    Any dtype; the result has the same.

    mode: "zeros", "reflect" (the border cell is not repeated), "replicate" or "circular".  A border
    longer than the axis goes on periodically.  ValueError where a mode has no meaning, as "reflect"
    on an axis of size 1.

    >>> x = np.array([[[1, 2, 3]]])
    >>> pad(x, 2), pad(x, 2, "reflect")
    (array([[[0, 0, 1, 2, 3, 0, 0]]]), array([[[3, 2, 1, 2, 3, 2, 1]]]))
    >>> pad(x, [(1, 2)], "replicate"), pad(x, [(1, 2)], "circular")
    (array([[[1, 1, 2, 3, 3, 3]]]), array([[[3, 1, 2, 3, 1, 2]]]))

    The modes are those of torch.nn.Conv2d's padding_mode.
    """
    x = np.asarray(input)
    return pad_form(x.shape, padding, mode).views["input"][0].inward(x).copy()


def pad_adjoint(grad_output: np.ndarray, padding: Padding, mode: str = "zeros") -> np.ndarray:
    """The gradient of `pad`: every border cell's gradient, added to the cell that it copied.

    Shapes: (N, C, *(i + lo + hi)) -> (N, C, *spatial); arguments and errors as for `pad`.  Sums of
    integers are exact (int64, or an OverflowError); float16 and its like round once.

    >>> g = np.array([[[1, 10, 100, 1000, 10000]]])
    >>> pad_adjoint(g, 1), pad_adjoint(g, 1, "reflect")
    (array([[[  10,  100, 1000]]]), array([[[   10, 10101,  1000]]]))
    >>> pad_adjoint(g, 1, "replicate"), pad_adjoint(g, 1, "circular")
    (array([[[   11,   100, 11000]]]), array([[[10010,   100,  1001]]]))

    It is the map A* with <pad(x), y> = <x, A*(y)> for all x and y.
    """
    y = np.asarray(grad_output)
    return np.array(pad_adjoint_form(y.shape, padding, mode).evaluate(rules.PAD_ADJOINT, y))


def pad_form(input_shape: Sequence[int], padding: Padding, mode: str = "zeros") -> Form:
    """The form <pad(x), y>: linear in each, with padding on x's way in and its adjoint on the way out."""
    pairs = _pairs(len(input_shape), padding)
    sizes = input_shape[len(input_shape) - len(pairs) :]
    padded = (
        *input_shape[: len(input_shape) - len(pairs)],
        *(i + lo + hi for i, (lo, hi) in zip(sizes, pairs)),
    )
    shapes = {"input": tuple(input_shape), "output": padded}
    return Form(NO_WINDOWS, {}, shapes, {"input": (padding_view(mode, input_shape, pairs),)})


def pad_adjoint_form(output_shape: Sequence[int], padding: Padding, mode: str = "zeros") -> Form:
    """The same form, from the padded array's shape."""
    pairs = _pairs(len(output_shape), padding)
    leading, sizes = (
        output_shape[: len(output_shape) - len(pairs)],
        output_shape[len(output_shape) - len(pairs) :],
    )
    unpadded = tuple(size - lo - hi for size, (lo, hi) in zip(sizes, pairs))
    if any(size < 0 for size in unpadded):
        raise ValueError(
            f"padding: {pairs} cannot have given a result of shape {tuple(output_shape)}; the input would "
            f"have sizes {unpadded}"
        )
    return pad_form((*leading, *unpadded), pairs, mode)


def _pairs(axes: int, padding: Padding) -> tuple[Pair, ...]:
    if isinstance(padding, str):
        raise TypeError(f"padding: it is {padding!r}; without a weight it must be integers or (lo, hi) pairs")
    rank = len(padding) if isinstance(padding, Iterable) and np.ndim(padding) else axes - 2
    if not 1 <= rank <= axes:
        raise ValueError(f"padding: it names {rank} spatial axes of an array with {axes} axes")
    return paddings(padding, [0] * rank)


def padding_view(mode: str, shape: Sequence[int], pairs: Sequence[Pair]) -> View:
    """Padding of the last axes of arrays of this shape, and its adjoint."""
    first = len(shape) - len(pairs)
    if not isinstance(mode, str):
        raise TypeError(f"padding_mode: it is {mode!r}, a {type(mode).__name__}; it must be a string")
    for number, (i, (lo, hi)) in enumerate(zip(shape[first:], pairs)):
        if i + lo + hi < 0:
            raise ValueError(
                f"padding: on spatial axis {number} it crops {-lo - hi} of {i} elements; crop {i} or fewer"
            )
        if max(i + lo + hi, abs(lo), abs(hi)) >= LARGEST:
            raise MemoryError(f"padding: on spatial axis {number} it is {(lo, hi)}; no array has such a size")
    if mode == "zeros":
        return View(
            lambda x: transforms.pad(x, pairs),
            lambda y: transforms.pad(y, [(-lo, -hi) for lo, hi in pairs]),
        )
    if mode not in SOURCES:
        raise ValueError(f"padding_mode: {mode!r} is not one of 'zeros', {', '.join(map(repr, SOURCES))}")
    for number, (i, pair) in enumerate(zip(shape[first:], pairs)):
        if pair != (0, 0) and i < SMALLEST[mode]:
            raise ValueError(
                f"padding_mode: {mode!r} on spatial axis {number} of size {i} has nothing to copy; "
                f"it needs size {SMALLEST[mode]} or more"
            )

    def maps() -> list[tuple[int, int, np.ndarray]]:
        # Made anew each time: they are as long as the array, and a view is kept.
        return [
            (first + number, i, SOURCES[mode](np.arange(-lo, i + hi), i))
            for number, (i, (lo, hi)) in enumerate(zip(shape[first:], pairs))
            if (lo, hi) != (0, 0)
        ]

    return View(lambda x: _gather(x, maps()), lambda y: _scatter(y, maps()))


def _gather(x: np.ndarray, maps: Sequence[tuple[int, int, np.ndarray]]) -> np.ndarray:
    for axis, _, source in maps:
        x = x.take(source, axis=axis)
    return x


def _scatter(y: np.ndarray, maps: Sequence[tuple[int, int, np.ndarray]]) -> np.ndarray:
    integers = dtypes.is_integer(y.dtype) or y.dtype == dtypes.OBJECT
    # One after the other is how np.add.at adds: in float32, ones would stick at 2**24.
    exact = dtypes.exact_type(dtypes.largest(y) * y.size) if integers else None
    sums = y.astype(exact or np.result_type(y.dtype, np.float64), copy=False)
    for axis, i, source in reversed(maps):
        rows = np.zeros((i, *np.delete(sums.shape, axis)), sums.dtype)
        np.add.at(rows, source, np.moveaxis(sums, axis, 0))
        sums = np.moveaxis(rows, 0, axis)
    return dtypes.settled(sums) if integers else sums.astype(y.dtype, copy=False)
