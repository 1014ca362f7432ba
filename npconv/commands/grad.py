"""`npconv grad`: the gradients of the user's own arrays."""

from __future__ import annotations

import argparse

from npconv.commands.parsing import Commands, add
from npconv.commands.values import integers, padding


def register(commands: Commands) -> None:
    """Add the parser of `npconv grad`."""
    parser = add(
        commands,
        "grad",
        help="the output and all gradients of your own arrays",
        description=(
            "Compute a convolution's output, grad_input, grad_weight and grad_bias, show the sizes and "
            "paddings, and check the results against each other: one number comes out three ways, on "
            "integers exactly, on floats up to rounding. FILE.npz holds input and weight and, where "
            "wanted, bias, grad_output (else ones), stride, padding, dilation, groups, transposed, "
            "output_padding and padding_mode. An output, grad_input, grad_weight or grad_bias that it "
            "holds is compared with the result, as a fraction of the worst rounding error that its dtype "
            "can explain; exit code 1 too where it is less than that, but more than rounding usually does"
            " (SUSPICIOUS)."
        ),
        example=(
            "npconv grad layer.npz -o gradients.npz\n"
            "  npconv grad --input x.npy --weight w.npy --stride 2 --padding 1:2,0:1"
        ),
    )
    parser.add_argument("file", nargs="?", metavar="FILE.npz", help="arrays and parameters by name")
    parser.add_argument(
        "-o",
        dest="destination",
        metavar="OUT.npz",
        help="write output and gradients by name; into FILE.npz itself, also what flags replaced",
    )
    arrays = parser.add_argument_group("arrays, a .npy file each, in place of those of FILE.npz")
    arrays.add_argument("--input", metavar="X.npy", help="(N, C, *spatial), or without N")
    arrays.add_argument(
        "--weight", metavar="X.npy", help="(O, C/groups, *taps); transposed (C, O/groups, *taps)"
    )
    arrays.add_argument("--bias", metavar="X.npy", help="(O,)")
    arrays.add_argument(
        "--grad-output", metavar="X.npy", help="in the output's shape; ones where there is none"
    )
    arrays.add_argument("--output", metavar="X.npy", help="an output to compare")
    arrays.add_argument("--grad-input", metavar="X.npy", help="a gradient to compare")
    arrays.add_argument("--grad-weight", metavar="X.npy", help="a gradient to compare")
    arrays.add_argument("--grad-bias", metavar="X.npy", help="a gradient to compare")
    parameters = parser.add_argument_group("parameters, in place of those of FILE.npz")
    parameters.add_argument("--stride", type=integers, metavar="S", help="2, or one an axis: 2,1")
    parameters.add_argument(
        "--padding",
        type=padding,
        metavar="P",
        help="1, 1,2, lo:hi an axis: 1:2,0:1, same, same_lower or valid",
    )
    parameters.add_argument("--dilation", type=integers, metavar="D", help="2, or one an axis: 2,1")
    parameters.add_argument("--groups", type=int, metavar="G")
    parameters.add_argument(
        "--output-padding", type=integers, metavar="P", help="transposed only: 1, or one an axis: 1,0"
    )
    parameters.add_argument(
        "--transposed", action=argparse.BooleanOptionalAction, default=None, help="a transposed convolution"
    )
    parameters.add_argument(
        "--padding-mode", metavar="MODE", help="zeros, reflect, replicate or circular; not if transposed"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compute the gradients, compare and write them."""
    from npconv import job

    flags = {name: getattr(arguments, name) for name in job.NAMES}
    return job.run(arguments.file, arguments.destination, {k: v for k, v in flags.items() if v is not None})
