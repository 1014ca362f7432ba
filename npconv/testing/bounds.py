"""How far rounding alone can move an element, and how far it usually does.

With n products summed in an accumulator of unit roundoff u_acc, from inputs rounded to u_in, and the
sum rounded to u_out, a correct result y' of the true y obeys, element by element,

    |y' - y| <= u_out*|y| + (1 + u_out) * ((1 + u_in)^2 * (1 + gamma_n(u_acc)) - 1) * A

where A is the same convolution of absolute values and gamma_n(u) = n*u / (1 - n*u) (`bound.growth`), for any
order of summation.  Errors of both signs mostly cancel, which makes sqrt(n) of n: the line beside.

Source: Higham, Accuracy and Stability of Numerical Algorithms, chapter 3.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from npconv.bound import growth
from npconv.problem import Problem
from npconv.testing.formats import Format, named
from npconv.testing.parts import Arrays, reference, terms


class Bounds(NamedTuple):
    """Per element: what rounding can do at worst, and what it does by the statistical line."""

    worst: np.ndarray
    usual: np.ndarray


def magnitude(part: str, problem: Problem, arrays: Arrays) -> np.ndarray:
    """A: the same convolution of absolute values, in float64."""
    wide = {name: a if np.iscomplexobj(a) else a.astype(np.float64) for name, a in arrays.items()}
    return reference(part, problem, {name: abs(a) for name, a in wide.items()})


def bounds(
    part: str, problem: Problem, arrays: Arrays, y: np.ndarray, formats: tuple[Format, Format, Format],
    rounded_inputs: bool = True,
) -> Bounds:  # fmt: skip
    """The bounds for a part's result y, which was itself computed in float64.

    `formats` are those of input, accumulator and output.  Where the arrays already hold values of the
    input format (`rounded_inputs`), reading them rounds nothing.  What float64 itself may err by, and
    what underflow may lose (n smallest normal numbers), is added.  Of complex numbers the bounds hold for
    the real and the imaginary part alike: each is a sum of two real products for every complex one.

    >>> single = (named("float32"),) * 3
    >>> x, w = np.ones((1, 1, 4)), np.ones((1, 1, 4))
    >>> arrays = {"input": x, "weight": w}
    >>> y = np.array([[[4.0]]])
    >>> (bounds("forward", Problem.parse("i4_k4"), arrays, y, single).worst / 2**-24).round(2)
    array([[[20.]]])
    """
    n = terms(part, problem) * (2 if np.iscomplexobj(y) else 1)
    A = magnitude(part, problem, arrays)
    return Bounds(*(_bound(m, n, A, abs(y), formats, rounded_inputs) for m in (n, sqrt(n))))


def _bound(
    m: float,
    n: int,
    A: np.ndarray,
    y: np.ndarray,
    formats: tuple[Format, Format, Format],
    rounded_inputs: bool,
) -> np.ndarray:
    input, accumulate, output = formats
    u_in = 0.0 if rounded_inputs else input.u
    inner = (1 + u_in) ** 2 * (1 + growth(m, accumulate.u)) - 1
    underflow = (n + 1) * max(accumulate.smallest_normal, output.smallest_normal)
    own = growth(n, named("float64").u) * A
    return output.u * y + (1 + output.u) * inner * A + own + underflow


def agrees(got: np.ndarray, y: np.ndarray, limit: np.ndarray, output: Format) -> np.ndarray:
    """Elements of a result that are right: within the limit where y is finite, else the same infinity
    or NaN; complex ones in both parts.  Where y, moved by the limit, rounds beyond the output's largest number, so may the result.

    >>> y = np.array([1.0, np.inf, np.nan, 7e4])
    >>> agrees(np.array([np.inf, np.inf, np.nan, np.inf]), y, np.zeros(4), named("float16")).tolist()
    [False, True, True, True]
    """
    if np.iscomplexobj(y):
        return agrees(got.real, y.real, limit, output) & agrees(got.imag, y.imag, limit, output)
    with np.errstate(all="ignore"):
        near = np.isfinite(y) & (abs(got - y) <= limit)
        overflow = np.isfinite(y) & (abs(y) + limit >= output.overflow) & (got == np.copysign(np.inf, y))
    return near | overflow | (~np.isfinite(y) & ((got == y) | (np.isnan(got) & np.isnan(y))))
