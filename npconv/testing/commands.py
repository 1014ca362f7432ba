"""What the commands check, emit and judge do once their arguments are read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from npconv.testing.checking import check, judge_files
from npconv.testing.exchange import emit
from npconv.testing.parts import PARTS
from npconv.testing.report import Report


def run_check(candidate: str, options: dict[str, Any], json: str | None, junit: str | None) -> int:
    """Check a candidate in a process of its own, and print the report."""
    report = check(candidate, progress=_progress(), **options)
    return _told(report, json, junit)


def run_emit(folder: str, parts: list[str]) -> int:
    """Write problems for a program that no Python can call."""
    if unknown := set(parts) - set(PARTS):
        raise ValueError(f"parts: {', '.join(sorted(unknown))} unknown; there are {', '.join(PARTS)}")
    count = emit(folder, parts or PARTS)
    print(f"{folder}: {count} questions in manifest.txt; write each result to <number>.<part>.f32 or .npy,")
    print(f"then run: npconv judge {folder}")
    return 0


def run_judge(folder: str, json: str | None, junit: str | None) -> int:
    """Judge the results that a program has written."""
    return _told(judge_files(folder), json, junit)


def _told(report: Report, json: str | None, junit: str | None) -> int:
    for path, text in ((json, report.to_json), (junit, report.to_junit)):
        if path not in (None, "-"):
            Path(str(path)).write_text(text() + "\n", encoding="utf-8")
    print(report.to_json() if json == "-" else report.to_junit() if junit == "-" else report)
    return report.exit_code


def _progress() -> Callable[[str], None] | None:
    """A line that rewrites itself, on a terminal only."""
    if not sys.stderr.isatty():
        return None
    return lambda line: print(f"\r\x1b[K{line}", end="\r", file=sys.stderr, flush=True)
