"""`npconv emit`: write problems as files."""

from __future__ import annotations

import argparse

from npconv.commands.parsing import Commands, add


def register(commands: Commands) -> None:
    """Add the parser of `npconv emit`."""
    parser = add(
        commands,
        "emit",
        help="write problems as files, for a kernel that no Python can call",
        description=(
            "Write problems into DIR: manifest.txt, which a C program can read, the arrays as .npy files,"
            " and all of them once more in problems.safetensors. Your program writes <number>.<part>.f32 "
            "or .npy beside. A DIR that holds such results already is refused."
        ),
        example="npconv emit problems forward grad_input",
    )
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help="forward, grad_input, grad_weight, grad_bias, transposed (default: all)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the problems."""
    from npconv.testing import commands

    return commands.run_emit(arguments.folder, arguments.parts)
