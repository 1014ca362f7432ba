"""Floats that are hard on rounding."""

from __future__ import annotations

from npconv.testing.climb import Climb, Rung
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
from npconv.testing.observation import FAILED
from npconv.testing.trigger import NEAREST, trigger

ASKED = 3  # times that the worst measure is taken again, before it is stated


def floats(climb: Climb, rung: Rung) -> None:
    """Floats that are hard on rounding, against the derived bound."""
    if climb.runner.declared.formats[0].is_integer:
        rung.notes.append("the declared formats are integers: nothing rounds")
        return
    for part in climb.parts:
        asked = [_asked(climb, part, *question) for question in questions(part)]
        rung.cases += len(asked)
        climb.progress(f"{rung.name}: {part}")
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
    measured = agreed([m for m in asked if isinstance(m, Measured)])
    broken = [m.told for m in asked if isinstance(m, Unmeasured) and m.kind in FAILED]
    climb.measured += measured
    rung.notes += [m.told for m in asked[:1] if isinstance(m, Unmeasured) and m.kind == "refused"]
    rung.odd += [str(m) for m in measured if m.kind == "SUSPICIOUS"]
    rung.failed += [str(m) for m in measured if m.kind == "WRONG"] + broken
    rung.told.update(dict.fromkeys(broken, ""))
    if any(m.kind == "WRONG" for m in measured):
        rung.told.update([_told(climb, part, measured)])


def _told(climb: Climb, part: str, measured: list[Measured]) -> tuple[str, str]:
    """What one part's wrong measures come to, with the worst of them, and when it strikes."""
    wrong = [m for m in measured if m.kind == "WRONG"]
    worst = max(wrong, key=lambda m: m.worst)
    if any(measure(climb.runner, part, worst.family, worst.problem).kind != "WRONG" for _ in range(ASKED)):
        return f"{part}: {NOT_REPEATABLE}, on {worst.problem}", ""
    failing = {str(m.problem): m.problem for m in wrong}
    passing = [m.problem for m in measured if str(m.problem) not in failing]
    when = trigger(list(failing.values()), passing) if passing else ""
    fits = inputs_as_used(climb.runner, worst) or worst.fits
    line = f"{part}: {fits}, in {len(wrong)} of {len(measured)} measures; the worst: {worst.size}"
    return line, "" if " and " in when or NEAREST in when else when  # few problems: chance would tell more
