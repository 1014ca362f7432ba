"""Pad, dilate, flip, swap: the moves from which every gradient is composed.

Each is linear, pure and total, multiplies nothing, and names its adjoint: the move A* for which
<A(x), y> = <x, A*(y)> for all x and y.  Arrays are laid out (batch, channels, *spatial).

    move                 adjoint
    pad(x, (lo, hi))     pad(y, (-lo, -hi))
    dilate(x, step)      subsample(y, step)
    flip(x)              flip(y)
    swap(x)              swap(y)
    groups_to_channels   groups_to_batch
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from npconv.record import recorded

Zeros = Callable[[tuple[int, ...], np.dtype], np.ndarray]


@recorded
def pad(x: np.ndarray, padding: Sequence[tuple[int, int]], zeros: Zeros = np.zeros) -> np.ndarray:
    """A window from -lo to i + hi on a line that holds x and is zero everywhere else.

    Positive ends add zeros and negative ends crop; a crop longer than the array eats into the zeros
    of the other side.  Adjoint: ``pad(y, (-lo, -hi))``.  `zeros` says where new memory comes from.

    >>> pad(np.array([[[1, 2, 3]]]), [(1, 2)])
    array([[[0, 1, 2, 3, 0, 0]]])
    >>> pad(np.array([[[1, 2, 3]]]), [(-1, 1)])
    array([[[2, 3, 0]]])
    >>> pad(np.array([[[1]]]), [(-2, 3)])
    array([[[0, 0]]])
    """
    sizes, source, target, cropped_only = _window(x.shape, tuple(padding))
    if cropped_only:
        return x if sizes == x.shape else x[source]
    padded = zeros(sizes, x.dtype)
    padded[target] = x[source]
    return padded


@lru_cache(maxsize=4096)
def _window(
    shape: tuple[int, ...], padding: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, ...], tuple[slice, ...], tuple[slice, ...], bool]:
    """The window's sizes; which part of the array it shows, and where; whether it shows nothing else."""
    sizes, source, target = [], [], []
    for i, (lo, hi) in zip(shape, ((0, 0),) * (len(shape) - len(padding)) + padding):
        start, stop = max(-lo, 0), i + min(hi, 0)
        shows = start < stop
        sizes.append(max(i + lo + hi, 0))
        source.append(slice(start, stop) if shows else slice(0, 0))
        target.append(slice(start + lo, stop + lo) if shows else slice(0, 0))
    cropped_only = all(part == slice(0, size) for part, size in zip(target, sizes))
    return tuple(sizes), tuple(source), tuple(target), cropped_only


@recorded
def dilate(x: np.ndarray, step: Sequence[int]) -> np.ndarray:
    """step - 1 zeros between neighbours, none outside.  Adjoint: ``subsample(y, step)``.

    >>> dilate(np.array([[[1, 2, 3]]]), [2])
    array([[[1, 0, 2, 0, 3]]])
    """
    if max(step) == 1:
        return x
    sizes = tuple(size * (i - 1) + 1 if i else 0 for i, size in zip(x.shape[2:], step))
    dilated = np.zeros(x.shape[:2] + sizes, x.dtype)
    dilated[_every(step)] = x
    return dilated


@recorded
def subsample(x: np.ndarray, step: Sequence[int]) -> np.ndarray:
    """Every step-th element, starting with the first.  Adjoint: ``dilate(y, step)``.

    >>> subsample(np.array([[[1, 0, 2, 0, 3]]]), [2])
    array([[[1, 2, 3]]])
    """
    return x[_every(step)]


def _every(step: Sequence[int]) -> tuple[Any, ...]:
    return (..., *(slice(None, None, size) for size in step))


@recorded
def flip(x: np.ndarray) -> np.ndarray:
    """Every spatial axis backwards.  Adjoint: itself.

    >>> flip(np.array([[[[1, 2], [3, 4]]]]))
    array([[[[4, 3],
             [2, 1]]]])
    """
    return x[(slice(None), slice(None)) + (slice(None, None, -1),) * (x.ndim - 2)]


@recorded
def swap(x: np.ndarray) -> np.ndarray:
    """The first two axes trade places.  Adjoint: itself.

    >>> swap(np.zeros((2, 3, 5, 7))).shape
    (3, 2, 5, 7)
    """
    return x.swapaxes(0, 1)


@recorded
def groups_to_channels(x: np.ndarray, groups: int) -> np.ndarray:
    """(G*N, C, ...) -> (N, G*C, ...): groups of samples become groups of channels.

    Adjoint: ``groups_to_batch(y, groups)``, which is also its inverse.

    >>> groups_to_channels(np.arange(4).reshape(4, 1, 1), 2)[..., 0]
    array([[0, 2],
           [1, 3]])
    """
    if groups == 1:
        return x
    GN, C, *spatial = x.shape
    grouped = x.reshape(groups, GN // groups, C, *spatial)  # (G, N, C, ...)
    return grouped.swapaxes(0, 1).reshape(GN // groups, groups * C, *spatial)


@recorded
def groups_to_batch(x: np.ndarray, groups: int) -> np.ndarray:
    """(N, G*C, ...) -> (G*N, C, ...): groups of channels become groups of samples.

    Adjoint: ``groups_to_channels(y, groups)``, which is also its inverse.

    >>> groups_to_batch(np.arange(4).reshape(2, 2, 1), 2)[..., 0]
    array([[0],
           [2],
           [1],
           [3]])
    """
    if groups == 1:
        return x
    N, GC, *spatial = x.shape
    grouped = x.reshape(N, groups, GC // groups, *spatial)  # (N, G, C, ...)
    return grouped.swapaxes(0, 1).reshape(groups * N, GC // groups, *spatial)
