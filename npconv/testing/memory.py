"""Ways in which the same values may lie in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def _reversed(x: np.ndarray) -> np.ndarray:
    return x[(slice(None, None, -1),) * x.ndim].copy()[(slice(None, None, -1),) * x.ndim]


def _strided(x: np.ndarray) -> np.ndarray:
    wide = np.zeros([2 * n for n in x.shape], x.dtype)
    view = wide[(slice(None, None, 2),) * x.ndim]
    view[...] = x
    return view


def _cut_out(x: np.ndarray) -> np.ndarray:
    wide = np.zeros([n + 2 for n in x.shape], x.dtype)
    view = wide[(slice(1, -1),) * x.ndim]
    view[...] = x
    return view


def _channels_last(x: np.ndarray) -> np.ndarray:
    return x if x.ndim < 3 else np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)


def _read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


# The same values, lying in memory in different ways.
MEMORY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "plain": lambda x: x,
    "Fortran order": np.asfortranarray,
    "every second element of a larger array": _strided,
    "a window of a larger array": _cut_out,
    "channels last": _channels_last,
    "backwards": _reversed,
    "read-only": _read_only,
}

# An array of one value, which takes the memory of one number: what the gradient of a sum is.
BROADCAST = "one number, broadcast"
MEMORY[BROADCAST] = lambda x: np.broadcast_to(x[(0,) * x.ndim], x.shape)
