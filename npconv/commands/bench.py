"""`npconv bench`: how fast this machine convolves."""

from __future__ import annotations

import argparse

from npconv.commands.parsing import Commands, add


def register(commands: Commands) -> None:
    """Add the parser of `npconv bench`."""
    parser = add(
        commands,
        "bench",
        help="how fast this machine convolves, beside its bare matrix product",
        description=(
            "Time the forward and both gradients of real layers in float32: milliseconds, GFLOP/s, times "
            "the time of the bare product of the same size, and the most memory taken beside arguments "
            "and result."
        ),
        example="npconv bench resnet50",
    )
    parser.add_argument(
        "what",
        nargs="?",
        metavar="LAYER",
        help="a part of a layer's name, or a DESCRIPTOR (default: all layers)",
    )
    parser.add_argument("--seconds", type=float, default=0.2, metavar="S", help="to spend on each case (0.2)")
    style = parser.add_mutually_exclusive_group()
    for name in ("csv", "json"):
        style.add_argument(
            f"--{name}", dest="style", action="store_const", const=name, help=f"print {name.upper()}"
        )
    parser.set_defaults(run=run, style="text")


def run(arguments: argparse.Namespace) -> int:
    """Time the layers."""
    from npconv import bench

    return bench.run(arguments.what, arguments.style, arguments.seconds)
