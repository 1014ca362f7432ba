"""What the lessons draw: each page is a heading and its pictures, from a scene as it ran."""

from __future__ import annotations

import numpy as np

from npconv import conv, conv_bias, conv_transpose
from npconv.explain import narrate
from npconv.explain.board import board
from npconv.explain.drawing import beside, draw
from npconv.explain.scene import Figure, Scene
from npconv.explain.trace import trace
from npconv.problem import Problem
from npconv.transforms import flip


def forward(scene: Scene) -> list[str]:
    """The forward: pad, slide."""
    return _page("FORWARD", scene, "forward")


def input_gradient(scene: Scene) -> list[str]:
    """The gradient by the input: dilate, pad, flip, slide."""
    return _page("GRADIENT BY THE INPUT", scene, "input")


def weight_gradient(scene: Scene) -> list[str]:
    """The gradient by the weight: pad, slide with stride and dilation exchanged."""
    return _page("GRADIENT BY THE WEIGHT", scene, "weight")


def _page(heading: str, scene: Scene, of: str) -> list[str]:
    (figure,) = scene.figures(of)
    return [heading, *(f"  {step}" for step in narrate.steps(figure)), "", *board(figure)]


def flipped(scene: Scene) -> list[str]:
    """The mathematicians' convolution: the same forward over the flipped weight."""
    made = trace(
        lambda input, weight: conv(input, flip(weight), **scene.problem.parameters),
        {name: scene.arrays[name] for name in ("input", "weight")},
    )
    figure = Figure("output", "output", {"input": "input", "weight": "weight"}, scene.geometry, made)
    return ["CONVOLUTION AS MATHEMATICIANS MEAN IT", "  flip the weight, then slide it", "", *board(figure)]


def unread(scene: Scene) -> list[str]:
    """The inputs that no window reads, and their gradients, in brackets."""
    rows, columns = scene.geometry.axes
    x = scene.arrays["input"]
    marked, plain = np.zeros(x.shape, bool), np.zeros(x.shape, bool)
    marked[:, :, list(rows.unread)] = True
    marked[:, :, :, list(columns.unread)] = True
    (figure,) = scene.figures("input")
    return [
        "WHAT NO WINDOW READS (in brackets)",
        f"  row {rows.unread[0]} and column {columns.unread[0]} of the input lie behind the last window;",
        "  the output does not depend on them, so their gradient is zero",
        "",
        *beside([draw("input", x, plain, marked), draw("grad_input", figure.trace.result, plain, marked)]),
    ]


def bias(scene: Scene) -> list[str]:
    """The gradient by the bias: one sum a channel."""
    g = scene.arrays["grad_output"]
    sums = conv_bias(g)
    return [
        "GRADIENT BY THE BIAS",
        "  sum grad_output over samples and positions, for each channel",
        "",
        *draw("grad_output [sample,channel]", g, np.zeros(g.shape, bool)),
        "",
        *(f"grad_bias[{channel}] = {value}" for channel, value in enumerate(sums.tolist())),
    ]


def output_paddings(scene: Scene) -> list[str]:
    """Several input sizes give one output size; output_padding says which of them is meant."""
    p = scene.problem
    lines = ["WHICH SIZE IS MEANT"]
    for extra in range(max(*scene.geometry.stride, *scene.geometry.dilation)):
        told = {**p.parameters, "output_padding": extra}
        rows = conv_transpose(scene.arrays["input"], scene.arrays["weight"], **told).shape[-1]
        (o,) = {
            axis.o
            for axis in Problem(i=(rows, rows), k=p.k, stride=p.stride, padding=p.padding).geometry.axes
        }
        lines.append(
            f"  a convolution makes {o} of {rows}; back from {o} with output_padding {extra}: {rows}"
        )
    return lines


def triangle(scene: Scene) -> list[str]:
    """The three maps and their derivatives, which are the three maps."""
    del scene
    return [
        "THREE MAPS, AND NO MORE",
        "  map            its derivative by the first     by the second argument",
        "  y = F(x, w)    <F, g> by x: X(w, g)            <F, g> by w: W(x, g)",
        "  X(w, g)        <X, u> by w: W(u, g)            <X, u> by g: F(u, w)",
        "  W(x, g)        <W, v> by x: X(v, g)            <W, v> by g: F(x, v)",
        "",
        "  F the forward, X the input's gradient, W the weight's;",
        "  u is shaped like x, v like w, g like y",
    ]


def second_order(scene: Scene) -> list[str]:
    """The four maps of which the gradients of both gradients consist."""
    lines = [
        "THE GRADIENTS OF THE GRADIENTS",
        "  u arrives at grad_input (grad_grad_input), v at grad_weight",
    ]
    for number, figure in enumerate(scene.figures("double"), start=1):
        lines += [
            "",
            f"{number}. a term of the gradient by {figure.result.removeprefix('grad_')}",
            *board(figure),
        ]
    return lines


def numbers(scene: Scene) -> list[str]:
    """Where float32 stops counting, and where the order of a sum begins to matter."""
    del scene
    most = 2**24
    ones = np.ones((1, 1, 2), np.float32)
    rounded = conv(np.array([[[most, 1]]], np.float32), ones)
    exact = conv(np.array([[[most, 1]]]), ones.astype(int))
    a, b, c = (np.float32(v) for v in (0.1, 0.5, 0.8))
    return [
        "WHERE ROUNDING BEGINS",
        f"  {most} + 1 in float32: {int(rounded.item())}; in integers: {exact.item()}",
        f"  in float32 (0.1 + 0.5) + 0.8 is {(a + b) + c!s}, and 0.1 + (0.5 + 0.8) is {a + (b + c)!s}",
    ]
