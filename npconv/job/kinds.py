"""The kinds of numbers that evidence is worked out in."""

from __future__ import annotations

import numpy as np


def is_exact(array: np.ndarray) -> bool:
    """Whether it holds integers, which do not round."""
    return array.dtype.kind in "biu"


def longest(array: np.ndarray) -> np.ndarray:
    """The same numbers as longdouble, or as its complex kind."""
    long = np.dtype(np.clongdouble if array.dtype.kind == "c" else np.longdouble)
    return array.astype(long)


def widest(array: np.ndarray) -> np.ndarray:
    """The same numbers in a kind so wide that its rounding hardly counts; integers as they are."""
    if is_exact(array):
        return array
    if array.real.dtype.itemsize >= 8:
        return longest(array)
    return array.astype(np.result_type(array, np.float64))


def magnitude(array: np.ndarray) -> np.ndarray:
    """The absolute values, as float64; as longdouble where they are, whose range is wider."""
    absolute: np.ndarray = np.abs(array.astype(float) if is_exact(array) else array)
    return absolute.astype(np.result_type(absolute.dtype, np.float64))
