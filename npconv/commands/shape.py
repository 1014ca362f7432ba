"""`npconv shape`: a convolution's sizes."""

from __future__ import annotations

import argparse

from npconv.commands.convolution import GRAMMAR, add_convolution, asked_for
from npconv.commands.parsing import Commands, add


def register(commands: Commands) -> None:
    """Add the parser of `npconv shape`."""
    parser = add(
        commands,
        "shape",
        help="a convolution's sizes, and how other libraries write it",
        description=(
            "Show a convolution's sizes, its remainder, the inputs that no window reads, what each "
            "gradient pads and by how much, its phases, and the same convolution in other libraries' "
            "words."
        ),
        notes=GRAMMAR,
        example="npconv shape C3O8_i224x224_k7_s2_p3",
    )
    add_convolution(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show the sizes."""
    from npconv.explain import shape

    return shape.run(asked_for(arguments))
