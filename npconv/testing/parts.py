"""The parts of a convolution that a candidate may offer, and the right result of each.

part           from                        number n of products in one sum, at most
forward        input, weight, bias         C/G * taps, +1 with a bias
grad_input     grad_output, weight         O/G * product over the axes of ceil(k * gcd(s, d) / s)
grad_weight    grad_output, input          N * outputs
grad_bias      grad_output                 N * outputs
transposed     input, weight, bias         as grad_input, +1 with a bias
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import gcd, prod
from typing import Any

import numpy as np

import npconv
from npconv.geometry import Geometry, Shape
from npconv.problem import Problem

Arrays = Mapping[str, np.ndarray]

TAKES = {
    "forward": ("input", "weight", "bias"),
    "grad_input": ("grad_output", "weight"),
    "grad_weight": ("grad_output", "input"),
    "grad_bias": ("grad_output",),
    "transposed": ("input", "weight", "bias"),
}
PARTS = tuple(TAKES)


@lru_cache(maxsize=4096)
def geometry_of(problem: Problem) -> Geometry:
    """The problem's geometry, worked out once: a diagnosis asks for it thousands of times."""
    return problem.geometry


def output_shape(problem: Problem) -> Shape:
    """The output's shape; a transposed problem's output is its convolution's input."""
    geometry = geometry_of(problem)
    return geometry.input_shape if problem.transposed else geometry.output_shape


def parts_of(problem: Problem) -> tuple[str, ...]:
    """The parts that a problem can be put to."""
    return ("transposed",) if problem.transposed else PARTS[:-1]


def array_shapes(problem: Problem) -> dict[str, Shape]:
    """The shapes of all arrays of a problem, by name."""
    shapes = {
        "input": problem.input_shape,
        "weight": problem.weight_shape,
        "grad_output": output_shape(problem),
    }
    return {**shapes, "bias": (problem.O,)} if problem.bias else shapes


def result_shape(part: str, problem: Problem) -> Shape:
    """The shape that a part's result must have."""
    return {
        "grad_input": problem.input_shape,
        "grad_weight": problem.weight_shape,
        "grad_bias": (problem.O,),
    }.get(part, output_shape(problem))


def keywords(problem: Problem) -> dict[str, Any]:
    """The parameters as a candidate takes them: one entry an axis, the padding as (lo, hi) pairs.

    >>> keywords(Problem.parse("i5_k3_p1:0"))
    {'stride': (1,), 'padding': ((1, 0),), 'dilation': (1,), 'groups': 1}
    """
    geometry = geometry_of(problem)
    extra = {"output_padding": geometry.remainder} if problem.transposed else {}
    fixed = dict(stride=geometry.stride, padding=geometry.padding)
    return {**fixed, **extra, "dilation": geometry.dilation, "groups": geometry.G}


def taken(part: str, arrays: Arrays) -> dict[str, np.ndarray | None]:
    """The arrays that a part takes; a bias that is not there is None."""
    return {name: arrays.get(name) for name in TAKES[part]}


def reference(part: str, problem: Problem, arrays: Arrays) -> np.ndarray:
    """The right result, by npconv itself.

    >>> problem = Problem.parse("i4_k2")
    >>> x, w = np.array([[[1, 2, 3, 4]]]), np.array([[[1, 10]]])
    >>> reference("forward", problem, {"input": x, "weight": w})
    array([[[21, 32, 43]]])
    """
    p, bias = problem.parameters, arrays.get("bias")
    if part == "forward":
        return npconv.conv(arrays["input"], arrays["weight"], bias, **p)
    if part == "transposed":
        return npconv.conv_transpose(arrays["input"], arrays["weight"], bias, **p)
    if part == "grad_input":
        return npconv.conv_input(problem.input_shape, arrays["weight"], arrays["grad_output"], **p)
    if part == "grad_weight":
        return npconv.conv_weight(arrays["input"], problem.weight_shape, arrays["grad_output"], **p)
    return npconv.conv_bias(arrays["grad_output"], rank=problem.rank)


def terms(part: str, problem: Problem) -> int:
    """n, the most products that one element of the result sums.

    >>> problem = Problem.parse("N2C4O6G2_i9x9_k3_s2_bias")
    >>> [terms(part, problem) for part in PARTS[:4]]
    [19, 12, 32, 32]
    """
    geometry = geometry_of(problem)
    if part == "forward":
        return geometry.C // geometry.G * prod(problem.k) + problem.bias
    if part in ("grad_weight", "grad_bias"):
        return geometry.N * prod(axis.o for axis in geometry.axes)
    meeting = prod(-(-axis.k * gcd(axis.s, axis.d) // axis.s) for axis in geometry.axes)
    return geometry.O // geometry.G * meeting + (problem.bias and part == "transposed")
