"""The parsers of the command line: what they refuse is one line, and the help looks alike."""

from __future__ import annotations

import argparse
import textwrap
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias

WIDTH = 80
EXIT_CODES = "exit code: 0 all is well, 1 something disagrees, 2 bad input"


class Misuse(ValueError):
    """A command line that cannot be understood."""

    def __init__(self, command: str, message: str) -> None:
        super().__init__(message)
        self.command = command


class Parser(argparse.ArgumentParser):
    """A parser that leaves the complaint to `main`, so that it is one line."""

    def error(self, message: str) -> NoReturn:
        raise Misuse(self.prog, f"{message}{'' if message.endswith('?') else ';'} see {self.prog} --help")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What a command does not know is refused here: in its own name, not in that of `npconv`."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown)}")
        return known, unknown

    def _meant(self, unknown: list[str]) -> str:
        options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        near = [get_close_matches(option, self._option_string_actions, n=1) for option in options]
        return next((f"; did you mean {match[0]}?" for match in near if match), "")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add(
    commands: Commands, name: str, help: str, description: str, example: str, notes: str = ""
) -> argparse.ArgumentParser:
    """A command's own parser, whose help ends with the exit codes and an example."""
    return commands.add_parser(
        name,
        help=help,
        description=textwrap.fill(description, WIDTH),
        epilog=f"{notes}{EXIT_CODES}\n\nexample:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
