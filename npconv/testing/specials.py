"""Infinities, NaN and the end of the range: where they must come out, and where a kernel may choose.

One element of one array, between ordinary integers.  The map is linear in each array, so its difference
under one step of that element tells which results read it, and with which factor.

Certain, in any order of summation:
    NaN   every result that reads it is NaN
    inf   every result that reads it is infinite, with the sign of the factor, or NaN: who splits numbers
          into parts, or keeps track of what a sum lost, computes inf - inf
    any   a result that cannot meet it, not even across inserted or padded zeros, is as it was, or NaN
Left to the kernel:
    0 * inf, where a zero of the padding, or one inserted by a stride or a dilation, meets the element
Suspicious, as no finite number would tell of it:
    a result that cannot meet it is NaN all the same: the tiles of Winograd, Fourier transforms, and sums
    over a window larger than the weight multiply what others read by zeros
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from npconv.testing.candidate import Call, Declared
from npconv.testing.observation import Case, comparable, exact_case, without_array
from npconv.testing.parts import geometry_of, reference
from npconv.testing.running import Runner

Place = tuple[int, ...]

VALUES = {"NaN": np.nan, "inf": np.inf, "-inf": -np.inf}
SKIPPED, MADE, PARTLY = "skipped", "NaN", "skipped in part"


class Seen(NamedTuple):
    """What is certainly wrong; what a result holds that does not read the element; and what became of
    the zeros that met it."""

    wrong: str = ""
    spread: str = ""
    zeros: str = ""


def place(case: Case, array: str) -> Place:
    """The middle of an array; of the taps the first, which meets the padding."""
    shape = case.arrays[array].shape
    return tuple(0 if array == "weight" and axis > 1 else n // 2 for axis, n in enumerate(shape))


def answered(runner: Runner, case: Case, array: str, value: float) -> np.ndarray | None:
    """The result with one element replaced; None where there is none to compare."""
    arrays = {**case.arrays, array: case.arrays[array].astype(np.float64)}
    arrays[array][place(case, array)] = value
    answer = runner.run(Call(case.part, case.problem, arrays, size=case.due.size))
    if without_array(answer, runner.declared) or answer.value.shape != case.due.shape:
        return None
    return comparable(answer.value).astype(np.float64)


def judged(case: Case, got: np.ndarray, array: str, value: str) -> Seen:
    """How a result with one special element stands to the plain one, which is right."""
    factor, may = factors(case, array), may_meet(case, array)
    reads = factor != 0
    told = f"{value} in {array} at {place(case, array)}, on {case.problem}"
    with np.errstate(all="ignore"):
        due = factor * VALUES[value]
        lost = reads & ~(np.isnan(got) | (got == due))
    if lost.any():
        return Seen(wrong=f"{told}: {_first(lost, got)}, due {due[_where(lost)]}")
    kept = got == case.due
    if (wrong := ~reads & ~kept & ~np.isnan(got) & may).any():
        return Seen(wrong=f"{told}: {_first(wrong, got)}, due {case.due[_where(wrong)]}")
    if (spread := ~may & ~kept).any():
        return Seen(spread=f"{told}: {_first(spread, got)}, which does not read it")
    zeros = kept[may & ~reads]
    return Seen(zeros="" if not zeros.size else SKIPPED if zeros.all() else PARTLY if zeros.any() else MADE)


def _where(found: np.ndarray) -> Place:
    return tuple(map(int, np.argwhere(found)[0]))


def _first(found: np.ndarray, got: np.ndarray) -> str:
    return f"{int(found.sum())} of {got.size} elements, first at {_where(found)}: got {got[_where(found)]:g}"


def factors(case: Case, array: str) -> np.ndarray:
    """What each result multiplies the element with; 0 where it does not read it.

    >>> from npconv.problem import Problem
    >>> case = exact_case("forward", Problem.parse("i3_k2_p1"), Declared())
    >>> case.arrays["input"].tolist(), factors(case, "weight").tolist()
    ([[[-49, -23, 2]]], [[[0, -49, -23, 2]]])
    """
    moved = case.arrays[array].copy()
    moved[place(case, array)] += 1
    return reference(case.part, case.problem, {**case.arrays, array: moved}) - case.due


def may_meet(case: Case, array: str) -> np.ndarray:
    """Results that read the element, or meet it where inserted and padded zeros are multiplied too.

    A dilated weight meets what lies between its taps; so does grad_output, spread out by the stride, for
    the weight's gradient.  The weight itself, and grad_output there, slide over a padded array and meet
    a zero in any result of their channels.

    >>> from npconv.problem import Problem
    >>> case = exact_case("forward", Problem.parse("i5_k2_d2"), Declared())
    >>> factors(case, "input").tolist(), may_meet(case, "input").tolist()
    ([[[44, 0, -16]]], [[[True, True, True]]])
    """
    reads = factors(case, array) != 0
    if array == "bias" or case.part == "grad_bias":
        return reads
    if array == "weight" or (case.part, array) == ("grad_weight", "grad_output"):
        spatial = tuple(range(2, reads.ndim))
        return np.broadcast_to(reads.any(axis=spatial, keepdims=True), reads.shape)
    filled = _filled(case)
    arrays = {name: np.ones_like(a) for name, a in filled.arrays.items()}
    arrays[array] = np.zeros_like(case.arrays[array])
    arrays[array][place(case, array)] = 1
    return reads | (reference(case.part, filled.problem, arrays) != 0)


def _filled(case: Case) -> Case:
    """The case without zeros between the taps, or between the steps of grad_output: no bias."""
    problem = replace(case.problem, bias=False)
    if case.part == "grad_weight":
        dense = replace(problem, stride=1)
    else:
        extents = tuple(axis.extent for axis in geometry_of(problem).axes)
        dense = replace(problem, k=extents, dilation=1)
    return exact_case(case.part, dense.canonical(), Declared())
