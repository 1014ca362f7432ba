"""Why a result can be believed: one number three ways, and differences no larger than rounding makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from npconv import dtypes
from npconv.bound import (
    BFLOAT16,
    Format,
    deviations,
    format_of,
    growth,
    rounded_once,
    rounding_bound,
    usual_bound,
)
from npconv.job.bfloat16 import is_bfloat16
from npconv.job.layer import RESULTS, Layer, as_numbers

FLOAT32 = format_of(np.dtype(np.float32))
LONG = format_of(np.dtype(np.longdouble))

# The arrays whose products each result sums.
FACTORS = {
    "output": ("input", "weight", "bias"),
    "grad_input": ("grad_output", "weight"),
    "grad_weight": ("grad_output", "input"),
    "grad_bias": ("grad_output",),
}


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
class Usual:
    """What rounding usually does to sums carried in one format, and what lies beyond it.

    `growth` is lambda, `equal` m in lambda*sqrt(n*m)*u.  `exact`: the numbers are integers so small
    that sums in this format do not round at all.  `beyond` and `fraction` as `wrong` and `fraction`
    of a Comparison.
    """

    carried: Format
    growth: float
    equal: int
    exact: bool
    beyond: int
    fraction: float


@dataclass(frozen=True)
class Comparison:
    """A result that the user brought against the layer's own.

    `fraction`: the worst difference of an element, as a fraction of its rounding bound; `index`, `got`
    and `due` are those of that element.  `unjudged` elements have no bound: something on the way to
    them is not finite.  Integers have no format and must be equal.

    `usual`: what rounding usually does, where that is less than the most it can do; the last one is how
    libraries carry sums, and decides whether what is not wrong is suspicious.
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
    usual: tuple[Usual, ...] = ()

    @property
    def suspicious(self) -> bool:
        return not self.wrong and bool(self.usual) and self.usual[-1].beyond > 0


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

    @cached_property
    def products(self) -> Mapping[str, np.ndarray]:
        """How many products each sum has that are not exactly 0, however small."""
        return self.layer.map(lambda array: array != 0).results()

    def _where_products(self, name: str, bound: np.ndarray) -> np.ndarray:
        """A sum of exact zeros cannot round; a zero beside an infinity is none, and its magnitude a NaN."""
        return np.where((self.products[name] > 0) | (self.magnitudes[name] != 0), bound, 0)

    # -------------------------------------------------------- one number, three ways

    def identity(self) -> Identity:
        """The trilinear form's value from each of its three derivatives."""
        layer, results = self.layer, self.results
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
        allowed = [self._allowed(name, a) for name, (a, _) in zip(RESULTS, pairs)]
        differences = [
            (abs(values[i] - values[j]), allowed[i] + allowed[j]) for i, j in combinations(range(3), 2)
        ]
        fraction = max(_fraction(difference, both) for difference, both in differences)
        return Identity(tuple(values), False, max(difference for difference, _ in differences), fraction)

    def _allowed(self, name: str, partner: np.ndarray) -> np.longdouble:
        """How far rounding may carry the inner product of a result and its partner.

        The bias is in the magnitudes and the terms, which can only make it larger.
        """
        magnitudes, terms = self.magnitudes[name], self.terms[name]
        error = growth(2 * partner.size + 1, LONG.u) * magnitudes
        if (format := self._format(self.results[name])) is not None:
            narrow = format.u > FLOAT32.u  # then sums are carried in float32 and rounded once
            carried = replace(FLOAT32, complex=format.complex) if narrow else format
            error = error + rounding_bound(magnitudes, terms + self._casts(name, carried), carried)
            if narrow:
                error = error + rounding_bound(magnitudes, 2, format)
        error = self._where_products(name, error)
        # The products with the partner can fall below the range as well.
        return np.longdouble(np.sum(_longest(magnitude(partner)) * error)) + partner.size * LONG.smallest

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
        return _worst(name, None, self.terms[name], fractions, np.ones(got.shape, bool), got, due, fractions)

    def _within_rounding(self, name: str, got: np.ndarray, due: np.ndarray) -> Comparison:
        """Whoever computed it may have used the coarser of two kinds; the reference rounds as well."""
        formats = [self._format(array) for array in (got, self.results[name])]
        coarser = max((format for format in formats if format is not None), key=lambda format: format.u)
        reference = self._format(due)
        magnitudes, got = self.magnitudes[name], as_numbers(got)
        terms = self.terms[name] + self._casts(name, coarser)
        bound = rounding_bound(magnitudes, terms, coarser)
        if reference is not None:
            bound = bound + rounding_bound(magnitudes, terms, reference)
        bound = self._where_products(name, bound)
        with np.errstate(all="ignore"):
            difference = np.abs(got - due)
        difference = np.where(np.isfinite(got), difference, np.inf)
        overflow = ~np.isfinite(got) & (magnitudes + bound >= coarser.largest)
        judged = np.isfinite(bound) & ~overflow
        fractions = np.where(judged, _fractions(difference, bound), 0.0)
        lines = [
            (usual, np.where(judged, _fractions(difference, line), 0.0))
            for usual, line in self._usual(name, due, coarser, reference)
            if np.any((line < bound) & judged)
        ]
        usual = tuple(
            replace(usual, beyond=int(np.sum(beyond > 1)), fraction=float(beyond.max(initial=0)))
            for usual, beyond in lines
        )
        within = not np.any(fractions > 1)
        ranked = lines[-1][1] if within and usual and usual[-1].beyond else fractions
        return replace(_worst(name, coarser, terms, fractions, judged, got, due, ranked), usual=usual)

    def _usual(
        self, name: str, due: np.ndarray, format: Format, reference: Format | None
    ) -> list[tuple[Usual, np.ndarray]]:
        """What rounding usually does, element by element, the most lenient assumption first."""
        lines = [self._carried(name, format, reference)]
        if format.u > FLOAT32.u:  # sums in float32, rounded at the end
            usual, error = self._carried(name, replace(FLOAT32, complex=format.complex), reference)
            exact = lines[0][1] == 0  # what this format can hold needs no rounding at the end either
            lines.append((usual, np.where(exact, 0.0, error + rounded_once(magnitude(due) + error, format))))
        if self._casts(name, format):  # as if of both factors
            cast = (2 * format.u + format.u**2) * self.magnitudes[name]
            lines = [(usual, np.where(line == 0, 0.0, line + cast)) for usual, line in lines]
        return lines

    def _carried(self, name: str, format: Format, reference: Format | None) -> tuple[Usual, np.ndarray]:
        magnitudes, terms, equal = self.magnitudes[name], self.terms[name], self._equal(name)
        error = usual_bound(magnitudes, terms, format, equal)
        if reference is not None:
            error = error + usual_bound(magnitudes, terms, reference, equal)
        # Integers up to 1/u, and all sums of them that stay below it, are numbers of the format.
        exact = self._integral(name) & (magnitudes * format.u <= 1)
        lam = deviations(magnitudes.size, terms, format.u)
        usual = Usual(format, lam, equal, exact=bool(exact.all()), beyond=0, fraction=0.0)
        return usual, np.where(exact, 0, self._where_products(name, error))

    def _factors(self, name: str) -> list[np.ndarray]:
        arrays = self.layer.arrays
        return [arrays[factor] for factor in FACTORS[name] if factor in arrays]

    def _integral(self, name: str) -> bool:
        """Whether all numbers that a result comes from are integers."""
        factors = map(as_numbers, self._factors(name))
        return all(a.dtype.kind != "c" and bool(np.all(a == np.rint(a))) for a in factors)

    def _casts(self, name: str, format: Format) -> int:
        """How many factors of a product this format may have to round before it multiplies them.

        Each is one rounding more for every product, as one term more in its sum would be.
        """
        return sum(self._is_finer(factor, format) for factor in self._factors(name))

    def _is_finer(self, array: np.ndarray, format: Format) -> bool:
        kind = self._format(array)
        return dtypes.largest(array) * format.u > 1 if kind is None else kind.u < format.u

    def _equal(self, name: str) -> int:
        """How many equals a term of one sum has, itself among them: no more than either of its factors."""
        factors = [self.layer.arrays[f] for f in FACTORS[name] if f in self.layer.arrays and f != "bias"]
        return max(1, min(self.terms[name], *(_equals(as_numbers(factor)) for factor in factors)))

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
    ranked: np.ndarray,
) -> Comparison:
    """The comparison, shown at the element that is ranked first."""
    if not fractions.size:
        return Comparison(name, format, terms, size=0, wrong=0, unjudged=0, fraction=0.0)
    index = tuple(int(n) for n in np.unravel_index(np.argmax(ranked), ranked.shape))
    return Comparison(
        name, format, terms, fractions.size, int(np.sum(fractions > 1)), int(np.sum(~judged)),
        float(fractions.max()), index, got[index], due[index],
    )  # fmt: skip


def _fractions(difference: np.ndarray, bound: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.where(difference == 0, 0.0, difference / bound)


def _equals(array: np.ndarray) -> int:
    """How often the value of an element stands in the array, for the mean element that is not 0."""
    _, counts = np.unique(array[array != 0], return_counts=True)
    return round(float(np.sum(counts.astype(float) ** 2)) / max(int(np.sum(counts)), 1))


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
    """The absolute values, as float64; as longdouble where they are, whose range is wider."""
    absolute: np.ndarray = np.abs(array.astype(float) if _is_exact(array) else array)
    return absolute.astype(np.result_type(absolute.dtype, np.float64))


def _fraction(difference: np.longdouble, allowed: np.longdouble) -> float:
    if difference == 0:
        return 0.0
    return float(difference / allowed) if allowed else np.inf
