"""A result that the user brought against the layer's own: no further apart than rounding carries them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from npconv.bound import Format, rounding_bound
from npconv.job.layer import as_numbers
from npconv.job.rounding import Rounding, Usual


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


def exactly(name: str, terms: int, got: np.ndarray, due: np.ndarray) -> Comparison:
    """Integers against integers, which must be equal."""
    # A uint64 beyond int64 turns negative, which the second test sees.
    same = (got.astype(np.int64) == due) & ((got < 0) == (due < 0))
    fractions = np.where(same, 0.0, np.inf)
    return _worst(name, None, terms, fractions, np.ones(got.shape, bool), got, due, fractions)


def within_rounding(
    name: str, got: np.ndarray, own: np.ndarray, due: np.ndarray, rounding: Rounding
) -> Comparison:
    """A result against the reference `due`, which rounds as well; `own` is the layer's, in the layer's kind.

    Whoever computed it may have used the coarser of the two kinds.
    """
    formats = [rounding.format(array) for array in (got, own)]
    coarser = max((format for format in formats if format is not None), key=lambda format: format.u)
    reference = rounding.format(due)
    magnitudes, got = rounding.magnitudes[name], as_numbers(got)
    terms = rounding.terms[name] + rounding.casts(name, coarser)
    bound = rounding_bound(magnitudes, terms, coarser)
    if reference is not None:
        bound = bound + rounding_bound(magnitudes, terms, reference)
    bound = rounding.where_products(name, bound)
    with np.errstate(all="ignore"):
        difference = np.abs(got - due)
    difference = np.where(np.isfinite(got), difference, np.inf)
    overflow = ~np.isfinite(got) & (magnitudes + bound >= coarser.largest)
    judged = np.isfinite(bound) & ~overflow
    fractions = np.where(judged, _fractions(difference, bound), 0.0)
    lines = [
        (usual, np.where(judged, _fractions(difference, line), 0.0))
        for usual, line in rounding.usual(name, due, coarser, reference)
        if np.any((line < bound) & judged)
    ]
    usual = tuple(
        replace(usual, beyond=int(np.sum(beyond > 1)), fraction=float(beyond.max(initial=0)))
        for usual, beyond in lines
    )
    within = not np.any(fractions > 1)
    ranked = lines[-1][1] if within and usual and usual[-1].beyond else fractions
    return replace(_worst(name, coarser, terms, fractions, judged, got, due, ranked), usual=usual)


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
