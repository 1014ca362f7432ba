"""Floats that are hard on rounding."""

from __future__ import annotations

import re
from dataclasses import replace

from npconv.problem import Problem
from npconv.testing.climb import Climb, Rung
from npconv.testing.conditions import CONDITIONS
from npconv.testing.float_cases import in_python
from npconv.testing.narrow import NOT_REPEATABLE
from npconv.testing.numerics import (
    Measured,
    Unmeasured,
    agreed,
    inputs_as_used,
    measure,
    problem_for,
    questions,
)
from npconv.testing.observation import FAILED, INEXACT, could_show, exact_case, observe, of_part
from npconv.testing.passport import STALLS, passport
from npconv.testing.trigger import trigger

ASKED = 3  # times that the worst measure is taken again, before it is stated
FEWEST = 3  # problems that come out wrong, before it is said what they have in common


def floats(climb: Climb, rung: Rung) -> None:
    """Floats that are hard on rounding, against the derived bound."""
    if climb.runner.declared.formats[0].is_integer:
        rung.notes.append("the declared formats are integers: nothing rounds")
        return
    for part in climb.parts:
        lines = list(questions(part))
        asked = []
        for number, question in enumerate(lines, 1):
            climb.progress(f"{rung.name}: {part} {number} of {len(lines)}")
            asked.append(_asked(climb, part, *question))
        rung.cases += len(asked)
        _take(climb, rung, part, asked)


def _asked(climb: Climb, part: str, family: str, line: str) -> Measured | Unmeasured:
    """One measure; on a plainer problem where the candidate refuses bias or padding."""
    for plain in (False, True):
        measured = measure(climb.runner, part, family, problem_for(part, climb.rank, line, plain))
        if measured.kind != "refused":
            break
    return measured


def _take(climb: Climb, rung: Rung, part: str, asked: list[Measured | Unmeasured]) -> None:
    """Into the rung: a line for each measure, and what all that is wrong comes to."""
    measured = agreed([_with_its_way(climb, m) for m in asked if isinstance(m, Measured)])
    broken = [
        f"{m.told}; its data: {m.data}" for m in asked if isinstance(m, Unmeasured) and m.kind in FAILED
    ]
    climb.measured += measured
    rung.notes += [m.told for m in asked[:1] if isinstance(m, Unmeasured) and m.kind == "refused"]
    rung.odd += [str(m) for m in measured if m.kind == "SUSPICIOUS"]
    rung.failed += [str(m) for m in measured if m.kind == "WRONG"] + broken
    rung.told.update(dict.fromkeys(broken, ""))
    if any(m.kind == "WRONG" for m in measured):
        rung.told.update([_told(climb, part, measured)])


def _with_its_way(climb: Climb, m: Measured) -> Measured:
    """The measure, and whether what goes beyond the bound was made by a transform: then the integers of
    its problem, or of others where it has no exact ones, come out near and not equal."""
    if m.worst <= 1:
        return m
    if could_show(m.part, m.problem, climb.runner.declared):
        exact = [observe(climb.runner, exact_case(m.part, m.problem, climb.runner.declared))]
    else:
        exact = of_part(climb.observations + climb.index_maps, m.part)
    return replace(m, transform=any(o.kind == INEXACT for o in exact))


def _told(climb: Climb, part: str, measured: list[Measured]) -> tuple[str, str]:
    """What one part's wrong measures come to, with the worst of them, and when it strikes."""
    wrong = [m for m in measured if m.kind == "WRONG"]
    worst = max(wrong, key=lambda m: m.worst)
    if any(measure(climb.runner, part, worst.family, worst.problem).kind != "WRONG" for _ in range(ASKED)):
        return f"{part}: {NOT_REPEATABLE}, on {worst.problem}", ""
    fits = inputs_as_used(climb.runner, worst) or worst.fits
    line = f"{part}: {fits}, in {len(wrong)} of {len(measured)} measures{_sums(climb, part)}"
    line += f"; the worst: {worst.size}; its data: "
    line += in_python(part, worst.problem, worst.family, climb.runner.declared)
    return line, _when([m.problem for m in wrong], [m.problem for m in measured])


def _when(wrong: list[Problem], measured: list[Problem]) -> str:
    """The one condition that parts the problems that came out wrong from all others; "" where fewer than
    three did, or where it takes several conditions: by chance some always do."""
    failing = {str(problem): problem for problem in wrong}
    passing = [problem for problem in measured if str(problem) not in failing]
    if len(failing) < FEWEST or not passing:
        return ""
    when = trigger(list(failing.values()), passing)
    return when if when in CONDITIONS else ""


def _sums(climb: Climb, part: str) -> str:
    """What the passport knows of sums that are narrower than declared; "" where they are not."""
    facts = passport(climb.runner, climb.rank) if part == "forward" else {}
    bits = re.fullmatch(r"(\d+) bits", facts.get("accumulator", ""))
    if bits is None or int(bits[1]) >= climb.runner.declared.formats[1].p:
        return ""
    ones = facts.get("sum of 4096 ones", "").removesuffix(STALLS)
    stalls = f", a running sum of ones stalls at {ones}" if ones.isdecimal() and int(ones) < 4096 else ""
    return f"; accumulator: {bits[0]}{stalls}"
