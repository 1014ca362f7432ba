"""A map as a teacher draws it on the board: each array that a move made, then what slid over what."""

from __future__ import annotations

import numpy as np

from npconv.explain.drawing import beside, draw, picture
from npconv.explain.trace import Stage, Trace

# What an array is called once a move has made it.
CAPTIONS = {
    "dilate": "zeros between",
    "flip": "flipped",
    "swap": "axes swapped",
    "subsample": "every step-th",
    "groups_to_batch": "groups apart",
    "groups_to_channels": "groups in channels",
}


def board(made: Trace, result: str) -> list[str]:
    """The pictures of one map: A under the window, B the window, each with its moves; the result."""
    under, window = (made.chain(number) for number in made.slide.parents)
    final = draw(f"B slides over A = {result}", made.result, np.zeros(made.result.shape, bool))
    if len(under) == len(window) == 1:
        return beside([_row(under, "A"), _row(window, "B"), final])
    return [*_row(under, "A"), "", *_row(window, "B"), "", *final]


def _row(chain: list[Stage], letter: str) -> list[str]:
    """An array and what each move made of it; the last is what the window is or slides over."""
    captions = [*map(caption, chain[:-1]), f"{caption(chain[-1])} (= {letter})"]
    return beside(list(map(picture, chain, captions)), ["->"] * (len(chain) - 1))


def caption(stage: Stage) -> str:
    """The array's name, or what the move did."""
    if stage.step is None:
        return stage.name
    if stage.name == "pad":
        padding = stage.step.arguments[1]
        crops, adds = (any(test(end) for pair in padding for end in pair) for test in ((0).__gt__, (0).__lt__))
        return " and ".join(["cropped"] * crops + ["zeros around"] * adds)
    return CAPTIONS[stage.name]
