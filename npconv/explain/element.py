"""One element of a result: the products that make it up, by symbol and by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from npconv.explain.scene import Figure
from npconv.explain.trace import Stage, Trace

LETTERS = {
    "input": "x",
    "weight": "w",
    "bias": "b",
    "output": "y",
    "grad_output": "g",
    "grad_grad_input": "hx",
    "grad_grad_weight": "hw",
}


@dataclass(frozen=True)
class Factor:
    """One cell of a given array."""

    symbol: str
    value: int


@dataclass(frozen=True)
class Element:
    """A cell of a result and what was summed for it; `zeros` counts the products with a put-in zero."""

    symbol: str
    value: int
    products: tuple[tuple[Factor, Factor], ...]
    zeros: int
    bias: Factor | None


def symbol(name: str, shape: Sequence[int], cell: int) -> str:
    """A cell's symbol; leading axes of size 1 are left out.

    >>> symbol("weight", (1, 1, 3, 3), 5), symbol("grad_input", (1, 2, 4), 6)
    ('w[1,2]', 'grad_input[0,1,2]')
    """
    index = [int(at) for at in np.unravel_index(cell, shape)]
    shown = index[2:] if tuple(shape[:2]) == (1, 1) and len(shape) > 2 else index
    return f"{LETTERS.get(name, name)}[{','.join(map(str, shown))}]"


def cell_at(figure: Figure, index: Sequence[int]) -> int:
    """The flat number of a cell of the result; ValueError where there is none."""
    shape = _shape(figure)
    left_out = (0, 0) if shape[:2] == (1, 1) and len(index) == len(shape) - 2 else ()
    full = (*left_out, *index)
    if len(full) != len(shape):
        spatial = f" or {len(shape) - 2}" if shape[:2] == (1, 1) else ""
        raise ValueError(
            f"element: {list(index)} has {len(index)} entries, but {figure.result} has the shape {shape}; "
            f"give {len(shape)}{spatial} indices"
        )
    if not all(0 <= at < size for at, size in zip(full, shape)):
        raise ValueError(f"element: {list(index)} is not in {figure.result}, whose shape is {shape}")
    return int(np.ravel_multi_index(full, shape))


def busiest(figure: Figure) -> int:
    """The first cell into which most products go: the one from which there is most to learn."""
    return max(range(figure.trace.result.size), key=lambda cell: len(element(figure, cell).products))


def element(figure: Figure, cell: int) -> Element:
    """What makes up one cell of a figure's result.

    >>> from npconv.explain.scene import Scene
    >>> from npconv.problem import Problem
    >>> (figure,) = Scene.of(Problem.parse("i5x5_k3_s2")).figures("input")
    >>> found = element(figure, 2)
    >>> found.symbol, found.value, [(a.symbol, b.symbol) for a, b in found.products], found.zeros
    ('grad_input[0,2]', 5, [('g[0,0]', 'w[0,2]'), ('g[0,1]', 'w[0,0]')], 7)
    """
    made = figure.trace
    slide, last = made.stages[made.slide], made.stages[-1]
    summed = last.roots[cell]
    pairs = [
        tuple(_factor(made, parent, at) for parent, at in zip(slide.parents, pair))
        for pair in zip(*(sources[summed] for sources in slide.sources))
    ]
    products = tuple((a, b) for a, b in pairs if a is not None and b is not None)
    bias = None
    if last.name == "plus bias":
        bias = _factor(made, last.parents[1], last.sources[1][cell])
    name = symbol(figure.result, _shape(figure), cell)
    return Element(name, int(last.array.reshape(-1)[cell]), products, len(pairs) - len(products), bias)


def _factor(made: Trace, number: int, cell: int) -> Factor | None:
    stage = made.stages[number]
    root = int(stage.roots[cell])
    if root < 0:
        return None
    given = _given(made, stage)
    return Factor(symbol(given.name, given.array.shape, root), int(stage.array.reshape(-1)[cell]))


def _given(made: Trace, stage: Stage) -> Stage:
    return _given(made, made.stages[stage.parents[0]]) if stage.parents else stage


def _shape(figure: Figure) -> tuple[int, ...]:
    """The result's own shape: a slide of one spatial axis has another of size 1 before it."""
    shape = figure.trace.result.shape
    return (*shape[:2], *shape[len(shape) - figure.geometry.rank :])
