"""The forward: im2col and one matrix product, the only place where arrays are multiplied and summed.

"Convolution" here is what every deep-learning framework calls so: cross-correlation, the weight is
not flipped.

    output[n, o, p] = sum over c, q of  input[n, c, s*p + d*q - lo] * weight[o, c, q]

The kernel is two-dimensional.  One spatial axis is two, of which the first has size 1; of three, the
first is folded into the channels.  So nothing outside this file knows how many axes there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from npconv import dtypes
from npconv.record import recorded
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
    """Dilate the input, pad or crop it once, then slide the weight over it.

    Shapes: input (N, C, *spatial), weight (O, C/G, *taps) -> (N, O, *sizes), any number of spatial
    axes; each parameter has one entry an axis.  Integers give exact int64.

    >>> x, w = np.arange(5.0).reshape(1, 1, 5), np.ones((1, 1, 2))
    >>> forward(x, w, stride=[1], padding=[(1, 0)], dilation=[1], input_dilation=[1], groups=1)
    array([[[0., 1., 3., 5., 7.]]])
    """
    x = pad(dilate(input, input_dilation), padding)
    rank = weight.ndim - 2
    if rank == 1:
        x, weight = x[:, :, None], weight[:, :, None]
        return slide(x, weight, (1, *stride), (1, *dilation), groups)[:, :, 0]
    if rank == 2:
        return slide(x, weight, tuple(stride), tuple(dilation), groups)
    return _slide_folded(x, weight, tuple(stride), tuple(dilation), groups)


@recorded
def slide(
    x: np.ndarray, weight: np.ndarray, stride: tuple[int, int], dilation: tuple[int, int], groups: int
) -> np.ndarray:
    """The kernel: every window of x becomes a column, and the weight's rows meet the columns.

    Shapes: x (N, C, H, W), weight (O, C/G, KH, KW) -> (N, O, OH, OW).
    """
    N, C, _, _ = x.shape
    O, _, KH, KW = weight.shape
    exact = dtypes.is_integer(x.dtype) and dtypes.is_integer(weight.dtype)
    if exact:  # NumPy would promote uint64 with int64 to float64
        dtype = dtypes.exact_type(weight[:1].size * dtypes.largest(x) * dtypes.largest(weight))
    else:
        dtype = x.dtype if x.dtype == weight.dtype else np.result_type(x, weight)
    windows = im2col(x, (KH, KW), stride, dilation)
    _, _, _, _, OH, OW = windows.shape
    # (N, C, KH, KW, OH, OW) -> (N, G, C/G*KH*KW, OH*OW)
    columns = windows.astype(dtype, copy=False).reshape(N, groups, C // groups * KH * KW, OH * OW)
    # (O, C/G, KH, KW) -> (G, O/G, C/G*KH*KW)
    rows = weight.astype(dtype, copy=False).reshape(groups, O // groups, C // groups * KH * KW)
    output = np.matmul(rows, columns).reshape(N, O, OH, OW)
    return dtypes.to_int64(output) if exact else output


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
    N, C, H, W = x.shape
    sizes = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip((H, W), taps, stride, dilation)]
    batch, channel, row, column = x.strides
    return as_strided(
        x,
        shape=(N, C, *taps, *sizes),
        strides=(
            batch, channel,
            row * dilation[0], column * dilation[1],
            row * stride[0], column * stride[1],
        ),
        writeable=False,
    )  # fmt: skip


def _slide_folded(
    x: np.ndarray, weight: np.ndarray, stride: tuple[int, ...], dilation: tuple[int, ...], groups: int
) -> np.ndarray:
    """More than two axes: each window along the first becomes a sample, with its taps as channels."""
    N, C, D, *plane = x.shape
    O, channels, KD, *taps = weight.shape
    OD = (D - dilation[0] * (KD - 1) - 1) // stride[0] + 1
    depths = stride[0] * np.arange(OD)[:, None] + dilation[0] * np.arange(KD)
    # (N, C, D, *plane) -> (N, C, OD, KD, *plane) -> (N*OD, C*KD, *plane)
    x = x[:, :, depths].swapaxes(1, 2).reshape(N * OD, C * KD, *plane)
    weight = weight.reshape(O, channels * KD, *taps)
    if len(plane) == 2:
        output = slide(x, weight, stride[1:], dilation[1:], groups)
    else:
        output = _slide_folded(x, weight, stride[1:], dilation[1:], groups)
    # (N*OD, O, *sizes) -> (N, O, OD, *sizes)
    return output.reshape(N, OD, O, *output.shape[2:]).swapaxes(1, 2)
