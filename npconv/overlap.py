"""Products whose columns overlap in memory, so that less is copied, or nothing.

The columns of neighbouring outputs hold mostly the same elements.  BLAS takes any matrix whose rows are a
constant step apart, so one copy can serve for several products, each a view that starts somewhere else:

    by rows      a product for each row of outputs.  Only the taps of a row are copied, with the input's
                 rows outermost; the next row of outputs meets the same memory from some rows further on
    by outputs   a product for each output, where taps are the longer runs, as in a weight gradient.  Each
                 window is read in place, from its first element to its last, and the weight gets zeros
                 for what stands between the window's rows

The weight is read anew for each of these products, so it should be small.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from npconv.scratch import give_back, lend, lend_zeros
from npconv.sharing import taps_innermost

LIGHT = 2**13  # elements of a group's weight, for products by rows: they stay in the first cache
SEVERAL = 16  # rows a group, for products by outputs: with more, one product with copied columns is as fast

Product = Callable[..., np.ndarray]
Axes = tuple[int, int, int]


def overlapping_product(
    product: Product,
    weight: np.ndarray,
    windows: np.ndarray,
    groups: int,
    stride: int,
    dilation: int,
    into: np.ndarray | None,
) -> np.ndarray | None:
    """What `large_product` in columns.py gives, or None where its own way is better.

    Weight (O*w, C/G, KH, KW), windows (N, C, KH, KW, OH, OW) -> (N, G, O/G*w, OH, OW), or `into`.
    """
    N, _, KH, KW, OH, OW = windows.shape
    O = len(weight) // groups
    turned = taps_innermost(KW, OW, stride, dilation)
    below = (
        into is not None and into.shape[3] > 1 == into.shape[4]
    )  # outputs one below the other share windows
    if not turned and (below or weight.size <= LIGHT * groups) and _rows_overlap(windows):
        if into is not None:
            return _product_by_rows(product, weight, windows, groups, into)
        made = np.empty((N, groups, O, 1, 1, OH, OW), weight.dtype)
        return _product_by_rows(product, weight, windows, groups, made)[:, :, :, 0, 0]
    lengths = _lengths(windows, groups) if turned and windows.dtype == weight.dtype else None
    # The weight with zeros must not be many times larger, and no larger than columns would be.
    if lengths and O <= SEVERAL and O * prod(lengths) <= min(4 * O, N * OH * OW) * KH * KW:
        made = _product_by_outputs(product, weight, windows, groups, *lengths)
        if not np.isnan(made.min()):  # or what is not finite has met the zeros
            if into is None:
                return made
            into[...] = made.reshape(into.shape)
            return into
    return None


def joined(x: np.ndarray, first: int, last: int | None) -> bool:
    """Whether these axes are one axis without a copy."""
    axes = [(n, step) for n, step in zip(x.shape[first:last], x.strides[first:last]) if n != 1]
    return all(step == n * inner for (_, step), (n, inner) in zip(axes, axes[1:]))


def _rows_overlap(windows: np.ndarray) -> bool:
    """Whether neighbouring rows of outputs meet the same rows of the input, some rows further on."""
    KH, row, down = windows.shape[2], windows.strides[2], windows.strides[4]
    return KH > 2 and row > 0 == down % row and down <= KH * row


def _product_by_rows(
    product: Product, weight: np.ndarray, windows: np.ndarray, groups: int, into: np.ndarray
) -> np.ndarray:
    """Weight (O*w, C/G, KH, KW), windows (N, C, KH, KW, OH, OW) -> `into`, (N, G, O/G, *w, OH, OW), filled."""
    N, C, KH, KW, OH, OW = windows.shape
    laid, columns, order = (_runs if _are_runs(windows) else _rows)(windows, groups, weight.dtype)
    rows = weight.reshape(groups, -1, C // groups, KH, KW).transpose(0, 1, *order)
    rows = rows.reshape(groups, -1, columns.shape[3])
    y = into.transpose(0, 5, 1, 2, 3, 4, 6)  # (N, OH, G, O/G, *w, OW)
    if y.dtype == weight.dtype and joined(y, 3, 6):
        product(rows, columns, y.reshape(*y.shape[:3], -1, OW))
    else:
        made = lend("product", (*columns.shape[:3], rows.shape[1], OW), weight.dtype)
        y[...] = product(rows, columns, made).reshape(y.shape)
        give_back("product", made)
    give_back("columns", laid)
    return into


def _rows(windows: np.ndarray, groups: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, Axes]:
    """(N, C, KH, KW, OH, OW) -> (N, OH, G, KH*C/G*KW, OW), with each row of the input copied once a tap of it.

    Also the memory that is lent for it, and the order of the taps' axes.
    """
    N, C, KH, KW, OH, OW = windows.shape
    C //= groups
    sample, channel, row, column, down, along = windows.strides
    s = down // row
    steps = sample, channel * C, row, channel, column, along
    once = as_strided(windows, (N, groups, s * (OH - 1) + KH, C, KW, OW), steps)
    laid = lend("columns", once.shape, dtype)
    laid[...] = once
    sample, group, row, _, column, along = laid.strides
    columns = as_strided(laid, (N, OH, groups, KH * C * KW, OW), (sample, s * row, group, column, along))
    return laid, columns, (3, 2, 4)


def _are_runs(windows: np.ndarray) -> bool:
    """Whether the rows of a tap column are one run of the input, and no row is in many of the runs.

    Between the rows stands only what the row's other tap columns read, so it may be read as well.
    """
    _, _, KH, KW, OH, OW = windows.shape
    row, column, down, along = windows.strides[2:]
    apart = OH == 1 or 2 * down >= KH * row
    return apart and along == windows.itemsize and row == OW * along + column * (KW - 1)


def _runs(windows: np.ndarray, groups: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, Axes]:
    """(N, C, KH, KW, OH, OW) -> (N, OH, G, C/G*KW*KH, OW), with the rows of each tap column copied as one run."""
    N, C, KH, KW, OH, OW = windows.shape
    sample, channel, row, column, down, along = windows.strides
    W = row // along
    run = W * (KH - 1) + OW
    laid = lend("columns", (N, OH, C, KW, KH * W), dtype)
    laid[..., :run] = as_strided(windows, (N, OH, C, KW, run), (sample, down, channel, column, along))
    return laid, laid.reshape(N, OH, groups, C // groups * KW * KH, W)[..., :OW], (2, 4, 3)


def _lengths(windows: np.ndarray, groups: int) -> tuple[int, int] | None:
    """(H, W): if a window is a run through the input, how many rows a channel takes of it, and elements a row."""
    _, C, KH, KW, _, _ = windows.shape
    C //= groups
    _, channel, row, column = windows.strides[:4]
    if KH == 1:  # a single row has no step
        row = channel if C > 1 else KW * column
    if column != windows.itemsize or row % column or row < KW * column:
        return None
    H = channel // row if C > 1 else KH
    if H < KH or C > 1 and channel % row:
        return None
    return H, row // column


def _product_by_outputs(
    product: Product, weight: np.ndarray, windows: np.ndarray, groups: int, H: int, W: int
) -> np.ndarray:
    """Weight (O, C/G, KH, KW), windows (N, C, KH, KW, OH, OW) -> (N, G, O/G, OH, OW)."""
    N, C, KH, KW, OH, OW = windows.shape
    C, O = C // groups, len(weight) // groups
    sample, channel, _, column, down, along = windows.strides
    run = ((C - 1) * H + KH - 1) * W + KW
    rows = lend_zeros("columns", (groups, O, C, H, W), weight.dtype)
    rows[..., :KH, :KW] = weight.reshape(groups, O, C, KH, KW)
    # (N, C, KH, KW, OH, OW) -> (OH, OW, G, run, N), a view
    columns = as_strided(windows, (OH, OW, groups, run, N), (down, along, channel * C, column, sample))
    made = product(rows.reshape(groups, O, C * H * W)[..., :run], columns, None)
    give_back("columns", rows)
    return made.transpose(4, 2, 3, 0, 1)
