"""Faults with a number of their own: it is found from one element, and all the others check it.

One number explains any one element, so it is stated only where enough others agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from npconv.testing.fault import ALL, Fault, predict
from npconv.testing.matching import same
from npconv.testing.observation import Observation


DIGITS = 9  # of the number; the shortest that explains the case is told
ELEMENTS = 8  # wrong ones, at least, that a number must explain
EQUATIONS = 2  # that differ, at least, for each number


@dataclass(frozen=True)
class Family:
    """Faults that differ in one number, in which the result is linear."""

    sentence: str  # {} is the number
    parts: tuple[str, ...]
    make: Callable[[str, tuple[str, ...], float], Fault]

    def member(self, value: float) -> Fault:
        return self.make(self.sentence.format(f"{value:.{DIGITS}g}"), self.parts, value)


FAMILIES = (
    Family(
        "every element is multiplied by {}",
        ALL,
        lambda sentence, parts, value: Fault(sentence, parts, result=lambda y, p, a: value * y),
    ),
    Family(
        "the padding holds {} in place of zeros",
        ("forward", "grad_weight"),
        lambda sentence, parts, value: Fault(sentence, parts, filler=value),
    ),
    Family(
        "{} is added to every element",
        ALL,
        lambda sentence, parts, value: Fault(sentence, parts, result=lambda y, p, a: y + value),
    ),
)


def fitted(part: str, failing: Sequence[Observation]) -> list[Fault]:
    """The member of each family that explains the first case in which its number shows, if one does."""
    families = [family for family in FAMILIES if part in family.parts]
    found = [(family, _member(family, o)) for family in families for o in failing[:1]]
    return [fault for family, fault in found if fault is not None and _agreed(family, fault, failing)]


def _agreed(family: Family, fault: Fault, failing: Sequence[Observation]) -> bool:
    """Whether the cases that the fault explains have wrong elements enough for its number."""
    equations: list[tuple[float, ...]] = []  # of the number: what a result is without it, and its slope
    for o in failing:
        predicted = predict((fault,), o.problem, o.part, o.case.arrays, o.case.due.shape)
        at_0, at_1 = (_prediction(family, value, o) for value in (0.0, 1.0))
        if predicted is None or at_0 is None or at_1 is None or o.got is None or o.got.shape != at_0.shape:
            continue
        if same(o.got, predicted, o.limit).all():
            equations += zip(at_0[o.wrong].tolist(), (at_1 - at_0)[o.wrong].tolist())
        if len(equations) >= ELEMENTS and len(set(equations)) >= EQUATIONS:
            return True
    return False


def _member(family: Family, o: Observation) -> Fault | None:
    """The member that explains a case; its number comes from the element on which it weighs most."""
    if o.got is None or o.got.shape != o.case.due.shape or not o.got.size:
        return None
    at_0, at_1 = (_prediction(family, value, o) for value in (0.0, 1.0))
    if at_0 is None or at_1 is None:
        return None
    slope = at_1 - at_0
    where = np.unravel_index(int(np.argmax(abs(slope) * np.isfinite(o.got))), slope.shape)
    if not slope[where] or not np.isfinite(o.got[where]):
        return None
    value = float((o.got[where] - at_0[where]) / slope[where])
    for shorter in (float(f"{value:.{digits}g}") for digits in range(1, DIGITS + 1)):
        predicted = _prediction(family, shorter, o)
        if predicted is not None and same(o.got, predicted, o.limit).all():
            return family.member(shorter)
    return None


def _prediction(family: Family, value: float, o: Observation) -> np.ndarray | None:
    return predict((family.member(value),), o.problem, o.part, o.case.arrays, o.case.due.shape)
