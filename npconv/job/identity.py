"""One number, three ways: the trilinear form's value from each of its three derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from npconv import dtypes
from npconv.bound import format_of, growth, rounding_bound
from npconv.job.kinds import longest, magnitude
from npconv.job.layer import RESULTS, Layer, as_numbers
from npconv.job.rounding import FLOAT32, Rounding

LONG = format_of(np.dtype(np.longdouble))


@dataclass(frozen=True)
class Identity:
    """<output, grad_output>, <input, grad_input> and <weight, grad_weight>, without the bias.

    `fraction`: their largest difference, as a fraction of what rounding may have put between the two.
    """

    values: tuple[int | np.longdouble, ...]
    exact: bool
    difference: int | np.longdouble
    fraction: float

    @property
    def holds(self) -> bool:
        return not self.fraction > 1  # a NaN, where something is not finite, proves nothing


def identity(layer: Layer, results: Mapping[str, np.ndarray], rounding: Rounding) -> Identity:
    """The trilinear form's value from each of its three derivatives."""
    output = results["output"]
    if layer.bias is not None:  # zeros of its kind: without any, the sums might be of a narrower one
        output = replace(layer, bias=np.zeros_like(layer.bias)).output()
    pairs = [
        (as_numbers(layer.grad_output), as_numbers(output)),
        (as_numbers(layer.input), as_numbers(results["grad_input"])),
        (as_numbers(layer.weight), as_numbers(results["grad_weight"])),
    ]
    if all(dtypes.is_integer(a.dtype) and dtypes.is_integer(b.dtype) for a, b in pairs):
        exact = [_exact_inner(a, b) for a, b in pairs]
        difference = max(exact) - min(exact)
        return Identity(tuple(exact), True, difference, np.inf if difference else 0.0)
    values = [_inner(a, b) for a, b in pairs]
    if not all(np.isfinite(a).all() and np.isfinite(b).all() for a, b in pairs):
        return Identity(tuple(values), False, np.longdouble("nan"), np.nan)
    allowed = [_allowed(name, a, results[name], rounding) for name, (a, _) in zip(RESULTS, pairs)]
    differences = [
        (abs(values[i] - values[j]), allowed[i] + allowed[j]) for i, j in combinations(range(3), 2)
    ]
    fraction = max(_fraction(difference, both) for difference, both in differences)
    return Identity(tuple(values), False, max(difference for difference, _ in differences), fraction)


def _allowed(name: str, partner: np.ndarray, result: np.ndarray, rounding: Rounding) -> np.longdouble:
    """How far rounding may carry the inner product of a result and its partner.

    The bias is in the magnitudes and the terms, which can only make it larger.
    """
    magnitudes, terms = rounding.magnitudes[name], rounding.terms[name]
    error = growth(2 * partner.size + 1, LONG.u) * magnitudes
    if (format := rounding.format(result)) is not None:
        narrow = format.u > FLOAT32.u  # then sums are carried in float32 and rounded once
        carried = replace(FLOAT32, complex=format.complex) if narrow else format
        error = error + rounding_bound(magnitudes, terms + rounding.casts(name, carried), carried)
        if narrow:
            error = error + rounding_bound(magnitudes, 2, format)
    error = rounding.where_products(name, error)
    # The products with the partner can fall below the range as well.
    return np.longdouble(np.sum(longest(magnitude(partner)) * error)) + partner.size * LONG.smallest


def _exact_inner(a: np.ndarray, b: np.ndarray) -> int:
    dtype = dtypes.exact_type(dtypes.largest(a) * dtypes.largest(b) * a.size)
    return int(np.sum(a.astype(dtype) * b.astype(dtype)))


def _inner(a: np.ndarray, b: np.ndarray) -> np.longdouble:
    """Re<a, b>, which is <a, b> for real numbers: what a complex gradient is the gradient of."""
    with np.errstate(all="ignore"):
        product: np.longdouble = np.sum((longest(a).conj() * longest(b)).real)
    return product


def _fraction(difference: np.longdouble, allowed: np.longdouble) -> float:
    if difference == 0:
        return 0.0
    return float(difference / allowed) if allowed else np.inf
