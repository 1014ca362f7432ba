"""Memory that is kept between tiles and calls, as fresh memory costs more than what is written into it.

Each thread keeps one piece a purpose; what is in it lasts until the next request for that purpose.
"""

from __future__ import annotations

import threading
from math import prod

import numpy as np

from npconv.plan import SMALL, TILE

_kept = threading.local()


def scratch(purpose: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Uninitialised memory: a kept piece, or new memory where that is too small or too large to be kept."""
    size = prod(shape) * dtype.itemsize
    if dtype.hasobject or not SMALL < size <= 2 * TILE:
        return np.empty(shape, dtype)
    pieces = vars(_kept)
    if len(pieces.get(purpose, b"")) < size:
        pieces[purpose] = b""  # the old piece goes before the new one comes
        pieces[purpose] = np.empty(size, np.uint8)
    return pieces[purpose][:size].view(dtype).reshape(shape)


def scratch_zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros for a border."""
    zeros = scratch("border", shape, dtype)
    zeros[...] = 0
    return zeros
