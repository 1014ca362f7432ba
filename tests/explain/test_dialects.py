"""Each dialect's line says what npconv computes, or why that library cannot say it."""

from __future__ import annotations

import random
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from npconv import conv, conv_general_dilated, conv_transpose
from npconv.explain.dialects import DIALECTS, NOT, dialects
from npconv.explain.scene import digits
from npconv.problem import Problem


def random_problem(seed):
    """A small legal problem of 1 to 3 axes; every third one transposed."""
    generator = random.Random(seed)
    while True:
        rank, G, transposed = generator.choice((1, 2, 3)), generator.choice((1, 2)), seed % 3 == 0
        ends = generator.choice(((0, 0), (1, 1), (2, 2), (0, 1), (-1, -1)))
        problem = Problem(
            i=tuple(generator.randint(1, 6) for _ in range(rank)),
            k=tuple(generator.randint(1, 3) for _ in range(rank)),
            N=2, C=2 * G, O=G * generator.choice((1, 3)), G=G,
            stride=tuple(generator.randint(1, 3) for _ in range(rank)),
            padding=tuple(generator.choice((ends, (1, 1))) for _ in range(rank)),
            dilation=tuple(generator.randint(1, 2) for _ in range(rank)),
            output_padding=tuple(generator.randint(0, 1) for _ in range(rank)) if transposed else 0,
            bias=generator.choice((True, False)), transposed=transposed,
        )  # fmt: skip
        try:
            return problem.canonical()
        except ValueError:
            continue


PROBLEMS = [random_problem(seed) for seed in range(150)]


def solved(problem):
    """Its arrays, and npconv's own output."""
    x, w = digits(problem.input_shape, step=4), digits(problem.weight_shape)
    b = np.arange(1, problem.O + 1) if problem.bias else None
    return x, w, b, (conv_transpose if problem.transposed else conv)(x, w, b, **problem.parameters)


def test_pytorch_computes_the_same_from_its_line():
    expressible = 0
    for problem in PROBLEMS:
        line = dialects(problem)["PyTorch"]
        if line.startswith(NOT):
            assert any(lo != hi or lo < 0 for lo, hi in problem.padding), problem
            continue
        x, w, b, output = solved(problem)
        names = {"input": x, "weight": w, "bias": b}
        tensors = {
            name: None if a is None else torch.from_numpy(a.astype(float)) for name, a in names.items()
        }
        assert eval(line, {"F": F}, tensors).numpy().tolist() == output.tolist(), (problem, line)
        expressible += 1
    assert expressible > 60


def test_pytorch_computes_the_same_after_the_padding_that_is_advised():
    padded = 0
    for problem in PROBLEMS:
        line = dialects(problem)["PyTorch"]
        if "first input = " not in line:
            continue
        x, w, b, output = solved(problem)
        advised = line.split("first input = ")[1].removesuffix(", then padding 0")
        input = eval(advised, {"F": F}, {"input": torch.from_numpy(x)}).numpy()
        parameters = {**problem.parameters, "padding": 0}
        assert conv(input, w, b, **parameters).tolist() == output.tolist(), (problem, line)
        padded += 1
    assert padded > 20


@pytest.mark.parametrize("line", ["i1_k1_p-2:3", "i5x1_k2x1_p1x4:-3", "i2x3_k1_p0x-4:5_bias", "i1_k1_p-1:2"])
def test_pytorch_pads_before_it_crops_more_than_there_is(line):
    problem = Problem.parse(line)
    x, w, b, output = solved(problem)
    advised = dialects(problem)["PyTorch"].split("first input = ")[1].removesuffix(", then padding 0")
    input = eval(advised, {"F": F}, {"input": torch.from_numpy(x)}).numpy()
    assert conv(input, w, b, **{**problem.parameters, "padding": 0}).tolist() == output.tolist()


