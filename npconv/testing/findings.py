"""From failures to findings: the fault, when it strikes, the smallest case, what was read instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import NamedTuple

from npconv.problem import Problem
from npconv.testing.candidate import Declared
from npconv.testing.diagnose import diagnose, explains_whole
from npconv.testing.experiments import told_apart
from npconv.testing.fault import Fault
from npconv.testing.leftover import left_over
from npconv.testing.mistaken import mistaken
from npconv.testing.narrow import narrow_sums, saturated, unrepeatable
from npconv.testing.observation import (
    Observation,
    could_show,
    exact_case,
    observe,
    of_part,
)
from npconv.testing.probes import observed_formula
from npconv.testing.running import Runner
from npconv.testing.shrink import shrink
from npconv.testing.trigger import NEAREST, meets, trigger

CRASHES = 12  # of a process, at most, while a case is made smaller
UNCLEAR = "no combination of up to three conditions tells failing cases from right ones"

TOLD = {
    "raised": "raises",
    "hung": "does not come back:",
    "crashed": "crashes:",
    "wrote": "writes into its inputs:",
    "shares": "gives out the memory of its inputs:",
    "type": "gives the wrong type:",
    "size": "writes a file of the wrong size:",
}


@dataclass
class Finding:
    """One fault of one part."""

    part: str
    sentence: str
    named: bool
    trigger: str = ""
    smallest: str = ""
    reproduction: str = ""
    formula: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return self.sentence


def find(
    observations: Sequence[Observation],
    runner: Runner | None,
    declared: Declared,
    reproduce: Callable[[Observation], str],
    further: Callable[[str], Sequence[Problem]] = lambda part: (),
) -> list[Finding]:
    """The findings of every part that failed; without a runner nothing can be asked again.

    reproduce: the text that lets the author see a case again.  further: problems of a part that may be
    asked to find out when it fails."""
    parts = dict.fromkeys(o.part for o in observations if o.failed)
    return [
        finding
        for part in parts
        for finding in _of_part(part, of_part(observations, part), runner, declared, reproduce, further)
    ]


class Told(NamedTuple):
    """A sentence, whether it names the fault, the failures that it is about, and the faults by their names."""

    sentence: str
    named: bool
    about: Sequence[Observation]
    faults: tuple[Fault, ...] = ()

    def hidden(self, o: Observation) -> bool:
        """Whether a right case would be right with the faults, too, and so says nothing of when they strike."""
        return bool(self.faults) and o.kind == "right" and explains_whole(self.faults, o)


def _of_part(
    part: str,
    observations: Sequence[Observation],
    runner: Runner | None,
    declared: Declared,
    reproduce: Callable[[Observation], str],
    further: Callable[[str], Sequence[Problem]],
) -> list[Finding]:
    failing = [o for o in observations if o.failed]
    passing = [o for o in observations if not o.failed and o.kind != "refused"]
    if runner is not None and (chance := unrepeatable(part, observations, runner)):
        return [Finding(part, chance, True, smallest=str(_least(failing).problem))]
    told = [*_by_values(part, observations, runner, declared), *_by_kinds(part, failing)]
    findings = [Finding(part, t.sentence, t.named, _when(part, t, t.about, passing)) for t in told]
    first, about = findings[0], told[0].about
    asked = Asked(part, runner)
    smallest = _smallest(about, asked)
    if runner is not None and len(told) == 1 and first.trigger:
        seen = [*about, *(o for o in asked.seen if o.failed)]
        first.trigger = _when(part, told[0], *_more(seen, passing, further(part), asked))
    first.smallest = str(smallest.problem)
    if not meets(given(part, smallest.problem), first.trigger):
        first.trigger = UNCLEAR
    first.reproduction = reproduce(smallest)
    if not first.named and runner is not None and smallest.kind in ("wrong", "shape"):
        first.formula = _formula(runner, part, smallest, failing)
    return findings


def _by_values(
    part: str, observations: Sequence[Observation], runner: Runner | None, declared: Declared
) -> list[Told]:
    """What is to be said of wrong values and shapes."""
    wrong = [o for o in observations if o.kind in ("wrong", "shape")]
    if not wrong:
        return []
    if other := mistaken(part, wrong):
        return [Told(other, True, wrong)]
    explanations = diagnose(observations)
    if explanations and explanations[0].complete:
        return [Told(str(explanations[0]), True, wrong, explanations[0].faults)]
    if left := left_over(part, wrong, [o for o in observations if o.kind == "right"]):
        return [Told(left, True, wrong)]
    if end := saturated(part, wrong):
        return [Told(end, True, wrong)]
    if runner is not None and (narrow := narrow_sums(part, wrong, runner, declared)):
        return [Told(narrow, True, wrong)]
    shares = [[o for o in wrong if explains_whole(e.faults, o)] for e in explanations]
    if len(shares) > 1 and all(any(o in share for share in shares) for o in wrong):
        return [Told(str(e), True, share, e.faults) for e, share in zip(explanations, shares)]
    if shaped := [o for o in wrong if o.kind == "shape"]:
        told = f"{part}: the result's shape is wrong: {_got_and_due(shaped)}"
        return [Told(told, False, wrong)]
    elements = sum(int(o.wrong.sum()) for o in wrong)
    told = f"{part}: no known fault, alone or with another, explains all {elements} wrong elements"
    nearest = f" (nearest: {explanations[0]})" if explanations else ""
    return [Told(told + nearest, False, wrong)]


def _got_and_due(shaped: Sequence[Observation]) -> str:
    """The shapes of the first such case, and in how many cases they differ."""
    first = shaped[0]
    count = f"{len(shaped)} case{'' if len(shaped) == 1 else 's'}"
    got = () if first.got is None else first.got.shape
    return f"got {got}, due {first.case.due.shape} on {first.problem}; in {count}"


def _by_kinds(part: str, failing: Sequence[Observation]) -> list[Told]:
    """What is to be said of calls that brought no comparable array, the most frequent kind first."""
    counts = Counter(o.kind for o in failing if o.kind in TOLD)
    told = []
    for kind, count in counts.most_common():
        about = [o for o in failing if o.kind == kind]
        told.append(Told(f"{part}: {TOLD[kind]} {about[0].detail}; in {count} of its cases", True, about))
    return told


def _least(failing: Sequence[Observation]) -> Observation:
    return min(failing, key=lambda o: (o.case.due.size, str(o.case)))


@dataclass
class Asked:
    """What a candidate made of further cases of one part; without a runner there are none."""

    part: str
    runner: Runner | None
    seen: list[Observation] = field(default_factory=list)

    def fails(self, problem: Problem) -> bool | None:
        """Whether a problem fails; None where it was refused, may cost too much or could not show it."""
        runner = self.runner
        costly = [o.kind for o in self.seen if o.kind in ("hung", "crashed")]
        # Each hang costs the whole time limit, each crash a new process.
        if runner is None or "hung" in costly or len(costly) >= CRASHES:
            return None
        if not could_show(self.part, problem, runner.declared):
            return None
        o = observe(runner, exact_case(self.part, problem, runner.declared))
        self.seen.append(o)
        return None if o.kind in ("refused", "hung") else o.failed


def _smallest(failing: Sequence[Observation], asked: Asked) -> Observation:
    """The smallest failing case: shrunk where the candidate can be asked, else chosen."""
    smallest = _least(failing)
    if asked.runner is None or smallest.kind == "hung":
        return smallest
    shrunk = str(shrink(smallest.problem, lambda problem: asked.fails(problem) is True))
    return next((o for o in asked.seen if str(o.problem) == shrunk and o.failed), smallest)


# ---------------------------------------------------------------- when it fails


def given(part: str, problem: Problem) -> Problem:
    """The problem as the part sees it: a gradient is given no bias."""
    return problem if part in ("forward", "transposed") else replace(problem, bias=False)


def _when(part: str, told: Told, failing: Sequence[Observation], passing: Sequence[Observation]) -> str:
    """The trigger; nothing where a single case, or a single hang, says nothing of conditions."""
    if len(failing) + len(passing) == 1 or len(failing) == 1 and failing[0].kind == "hung":
        return ""
    when = _of_cases(part, failing, passing)
    if NEAREST not in when:
        return when
    # Some right cases may be right with the fault, too.
    shown = [o for o in passing if not told.hidden(o)]
    if not shown:
        return "every case that can show it"
    among = _of_cases(part, failing, shown)
    return when if NEAREST in among else among


def _of_cases(part: str, *outcomes: Sequence[Observation]) -> str:
    return trigger(*([given(part, o.problem) for o in cases] for cases in outcomes))


def _more(
    failing: Sequence[Observation], passing: Sequence[Observation], pool: Sequence[Problem], asked: Asked
) -> tuple[list[Observation], list[Observation]]:
    """The observations, and those that tell apart the conditions which fit them all."""
    before = len(asked.seen)
    fail, right = ([given(asked.part, o.problem) for o in cases] for cases in (failing, passing))
    told_apart(fail, right, pool, asked.fails)
    new = [o for o in asked.seen[before:] if o.kind not in ("refused", "hung")]
    return [*failing, *(o for o in new if o.failed)], [*passing, *(o for o in new if not o.failed)]


def _formula(runner: Runner, part: str, smallest: Observation, failing: Sequence[Observation]) -> list[str]:
    """The index formula on the first failing case that shows a difference, those with most taps first;
    on the smallest case a formula says little, so that comes last."""
    telling = sorted(failing, key=lambda o: (-prod(o.problem.k), o.case.due.size))
    problems = [o.problem for o in telling[:8]]
    shown: list[str] = []
    for problem in (*problems, smallest.problem):
        lines = observed_formula(runner, part, problem)
        shown = shown or lines
        if len(lines) > 1:
            return lines
    return shown
