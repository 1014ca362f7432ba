"""Layers of real networks, checked for the price of one channel.

The sum over output channels with random signs e is linear in the weight:

    sum over o of e[o] * conv(x, w)[o] = conv(x, sum over o of e[o] * w[o])

so a whole result is compared with a reference of one output channel a group.  The input gradient is
contracted over its channels in the same way, the weight gradient over its output channels.  A wrong
element slips through only where other wrong elements cancel it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

import npconv
from npconv.problem import Problem
from npconv.testing.candidate import Call, Declared
from npconv.testing.data import exact_arrays, exact_parts, signs
from npconv.testing.parts import output_shape
from npconv.testing.running import Runner

# Published shapes, batch 1: each takes a good kernel milliseconds.
LAYERS = {
    "ResNet-50 conv1": "C3O64_i224x224_k7_s2_p3_bias",
    "ResNet-50 res3a 3x3": "C128O128_i56x56_k3_s2_p1_bias",
    "ResNet-50 res4 1x1": "C256O1024_i14x14_k1_bias",
    "MobileNet depthwise": "C512O512G512_i14x14_k3_p1_bias",
    "Inception 1x7": "C192O192_i17x17_k1x7_p0x3_bias",
    "DeepLab dilated": "C512O64_i33x33_k3_p4_d4_bias",
}
PARTS = ("forward", "grad_input", "grad_weight")


def layer_verdict(runner: Runner, part: str, line: str, bias: bool = True) -> tuple[str, str]:
    """("right" | "wrong" | "skipped", why) for one part of one layer, with its bias or without."""
    declared = runner.declared
    problem = Problem.parse(line)
    if part != "forward" or not bias:
        problem = replace(problem, bias=False)
    if part not in exact_parts(problem, declared.capacity):
        return "skipped", f"{part} of {problem}: too many terms for exact data in the declared formats"
    arrays = exact_arrays(problem, declared.capacity)
    answer = runner.run(Call(part, problem, arrays))
    if answer.kind in ("refused", "hung"):
        return "skipped", f"{part} of {problem}: {answer.kind} {answer.message}".rstrip()
    if answer.kind != "value" or not isinstance(answer.value, np.ndarray):
        return "wrong", f"{part} of {problem}: {answer.kind} {answer.message}".rstrip()
    due_shape = {"forward": output_shape(problem), "grad_input": problem.input_shape}.get(
        part, problem.weight_shape
    )
    if answer.value.shape != due_shape:
        return "wrong", f"{part} of {problem}: shape {answer.value.shape}, due {due_shape}"
    got, due = contracted(part, problem, arrays, answer.value)
    wrong = int((got != due).sum())
    if not wrong:
        return "right", ""
    return "wrong", f"{part} of {problem}: {wrong} of {due.size} contracted elements differ"


def contracted(
    part: str, problem: Problem, arrays: Mapping[str, np.ndarray], result: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A result summed over channels with signs, a group at a time, and the same of the reference.

    >>> problem = Problem.parse("C2O4G2_i5_k3")
    >>> arrays = exact_arrays(problem, 2**24)
    >>> y = npconv.conv(arrays["input"], arrays["weight"], groups=2)
    >>> got, due = contracted("forward", problem, arrays, y)
    >>> got.shape, (got == due).all().tolist()
    ((1, 2, 3), True)
    """
    G = problem.G
    p = problem.parameters
    x, w, g = (arrays[name].astype(np.float64) for name in ("input", "weight", "grad_output"))
    result = result.astype(np.float64)
    if part == "forward":
        e = signs(f"{problem} e", (problem.O,))
        bias = None if "bias" not in arrays else _sum(arrays["bias"] * e, 0, G)
        return _signed(result, 1, e, G), npconv.conv(x, _signed(w, 0, e, G), bias, **p)
    if part == "grad_weight":
        e = signs(f"{problem} e", (problem.O,))
        shape = (G, *problem.weight_shape[1:])
        return _signed(result, 0, e, G), npconv.conv_weight(x, shape, _signed(g, 1, e, G), **p)
    e = signs(f"{problem} e", (problem.C // G,))  # the same signs in every group
    size = (problem.N, G, *problem.i)
    thin = _signed(w, 1, e, 1)
    return _signed(result, 1, np.tile(e, G), G), npconv.conv_input(size, thin, g, **p)


def _signed(x: np.ndarray, axis: int, e: np.ndarray, groups: int) -> np.ndarray:
    return _sum(x * e.reshape([-1 if n == axis else 1 for n in range(x.ndim)]), axis, groups)


def _sum(x: np.ndarray, axis: int, groups: int) -> np.ndarray:
    """(..., G*c, ...) -> (..., G, ...)"""
    shape = (*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :])
    return x.reshape(shape).sum(axis=axis + 1)


def fits(declared: Declared) -> bool:
    """Whether the formats are wide enough for real layers at all."""
    return declared.capacity >= 2**16
