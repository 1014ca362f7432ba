"""What faults do to the bias before it is added, and to a result when it is written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import npconv
from npconv.geometry import Shape
from npconv.problem import Problem
from npconv.testing.cells import interleaved
from npconv.testing.parts import geometry_of

NOTHING = np.nan  # an element that is never written holds what the memory held

Arrays = Mapping[str, np.ndarray]
Result = Callable[[np.ndarray, Problem, Arrays], np.ndarray]
Bias = Callable[[np.ndarray, Shape, Problem], np.ndarray]


# ---------------------------------------------------------------- elements that are not written


def from_axis(axis: int, start: Callable[[int], int], stop: Callable[[int], int] = lambda n: n) -> Result:
    """The elements of one axis from start(size) on, up to stop(size), are never written."""

    def change(y: np.ndarray, problem: Problem, arrays: Arrays) -> np.ndarray:
        y = np.array(y, np.float64)
        if -y.ndim <= axis < y.ndim:
            size = y.shape[axis]
            np.moveaxis(y, axis, 0)[start(size) : stop(size)] = NOTHING
        return y

    return change


def last_tile(axis: int, tile: int) -> Result:
    """What is left over when an axis is cut into tiles."""
    return from_axis(axis, lambda n: n // tile * tile)


def beyond_first(axis: int, count: int) -> Result:
    """All but the first elements of an axis."""
    return from_axis(axis, lambda n: count)


def beyond_first_group(axis: int) -> Result:
    """All channels but those of the first group."""

    def change(y: np.ndarray, problem: Problem, arrays: Arrays) -> np.ndarray:
        return from_axis(axis, lambda n: n // problem.G)(y, problem, arrays)

    return change


def unread(y: np.ndarray, problem: Problem, arrays: Arrays) -> np.ndarray:
    """The inputs that no window reads."""
    y = np.array(y, np.float64)
    for number, axis in enumerate(geometry_of(problem).axes, start=2):
        np.moveaxis(y, number, 0)[list(axis.unread)] = NOTHING
    return y


# ---------------------------------------------------------------- channels in another order


def channels_rolled(axis: int, by: int) -> Result:
    return lambda y, problem, arrays: np.roll(y, by, axis)


def channels_reversed(axis: int) -> Result:
    return lambda y, problem, arrays: np.flip(y, axis)


def channels_dealt_out(axis: int, back: bool) -> Result:
    """Channels dealt out to the groups like cards, or collected from them."""

    def change(y: np.ndarray, problem: Problem, arrays: Arrays) -> np.ndarray:
        order = interleaved(y.shape[axis], problem.G)
        return y.take(np.argsort(order) if back else order, axis)

    return change


# ---------------------------------------------------------------- numbers


def wrapped(bits: int, signed: bool = True) -> Result:
    """Integers of so many bits that wrap around."""
    offset = 2 ** (bits - 1) if signed else 0
    return lambda y, problem, arrays: (y + offset) % 2**bits - offset


def clipped(least: int, most: int) -> Result:
    """Values beyond an end become that end."""
    return lambda y, problem, arrays: np.clip(y, least, most)


def before_bias(change: Result) -> Result:
    """A change of the sum to which the bias is added afterwards."""

    def changed(y: np.ndarray, problem: Problem, arrays: Arrays) -> np.ndarray:
        bias = arrays["bias"].reshape(1, -1, *(1 for _ in problem.k)) if problem.bias else 0
        return change(y - bias, problem, arrays) + bias

    return changed


def to_float16(y: np.ndarray, problem: Problem, arrays: Arrays) -> np.ndarray:
    return y.astype(np.float16).astype(np.float64)


def to_bfloat16(y: np.ndarray, problem: Problem, arrays: Arrays) -> np.ndarray:
    fraction, exponent = np.frexp(y)
    return np.ldexp(np.rint(np.ldexp(fraction, 8)), exponent - 8)


def pairs_saturate(channels_last: bool) -> Result:
    """A forward that adds its products in pairs, each pair clipped to 16 bits, as pmaddubsw does.

    channels_last: whether the two of a pair are neighbours in (KH, KW, I) or in (I, KH, KW).
    """

    def change(y: np.ndarray, problem: Problem, arrays: Arrays) -> np.ndarray:
        x, w = arrays["input"], arrays["weight"]
        if 2 * abs(x).max(initial=0) * abs(w).max(initial=0) < 2**15:
            return y  # no pair can
        order = np.arange(w[0].size).reshape(w[0].shape)
        terms = np.moveaxis(order, 0, -1).reshape(-1) if channels_last else order.reshape(-1)
        total = np.zeros(y.shape)
        for pair in np.split(terms, range(2, terms.size, 2)):
            alone = np.zeros_like(w)
            alone.reshape(len(w), -1)[:, pair] = w.reshape(len(w), -1)[:, pair]
            total += np.clip(npconv.conv(x, alone, None, **problem.parameters), -(2**15), 2**15 - 1)
        return total + arrays["bias"].reshape(1, -1, *(1 for _ in problem.k)) if problem.bias else total

    return change


# ---------------------------------------------------------------- the bias


def laid_along(axis: int) -> Bias:
    """A bias laid along a spatial axis, again and again."""

    def change(bias: np.ndarray, shape: Shape, problem: Problem) -> np.ndarray:
        line = np.resize(bias.reshape(-1), shape[axis])
        return line.reshape([-1 if n == axis % len(shape) else 1 for n in range(len(shape))])

    return change


def by_channel(order: Callable[[Problem], np.ndarray]) -> Bias:
    """Each channel's bias is that of another."""
    return lambda bias, shape, problem: np.broadcast_to(bias, shape)[:, order(problem)]


def first_only(axis: int, count: Callable[[Problem], int] = lambda problem: 1) -> Bias:
    """A bias that reaches only the first of an axis of the output."""

    def change(bias: np.ndarray, shape: Shape, problem: Problem) -> np.ndarray:
        full = np.array(np.broadcast_to(bias, shape))
        np.moveaxis(full, axis, 0)[count(problem) :] = 0
        return full

    return change


def summed(problem: Problem) -> tuple[int, ...]:
    """The axes that a bias gradient sums over."""
    return (0, *range(2, 2 + problem.rank))
