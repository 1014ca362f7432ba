"""How far rounding may carry each result of a layer: its terms, its magnitudes, the formats on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from npconv import dtypes
from npconv.bound import (
    BFLOAT16,
    Format,
    deviations,
    format_of,
    rounded_once,
    usual_bound,
)
from npconv.job.bfloat16 import is_bfloat16
from npconv.job.kinds import is_exact, magnitude
from npconv.job.layer import Layer, as_numbers

FLOAT32 = format_of(np.dtype(np.float32))

# The arrays whose products each result sums.
FACTORS = {
    "output": ("input", "weight", "bias"),
    "grad_input": ("grad_output", "weight"),
    "grad_weight": ("grad_output", "input"),
    "grad_bias": ("grad_output",),
}


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
class Rounding:
    """What rounding can do to each result of a layer, and what it usually does."""

    layer: Layer

    @cached_property
    def terms(self) -> Mapping[str, int]:
        """How many products the longest sum of each result adds up."""
        return self.layer.terms()

    @cached_property
    def magnitudes(self) -> Mapping[str, np.ndarray]:
        """The same convolutions of absolute values."""
        return self.layer.map(magnitude).results()

    @cached_property
    def products(self) -> Mapping[str, np.ndarray]:
        """How many products each sum has that are not exactly 0, however small."""
        return self.layer.map(lambda array: array != 0).results()

    def where_products(self, name: str, bound: np.ndarray) -> np.ndarray:
        """A sum of exact zeros cannot round; a zero beside an infinity is none, and its magnitude a NaN."""
        return np.where((self.products[name] > 0) | (self.magnitudes[name] != 0), bound, 0)

    def format(self, array: np.ndarray) -> Format | None:
        """The format in which an array's numbers were computed; None for integers.

        A real result of complex arrays is the real part of a complex sum.
        """
        if is_exact(array):
            return None
        format = BFLOAT16 if is_bfloat16(array) else format_of(array.dtype)
        return replace(format, complex=any(a.dtype.kind == "c" for a in self.layer.arrays.values()))

    def casts(self, name: str, format: Format) -> int:
        """How many factors of a product this format may have to round before it multiplies them.

        Each is one rounding more for every product, as one term more in its sum would be.
        """
        return sum(self._is_finer(factor, format) for factor in self._factors(name))

    def _is_finer(self, array: np.ndarray, format: Format) -> bool:
        kind = self.format(array)
        return dtypes.largest(array) * format.u > 1 if kind is None else kind.u < format.u

    def _factors(self, name: str) -> list[np.ndarray]:
        arrays = self.layer.arrays
        return [arrays[factor] for factor in FACTORS[name] if factor in arrays]

    def usual(
        self, name: str, due: np.ndarray, format: Format, reference: Format | None
    ) -> list[tuple[Usual, np.ndarray]]:
        """What rounding usually does, element by element, the most lenient assumption first."""
        lines = [self._carried(name, format, reference)]
        if format.u > FLOAT32.u:  # sums in float32, rounded at the end
            usual, error = self._carried(name, replace(FLOAT32, complex=format.complex), reference)
            exact = lines[0][1] == 0  # what this format can hold needs no rounding at the end either
            lines.append((usual, np.where(exact, 0.0, error + rounded_once(magnitude(due) + error, format))))
        if self.casts(name, format):  # as if of both factors
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
        return usual, np.where(exact, 0, self.where_products(name, error))

    def _integral(self, name: str) -> bool:
        """Whether all numbers that a result comes from are integers."""
        factors = map(as_numbers, self._factors(name))
        return all(a.dtype.kind != "c" and bool(np.all(a == np.rint(a))) for a in factors)

    def _equal(self, name: str) -> int:
        """How many equals a term of one sum has, itself among them: no more than either of its factors."""
        factors = [self.layer.arrays[f] for f in FACTORS[name] if f in self.layer.arrays and f != "bias"]
        return max(1, min(self.terms[name], *(_equals(as_numbers(factor)) for factor in factors)))


def _equals(array: np.ndarray) -> int:
    """How often the value of an element stands in the array, for the mean element that is not 0."""
    _, counts = np.unique(array[array != 0], return_counts=True)
    return round(float(np.sum(counts.astype(float) ** 2)) / max(int(np.sum(counts)), 1))
