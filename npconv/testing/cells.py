"""Which element of an array as given stands at each place, where its memory is read in another order.

Every function here takes an array's shape and the number of groups.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from npconv.geometry import Shape
from npconv.testing.reading import as_stored

Cells = Callable[[Shape, int], np.ndarray]


def in_order(shape: Shape) -> np.ndarray:
    """The right cells.

    >>> in_order((2, 3)).tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    return np.arange(prod(shape)).reshape(shape)


def channels_last(shape: Shape, groups: int) -> np.ndarray:
    """Memory in the order (first, *spatial, second), read as such where it is not."""
    return as_stored(shape, (0, *range(2, len(shape)), 1))


def channels_first(shape: Shape, groups: int) -> np.ndarray:
    """Memory that lies in the order (first, *spatial, second), read as if it did not."""
    return in_order(shape).transpose((0, *range(2, len(shape)), 1)).reshape(shape)


def planes_turned(shape: Shape, groups: int) -> np.ndarray:
    """The last two axes in the other order."""
    rank = len(shape)
    return as_stored(shape, (*range(rank - 2), rank - 1, rank - 2))


def square_turned(shape: Shape, groups: int) -> np.ndarray:
    """The last two axes swapped where they are equal."""
    return in_order(shape).swapaxes(-1, -2) if _is_square(shape) else in_order(shape)


def rotated(quarters: int) -> Cells:
    """Planes rotated by so many quarters, where they are square."""

    def change(shape: Shape, groups: int) -> np.ndarray:
        cells = in_order(shape)
        return np.rot90(cells, quarters, axes=(-2, -1)) if _is_square(shape) else cells

    return change


def _is_square(shape: Shape) -> bool:
    return len(shape) > 3 and shape[-1] == shape[-2]


def channels_swapped(shape: Shape, groups: int) -> np.ndarray:
    """The first two axes in the other order."""
    return as_stored(shape, (1, 0, *range(2, len(shape))))


def channels_swapped_in_groups(shape: Shape, groups: int) -> np.ndarray:
    """Each group's part of the weight with its channel axes in the other order."""
    O, *rest = shape
    inside = channels_swapped((O // groups, *rest), 1)
    return np.concatenate([inside + group * inside.size for group in range(groups)])


def rows_dealt_out(shape: Shape, groups: int) -> np.ndarray:
    """The weight's output channels dealt out to the groups in turn."""
    return in_order(shape)[interleaved(shape[0], groups)]


def interleaved(count: int, groups: int) -> np.ndarray:
    """0, groups, 2*groups, ..., 1, ...: channels dealt out like cards."""
    return np.arange(count).reshape(count // groups, groups).T.reshape(-1)


def first_group_serves_all(shape: Shape, groups: int) -> np.ndarray:
    """Every group has the weight of the first."""
    return in_order(shape)[np.arange(shape[0]) % (shape[0] // groups)]


def first_group_serves_last(shape: Shape, groups: int) -> np.ndarray:
    """The last group has the weight of the first."""
    cells = in_order(shape)
    size = shape[0] // groups
    return np.concatenate([cells[: shape[0] - size], cells[:size]])


def wrong_pitch(shape: Shape, groups: int) -> np.ndarray:
    """Rows counted with the height in place of the width."""
    *front, H, W = shape
    if len(front) < 2:
        return in_order(shape)
    plane = np.minimum(np.arange(H)[:, None] * H + np.arange(W), H * W - 1)
    return in_order((*front, 1, 1)) * (H * W) + plane


def samples_apart(of_group: bool) -> Cells:
    """Samples that lie one channel's plane apart, or one group's, in place of all channels'."""

    def change(shape: Shape, groups: int) -> np.ndarray:
        N, C, *sizes = shape
        pitch = prod(sizes) * (C // groups if of_group else 1)
        return in_order((1, C, *sizes)) + pitch * np.arange(N).reshape(N, 1, *(1 for _ in sizes))

    return change
