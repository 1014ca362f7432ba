"""The lessons: small problems on which the idea can be seen, each of which proves itself.

    python -m npconv                  all of them
    python -m npconv lesson strided   one
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from npconv.explain import narrate
from npconv.explain.board import board
from npconv.explain.drawing import WIDTH, beside, draw
from npconv.explain.proof import Proof, prove
from npconv.explain.scene import Scene
from npconv.problem import Problem


@dataclass(frozen=True)
class Lesson:
    """One lesson: what it is about, its problem, and what is drawn of it."""

    name: str
    title: str
    problem: str
    says: str
    pages: tuple[Callable[[Scene], list[str]], ...]


def forward_page(scene: Scene) -> list[str]:
    """The forward: pad, slide."""
    return _page("FORWARD", scene, "forward")


def input_page(scene: Scene) -> list[str]:
    """The gradient by the input: dilate, pad, flip, slide."""
    return _page("GRADIENT BY THE INPUT", scene, "input")


def weight_page(scene: Scene) -> list[str]:
    """The gradient by the weight: pad, slide with stride and dilation exchanged."""
    return _page("GRADIENT BY THE WEIGHT", scene, "weight")


def _page(heading: str, scene: Scene, of: str) -> list[str]:
    (figure,) = scene.figures(of)
    return [heading, *(f"  {step}" for step in narrate.steps(figure)), "", *board(figure)]


def remainder_page(scene: Scene) -> list[str]:
    """The inputs that no window reads, and their gradients, in brackets."""
    rows, columns = scene.geometry.axes
    x = scene.arrays["input"]
    unread, plain = np.zeros(x.shape, bool), np.zeros(x.shape, bool)
    unread[:, :, list(rows.unread)] = True
    unread[:, :, :, list(columns.unread)] = True
    (figure,) = scene.figures("input")
    return [
        "WHAT NO WINDOW READS (in brackets)",
        f"  row {rows.unread[0]} and column {columns.unread[0]} of the input lie behind the last window;",
        "  the output does not depend on them, so their gradient is zero",
        "",
        *beside([draw("input", x, plain, unread), draw("grad_input", figure.trace.result, plain, unread)]),
    ]


LESSONS = {
    lesson.name: lesson
    for lesson in (
        Lesson(
            "simple",
            "the window slides, and the gradient slides back",
            "i4x4_k3",
            "Each output is the sum of 9 products of a 3x3 window. Output p reads input m = p + q with tap "
            "q. Asked from the input's side: m hears from output p = m - q. The minus runs through the taps "
            "backwards, so the input's gradient needs the weight flipped, over grad_output with zeros "
            "around it. Asked from the tap's side: q = m - p, and p is what is summed over: no flip.",
            (forward_page, input_page, weight_page),
        ),
        Lesson(
            "padded",
            "what is padded in the forward is left out in the gradient",
            "i4x4_k3_p1",
            "The forward puts lo = hi = 1 zeros around the input. The input's gradient pads grad_output by "
            "K-1-lo instead of K-1: the windows that lay wholly in the border would only have given the "
            "gradient of the border, which nobody asked for. The weight's gradient pads as the forward did.",
            (forward_page, input_page, weight_page),
        ),
        Lesson(
            "strided",
            "zeros go in between and around",
            "i5x5_k3_s2",
            "With stride 2 the window skips every other place. The input's gradient is that of stride 1, in "
            "which the places skipped had gradient zero: so zeros go in between the elements of grad_output "
            "(as many as the stride minus one), then around it, and the flipped weight slides with stride "
            "1. In the weight's gradient the elements of grad_output must meet inputs that lie 2 apart: "
            "the stride has become a dilation.",
            (forward_page, input_page, weight_page),
        ),
        Lesson(
            "remainder",
            "a row and a column that no window reaches",
            "i6x6_k3_s2",
            "A 6x6 input gives the same 2x2 output as a 5x5 one: the third window would not fit. What is "
            "left over is the remainder r = 1. The input's gradient pads grad_output with r more zeros at "
            "the end, so that it has 6 rows again; the weight's gradient crops r from the input's end. "
            "The same r, once as +r and once as -r.",
            (remainder_page, input_page, weight_page),
        ),
        Lesson(
            "dilated",
            "stride and dilation trade places in the weight's gradient",
            "i6x6_k2_s2_d3",
            "Output p and tap q meet at input s*p + d*q - lo. In the forward, p steps by the stride s = 2 and the "
            "taps lie d = 3 apart. In the weight's gradient it is the taps that are asked for, so they "
            "step, by 3, and the elements of grad_output lie 2 apart: stride 3, dilation 2. The input's "
            "gradient keeps the taps d = 3 apart.",
            (forward_page, weight_page, input_page),
        ),
        Lesson(
            "grouped",
            "each group is a convolution of its own",
            "C2O4G2_i3x3_k2",
            "Two groups: outputs 0 and 1 see only input channel 0, outputs 2 and 3 only channel 1. The "
            "input's gradient keeps the groups: inside each, the weight's two channel axes trade places. "
            "In the weight's gradient each group's channels become the batch, and the groups stand side by "
            "side as channels.",
            (forward_page, input_page, weight_page),
        ),
    )
}
NAMES = tuple(LESSONS)


def run(name: str | None = None) -> int:
    """Print one lesson, or all of them in order; 0 if every one passes, else 1.

    ValueError where there is no lesson of that name.

    >>> run("simpel")
    Traceback (most recent call last):
    ValueError: lesson: there is no 'simpel'; choose one of simple, padded, strided, remainder, dilated, grouped
    """
    if name is not None and name not in LESSONS:
        raise ValueError(f"lesson: there is no {name!r}; choose one of {', '.join(NAMES)}")
    chosen = NAMES if name is None else (name,)
    passed = [teach(LESSONS[each]) for each in chosen]
    if len(chosen) > 1:
        print(f"{sum(passed)} of {len(passed)} lessons pass")
    return 0 if all(passed) else 1


def teach(lesson: Lesson) -> bool:
    """Print one lesson; whether all its proofs hold."""
    heading = f"{lesson.name}: {lesson.title}"
    scene = Scene.of(Problem.parse(lesson.problem))
    shapes = ", ".join(f"{name} {narrate.by(array.shape)}" for name, array in scene.arrays.items())
    print(heading, "=" * len(heading), "", *_paragraph(lesson.says), "", sep="\n")
    print(shapes, narrate.parameters(scene.geometry), sep="\n")
    print(*(f"  {line}" for line in narrate.sizes(scene.geometry)), "", sep="\n")
    try:
        for page in lesson.pages:
            print(*page(scene), "", sep="\n")
        proofs = prove(scene)
    except ValueError as error:
        proofs = [Proof("the maps run", False, str(error))]
    print("PROOF, in exact integers", *proofs, sep="\n")
    passed = all(proof.holds for proof in proofs)
    print("pass" if passed else "FAIL", "", sep="\n")
    return passed


def _paragraph(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > WIDTH - 2:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines
