"""judge: the report on results that a program left in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from npconv.problem import Problem
from npconv.testing.climb import Climb, Rung
from npconv.testing.exchange import Answered
from npconv.testing.findings import Finding, find
from npconv.testing.observation import REFUSED, Observation, of_part
from npconv.testing.problems import full
from npconv.testing.report import Report
from npconv.testing.reproduction import of_result
from npconv.testing.verdict import concluded

STRAYS_SHOWN = 3
MISSING = "missing"  # the kind of what has no file


def judge_files(folder: str | Path) -> Report:
    """The report on results that lie in a folder which `emit` wrote."""
    answered = Answered(folder)
    climb = Climb(answered)
    rung = Rung("exact, every pair")
    climb.rungs.append(rung)
    for question in answered.asked:
        climb.domains.setdefault(question.part, full(transposed=question.problem.transposed))
        o = climb.ask(question.part, question.problem)
        if o.kind != REFUSED:
            climb.take(rung, o)
        if o.failed:
            lines = rung.missing if o.kind == MISSING else rung.failed
            lines[-1] = f"problem {question.number}: {lines[-1]}"
    rung.notes += _strays(answered)
    came = [o for o in climb.observations if o.kind != MISSING]
    findings = find(came, None, answered.declared, partial(_again, answered)) if rung.failed else []
    for finding in findings:
        if finding.smallest:
            number = answered.number(finding.part, Problem.parse(finding.smallest))
            finding.smallest = f"{finding.smallest}, problem {number} of the manifest"
    findings += _missing(answered, climb.observations)
    return _incomplete(concluded(climb, str(folder), findings, {}), climb.observations)


def _again(answered: Answered, o: Observation) -> str:
    return of_result(o, answered.declared, answered.number(o.part, o.problem))


def _missing(answered: Answered, observations: Sequence[Observation]) -> list[Finding]:
    """What is to be said of results that never came: how many of each part, and where that begins."""
    found = []
    for part in answered.parts:
        of_it = of_part(observations, part)
        if missing := [o for o in of_it if o.kind == MISSING]:
            first = answered.number(part, missing[0].problem)
            told = f"{part}: {len(missing)} of {len(of_it)} results are missing, the first of problem {first}"
            found.append(Finding(part, told, True))
    return found


def _strays(answered: Answered) -> list[str]:
    """A line about results that answer no question: their names may be mistaken, or they are old."""
    names = answered.strays()
    if not names:
        return []
    more = f" and {len(names) - STRAYS_SHOWN} more" if len(names) > STRAYS_SHOWN else ""
    count = f"{len(names)} results answer" if len(names) > 1 else "1 result answers"
    return [f"{count} no question of the manifest: {', '.join(names[:STRAYS_SHOWN])}{more}"]


def _incomplete(report: Report, observations: Sequence[Observation]) -> Report:
    """The report, with a verdict of its own where results are missing and those that came are right."""
    failed = [o.kind for o in observations if o.failed]
    missing = failed.count(MISSING)
    if not missing:
        return report
    told = f"{missing} of {len(observations)} results are missing"
    if missing < len(failed):
        return replace(report, why=f"{report.why}; {told}")
    return replace(report, verdict="INCOMPLETE", why=told)
