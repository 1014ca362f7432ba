"""A map as a teacher draws it on the board: each array that a move made, then what slid over what."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from npconv.explain.drawing import beside, draw
from npconv.explain.scene import Figure
from npconv.explain.trace import Stage, Trace

# What an array is called once a move has made it.
CAPTIONS = {
    "dilate": "zeros between",
    "flip": "flipped",
    "swap": "axes swapped",
    "groups_to_batch": "groups apart",
    "groups_to_channels": "groups in channels",
    "slide": "B slides over A",
    "plus bias": "plus bias",
}


def board(figure: Figure, marks: Mapping[int, np.ndarray] | None = None) -> list[str]:
    """The pictures of one map: A, which is padded; B, which slides over it; the result.

    Each array is drawn with its moves; `marks` says which cells of which stage stand in brackets.

    >>> from npconv.explain.scene import Scene
    >>> from npconv.problem import Problem
    >>> print("\\n".join(board(Scene.of(Problem.parse("i4_k2_s2")).figures("input")[0])))
    grad_output      zeros between      zeros around (= A)
    1 2          ->  1 . 2          ->  . 1 . 2 .
    <BLANKLINE>
    weight      flipped (= B)
    1 2     ->  2 1
    <BLANKLINE>
    B slides over A = grad_input
    1 2 2 4
    """
    made, marks = figure.trace, marks or {}
    under, window = (made.chain(number) for number in made.stages[made.slide].parents)
    rows = [_row(made, under, "= A", marks), _row(made, window, "= B", marks)]
    captions = [caption(made.stages[number]) for number in made.after]
    captions[-1] += f" = {figure.result}"
    last = beside(
        [_draw(made, *pair, marks) for pair in zip(made.after, captions)], ["->"] * (len(captions) - 1)
    )
    if len(under) == len(window) == 1:
        return beside([*rows, last])
    return [*rows[0], "", *rows[1], "", *last]


def caption(stage: Stage) -> str:
    """The array's name, or what the move did to make it."""
    if not stage.parents:
        return stage.name
    if stage.name == "pad":
        ends = [end for pair in stage.arguments[1] for end in pair]
        words = {"cropped": min(ends) < 0, "zeros around": max(ends) > 0}
        return " and ".join(word for word, true in words.items() if true)
    return CAPTIONS[stage.name]


def _row(made: Trace, chain: list[int], letter: str, marks: Mapping[int, np.ndarray]) -> list[str]:
    """An array, and what each move made of it."""
    captions = [caption(made.stages[number]) for number in chain]
    captions[-1] += f" ({letter})"
    return beside([_draw(made, *pair, marks) for pair in zip(chain, captions)], ["->"] * (len(chain) - 1))


def _draw(made: Trace, number: int, title: str, marks: Mapping[int, np.ndarray]) -> list[str]:
    stage = made.stages[number]
    marked = marks.get(number)
    return draw(
        title, stage.array, stage.put_in, None if marked is None else marked.reshape(stage.array.shape)
    )
