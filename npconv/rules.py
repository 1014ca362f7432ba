"""What each function computes, one line a result.

    y(x, w)   the output        x(w, g)   the input's gradient      w(x, g)   the weight's gradient
    y(b)      a bias, spread over samples and positions             b(g)      the sum over them

For a transposed convolution the same table holds, with the three maps that its module names.
The second order is the first transposed, and the first is the forward transposed: a test derives
each block below from the one above it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from npconv.trilinear import Rule, Sum, Term


class Gradients(NamedTuple):
    """The gradients by a convolution's input, weight and bias."""

    input: np.ndarray
    weight: np.ndarray
    bias: np.ndarray


class DoubleGradients(NamedTuple):
    """The gradients by what a backward pass was given: grad_output, input and weight."""

    grad_output: np.ndarray
    input: np.ndarray
    weight: np.ndarray


def _y(input: str, weight: str) -> Term:
    return Term("output", (("input", input), ("weight", weight)))


def _x(weight: str, output: str) -> Term:
    return Term("input", (("weight", weight), ("output", output)))


def _w(input: str, output: str) -> Term:
    return Term("weight", (("input", input), ("output", output)))


def _y_of_bias(bias: str) -> Term:
    return Term("output", (("bias", bias),))


def _b(output: str) -> Term:
    return Term("bias", (("output", output),))


FORWARD = Rule(
    ("input", "weight", "bias"),
    (Sum("output", (_y("input", "weight"), _y_of_bias("bias"))),),
    optional=("bias",),
)
GENERAL = Rule(("lhs", "rhs"), (Sum("output", (_y("lhs", "rhs"),)),))

INPUT = Rule(("weight", "grad_output"), (Sum("input", (_x("weight", "grad_output"),)),))
WEIGHT = Rule(("input", "grad_output"), (Sum("weight", (_w("input", "grad_output"),)),))
BIAS = Rule(("grad_output",), (Sum("bias", (_b("grad_output"),)),))
PAD = Rule(("input",), (Sum("output", (Term("output", (("input", "input"),)),)),))
PAD_ADJOINT = Rule(("grad_output",), (Sum("input", (Term("input", (("output", "grad_output"),)),)),))

BACKWARD = Rule(
    ("grad_output", "input", "weight"),
    (
        Sum("input", (_x("weight", "grad_output"),), "input"),
        Sum("weight", (_w("input", "grad_output"),), "weight"),
        Sum("bias", (_b("grad_output"),)),
    ),
    Gradients,
)

DOUBLE_BACKWARD = Rule(
    ("grad_grad_input", "grad_grad_weight", "grad_grad_bias", "grad_output", "input", "weight"),
    (
        Sum(
            "grad_output",
            (
                _y("grad_grad_input", "weight"),
                _y("input", "grad_grad_weight"),
                _y_of_bias("grad_grad_bias"),
            ),
            "grad_output",
        ),
        Sum("input", (_x("grad_grad_weight", "grad_output"),), "input"),
        Sum("weight", (_w("grad_grad_input", "grad_output"),), "weight"),
    ),
    DoubleGradients,
    optional=("grad_grad_input", "grad_grad_weight", "grad_grad_bias"),
)
