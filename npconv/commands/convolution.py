"""The convolution that `explain` and `shape` are about: a descriptor, or flags."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from npconv.commands.values import index, integers, padding

if TYPE_CHECKING:
    from npconv.problem import Problem

GRAMMAR = """\
DESCRIPTOR: these parts joined by _, as in
  N2C4O8G2_i6x7_k3_s2_p1:0x1_d1_bias   a convolution
  transposed_C2O3_i4_k3_s2_p1_op1      a transposed one; i is its own input

  N C O G   batch, input channels, output channels, groups; 1 if left out
  i k       sizes of input and weight, one an axis as in 6x7; one k for all axes
  s d       stride and dilation, one for all axes or as in 2x1; 1 if left out
  p         padding, lo:hi or one number for both, for all axes or as in 1:0x1;
            same, same-lower, valid; negative crops; 0 if left out
  op        output_padding of a transposed convolution; 0 if left out
  bias      with a bias
  reflect, replicate, circular   a border that is no zeros

"""


def add_convolution(parser: argparse.ArgumentParser) -> None:
    """The convolution that a command is about: a descriptor, or flags."""
    parser.add_argument("descriptor", nargs="?", metavar="DESCRIPTOR", help="the convolution, in one line")
    flags = parser.add_argument_group("in place of DESCRIPTOR")
    flags.add_argument("--input", type=index, metavar="N,C,H,W", help="the input's shape")
    flags.add_argument("--weight", type=index, metavar="O,C,KH,KW", help="the weight's; transposed C,O,KH,KW")
    flags.add_argument("--stride", type=integers, metavar="S", help="2, or one an axis: 2,1")
    flags.add_argument("--padding", type=padding, metavar="P", help="1, 1,2, lo:hi an axis, same or valid")
    flags.add_argument("--dilation", type=integers, metavar="D", help="2, or one an axis: 2,1")
    flags.add_argument("--groups", type=int, metavar="G")
    flags.add_argument("--output-padding", type=integers, metavar="P", help="transposed only")
    flags.add_argument("--transposed", action="store_true", default=None, help="a transposed convolution")
    flags.add_argument("--bias", action="store_true", default=None, help="with a bias")


def asked_for(arguments: argparse.Namespace) -> Problem:
    """The problem that the descriptor or the flags name."""
    from npconv.explain import asked

    flags = {name: getattr(arguments, name) for name in ("input", "weight", *asked.PARAMETERS)}
    return asked.problem(arguments.descriptor, flags)
