"""Layers of real networks, checked for the price of one channel.

The sum over output channels with random signs e is linear in the weight:

    sum over o of e[o] * conv(x, w)[o] = conv(x, sum over o of e[o] * w[o])

so a whole result is compared with a reference of one output channel a group.  The input gradient is
contracted over its channels in the same way, so is a transposed convolution's output; the weight gradient
is over its output channels.  A wrong element slips through only where other wrong elements cancel it.
The bias gradient costs next to nothing, and is compared as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

import npconv
from npconv.problem import Problem
from npconv.testing.candidate import Call, Declared
from npconv.testing.data import exact_arrays, exact_parts, signs
from npconv.testing.parts import TAKES, result_shape
from npconv.testing.running import Runner

# Published shapes, batch 1: each takes a good kernel milliseconds.
LAYERS = {
    "ResNet-50 conv1": "C3O64_i224x224_k7_s2_p3_bias",
    "ResNet-50 res3a 3x3": "C128O128_i56x56_k3_s2_p1_bias",
    "ResNet-50 res4 1x1": "C256O1024_i14x14_k1_bias",
    "MobileNet depthwise": "C512O512G512_i14x14_k3_p1_bias",
    "Inception 1x7": "C192O192_i17x17_k1x7_p0x3_bias",
    "DeepLab dilated": "C512O64_i33x33_k3_p4_d4_bias",
    "DCGAN generator": "transposed_C512O256_i4x4_k4_s2_p1",
    "U-Net up": "transposed_C128O64_i56x56_k2_s2_bias",
    "CycleGAN up": "transposed_C128O64_i32x32_k3_s2_p1_op1_bias",
    "FCN-8s upsampling": "transposed_C21O21_i34x34_k16_s8_p4",
    "StyleGAN depthwise": "transposed_C256O256G256_i32x32_k4_s2_p1",
}


def layer_verdict(runner: Runner, part: str, line: str, bias: bool = True) -> tuple[str, str]:
    """("right" | "near" | "wrong" | "skipped", why) for one part of one layer, with its bias or without."""
    declared = runner.declared
    problem = Problem.parse(line)
    if "bias" not in TAKES[part] or not bias:
        problem = replace(problem, bias=False)
    if part not in exact_parts(problem, declared.capacity):
        return "skipped", f"{part} of {problem}: too many terms for exact data in the declared formats"
    arrays = exact_arrays(problem, declared.capacity)
    answer = runner.run(Call(part, problem, arrays))
    if answer.kind in ("refused", "hung"):
        return "skipped", f"{part} of {problem}: {answer.kind} {answer.message}".rstrip()
    if answer.kind != "value" or not isinstance(answer.value, np.ndarray):
        return "wrong", f"{part} of {problem}: {answer.kind} {answer.message}".rstrip()
    due_shape = result_shape(part, problem)
    if answer.value.shape != due_shape:
        return "wrong", f"{part} of {problem}: shape {answer.value.shape}, due {due_shape}"
    got, due = contracted(part, problem, arrays, answer.value)
    wrong = int((got != due).sum())
    if not wrong:
        return "right", ""
    if (answer.value != np.rint(answer.value)).any():
        nearest, _ = contracted(part, problem, arrays, np.rint(answer.value))
        if (nearest == due).all():
            return "near", f"{part} of {problem}: not equal, but nearest to the integers due"
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
    if part == "grad_bias":
        return result, npconv.conv_bias(g, rank=problem.rank)
    if part == "forward":
        e = signs(f"{problem} e", (problem.O,))
        bias = _sum(arrays["bias"] * e, 0, G) if problem.bias else None
        return _signed(result, 1, e, G), npconv.conv(x, _signed(w, 0, e, G), bias, **p)
    if part == "grad_weight":
        e = signs(f"{problem} e", (problem.O,))
        shape = (G, *problem.weight_shape[1:])
        return _signed(result, 0, e, G), npconv.conv_weight(x, shape, _signed(g, 1, e, G), **p)
    e = signs(f"{problem} e", w.shape[1:2])  # the same signs in every group
    thin, every = _signed(w, 1, e, 1), np.tile(e, G)
    if part == "transposed":
        bias = _sum(arrays["bias"] * every, 0, G) if problem.bias else None
        due = npconv.conv_transpose(x, thin, bias, **p)
    else:
        due = npconv.conv_input((problem.N, G, *problem.i), thin, g, **p)
    return _signed(result, 1, every, G), due


def _signed(x: np.ndarray, axis: int, e: np.ndarray, groups: int) -> np.ndarray:
    return _sum(x * e.reshape([-1 if n == axis else 1 for n in range(x.ndim)]), axis, groups)


def _sum(x: np.ndarray, axis: int, groups: int) -> np.ndarray:
    """(..., G*c, ...) -> (..., G, ...)"""
    shape = (*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :])
    return x.reshape(shape).sum(axis=axis + 1)


def fits(declared: Declared) -> bool:
    """Whether the formats are wide enough for real layers at all."""
    return declared.capacity >= 2**16
