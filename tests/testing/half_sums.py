"""A kernel that carries the sums of one of its paths in float16."""

import numpy as np

from npconv import conv


def half_sums_of_single_taps(x, w, b, **p):
    """A forward whose path for windows of a single tap rounds each partial sum to float16."""
    if w.shape[2:] != (1, 1):
        return conv(x, w, b, **p)
    total = np.float16(0)
    for c in range(w.shape[1]):
        tap = np.where(np.arange(w.shape[1])[:, None, None] == c, w, np.float16(0))
        total = (total + conv(x, tap, None, **p)).astype(np.float16)
    return total if b is None else (total + b[:, None, None]).astype(np.float16)
