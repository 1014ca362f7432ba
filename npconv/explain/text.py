"""A problem explained in plain text: sizes, formula, steps, every array, and one element taken apart."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from npconv.explain import narrate
from npconv.explain.board import board, caption
from npconv.explain.drawing import WIDTH
from npconv.explain.element import Element, busiest, cell_at, element
from npconv.explain.scene import Figure, Scene
from npconv.problem import Problem

TITLES = {
    "forward": "forward",
    "input": "gradient by the input",
    "weight": "gradient by the weight",
    "transpose": "transposed convolution, the way back",
    "double": "second order",
}


def run(problem: Problem, of: str = "forward", at: Sequence[int] | None = None) -> int:
    """Print an explanation, coloured where a terminal reads it; 0.  ValueError as for `explain`."""
    text = explain(problem, of, at)
    print(coloured(text) if sys.stdout.isatty() else text)
    return 0


def explain(problem: Problem, of: str = "forward", at: Sequence[int] | None = None) -> str:
    """One of a problem's maps, step by step, on small integers.

    of: "forward", "input", "weight", "transpose" or "double".  at: the index of the element to take
    apart, without its first two entries where those have size 1; by default one with most products.
    ValueError where there is no such map or element, or where pictures cannot show the problem.

    >>> text = explain(Problem.parse("i3_k2"), "weight")
    >>> print(text[text.index("ELEMENT") :])
    ELEMENT grad_weight[0] = 11, in brackets
      = x[0]*g[0] + x[1]*g[1]
      = 1*1 + 5*2
    """
    scene = Scene.of(problem)
    figures = scene.figures(of)
    if at is not None and len(figures) > 1:
        raise ValueError(
            f"element: {of!r} is {len(figures)} maps, each with elements of its own; leave it out"
        )
    shown = scene.transposed() if of == "transpose" else scene
    heading = f"{problem}: {TITLES[of]}"
    lines = [heading, "=" * len(heading), "", *_facts(shown)]
    for number, figure in enumerate(figures, start=1):
        of_many = f"MAP {number} OF {len(figures)}: a term of {figure.result}" if len(figures) > 1 else ""
        lines += ["", *([of_many] if of_many else []), *_figure(figure, at)]
    return "\n".join(lines)


def _facts(scene: Scene) -> list[str]:
    shapes = ", ".join(f"{name} {narrate.by(array.shape)}" for name, array in scene.arrays.items())
    sizes = narrate.transposed_sizes if scene.problem.transposed else narrate.sizes
    return [shapes, narrate.parameters(scene.geometry), *(f"  {line}" for line in sizes(scene.geometry))]


def _figure(figure: Figure, at: Sequence[int] | None) -> list[str]:
    made = figure.trace
    cell = busiest(figure) if at is None else cell_at(figure, at)
    chosen = np.zeros(made.result.size, bool)
    chosen[cell] = True
    steps = [
        line
        for number, step in enumerate(narrate.steps(figure), start=1)
        for line in wrap(f"{number}. {step}", WIDTH, initial_indent="  ", subsequent_indent="     ")
    ]
    return [
        *(line for said in narrate.formula(figure) for line in wrap(said, WIDTH, subsequent_indent="    ")),
        "",
        "STEPS",
        *steps,
        "",
        "ARRAYS",
        *_shapes(figure),
        "",
        *board(figure, made.feeding(len(made.stages) - 1, chosen)),
        "",
        *_element(element(figure, cell)),
    ]


def _shapes(figure: Figure) -> list[str]:
    """How the shapes change along each chain of moves."""
    made = figure.trace
    chains = [*map(made.chain, made.stages[made.slide].parents), made.after]
    said = (" -> ".join(_shape(figure, number) for number in chain) for chain in chains)
    return [
        line for text in said for line in wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]


def _shape(figure: Figure, number: int) -> str:
    stage = figure.trace.stages[number]
    shape = stage.array.shape
    # A slide along one spatial axis has another of size 1 before it.
    own = (*shape[:2], *shape[-figure.geometry.rank :]) if len(shape) > 2 else shape
    return f"{'B over A' if stage.summed else caption(stage)} {narrate.by(own)}"


def _element(found: Element) -> list[str]:
    symbols = [f"{a.symbol}*{b.symbol}" for a, b in found.products]
    numbers = [f"{_signed(a.value)}*{_signed(b.value)}" for a, b in found.products]
    if found.bias is not None:
        symbols.append(found.bias.symbol)
        numbers.append(_signed(found.bias.value))
    more = "1 more product" if found.zeros == 1 else f"{found.zeros} more products"
    zeros = f"  and {more} with a zero that was put in" if found.zeros else ""
    return [
        f"ELEMENT {found.symbol} = {found.value}, in brackets",
        *_sum(symbols),
        *_sum(numbers),
        *([zeros] if zeros else []),
    ]


def _sum(terms: Sequence[str]) -> list[str]:
    text = " + ".join(terms) if terms else "0, a sum without terms"
    return wrap(text, WIDTH, initial_indent="  = ", subsequent_indent="    ", break_long_words=False)


def _signed(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def coloured(text: str) -> str:
    """The same text for a terminal: headings bold, put-in zeros dim, brackets in reverse.

    >>> coloured("[ 3] .")
    '\\x1b[7m[ 3]\\x1b[0m \\x1b[2m.\\x1b[0m'
    """
    text = re.sub(r"(?m)^([A-Z]{4}.*)$", "\x1b[1m\\1\x1b[0m", text)
    text = re.sub(r"(?<![\w*+])\[ *[-\d.]+\]", "\x1b[7m\\g<0>\x1b[0m", text)
    return re.sub(r"(?m)(?<=[ ])\.(?= |$)", "\x1b[2m.\x1b[0m", text)