def test_the_general_convolution_computes_the_same_from_jaxs_line():
    jax = SimpleNamespace(lax=SimpleNamespace(conv_general_dilated=conv_general_dilated))
    for problem in PROBLEMS:
        x, w, b, output = solved(problem)
        line = dialects(problem)["JAX"]
        found = eval(line, {"jax": jax}, {"input": x, "weight": w, "bias": b})
        assert found.tolist() == output.tolist(), (problem, line)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_pytorchs_layer_knows_the_borders(mode):
    problem = Problem.parse(f"C2O3_i6x6_k3_s2_p1_bias_{mode}")
    lines = dialects(problem)
    assert all(line.startswith(NOT) for name, line in lines.items() if name != "PyTorch")
    x, w, b, output = solved(problem)
    layer, call = lines["PyTorch"].rsplit("(input)", 1)[0], ""
    module = eval(layer + call, {"torch": torch}).double()
    with torch.no_grad():
        module.weight.copy_(torch.from_numpy(w))
        module.bias.copy_(torch.from_numpy(b))
        assert module(torch.from_numpy(x.astype(float))).numpy().tolist() == output.tolist()


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_pytorchs_layer_is_named_exactly_where_pytorch_takes_the_border(mode):
    refused = 0
    for i, p in product(range(1, 5), range(5)):
        problem = Problem.parse(f"i6x{i}_k1_p{p}_{mode}")
        line, x = dialects(problem)["PyTorch"], torch.zeros(1, 1, 6, i)
        layer = torch.nn.Conv2d(1, 1, 1, padding=p, padding_mode=mode)
        try:
            layer(x)
            assert line.startswith("torch.nn.Conv2d"), problem
        except RuntimeError:
            refused += 1
            assert line.startswith(f"{NOT}: its {mode} padding is at most "), problem
            assert f" of {i} inputs, but on spatial axis 1 it is {p}; pad first" in line
    assert (refused > 0) == (mode != "replicate")


# Worked out by hand from each library's rules.
@pytest.mark.parametrize(
    "dialect, line, said",
    [
        ("TensorFlow/Keras", "i6x6_k3_psame", "keras.layers.Conv2D(1, (3, 3), strides=(1, 1), padding='same'"),
        ("TensorFlow/Keras", "i6x6_k3_s2", "padding='valid'"),
        ("TensorFlow/Keras", "C4O6G2_i6x6_k3x2", "its kernel (3, 2, 2, 6)"),
        ("TensorFlow/Keras", "transposed_C4O6_i6x6_k3x2", "its kernel (3, 2, 6, 4)"),
        ("TensorFlow/Keras", "i6x6_k3_s2_psame", "padding='same'"),
        ("TensorFlow/Keras", "i6x6_k3_s2_p1", f"{NOT} in one layer: padding ((1, 1), (1, 1)) is neither"),
        ("TensorFlow/Keras", "i6x6_k3_s2_d2", f"{NOT}: it refuses stride (2, 2) together with dilation (2, 2)"),
        ("TensorFlow/Keras", "i6x6_k3_p-1", f"{NOT}: padding ((-1, -1), (-1, -1)) crops"),
        ("TensorFlow/Keras", "transposed_i4_k3_s2", "keras.layers.Conv1DTranspose(1, (3,), strides=(2,), padding='valid'"),
        ("TensorFlow/Keras", "transposed_i4_k1_s2", f"{NOT}: padding ((0, 0),) with output size (7,)"),
        ("TensorFlow/Keras", "transposed_i4_k1_s2_op1", "padding='valid'"),
        ("TensorFlow/Keras", "transposed_i4_k3_s2_psame", "padding='same'"),
        ("TensorFlow/Keras", "transposed_C2O2G2_i4_k3", f"{NOT}: its transposed layers have no groups"),
        ("ONNX", "i6x7_k3x2_s2x1_p1:0x2_bias", "Conv(input, weight, bias; kernel_shape=[3, 2], strides=[2, 1], "
         "pads=[1, 2, 0, 2], dilations=[1, 1], group=1)"),
        ("ONNX", "i6x6_k3_p-1", f"{NOT}: pads must not be negative, and [-1, -1, -1, -1] are"),
        ("ONNX", "transposed_i4_k3_s2_op1", "ConvTranspose(input, weight; kernel_shape=[3], strides=[2], pads=[0, 0], "
         "output_padding=[1]"),
        ("oneDNN", "C4O6G2_i7_k3_d2_p1:0", "src 1x4x7, weights 2x3x2x3, dst 1x6x4, strides=(1,), dilates=(1,) "
         "(counted from 0), padding_l=(1,), padding_r=(0,)"),
        ("oneDNN", "i6_k3_p-1:1", f"{NOT}: padding_l must not be negative, and (-1,) is; crop the input first"),
        ("oneDNN", "i6_k3_p1:-1", f"{NOT}: padding_r + strides must be positive, and (-1,) + (1,) is not"),
        ("oneDNN", "i6_k3_s2_p1:-1", "padding_r=(-1,)"),
        ("oneDNN", "i4x4x4x4_k1", f"{NOT}: it has convolutions of 1 to 3 spatial axes, not 4"),
        ("PyTorch", "i4x4x4x4_k1", f"{NOT}: it has convolutions of 1 to 3 spatial axes, not 4"),
    ],
)  # fmt: skip
def test_a_dialects_line(dialect, line, said):
    assert said in dialects(Problem.parse(line))[dialect]


def test_every_dialect_says_something_of_every_problem():
    for problem in PROBLEMS:
        assert list(dialects(problem)) == list(DIALECTS)
        assert all(len(line) > 20 for line in dialects(problem).values())
