"""Memory that is kept between tiles and calls, as fresh memory costs more than what is written into it.

Each thread keeps one piece a purpose.  A piece is lent to one user at a time, who gives it back: a call made
from within another one, by a signal handler say, finds none and gets memory of its own.
"""

from __future__ import annotations

import threading
from math import prod
from weakref import WeakValueDictionary

import numpy as np

from npconv.record import listening

LEAST, MOST = 2**17, 2**24  # bytes of a piece: what is smaller costs little, what is larger is not kept

_kept = threading.local()
_lent: WeakValueDictionary[int, np.ndarray] = WeakValueDictionary()  # every piece that is in use, by its id


def lend(purpose: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Uninitialised memory: a kept piece, or new memory where that is lent, too small or too large to keep."""
    size = prod(shape) * dtype.itemsize
    if dtype.hasobject or not LEAST < size <= MOST or listening():  # who listens keeps what was made
        return np.empty(shape, dtype)
    piece = vars(_kept).pop(purpose, None)
    if piece is None or len(piece) < size:
        piece = None  # the old piece goes before the new one comes
        piece = np.empty(size, np.uint8)
    _lent[id(piece)] = piece
    return piece[:size].view(dtype).reshape(shape)


def give_back(purpose: str, lent: np.ndarray) -> None:
    """Keep a piece for the next user; what was not lent is left alone."""
    piece = lent.base
    if piece is not None and _lent.get(id(piece)) is piece:
        del _lent[id(piece)]
        vars(_kept)[purpose] = piece


def lend_zeros(purpose: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The same, filled with zeros."""
    zeros = lend(purpose, shape, dtype)
    zeros[...] = 0
    return zeros
