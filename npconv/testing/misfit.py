"""What errors beyond the bound look like: a factor, or a format narrower than declared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from npconv.problem import Problem
from npconv.testing.bounds import bounds, magnitude
from npconv.testing.candidate import Declared
from npconv.testing.formats import FORMATS, Format
from npconv.testing.parts import reference, terms

FLOATS = sorted((f for f in FORMATS.values() if not f.is_integer), key=lambda f: -f.p)

MOST = 0.5  # of the elements err by more than is usual where a format is too narrow
USUAL = 0.9  # of the errors lie below the statistical line of the format that made them
BEYOND = "beyond the bound"


def ratio(error: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Errors as fractions of their limits: 0 where there is none, infinite where it is NaN."""
    with np.errstate(invalid="ignore", divide="ignore"):
        fraction = np.where(error == 0, 0.0, error / limit)
    return np.where(np.isnan(fraction), np.inf, fraction)


def looks_like(
    part: str,
    problem: Problem,
    arrays: Mapping[str, np.ndarray],
    y: np.ndarray,
    moved: np.ndarray,
    declared: Declared,
) -> str:
    """What the errors look like: a factor, or the least change of a declared format under which they would
    be legal and usual: most elements err, by amounts that scatter, and these lie below the sqrt(n) line
    of that format."""
    error = abs(moved)
    limits = bounds(part, problem, arrays, y, declared.formats)
    factor = slope(moved, y)
    if (abs(moved - factor * y) <= limits.worst).all():
        return f"{BEYOND}: the result is {1 + factor:.6g} times what is due"
    summed = magnitude(part, problem, arrays) > 0  # with strides and dilations some elements have no terms
    erring = np.mean(ratio(error, limits.usual)[summed] > 1)
    if erring <= MOST or not scatters(moved[summed], y[summed], terms(part, problem)):
        return BEYOND
    input, accumulate, output = declared.formats
    for narrow in (f for f in FLOATS if f.p < max(input.p, accumulate.p)):
        for changed, told in (
            ((narrow, accumulate, output), f"as if the inputs were rounded to {narrow.p} bits"),
            ((input, narrow, output), f"as if sums were carried in {narrow.p} bits"),
            ((input, accumulate, narrow), f"as if the result were rounded to {narrow.p} bits"),
        ):
            limits = bounds(part, problem, arrays, y, changed, rounded_inputs=changed[0] == input)
            if (error <= limits.worst).all() and np.mean(error <= limits.usual) >= USUAL:
                return f"{told} or fewer ({names(narrow)}), where {_declared(changed, declared)} is declared"
    return BEYOND


def names(narrow: Format) -> str:
    """All formats with as many bits."""
    return " or ".join(f.name for f in FLOATS if f.p == narrow.p)


def slope(moved: np.ndarray, y: np.ndarray) -> float:
    """The factor that brings y nearest to the errors, in the sense of least squares."""
    with np.errstate(all="ignore"):
        factor = float((moved * y).sum() / (y * y).sum())
    return factor if np.isfinite(factor) else 0.0


def scatters(moved: np.ndarray, y: np.ndarray, n: int) -> bool:
    """Whether errors differ as roundings do, and are neither all alike nor all one part of the result.
    Even where each of n roundings goes down, by 0 to 1 step, the sum has mean n/2 and deviation
    sqrt(n/12): a ratio of 1/sqrt(3n), of which half is asked."""
    with np.errstate(all="ignore"):
        alike = abs(np.mean(moved))
        part = abs(slope(moved, y)) * np.sqrt(np.mean(y * y))
        least = 2 * np.sqrt(3 * n)
        return bool(least * np.std(moved) >= alike and least * np.std(moved - slope(moved, y) * y) >= part)


def _declared(changed: tuple[Format, Format, Format], declared: Declared) -> str:
    return next(d.name for c, d in zip(changed, declared.formats) if c != d)
