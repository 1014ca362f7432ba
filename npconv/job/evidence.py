"""Why a result can be believed: one number three ways, and differences no larger than rounding makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from npconv import dtypes
from npconv.bound import BFLOAT16, Format, format_of, growth, rounding_bound
from npconv.job.bfloat16 import is_bfloat16
from npconv.job.layer import RESULTS, Layer, as_numbers

FLOAT32 = format_of(np.dtype(np.float32))
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


@dataclass(frozen=True)
class Comparison:
    """A result that the user brought against the layer's own.

    `fraction`: the worst difference of an element, as a fraction of its rounding bound; `index`, `got`
    and `due` are those of that element.  `unjudged` elements have no bound: something on the way to
    them is not finite.  Integers have no format and must be equal.
    """

    name: str
    format: Format | None
    terms: int
    size: int
    wrong: int
    unjudged: int
    fraction: float
    index: tuple[int, ...] = ()
    got: Any = None
    due: Any = None


@dataclass(frozen=True)
class Evidence:
    """What speaks for the results of a layer."""

    layer: Layer
    results: Mapping[str, np.ndarray]

    @cached_property
    def terms(self) -> Mapping[str, int]:
        return self.layer.terms()

    @cached_property
    def magnitudes(self) -> Mapping[str, np.ndarray]:
        """The same convolutions of absolute values."""
        return self.layer.map(magnitude).results()

    # -------------------------------------------------------- one number, three ways

    def identity(self) -> Identity:
        """The trilinear form's value from each of its three derivatives."""
        layer, results = self.layer, self.results
        output = results["output"] if layer.bias is None else replace(layer, bias=None).output()
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
        allowed = [self._allowed(name, a) for name, (a, _) in zip(RESULTS, pairs)]
        differences = [
            (abs(values[i] - values[j]), allowed[i] + allowed[j]) for i, j in combinations(range(3), 2)
        ]
        fraction = max(_fraction(difference, both) for difference, both in differences)
        return Identity(tuple(values), False, max(difference for difference, _ in differences), fraction)

    def _allowed(self, name: str, partner: np.ndarray) -> float:
        """How far rounding may carry the inner product of a result and its partner.

        The bias is in the magnitudes and the terms, which can only make it larger.
        """
        magnitudes, terms = self.magnitudes[name], self.terms[name]
        error = growth(2 * partner.size + 1, LONG.u) * magnitudes
        if (format := self._format(self.results[name])) is not None:
            narrow = format.u > FLOAT32.u  # then sums are carried in float32 and rounded once
            carried = replace(FLOAT32, complex=format.complex) if narrow else format
            error = error + rounding_bound(magnitudes, terms, carried)
            if narrow:
                error = error + rounding_bound(magnitudes, 2, format)
        return float(np.sum(magnitude(partner) * error))

    # -------------------------------------------------------- against what the user brought

    def compare(self, expected: Mapping[str, np.ndarray]) -> list[Comparison]:
        """Each expected result against the layer's own; floats against the layer in a wider kind."""
        rounded = [
            name for name in expected if not (_is_exact(expected[name]) and _is_exact(self.results[name]))
        ]
        wide = self.layer.map(widest).results(rounded)
        return [
            self._within_rounding(name, got, wide[name]) if name in rounded else self._exactly(name, got)
            for name, got in expected.items()
        ]

    def _exactly(self, name: str, got: np.ndarray) -> Comparison:
        due = self.results[name]
        # A uint64 beyond int64 turns negative, which the second test sees.
        same = (got.astype(np.int64) == due) & ((got < 0) == (due < 0))
        fractions = np.where(same, 0.0, np.inf)
        return _worst(name, None, self.terms[name], fractions, np.ones(got.shape, bool), got, due)

    def _within_rounding(self, name: str, got: np.ndarray, due: np.ndarray) -> Comparison:
        """Whoever computed it may have used the coarser of two kinds; the reference rounds as well."""
        formats = [self._format(array) for array in (got, self.results[name])]
        coarser = max((format for format in formats if format is not None), key=lambda format: format.u)
        magnitudes, terms, got = self.magnitudes[name], self.terms[name], as_numbers(got)
        bound = rounding_bound(magnitudes, terms, coarser)
        if (reference := self._format(due)) is not None:
            bound = bound + rounding_bound(magnitudes, terms, reference)
        with np.errstate(all="ignore"):
            difference = np.abs(got - due).astype(float)
            fractions = np.where(difference == 0, 0.0, difference / bound)
        fractions = np.where(np.isfinite(got), fractions, np.inf)
        overflow = ~np.isfinite(got) & (magnitudes + bound >= coarser.largest)
        judged = np.isfinite(bound) & ~overflow
        return _worst(name, coarser, terms, fractions, judged, got, due)

    def _format(self, array: np.ndarray) -> Format | None:
        """The format in which an array's numbers were computed; None for integers.

        A real result of complex arrays is the real part of a complex sum.
        """
        if _is_exact(array):
            return None
        format = BFLOAT16 if is_bfloat16(array) else format_of(array.dtype)
        return replace(format, complex=any(a.dtype.kind == "c" for a in self.layer.arrays.values()))


def _worst(
    name: str,
    format: Format | None,
    terms: int,
    fractions: np.ndarray,
    judged: np.ndarray,
    got: np.ndarray,
    due: np.ndarray,
) -> Comparison:
    fractions = np.where(judged, fractions, 0.0)
    if not fractions.size:
        return Comparison(name, format, terms, size=0, wrong=0, unjudged=0, fraction=0.0)
    index = tuple(int(n) for n in np.unravel_index(np.argmax(fractions), fractions.shape))
    return Comparison(
        name, format, terms, fractions.size, int(np.sum(fractions > 1)), int(np.sum(~judged)),
        float(fractions[index]), index, got[index], due[index],
    )  # fmt: skip


def _is_exact(array: np.ndarray) -> bool:
    return array.dtype.kind in "biu"


def _exact_inner(a: np.ndarray, b: np.ndarray) -> int:
    dtype = dtypes.exact_type(dtypes.largest(a) * dtypes.largest(b) * a.size)
    return int(np.sum(a.astype(dtype) * b.astype(dtype)))


def _inner(a: np.ndarray, b: np.ndarray) -> np.longdouble:
    """Re<a, b>, which is <a, b> for real numbers: what a complex gradient is the gradient of."""
    with np.errstate(all="ignore"):
        product: np.longdouble = np.sum((_longest(a).conj() * _longest(b)).real)
    return product


def _longest(array: np.ndarray) -> np.ndarray:
    long = np.dtype(np.clongdouble if array.dtype.kind == "c" else np.longdouble)
    return array.astype(long)


def widest(array: np.ndarray) -> np.ndarray:
    """The same numbers in a kind so wide that its rounding hardly counts; integers as they are."""
    if _is_exact(array):
        return array
    if array.real.dtype.itemsize >= 8:
        return _longest(array)
    return array.astype(np.result_type(array, np.float64))


def magnitude(array: np.ndarray) -> np.ndarray:
    """The absolute values, as float64."""
    absolute: np.ndarray = np.abs(array.astype(float) if _is_exact(array) else array)
    return absolute.astype(float)


def _fraction(difference: np.longdouble, allowed: float) -> float:
    if difference == 0:
        return 0.0
    return float(difference / allowed) if allowed else np.inf
