"""bfloat16 in .npy files: NumPy has no name for it, so they hold it as raw 2-byte values.

A bfloat16 is the upper half of a float32.
"""

from __future__ import annotations

import numpy as np

RAW = np.dtype("V2")


def is_bfloat16(array: np.ndarray) -> bool:
    """Whether this is what a .npy file gives back of a bfloat16 array."""
    return array.dtype == RAW


def widened(array: np.ndarray) -> np.ndarray:
    """The same numbers as float32.

    >>> widened(np.array([0x3F80, 0xC000], np.uint16).view(RAW))
    array([ 1., -2.], dtype=float32)
    """
    upper = np.ascontiguousarray(array).view(np.uint16)
    return (upper.astype(np.uint32) << 16).view(np.float32).reshape(array.shape)


def narrowed(array: np.ndarray) -> np.ndarray:
    """float32 numbers rounded to the nearest bfloat16, ties to even, as raw 2-byte values.

    >>> x = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1e-40, np.inf], np.float32)
    >>> [hex(bits) for bits in narrowed(x).view(np.uint16).tolist()]
    ['0x3f80', '0x3f82', '0x1', '0x7f80']
    """
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    upper = bits >> 16
    # Half a unit less one, and one more where the last kept bit is odd: only then does a tie carry.
    rounded = (bits + 0x7FFF + (upper & 1)) >> 16
    # A NaN's bits must not round into infinity's: keep its sign, set its quiet bit.
    kept = np.where(np.isnan(array), upper | 0x40, rounded).astype(np.uint16)
    return kept.view(RAW).reshape(array.shape)
