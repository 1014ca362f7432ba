"""Scratch: how much of it may be used, and memory that is kept between tiles and calls.

Fresh memory costs more than what is written into it, so that pieces are kept, unless the budget is small.

Each thread keeps one piece a purpose.  A piece is lent to one user at a time, who gives it back: a call made
from within another one, by a signal handler say, finds none and gets memory of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from weakref import WeakValueDictionary

import numpy as np

from npconv.arguments import integer
from npconv.record import listening

LEAST, MOST = 2**17, 2**24  # bytes of a piece: what is smaller costs little, what is larger is not kept

_kept = threading.local()
_lent: WeakValueDictionary[int, np.ndarray] = WeakValueDictionary()  # every piece that is in use, by its id


_budget: ContextVar[int] = ContextVar("npconv_scratch_budget", default=64 * 2**20)


def budget() -> int:
    """The scratch budget in bytes."""
    return _budget.get()


@contextmanager
def scratch_budget(bytes: int) -> Iterator[None]:
    """Inside the ``with`` block, keep what is allocated beside arguments and results below so many bytes.

    The default is 64 MiB; another holds in this thread only.  It is kept as far as one output's sum over one
    tap, at least, fits into it.  Not counted is what stands whole: floats narrower than float32, widened;
    integers of a convolution with one tap, as floats; sums that need Python ints; complex arrays,
    conjugated; an input with the border of a padding mode; several groups' weight in the order of the input
    gradient; what a sum over positions adds up.  Nor is the plan, half a kilobyte a tile, which is cached.
    Errors: TypeError where it is no integer, ValueError where it is not positive.

    >>> import numpy as np
    >>> from npconv import conv1d
    >>> with scratch_budget(2**20):
    ...     conv1d(np.ones((1, 1, 5)), np.ones((1, 1, 2)))
    array([[[2., 2., 2., 2.]]])
    """
    token = _budget.set(integer(bytes, "bytes", at_least=1))
    if bytes < 2 * MOST:
        forget()
    try:
        yield
    finally:
        _budget.reset(token)


def forget() -> None:
    """Give up what this thread keeps."""
    vars(_kept).clear()


def lend(purpose: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Uninitialised memory: a kept piece, or new memory where that is lent, too small or too large to keep."""
    size = prod(shape) * dtype.itemsize
    kept = LEAST < size <= min(MOST, budget() // 4) and budget() >= 2 * MOST  # four purposes, four pieces
    if not kept or dtype.hasobject or listening():  # who listens keeps what was made
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
