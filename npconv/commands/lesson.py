"""`npconv lesson`: the lessons, and their exercises graded."""

from __future__ import annotations

import argparse

from npconv.commands.parsing import Commands, add


def register(commands: Commands) -> None:
    """Add the parser of `npconv lesson`."""
    parser = add(
        commands,
        "lesson",
        help="show how a gradient comes about, step by step",
        description="Show step by step how a gradient comes about, and prove it. Without a NAME: all.",
        example="npconv lesson strided",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="one lesson; a name that is none lists them")
    parser.add_argument(
        "--try", dest="attempt", metavar="FILE.py", help="grade your answer to the lesson's exercise"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show one lesson or all, or grade an attempt at an exercise."""
    if arguments.attempt is not None:
        from npconv import exercise

        return exercise.attempt(arguments.name, arguments.attempt)
    from npconv.explain import lessons

    return lessons.run(arguments.name)
