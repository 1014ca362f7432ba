"""From failures to findings: the fault, when it strikes, the smallest case, what was read instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from npconv.problem import Problem
from npconv.testing.candidate import Declared
from npconv.testing.diagnose import diagnose, explains_whole
from npconv.testing.leftover import left_over
from npconv.testing.narrow import narrow_sums, saturated, unrepeatable
from npconv.testing.mistaken import mistaken
from npconv.testing.observation import Observation, exact_case, observe, of_part
from npconv.testing.probes import observed_formula
from npconv.testing.running import Runner
from npconv.testing.shrink import shrink
from npconv.testing.trigger import meets, trigger

CRASHES = 12  # of a process, at most, while a case is made smaller

TOLD = {
    "raised": "raises",
    "hung": "does not come back:",
    "crashed": "crashes:",
    "wrote": "writes into its inputs:",
    "shares": "gives out the memory of its inputs:",
    "type": "gives the wrong type:",
    "size": "writes a file of the wrong size:",
    "missing": "has no result:",
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
) -> list[Finding]:
    """The findings of every part that failed; without a runner nothing can be asked again.

    reproduce: the text that lets the author see a case again."""
    parts = dict.fromkeys(o.part for o in observations if o.failed)
    return [
        finding
        for part in parts
        for finding in _of_part(part, of_part(observations, part), runner, declared, reproduce)
    ]


class Told(NamedTuple):
    """A sentence, whether it names the fault, and the failures that it is about."""

    sentence: str
    named: bool
    about: Sequence[Observation]


def _of_part(
    part: str,
    observations: Sequence[Observation],
    runner: Runner | None,
    declared: Declared,
    reproduce: Callable[[Observation], str],
) -> list[Finding]:
    failing = [o for o in observations if o.failed]
    passing = [o.problem for o in observations if not o.failed and o.kind != "refused"]
    if runner is not None and (chance := unrepeatable(part, observations, runner)):
        return [Finding(part, chance, True, smallest=str(_least(failing).problem))]
    told = [*_by_values(part, observations, runner, declared), *_by_kinds(part, failing, len(observations))]
    findings = [
        Finding(part, sentence, named, trigger([o.problem for o in about], passing))
        for sentence, named, about in told
    ]
    for finding, about in zip(findings, (t.about for t in told)):
        # A single case, or a program that ended early, says nothing of conditions.
        if len(observations) == 1 or about[0].kind == "missing":
            finding.trigger = ""
    first = findings[0]
    smallest = _smallest(told[0].about, runner)
    first.smallest = str(smallest.problem)
    if not meets(smallest.problem, first.trigger):
        first.trigger = ""
    first.reproduction = reproduce(smallest) if smallest.kind != "missing" else ""
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
        return [Told(str(explanations[0]), True, wrong)]
    if left := left_over(part, wrong, [o for o in observations if o.kind == "right"]):
        return [Told(left, True, wrong)]
    if end := saturated(part, wrong):
        return [Told(end, True, wrong)]
    if runner is not None and (narrow := narrow_sums(part, wrong, runner, declared)):
        return [Told(narrow, True, wrong)]
    shares = [[o for o in wrong if explains_whole(e.faults, o)] for e in explanations]
    if len(shares) > 1 and all(any(o in share for share in shares) for o in wrong):
        return [Told(str(e), True, share) for e, share in zip(explanations, shares)]
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


def _by_kinds(part: str, failing: Sequence[Observation], asked: int) -> list[Told]:
    """What is to be said of calls that brought no comparable array, the most frequent kind first."""
    counts = Counter(o.kind for o in failing if o.kind in TOLD)
    told = []
    for kind, count in counts.most_common():
        about = [o for o in failing if o.kind == kind]
        if kind == "missing":
            told.append(Told(f"{part}: {count} of {asked} results are missing", True, about))
            continue
        told.append(Told(f"{part}: {TOLD[kind]} {about[0].detail}; in {count} of its cases", True, about))
    return told


def _least(failing: Sequence[Observation]) -> Observation:
    return min(failing, key=lambda o: (o.case.due.size, str(o.case)))


def _smallest(failing: Sequence[Observation], runner: Runner | None) -> Observation:
    """The smallest failing case: shrunk where the candidate can be asked, else chosen."""
    smallest = _least(failing)
    if runner is None or smallest.kind == "hung":
        return smallest
    failed: dict[str, Observation] = {}
    costly: list[str] = []  # each hang costs the whole time limit, each crash a new process

    def fails(problem: Problem) -> bool:
        if "hung" in costly or len(costly) >= CRASHES:
            return False
        o = observe(runner, exact_case(smallest.part, problem, runner.declared))
        if o.kind in ("hung", "crashed"):
            costly.append(o.kind)
        if o.failed and o.kind != "hung":
            failed[str(problem)] = o
        return str(problem) in failed

    shrunk = shrink(smallest.problem, fails)
    return failed.get(str(shrunk), smallest)


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
