"""The command line: arguments in, an exit code out.  The commands stand in `npconv.commands`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

from npconv import __version__
from npconv.commands import bench, check, emit, explain, grad, judge, lesson, shape
from npconv.commands.parsing import EXIT_CODES, Misuse, Parser
from npconv.commands.values import attach_negative_values, check_one_word_a_value

PASS, DISAGREE, BAD_INPUT, READER_GONE = 0, 1, 2, 141  # 141: what a shell shows after SIGPIPE

COMMANDS = (lesson, explain, shape, grad, check, emit, judge, bench)  # in the order of the help


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, all lessons where none is named, and return its exit code.

    >>> main(["--version"]) == PASS
    npconv 0.1.0
    True
    """
    if sys.stdout is None:  # closed, as by `>&-`: whatever is printed goes nowhere
        with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            return main(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for names that the encoding lacks
    try:
        try:
            return _run(sys.argv[1:] if argv is None else argv)
        finally:
            _flush()
    except BrokenPipeError:  # as with `| head`: nobody is left to read, and nothing is wrong
        return READER_GONE
    except OSError as error:
        return _complain("npconv", f"the report cannot be printed: {error}")


def _run(argv: Sequence[str]) -> int:
    command = "npconv"
    try:
        check_one_word_a_value(argv)
        arguments = _parser().parse_args(attach_negative_values(argv))
        command = f"npconv {arguments.command}" if arguments.command else command
        code: int = arguments.run(arguments)
        return code
    except SystemExit as finished:  # --help and --version
        return finished.code if isinstance(finished.code, int) else PASS
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return _complain(command, "interrupted")
    except MemoryError as error:
        return _complain(command, f"not enough memory: {error}")
    except Misuse as error:
        return _complain(error.command, str(error))
    except (ValueError, TypeError, OverflowError, OSError) as error:
        return _complain(command, str(error))


def _complain(command: str, complaint: str) -> int:
    """One line, whatever names and line ends stand in it."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in complaint)
    print(f"{command}: {line}", file=sys.stderr)
    return BAD_INPUT


def _flush() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        # What is still in the buffer would fail once more, with a traceback, when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="npconv",
        description="Reference convolutions and their gradients. Without a command: all lessons.",
        epilog=f"{EXIT_CODES}\n\nexample:\n  npconv grad layer.npz -o gradients.npz",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"npconv {__version__}")
    parser.set_defaults(run=lesson.run, command=None, name=None, attempt=None)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS:
        command.register(commands)
    return parser
