"""An exercise of the course, graded by the referee: the one place where the two meet.

The lesson says what to write and where to read on; the referee says what is right and what is wrong.
"""

from __future__ import annotations

from npconv.explain.course import LESSONS, Lesson
from npconv.testing import check
from npconv.testing.report import Report

PARTS_OF = {"backward": ("grad_input", "grad_weight", "grad_bias")}
MAP_OF = {
    "forward": "forward",
    "grad_input": "input",
    "grad_weight": "weight",
    "transposed": "forward",
}


def attempt(name: str, path: str) -> int:
    """Grade FILE.py's functions, name the mistakes, and say what to look at; 0 if right, 1 if wrong, 2 if not there.

    ValueError where there is no such lesson, or the file lacks the function that the lesson asks for;
    otherwise as the referee's.
    """
    if name not in LESSONS:
        raise ValueError(f"lesson: there is no {name!r}; choose one of {', '.join(LESSONS)}")
    lesson = LESSONS[name]
    report = check(path, layers=False)
    asked = set(PARTS_OF.get(lesson.part, (lesson.part,)))
    if report.parts and not asked <= set(report.parts):
        raise ValueError(f"{path}: it has no {lesson.part}, for which the lesson {name!r} asks: {lesson.exercise}")
    print(*graded(lesson, report), sep="\n")
    return report.exit_code


def graded(lesson: Lesson, report: Report) -> list[str]:
    """The referee's verdict as a teacher would say it."""
    lines = [f"{lesson.name}: {report.verdict}, {report.why}"]
    for finding in report.findings:
        lines.append(f"  {finding.sentence}")
        if finding.trigger:
            lines.append(f"    when: {finding.trigger}")
        if finding.smallest and finding.part in MAP_OF:
            lines.append(f"    see:  python -m npconv explain {finding.smallest} --of {MAP_OF[finding.part]}")
    lines += [f"  refused, {part}: {', '.join(what)}" for part, what in report.unsupported.items() if what]
    return lines
