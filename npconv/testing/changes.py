"""The changes that faults make to the numbers of the axes, to tables, and to arrays before use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np

from npconv.geometry import Axis
from npconv.problem import Problem
from npconv.testing.fault import Axes, Fault
from npconv.testing.parts import geometry_of

OUTSIDE = -(10**6)  # a position that is outside any array

Look = Callable[[np.ndarray, Axis], np.ndarray]
Given = Callable[[str, np.ndarray, Problem], np.ndarray]


# ---------------------------------------------------------------- numbers


def each(**numbers: Callable[[Axis], int]) -> Callable[[Axes], Axes]:
    """On every axis, these numbers in place of its own."""
    return lambda axes: tuple(replace(a, **{name: f(a) for name, f in numbers.items()}) for a in axes)


def on_one_axis(fault: Fault) -> tuple[Fault, Fault]:
    """The fault on the width only, and on the height only."""
    return (
        replace(fault, sentence=f"{fault.sentence} along the width only", axis=-1),
        replace(fault, sentence=f"{fault.sentence} along the height only", axis=-2),
    )


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


def outputs(problem: Problem) -> int:
    """The number of positions."""
    return prod(axis.o for axis in geometry_of(problem).axes)


def strides(problem: Problem) -> int:
    """The product of the strides."""
    return prod(axis.s for axis in geometry_of(problem).axes)


# ---------------------------------------------------------------- the tables of the axes


def reversed_taps(table: np.ndarray, axis: Axis) -> np.ndarray:
    return table[:, ::-1]


def shifted(by: int) -> Look:
    """Every position so much later."""
    return lambda table, axis: table + by


def without(rows: slice = slice(0), taps: slice = slice(0)) -> Look:
    """Some outputs or taps meet nothing."""

    def change(table: np.ndarray, axis: Axis) -> np.ndarray:
        table = table.copy()
        table[rows] = OUTSIDE
        table[:, taps] = OUTSIDE
        return table

    return change


def cut_at_front(table: np.ndarray, axis: Axis) -> np.ndarray:
    """The taps begin as much later as the remainder gives further ones."""
    return table + axis.d * (axis.remainder // axis.d)


def crop_then_dilate(table: np.ndarray, axis: Axis) -> np.ndarray:
    """grad_output is cropped by as many of its own elements as of the zeros between them."""
    front, back = (max(-end, 0) for end in axis.input_gradient_padding)
    table = table - axis.s * front + front
    table[:front] = OUTSIDE
    table[max(axis.o - back, 0) :] = OUTSIDE
    return table


def only_last_window(table: np.ndarray, axis: Axis) -> np.ndarray:
    """Of the windows that meet one position, only the last does.

    >>> only_last_window(np.array([[0, 1, 2], [1, 2, 3]]), Axis(i=4, k=3, o=2)).tolist()[0]
    [0, -1000000, -1000000]
    """
    return _only_first_seen(table[::-1])[::-1]


def only_first_window(table: np.ndarray, axis: Axis) -> np.ndarray:
    """Of the windows that meet one position, only the first does."""
    return _only_first_seen(table)


def _only_first_seen(table: np.ndarray) -> np.ndarray:
    """A window never meets a position twice, so the first place in the rows' order is the window's."""
    _, first = np.unique(table, return_index=True)
    kept = np.full(table.size, OUTSIDE)
    kept[first] = table.reshape(-1)[first]
    return kept.reshape(table.shape)


def only_last_inside(table: np.ndarray, axis: Axis) -> np.ndarray:
    """Of the positions that a tap meets inside the input, only the last one."""
    kept = np.full(table.shape, OUTSIDE)
    for tap, column in enumerate(table.T):
        inside = np.flatnonzero((column >= 0) & (column < axis.i))
        kept[inside[-1:], tap] = column[inside[-1:]]
    return kept


# ---------------------------------------------------------------- the table of the channels


def output_numbers(channel: np.ndarray) -> np.ndarray:
    """(O, 1): the number of each output channel."""
    return np.arange(len(channel))[:, None]


def input_channels(channel: np.ndarray, I: int, O: int) -> int:
    """C, from C/G and O/G."""
    return I * (len(channel) // O)


def later_groups(channel: np.ndarray, O: int) -> np.ndarray:
    """(O, 1): 1 in every group but the first."""
    return np.minimum(output_numbers(channel) // O, 1)


# ---------------------------------------------------------------- the arrays before use


def samples(change: Callable[[np.ndarray], np.ndarray]) -> Given:
    """A change of the arrays that have samples."""
    return lambda name, array, problem: change(array) if name in ("grad_output", "input") else array


ROWS = 3  # before and after each row, as far as a window may reach


def next_rows(name: str, array: np.ndarray, problem: Problem) -> np.ndarray:
    """(..., W) -> (..., 7W): before and after each row what lies there in memory.

    >>> next_rows("input", np.array([[1, 2], [3, 4]]), Problem.parse("i2_k1"))[:, 4:10].tolist()
    [[0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 0, 0]]
    """
    if name != "input":
        return array
    rows = array.reshape(-1, array.shape[-1])
    around = np.pad(rows, ((ROWS, ROWS), (0, 0)))
    shifted_rows = [around[n : n + len(rows)] for n in range(2 * ROWS + 1)]
    return np.concatenate(shifted_rows, axis=1).reshape(*array.shape[:-1], -1)


def into_middle(table: np.ndarray, axis: Axis) -> np.ndarray:
    """The positions of a row, where the rows before and after stand beside it."""
    return table + ROWS * axis.i


def next_rows_if_cropped(name: str, array: np.ndarray, problem: Problem) -> np.ndarray:
    """After each row what lies there in memory, where the width's low padding is negative."""
    if name != "input" or geometry_of(problem).axes[-1].lo >= 0:
        return array
    return next_rows(name, array, problem)[..., ROWS * array.shape[-1] :]
