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
            "Time the forward and both gradients of real layers in float32, the least of several calls: "
            "milliseconds, GFLOP/s (products with padded zeros counted), '/ wall', how many times as long as "
            "a bare matrix product with as many multiplications, and MiB, the most memory taken beside "
            "arguments and result. CSV and JSON have seconds, gflops, wall_seconds, scratch (bytes) and "
            "over_wall. OMP_NUM_THREADS says how many threads; all layers take some minutes."
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
