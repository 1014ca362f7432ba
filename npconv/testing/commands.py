"""What the commands check, emit and judge do once their arguments are read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from npconv.testing.checking import check
from npconv.testing.exchange import emit
from npconv.testing.judging import judge_files
from npconv.testing.parts import PARTS
from npconv.testing.report import Report

STDOUT = "-"


def run_check(candidate: str, options: dict[str, Any], json: str | None, junit: str | None) -> int:
    """Check a candidate in a process of its own, and print the report."""
    check_targets(json=json, junit=junit)
    report = check(candidate, progress=_progress(), **options)
    return _told(report, json, junit)


def run_emit(folder: str, parts: list[str]) -> int:
    """Write problems for a program that no Python can call."""
    count = emit(folder, parts or PARTS)
    print(f"{folder}: {count} questions in manifest.txt; write each result to <number>.<part>.f32 or .npy,")
    print(f"then run: npconv judge {folder}")
    return 0


def run_judge(folder: str, json: str | None, junit: str | None) -> int:
    """Judge the results that a program has written."""
    check_targets(json=json, junit=junit)
    return _told(judge_files(folder), json, junit)


def check_targets(**targets: str | None) -> None:
    """ValueError where views cannot be written to where they are to go: a check may take minutes.

    >>> check_targets(json="-", junit="-")
    Traceback (most recent call last):
    ValueError: json, junit: both are to go to '-', where there is room for one; give one of them a file
    """
    given = {name: target for name, target in targets.items() if target is not None}
    places = {name: target if target == STDOUT else Path(target).resolve() for name, target in given.items()}
    if len(set(places.values())) < len(places):
        raise ValueError(
            f"{', '.join(given)}: both are to go to {next(iter(given.values()))!r}, where there is room for "
            f"one; give one of them a file"
        )
    for name, place in places.items():
        if isinstance(place, Path) and (why := _unwritable(place)):
            raise ValueError(f"{name}: {given[name]!r} cannot be written: {why}; name another file")


def _unwritable(path: Path) -> str:
    if path.is_dir():
        return "it is a folder"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    return "" if os.access(path if path.exists() else path.parent, os.W_OK) else "that is not permitted"


def _told(report: Report, json: str | None, junit: str | None) -> int:
    for path, text in ((json, report.to_json), (junit, report.to_junit)):
        if path is not None and path != STDOUT:
            Path(path).write_text(text() + "\n", encoding="utf-8")
    print(report.to_json() if json == STDOUT else report.to_junit() if junit == STDOUT else report)
    return report.exit_code


def _progress() -> Callable[[str], None] | None:
    """A line that rewrites itself, on a terminal only."""
    if not sys.stderr.isatty():
        return None
    return lambda line: print(f"\r\x1b[K{line}", end="\r", file=sys.stderr, flush=True)
