"""`npconv judge`: judge what a program wrote."""

from __future__ import annotations

import argparse

from npconv.commands.parsing import Commands, add
from npconv.commands.views import VERDICTS, add_views


def register(commands: Commands) -> None:
    """Add the parser of `npconv judge`."""
    parser = add(
        commands,
        "judge",
        help="judge the results that a program wrote beside the emitted problems",
        description=(
            "Read the results in DIR and report as check does. DIR holds what emit wrote and one result a"
            " line of its manifest: <number>.<part>.f32 or .npy, or an empty <number>.<part>.refused, or "
            "all together in results.safetensors."
        ),
        notes=VERDICTS,
        example="npconv judge problems",
    )
    parser.add_argument("folder", metavar="DIR")
    add_views(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Judge the results."""
    from npconv.testing import commands

    return commands.run_judge(arguments.folder, arguments.json, arguments.junit)
