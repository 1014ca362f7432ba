"""The forward: im2col and one matrix product, the only place where arrays are multiplied and summed.

"Convolution" here is what every deep-learning framework calls so: cross-correlation, the weight is
not flipped.

    output[n, o, p] = sum over c, q of  input[n, c, s*p + d*q - lo] * weight[o, c, q]

The kernel is two-dimensional.  One spatial axis is two, of which the first has size 1; of three, the
first is folded into the channels.  So nothing above this file knows how many axes there are.

What is small is done in one piece, and that is the whole idea.  What is large is the same piece by
piece: plan.py says which pieces, tiles.py puts them together, columns.py lays them out in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import as_strided

from npconv import dtypes
from npconv.columns import in_one_copy, large_product
from npconv.plan import plan
from npconv.record import recorded
from npconv.scratch import budget
from npconv.tiles import assemble
from npconv.transforms import dilate, pad


def forward(
    input: np.ndarray,
    weight: np.ndarray,
    *,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    input_dilation: Sequence[int],
    groups: int,
) -> np.ndarray:
    """Dilate the input, pad or crop it once, then slide the weight over it; tile by tile where it is large.

    Shapes: input (N, C, *spatial), weight (O, C/G, *taps) -> (N, O, *sizes), any number of spatial
    axes; each parameter has one entry an axis.  Integers give exact int64, or Python ints where a
    sum might need more.

    >>> x, w = np.arange(5.0).reshape(1, 1, 5), np.ones((1, 1, 2))
    >>> forward(x, w, stride=[1], padding=[(1, 0)], dilation=[1], input_dilation=[1], groups=1)
    array([[[0., 1., 3., 5., 7.]]])
    """
    sums = sums_type(input, weight)
    asked = (
        input.shape, weight.shape, tuple(stride), tuple(padding), tuple(dilation), tuple(input_dilation),
        groups, sums.itemsize, budget(),
    )  # fmt: skip
    shape, phases = plan(*asked)
    if not phases or sums == dtypes.OBJECT:  # small, or of Python ints, which no tile makes faster
        return _slide(pad(dilate(input, input_dilation), padding), weight, stride, dilation, groups, sums)
    result = result_type(input, weight)
    output = assemble(_slide, input, weight, shape, phases, sums, result)
    if result != dtypes.INT64 and any(phase.shared for phase in phases) and np.isnan(output.min()):
        # What is not finite has met the zeros in a shared window, and so reached outputs that do not read it.
        output = assemble(_slide, input, weight, shape, plan(*asked, share=False).phases, sums, result)
    return output


def _slide(
    x: np.ndarray, weight: np.ndarray, stride: Sequence[int], dilation: Sequence[int], groups: int,
    sums: np.dtype, into: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """The kernel for any number of axes: one is two, of which the first has size 1."""
    rank = weight.ndim - 2
    if rank == 2:
        (sh, sw), (dh, dw) = stride, dilation
        return slide(x, weight, (sh, sw), (dh, dw), groups, sums=sums, into=into)
    if rank > 2:
        return _slide_folded(x, weight, stride, dilation, groups, sums)
    if into is not None:
        into = into[:, :, :, None, :, None, :]
    (s,), (d,) = stride, dilation
    y = slide(x[:, :, None], weight[:, :, None], (1, s), (1, d), groups, sums=sums, into=into)
    return y if y is into else y[:, :, 0]


@recorded
def slide(
    x: np.ndarray, weight: np.ndarray, stride: tuple[int, int], dilation: tuple[int, int], groups: int,
    *, sums: np.dtype | None = None, into: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """The kernel: every window of x becomes a column, and the weight's rows meet the columns.

    Shapes: x (N, C, H, W), weight (O, C/G, KH, KW) -> (N, O, OH, OW).
    `into`, (N, G, O/G, *w, OH, OW) with w neighbouring outputs for each window (sharing.py), takes the
    result where it can be written there straight, and is what is returned then.
    """
    sums = sums or sums_type(x, weight)
    N, (O, C, KH, KW) = len(x), weight.shape
    windows, rows = im2col(x, (KH, KW), stride, dilation), weight.astype(sums, copy=False)
    OH, OW = windows.shape[4:]
    if in_one_copy(windows, C * KH * KW, stride[1], dilation[1]):
        # (O, C/G, KH, KW) -> (G, O/G, C/G*KH*KW)
        rows = rows.reshape(groups, O // groups, C * KH * KW)
        # (N, C, KH, KW, OH, OW) -> (N, G, C/G*KH*KW, OH*OW)
        columns = windows.reshape(N, groups, C * KH * KW, OH * OW).astype(sums, copy=False)
        made = product(rows, columns)
    else:
        made = large_product(product, rows, windows, groups, stride[1], dilation[1], into)
        if made is into:
            return made
    made = made.reshape(N, O, OH, OW)
    if x.dtype is not sums and result_type(x, weight) is dtypes.INT64:  # never for floats, the usual case
        return dtypes.settled(made)
    return made


def product(rows: np.ndarray, columns: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """(.., G, O/G, K) times (.., G, K, P) -> (.., G, O/G, P): the one matrix product."""
    return np.matmul(rows, columns, out=out)


def im2col(
    x: np.ndarray, taps: tuple[int, int], stride: tuple[int, int], dilation: tuple[int, int]
) -> np.ndarray:
    """(N, C, H, W) -> (N, C, KH, KW, OH, OW): for each tap, the elements that it meets; a view.

    >>> im2col(np.arange(4).reshape(1, 1, 1, 4), (1, 3), (1, 1), (1, 1))[0, 0, 0]
    array([[[0, 1]],
    <BLANKLINE>
           [[1, 2]],
    <BLANKLINE>
           [[2, 3]]])
    """
    shape, strides = _windows(x.shape, x.strides, taps, stride, dilation)
    if not x.flags.c_contiguous:
        return as_strided(x, shape, strides, writeable=False)
    view = np.ndarray(shape, x.dtype, x, 0, strides)  # the same, ten times faster
    view.flags.writeable = False
    return view


@lru_cache(maxsize=4096)
def _windows(
    shape: tuple[int, ...], strides: tuple[int, ...], taps: tuple[int, int], stride: tuple[int, int],
    dilation: tuple[int, int],
) -> tuple[tuple[int, ...], tuple[int, ...]]:  # fmt: skip
    """The shape of all windows and the step in bytes along each of their axes."""
    N, C, H, W = shape
    OH = (H - dilation[0] * (taps[0] - 1) - 1) // stride[0] + 1
    OW = (W - dilation[1] * (taps[1] - 1) - 1) // stride[1] + 1
    batch, channel, row, column = strides
    windows = (N, C, *taps, OH, OW)
    steps = (batch, channel, row * dilation[0], column * dilation[1], row * stride[0], column * stride[1])
    # A single tap or output takes no step, which may be longer than a step can be.
    return windows, tuple(step if n > 1 else 0 for n, step in zip(windows, steps))


def _slide_folded(
    x: np.ndarray, weight: np.ndarray, stride: Sequence[int], dilation: Sequence[int], groups: int,
    sums: np.dtype,
) -> np.ndarray:  # fmt: skip
    """More than two axes: each window along the first becomes a sample, with its taps as channels."""
    N, C, D, *plane = x.shape
    O, channels, KD, *taps = weight.shape
    OD = (D - dilation[0] * (KD - 1) - 1) // stride[0] + 1
    batch, channel, depth, *steps = x.strides
    down, along = depth * stride[0] if OD > 1 else 0, depth * dilation[0] if KD > 1 else 0
    # (N, C, D, *plane) -> (N, OD, C, KD, *plane), a view -> (N*OD, C*KD, *plane)
    windows = as_strided(x, (N, OD, C, KD, *plane), (batch, down, channel, along, *steps), writeable=False)
    x = windows.reshape(N * OD, C * KD, *plane)
    weight = weight.reshape(O, channels * KD, *taps)
    output = _slide(x, weight, stride[1:], dilation[1:], groups, sums)
    # (N*OD, O, *sizes) -> (N, O, OD, *sizes)
    return output.reshape(N, OD, O, *output.shape[2:]).swapaxes(1, 2)


def result_type(input: np.ndarray, weight: np.ndarray) -> np.dtype:
    """int64 for two arrays of integers, which NumPy would promote otherwise, or the type of their product."""
    if input.dtype == weight.dtype and input.dtype.kind in "fc":
        return input.dtype
    integers = dtypes.is_integer(input.dtype) and dtypes.is_integer(weight.dtype)
    return dtypes.INT64 if integers else np.result_type(input, weight)


def sums_type(input: np.ndarray, weight: np.ndarray) -> np.dtype:
    """The type in which their sums are carried."""
    result = result_type(input, weight)
    if result != dtypes.INT64:
        return result
    return dtypes.exact_type(weight[:1].size * dtypes.largest(input) * dtypes.largest(weight))
