"""The other views of a referee's report, which `check` and `judge` offer."""

from __future__ import annotations

import argparse

VERDICTS = """\
verdict      exit code
PASS         0  all that it supports is right
WRONG        1  proven wrong; fault, trigger and smallest case are named
SUSPICIOUS   1  hardly ever rounding, a transform, or not the same bits twice
UNSUPPORTED  2  it refuses everything that it was asked
MISTRUSTED   2  the data could not have shown a fault
INCOMPLETE   2  judge only: results are missing, and those that came are right

"""


def add_views(parser: argparse.ArgumentParser) -> None:
    """The flags `--json` and `--junit`."""
    parser.add_argument(
        "--json", metavar="FILE", help="write the whole record; - prints it in place of the text"
    )
    parser.add_argument(
        "--junit", metavar="FILE", help="write a JUnit file; - prints it in place of the text"
    )
