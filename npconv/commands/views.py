"""The other views of a referee's report, which `check` and `judge` offer."""

from __future__ import annotations

import argparse


def add_views(parser: argparse.ArgumentParser) -> None:
    """The flags `--json` and `--junit`."""
    parser.add_argument(
        "--json", metavar="FILE", help="write the whole record; - prints it in place of the text"
    )
    parser.add_argument(
        "--junit", metavar="FILE", help="write a JUnit file; - prints it in place of the text"
    )
