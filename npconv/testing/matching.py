"""Whether a result is what was predicted."""

from __future__ import annotations

import numpy as np

SIGNIFICANDS = (8, 11, 24, 53)  # bits: bfloat16, float16, float32, float64
ROUNDINGS = 4  # of a quotient: by the batch, by the positions, and into the result's format


def same(got: np.ndarray, predicted: np.ndarray, limit: np.ndarray | float = 0.0) -> np.ndarray:
    """Elements that are as predicted: equal, where the data are exact; else to within the limit.

    What was never written holds NaN or 0, as memory does before a call; any other number is somebody's
    result, and no element that was left out.  A quotient is rounded to the result's own precision.
    """
    quotient = predicted != np.rint(predicted)
    slack: np.ndarray | float = limit
    if not np.any(limit) and quotient.any():
        slack = np.where(quotient, ROUNDINGS * 2.0 ** -significand(got) * abs(predicted), 0.0)
    with np.errstate(invalid="ignore"):
        near = (got == predicted) | (abs(got - predicted) <= slack)
    return near | np.isnan(predicted) & (np.isnan(got) | (got == 0))


def significand(x: np.ndarray) -> int:
    """The bits of the shortest format that holds all these numbers.

    >>> significand(np.array([0.75, 256.0])), significand(np.float32([1 / 3]).astype(float))
    (8, 24)
    """
    fraction, _ = np.frexp(x[np.isfinite(x)])
    for bits in SIGNIFICANDS[:-1]:
        scaled = np.ldexp(fraction, bits)
        if (scaled == np.rint(scaled)).all():
            return bits
    return SIGNIFICANDS[-1]
