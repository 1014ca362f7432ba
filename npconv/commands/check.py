"""`npconv check`: judge a kernel."""

from __future__ import annotations

import argparse

from npconv.commands.parsing import Commands, add
from npconv.commands.views import VERDICTS, add_views


def register(commands: Commands) -> None:
    """Add the parser of `npconv check`."""
    parser = add(
        commands,
        "check",
        help="is this convolution kernel right, and if not, what is wrong with it",
        description=(
            "Judge a kernel: exact integers, index maps and derived bounds, no tolerance. CANDIDATE is "
            "FILE.py, FILE.py:NAME, module or module:NAME, and names a forward, or an object or module "
            "with any of forward, grad_input, grad_weight, grad_bias, backward, transposed. It runs in a "
            "process of its own."
        ),
        notes=VERDICTS,
        example="npconv check kernel.py:conv2d --input float16 --layout NHWC",
    )
    parser.add_argument("candidate", metavar="CANDIDATE", help="FILE.py:NAME or module:NAME")
    parser.add_argument("--only", metavar="DESCRIPTOR", help="one problem, as a report names it")
    for name in ("input", "accumulate", "output"):
        parser.add_argument(
            f"--{name}", metavar="FORMAT", help="float64, float32, tf32, float16, bfloat16, int8 ..."
        )
    parser.add_argument("--layout", metavar="LETTERS", help="NCHW (default) or NHWC")
    parser.add_argument("--weight-layout", metavar="LETTERS", help="OIHW (default), OHWI or HWIO")
    parser.add_argument("--rank", type=int, default=2, metavar="N", help="spatial axes: 1, 2 (default) or 3")
    parser.add_argument("--no-layers", action="store_false", dest="layers", help="leave out real layers")
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="SECONDS", help="for one call (10)")
    add_views(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Judge the candidate."""
    from npconv.testing import commands

    names = "only rank layers time_limit input accumulate output layout weight_layout".split()
    options = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return commands.run_check(arguments.candidate, options, arguments.json, arguments.junit)
