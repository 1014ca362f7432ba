"""The fault that explains most: each hypothesis, alone and in pairs, against all failing cases.

The data are exact, so a hypothesis either gives an element's very value or it does not.  One that
explains every wrong element of every failing case, and lets no right case fail, is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from npconv.testing.fault import Fault, predict
from npconv.testing.hypotheses import FAULTS
from npconv.testing.observation import Observation

SCREEN = 6  # the smallest failing cases, which weed out nearly all hypotheses


@dataclass(frozen=True)
class Explanation:
    """Faults of one part, and what they account for."""

    part: str
    faults: tuple[Fault, ...]
    explained: int
    wrong: int
    contradicted: int = 0  # cases that came out right and should not have

    @property
    def complete(self) -> bool:
        return self.explained == self.wrong

    @property
    def sentence(self) -> str:
        return " and ".join(fault.sentence for fault in self.faults)

    def __str__(self) -> str:
        end = f"explains {self.explained} of {self.wrong} wrong elements"
        return f"{self.part}: {self.sentence}; {end}"


def diagnose(observations: Sequence[Observation]) -> list[Explanation]:
    """The best explanations of one part's failures: one where it explains all, else up to three.

    Only observations with an array (kinds "wrong" and "shape") can be explained.
    """
    failing, right = _sorted(observations)
    if not failing:
        return []
    if complete := _complete(failing, right):
        return complete[:1]
    return _cover(possible_faults(failing[0].part, right), failing[0].part, failing)


def rivals(observations: Sequence[Observation]) -> list[Explanation]:
    """All explanations that explain everything, the best first: on a single case there may be several."""
    failing, right = _sorted(observations)
    return _complete(failing, right) if failing else []


def _sorted(observations: Sequence[Observation]) -> tuple[list[Observation], list[Observation]]:
    """What failed with an array, the smallest first, and what came out right."""
    failing = [o for o in observations if o.kind in ("wrong", "shape") and o.got is not None]
    failing.sort(key=lambda o: (o.case.due.size if o.got is None else o.got.size, str(o.case)))
    return failing, [o for o in observations if o.kind == "right"]


def possible_faults(part: str, right: Sequence[Observation]) -> list[Fault]:
    """The faults of a part that no right case refutes."""

    def refuted(fault: Fault) -> bool:
        return fault.refutable and not all(_leaves_right((fault,), o) for o in right)

    return [fault for fault in FAULTS if part in fault.parts and not refuted(fault)]


def _complete(failing: Sequence[Observation], right: Sequence[Observation]) -> list[Explanation]:
    """The explanations that explain all, alone or else in pairs, the best first."""
    part = failing[0].part
    faults = possible_faults(part, right)
    screened = [(_hits((fault,), failing[:SCREEN]), fault) for fault in faults]
    able = [fault for hits, fault in screened if hits]
    singles = [_explanation((fault,), part, failing, right) for fault in able]
    complete = [e for e in singles if e.complete] or _pairs(faults, part, failing, right)
    return sorted(complete, key=lambda e: _strain(e, failing))


def _hits(faults: tuple[Fault, ...], observations: Sequence[Observation]) -> int:
    """How many observations the faults explain in full."""
    return sum(_agrees(faults, o) for o in observations)


def explains(faults: Sequence[Fault], o: Observation) -> np.ndarray | None:
    """Which elements the faults predict, to the last bit; None where they give another shape, or
    where two of them cannot go together."""
    predicted = _predicted(faults, o)
    if predicted is None:
        return None
    assert o.got is not None
    return same(o.got, predicted, o.limit)


def _predicted(faults: Sequence[Fault], o: Observation) -> np.ndarray | None:
    assert o.got is not None
    try:
        return predict(faults, o.problem, o.part, o.case.arrays, o.got.shape)
    except (ValueError, IndexError):
        if len(faults) < 2:
            raise
        return None


def same(got: np.ndarray, predicted: np.ndarray, limit: np.ndarray | float = 0.0) -> np.ndarray:
    """Elements that are as predicted: equal, where the data are exact; else to within the limit.

    What was never written holds NaN or 0, as memory does before a call; any other number is somebody's
    result, and no element that was left out.  A quotient may be rounded to the narrowest format.
    """
    quotient = predicted != np.rint(predicted)
    slack = limit if np.any(limit) else np.where(quotient, 2.0**-8 * abs(predicted), 0.0)
    with np.errstate(invalid="ignore"):
        near = (got == predicted) | (abs(got - predicted) <= slack)
    return near | np.isnan(predicted) & (np.isnan(got) | (got == 0))


def _explanation(
    faults: tuple[Fault, ...], part: str, failing: Sequence[Observation], right: Sequence[Observation]
) -> Explanation:
    """How many wrong elements some faults explain; a case counts only as a whole."""
    explained = 0
    wrong = sum(int(o.wrong.sum()) for o in failing)
    for o in failing:
        if _agrees(faults, o):
            explained += int(o.wrong.sum())
    contradicted = 0
    if explained == wrong:
        contradicted = sum(not _leaves_right(faults, o) for o in right)
    return Explanation(part, faults, explained, wrong, contradicted)


def _agrees(faults: tuple[Fault, ...], o: Observation) -> bool:
    hit = explains(faults, o)
    return hit is not None and bool(hit.all())


def _leaves_right(faults: tuple[Fault, ...], o: Observation) -> bool:
    """Whether the faults would leave a right result as it is."""
    predicted = _predicted(faults, o)
    return predicted is not None and bool((predicted == o.got).all())


def _strain(e: Explanation, failing: Sequence[Observation]) -> tuple[int, int]:
    """How much an explanation asks one to believe; of equal ones the earlier in the table is named."""
    return e.contradicted, -_reach(e, failing)


def _reach(explanation: Explanation, failing: Sequence[Observation]) -> int:
    """Elements that it predicts without help from NaN: a definite value says more than 'unwritten'."""
    return sum(
        int((~np.isnan(p)).sum())
        for o in failing[:SCREEN]
        if (p := predict(explanation.faults, o.problem, o.part, o.case.arrays, o.got.shape)) is not None
    )


def _pairs(
    faults: Sequence[Fault], part: str, failing: Sequence[Observation], right: Sequence[Observation]
) -> list[Explanation]:
    """All pairs that explain every failing case.

    On one case a pair matters only if both faults do, or if one of them explains the case alone: of
    the smallest cases the one with fewest such pairs is asked first.
    """
    choices = [_possible(faults, o) for o in failing[:SCREEN]]
    pairs: Iterable[tuple[Fault, ...]] = min(choices, key=len)
    for o in failing[:SCREEN]:
        pairs = [pair for pair in pairs if _agrees(pair, o)]
    found = (_explanation(pair, part, failing, right) for pair in pairs)
    return [explanation for explanation in found if explanation.complete]


def _possible(faults: Sequence[Fault], o: Observation) -> list[tuple[Fault, ...]]:
    """The pairs that may explain a case."""
    alone = [_agrees((fault,), o) for fault in faults]
    active = [not _idle(fault, o) for fault in faults]
    numbered = range(len(faults))
    return [
        (faults[a], faults[b])
        for a, b in combinations(numbered, 2)
        if active[a] and active[b] or alone[a] or alone[b]
    ]


def _idle(fault: Fault, o: Observation) -> bool:
    """Whether a fault by itself would leave a case right."""
    predicted = predict((fault,), o.problem, o.part, o.case.arrays, o.case.due.shape)
    changes_size = fault.size is not None or predicted is None
    return not changes_size and np.array_equal(predicted, o.case.due)


def _cover(faults: Sequence[Fault], part: str, failing: Sequence[Observation]) -> list[Explanation]:
    """Where nothing explains all: the fault that explains most cases, then others for what is left."""
    chosen: list[Explanation] = []
    left = list(failing)
    while left and len(chosen) < 3:
        able = [f for f in faults if _hits((f,), left[:SCREEN])]
        best = max(able, key=lambda fault: _hits((fault,), left), default=None)
        if best is None:
            break
        chosen.append(_explanation((best,), part, failing, ()))
        left = [o for o in left if not _agrees((best,), o)]
    return chosen
