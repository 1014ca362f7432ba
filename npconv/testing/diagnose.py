"""The fault that explains most: each hypothesis, alone and in pairs, against all failing cases.

The data are exact, so a hypothesis either gives an element's very value or it does not.  One that
explains every wrong element of every failing case is named; where it would also spoil cases that came
out right, or where others explain as much and the cases are few, the sentence says so.  A single case
proves nothing: what explains it is consistent with it, and pairs are not tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from npconv.testing.fault import Fault, predict, predict_late
from npconv.testing.fitted import fitted
from npconv.testing.hypotheses import FAULTS
from npconv.testing.matching import same
from npconv.testing.observation import Observation

SCREEN = 6  # the smallest failing cases, which weed out nearly all hypotheses
TOLD = 3  # rivals that a sentence lists; of more it gives the number


@dataclass(frozen=True)
class Explanation:
    """Faults of one part, and what they account for."""

    part: str
    faults: tuple[Fault, ...]
    explained: int
    wrong: int
    cases: int = 0  # failing cases that they explain, each as a whole
    spoilt: int = 0  # cases that came out right and should not have
    rivals: tuple[str, ...] = ()  # this and others, where the evidence does not tell them apart

    @property
    def complete(self) -> bool:
        return self.explained == self.wrong

    @property
    def sentence(self) -> str:
        return " and ".join(fault.told(self.part) for fault in self.faults)

    def __str__(self) -> str:
        if self.rivals:
            more = f", and {len(self.rivals) - TOLD} more" if len(self.rivals) > TOLD else ""
            told, each = "; or ".join(self.rivals[:TOLD]) + more, "each " if len(self.rivals) > 1 else ""
            return f"{self.part}: consistent with: {told}; {each}explains all {self.wrong} wrong elements"
        shown = f"; it shows in {self.cases} of the {self.cases + self.spoilt} cases where it could"
        end = f"explains {self.explained} of {self.wrong} wrong elements{shown if self.spoilt else ''}"
        return f"{self.part}: {self.sentence}; {end}"


def diagnose(observations: Sequence[Observation]) -> list[Explanation]:
    """The best explanations of one part's failures: one where it explains all, else up to three.

    Only observations with an array (kinds "wrong" and "shape") can be explained.
    """
    failing = [o for o in observations if o.kind in ("wrong", "shape") and o.got is not None]
    failing.sort(key=lambda o: (o.case.due.size if o.got is None else o.got.size, str(o.case)))
    right = [o for o in observations if o.kind == "right"]
    if not failing:
        return []
    part = failing[0].part
    faults = [f for f in possible_faults(part, right) if f.axis is None or failing[0].problem.rank > 1]
    numbered = fitted(part, failing)
    found = _alone(faults, failing) or _alone(numbered, failing)
    if not found and len(failing) > 1:
        found = _pairs([*faults, *numbered], failing)
    if complete := [_explanation(chosen, part, failing, right) for chosen in found]:
        return [_with_rivals(sorted(complete, key=lambda e: _strain(e, failing)), failing)]
    return _cover([*faults, *numbered], part, failing, right)


def possible_faults(part: str, right: Sequence[Observation]) -> list[Fault]:
    """The faults of a part that no right case refutes."""

    def refuted(fault: Fault) -> bool:
        return fault.refutable and not all(_leaves_right((fault,), o) for o in right)

    return [fault for fault in FAULTS if part in fault.parts and not refuted(fault)]


def _alone(faults: Sequence[Fault], failing: Sequence[Observation]) -> list[tuple[Fault, ...]]:
    """The faults that explain every failing case by themselves."""
    return [(fault,) for fault in faults if all(explains_whole((fault,), o) for o in failing)]


def explains_whole(faults: tuple[Fault, ...], o: Observation) -> bool:
    """Whether the faults predict every element of a case, to the last bit.

    Not where they give another shape, or where two of them cannot go together.
    """
    predicted = _predicted(faults, o)
    if predicted is None or o.got is None:
        return False
    return bool(same(o.got, predicted, o.limit).all())


def _predicted(faults: tuple[Fault, ...], o: Observation) -> np.ndarray | None:
    if o.got is None:
        return None
    if all(fault.late for fault in faults):
        late = predict_late(faults, o.problem, o.case.arrays, o.case.due)
        return late if late.shape == o.got.shape else None
    try:
        return predict(faults, o.problem, o.part, o.case.arrays, o.got.shape)
    except (ValueError, IndexError, ZeroDivisionError):  # a believed stride or dilation may be 0
        if len(faults) < 2:
            raise
        return None


def _leaves_right(faults: tuple[Fault, ...], o: Observation) -> bool:
    """Whether the faults would leave a right result as it is."""
    predicted = _predicted(faults, o)
    return predicted is not None and o.got is not None and bool(same(o.got, predicted, o.limit).all())


def _explanation(
    faults: tuple[Fault, ...], part: str, failing: Sequence[Observation], right: Sequence[Observation]
) -> Explanation:
    """How many wrong elements some faults explain; a case counts only as a whole."""
    whole = [o for o in failing if explains_whole(faults, o)]
    return Explanation(
        part,
        faults,
        explained=_elements(whole),
        wrong=_elements(failing),
        cases=len(whole),
        spoilt=sum(not _leaves_right(faults, o) for o in right),
    )


def _elements(observations: Iterable[Observation]) -> int:
    return sum(int(o.wrong.sum()) for o in observations)


def _strain(e: Explanation, failing: Sequence[Observation]) -> tuple[int, int]:
    """How much an explanation asks one to believe; of equal ones the earlier in the tables is named."""
    return e.spoilt, -_reach(e, failing)


def _reach(e: Explanation, failing: Sequence[Observation]) -> int:
    """Elements that it predicts without help from NaN: a definite value says more than 'unwritten'."""
    predictions = [_predicted(e.faults, o) for o in failing[:SCREEN]]
    return sum(int(np.count_nonzero(~np.isnan(p))) for p in predictions if p is not None)


# ---------------------------------------------------------------- how much the evidence proves


def _with_rivals(complete: Sequence[Explanation], failing: Sequence[Observation]) -> Explanation:
    """The best of the explanations, beside all that are as good where the cases do not tell them apart."""
    best = complete[0]
    as_good = tuple(e.sentence for e in complete if e.spoilt == best.spoilt)
    if len(_telling(best, failing)) >= _needed(best, len(as_good) > 1):
        return best
    return replace(best, rivals=as_good)


def _telling(e: Explanation, failing: Sequence[Observation]) -> list[Observation]:
    """The cases that show all its faults at once: none of them explains the case alone."""
    if len(e.faults) < 2:
        return list(failing)
    return [o for o in failing if not any(explains_whole((fault,), o) for fault in e.faults)]


def _needed(e: Explanation, rivalled: bool) -> int:
    """Telling cases from which on an explanation is a fact.

    One case never proves anything.  There are some ten thousand pairs, so a pair needs three; and what
    other explanations fit as well needs a case more for each fault.
    """
    return max(2, 2 * len(e.faults) - 1 + len(e.faults) * rivalled)


# ---------------------------------------------------------------- pairs


def _pairs(faults: Sequence[Fault], failing: Sequence[Observation]) -> list[tuple[Fault, ...]]:
    """All pairs that explain every failing case.

    Of the thousands of pairs few are worth a try: on each of the smallest cases both faults must show,
    or one of them explain the case alone.
    """
    effects = np.array([[_effect(fault, o) for o in failing[:SCREEN]] for fault in faults])
    alone, shows = np.moveaxis(effects, -1, 0)
    may = (shows[:, None] & shows) | alone[:, None] | alone
    first, second = np.nonzero(np.triu(may.all(axis=-1), k=1))
    pairs = ((faults[a], faults[b]) for a, b in zip(first.tolist(), second.tolist()))
    return [pair for pair in pairs if all(explains_whole(pair, o) for o in failing)]


def _effect(fault: Fault, o: Observation) -> tuple[bool, bool]:
    """Whether a fault by itself explains a case, and whether it would make the case wrong at all."""
    if fault.size is not None:
        return explains_whole((fault,), o), True
    if fault.late:
        predicted: np.ndarray | None = predict_late((fault,), o.problem, o.case.arrays, o.case.due)
    else:
        predicted = predict((fault,), o.problem, o.part, o.case.arrays, o.case.due.shape)
    shows = predicted is None or not np.array_equal(predicted, o.case.due)
    return shows and explains_whole((fault,), o), shows


# ---------------------------------------------------------------- where nothing explains all


def _cover(
    faults: Sequence[Fault], part: str, failing: Sequence[Observation], right: Sequence[Observation]
) -> list[Explanation]:
    """The fault that explains most cases, then others for what is left; none where much is left and the
    first explains less than half."""
    chosen: list[Explanation] = []
    left = list(failing)

    def hits(fault: Fault, some: Sequence[Observation]) -> int:
        return sum(explains_whole((fault,), o) for o in some)

    while left and len(chosen) < TOLD:
        able = [fault for fault in faults if hits(fault, left[:SCREEN])]
        best = max(able, key=lambda fault: hits(fault, left), default=None)
        if best is None:
            break
        chosen.append(_explanation((best,), part, failing, right))
        left = [o for o in left if not explains_whole((best,), o)]
    if left and chosen and 2 * chosen[0].explained < chosen[0].wrong:
        return []
    return chosen
