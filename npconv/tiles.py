"""A large forward put together from its pieces: each slides a part of the weight over a tile of the input.

The plan says which pieces; here they are cut out, padded, and written or added to the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Any

import numpy as np

from npconv.plan import Part, Phase
from npconv.record import listening
from npconv.scratch import give_back, lend, lend_zeros
from npconv.sharing import stretched
from npconv.transforms import pad

Slide = Callable[..., np.ndarray]


def assemble(
    slide: Slide,
    input: np.ndarray,
    weight: np.ndarray,
    shape: tuple[int, ...],
    phases: tuple[Phase, ...],
    sums: np.dtype,
    result: np.dtype,
) -> np.ndarray:
    """The output of this shape and dtype, from the plan's phases; `slide` is the forward of one piece."""
    output = _empty(shape, input.shape[1] // weight.shape[1], weight, result)
    filled = sum(prod(x.o for x in phase.lines) * prod(phase.widths) for phase in phases)
    if filled < prod(shape[2:]):
        output[...] = 0  # what meets only inserted zeros is in no phase
    for phase in phases:
        outputs = _by_window(output[_spatial(x.outputs for x in phase.lines)], phase.widths)
        for part in phase.parts:
            rows = _rows(weight, phase, part)
            _add_part(slide, outputs, input, rows, phase, part, sums)
            give_back("rows", rows)
    return output.reshape(shape)


def _add_part(
    slide: Slide,
    outputs: np.ndarray,
    input: np.ndarray,
    rows: np.ndarray,
    phase: Phase,
    part: Part,
    sums: np.dtype,
) -> None:
    """Slide a part of the weight over the input, tile by tile, and write or add the results."""
    stride, dilation = [x.s for x in phase.lines], [x.d for x in phase.lines]
    for tile in part.tiles:
        into = outputs[tile.output]
        straight = into if part.first and not listening() else None  # who listens keeps what was made
        x = pad(input[tile.input], tile.padding, _border)
        made = slide(x, rows, stride, dilation, part.groups, sums, straight)
        if not part.first:
            into += made.reshape(into.shape)
        elif made is not into:
            into[...] = made.reshape(into.shape)
        give_back("border", x)
        del x, made  # before the next tile's


def _border(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Where a tile is padded."""
    return lend_zeros("border", shape, dtype)


def _empty(shape: tuple[int, ...], groups: int, weight: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """(N, G, O/G, *o), in memory as (O, N, *o) where N and o are short, as in a weight gradient."""
    N, O, *o = shape
    if prod(weight.shape[2:]) > prod(o):
        return np.moveaxis(np.empty((groups, O // groups, N, *o), dtype), 2, 0)
    return np.empty((N, groups, O // groups, *o), dtype)


def _by_window(y: np.ndarray, widths: tuple[int, ...]) -> np.ndarray:
    """(N, G, O/G, *o) -> (N, G, O/G, *w, *(o/w)): the outputs of one window, then the windows."""
    split = y.reshape(*y.shape[:3], *(n for o, w in zip(y.shape[3:], widths) for n in (o // w, w)))
    axes = range(3, split.ndim)
    return split.transpose(0, 1, 2, *axes[1::2], *axes[::2])


def _spatial(index: Iterable[Any]) -> tuple[Any, ...]:
    """The index that means the spatial axes, which are the last."""
    return (..., *index)


def _rows(weight: np.ndarray, phase: Phase, part: Part) -> np.ndarray:
    """A part of the weight: (O, C/G, *k), or (O*w, C/G, *window) where windows are shared."""
    rows = weight[_spatial(slice(None) if x.width > 1 else x.places[0][0] for x in phase.lines)]
    if not phase.shared:
        rows = rows[part.weight]
        if min(rows.strides) >= 0 or prod(rows.shape[2:]) == 1:
            return rows
        # BLAS takes no backward strides.  With its outputs innermost the copy is several times faster.
        turned = lend("rows", (*rows.shape[1:], len(rows)), rows.dtype)
        turned[...] = np.moveaxis(rows, 0, -1)
        return np.moveaxis(turned, -1, 0)
    O, channels, *taps = part.weight
    return stretched(rows[O, channels], phase.lines, taps)
