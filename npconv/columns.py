"""How a large product lies in memory, so that BLAS runs at its full length and little is copied.

The product is the same as for a small one; only which axes stand together, and in which order, differs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from npconv.overlap import joined, overlapping_product
from npconv.plan import LONG, SMALL
from npconv.scratch import budget, give_back, lend
from npconv.sharing import taps_innermost

TINY = 2**13  # column elements: up to so many, any order of copying them is as good
FEW = 64  # rows: up to so many, BLAS is up to twice as fast at the transposed product

Product = Callable[..., np.ndarray]


def in_one_copy(windows: np.ndarray, terms: int, stride: int, dilation: int) -> bool:
    """Whether a plain copy of the windows is as good as any: they are few, or their outputs the longer runs.

    It takes memory of its own and a product a sample, so not a large part of the budget, nor many samples.
    `terms` is the length of each sum; `stride` and `dilation` are those of the last axis.
    """
    N, _, _, KW, _, OW = windows.shape
    if windows.size > TINY:
        small = windows.size <= SMALL and windows.nbytes * 16 <= budget()
        return small and 1 < terms and N <= 32 and not taps_innermost(KW, OW, stride, dilation)
    return N <= 32


def large_product(
    product: Product,
    weight: np.ndarray,
    windows: np.ndarray,
    groups: int,
    stride: int,
    dilation: int,
    into: np.ndarray | None,
) -> np.ndarray:
    """Weight (O*w, C/G, KH, KW), windows (N, C, KH, KW, OH, OW) -> (N, G, O/G*w, OH, OW).

    Or `into`, (N, G, O/G, *w, OH, OW), if that is given: then it is filled.  `stride` and `dilation` are
    those of the last axis.
    """
    N, C, KH, KW, OH, OW = windows.shape
    O, K, sums = len(weight) // groups, C // groups * KH * KW, weight.dtype
    made = overlapping_product(product, weight, windows, groups, stride, dilation, into)
    if made is not None:
        return made
    rows = weight.reshape(groups, O, K)
    # Samples with few columns stand side by side in one product.
    B, n = (N, 1) if OH * OW >= LONG else (1, N)
    # (N, C, KH, KW, OH, OW) -> (B, G, C/G, KH, KW, n, OH, OW)
    windows = windows.reshape(B, n, groups, C // groups, KH, KW, OH, OW).transpose(0, 2, 3, 4, 5, 1, 6, 7)
    turned = taps_innermost(KW, OW, stride, dilation)
    columns = _columns(windows, sums, turned).reshape(B, groups, K, n * OH * OW)
    if K == 1:
        # NumPy keeps sums of one term from BLAS, ten times slower: a second one, 0 * 0.
        rows, columns = _with_zero(rows, -1), _with_zero(columns, -2)
    few = turned and O <= FEW
    multiply = _turned(product) if few else product
    if into is None:
        made = multiply(rows, columns, None)
        give_back("columns", columns)
        return _by_sample(made, n, (N, groups, O, OH, OW))
    straight = _straight(into, B, n) if into.dtype == sums else None
    if straight is not None and (not few or straight.strides[2] == straight.itemsize):
        multiply(rows, columns, straight)
    else:
        kept = _laid("product", (B, groups, O, n * OH * OW), sums, (0, 1, 3, 2) if few else (0, 1, 2, 3))
        into[...] = _by_sample(multiply(rows, columns, kept), n, into.shape)
        give_back("product", kept)
    give_back("columns", columns)
    return into


def _with_zero(x: np.ndarray, axis: int) -> np.ndarray:
    """With one more zero along an axis of one element."""
    return np.concatenate([x, np.zeros_like(x)], axis=axis)


def _turned(product: Product) -> Product:
    """With few rows BLAS is up to twice as fast at the transposed product."""

    def turned(rows: np.ndarray, columns: np.ndarray, out: np.ndarray | None) -> np.ndarray:
        left, right = columns.swapaxes(2, 3), rows.swapaxes(1, 2)
        if right.shape[-2] < left.shape[-2]:  # read more often than it is long
            right = np.ascontiguousarray(right)
        return product(left, right, None if out is None else out.swapaxes(2, 3)).swapaxes(2, 3)

    return turned


def _columns(windows: np.ndarray, dtype: np.dtype, turned: bool) -> np.ndarray:
    """The windows (B, G, C/G, KH, KW, n, OH, OW) with the taps, and the outputs, in one run each: one copy.

    turned: the runs of taps stand innermost.  Nothing is copied where they are runs already.
    """
    if windows.dtype == dtype and joined(windows, 2, 5) and joined(windows, 5, 8):
        (K, down), (P, along) = _run(windows, 2, 5), _run(windows, 5, 8)
        if down == dtype.itemsize and along >= K * down or along == dtype.itemsize and down >= P * along:
            return windows
    order = (0, 1, 5, 6, 7, 2, 3, 4) if turned else tuple(range(8))
    columns = _laid("columns", windows.shape, dtype, order)
    columns[...] = windows
    return columns


def _laid(purpose: str, shape: tuple[int, ...], dtype: np.dtype, order: tuple[int, ...]) -> np.ndarray:
    """Kept memory of this shape, with its axes in this order from the outermost; an order that is its own
    inverse."""
    return lend(purpose, tuple(shape[axis] for axis in order), dtype).transpose(order)


def _run(x: np.ndarray, first: int, last: int) -> tuple[int, int]:
    """The length of these axes as one, and its step in bytes."""
    steps = [step for n, step in zip(x.shape[first:last], x.strides[first:last]) if n != 1]
    return prod(x.shape[first:last]), steps[-1] if steps else x.itemsize


def _by_sample(made: np.ndarray, n: int, shape: tuple[int, ...]) -> np.ndarray:
    """(B, G, O/G*w, n*OH*OW) -> (N, G, O/G, *w, OH, OW), which is `shape`: a view."""
    split = made.reshape(*made.shape[:2], *shape[2:-2], n, *shape[-2:])
    return np.moveaxis(split, -3, 1).reshape(shape)


def _straight(into: np.ndarray, B: int, n: int) -> np.ndarray | None:
    """(N, G, O/G, *w, OH, OW) -> (B, G, O/G*w, n*OH*OW), if that needs no copy."""
    y = np.moveaxis(into.reshape(B, n, *into.shape[1:]), 1, -3)
    if not (joined(y, 2, -3) and joined(y, -3, None)):
        return None
    return y.reshape(B, y.shape[1], -1, prod(y.shape[-3:]))
