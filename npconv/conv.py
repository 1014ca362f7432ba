"""The forward: im2col and one matrix product, the only place where arrays are multiplied and summed.

"Convolution" here is what every deep-learning framework calls so: cross-correlation, the weight is
not flipped.

    output[n, o, p] = sum over c, q of  input[n, c, s*p + d*q - lo] * weight[o, c, q]

The kernel is two-dimensional.  One spatial axis is two, of which the first has size 1; of three, the
first is folded into the channels.  So nothing outside this file knows how many axes there are.

A small problem is one pad and one slide.  A large one is the same, tile by tile, as plan.py cuts it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from npconv import dtypes
from npconv.plan import LONG, SMALL, TILE, Part, Phase, budget, plan, taps_innermost
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
    """Dilate the input, pad or crop it once, then slide the weight over it; tile by tile where it is large.

    Shapes: input (N, C, *spatial), weight (O, C/G, *taps) -> (N, O, *sizes), any number of spatial
    axes; each parameter has one entry an axis.  Integers give exact int64, or Python ints where a
    sum might need more.

    >>> x, w = np.arange(5.0).reshape(1, 1, 5), np.ones((1, 1, 2))
    >>> forward(x, w, stride=[1], padding=[(1, 0)], dilation=[1], input_dilation=[1], groups=1)
    array([[[0., 1., 3., 5., 7.]]])
    """
    sums = sums_type(input, weight)
    shape, phases = plan(
        input.shape, weight.shape, tuple(stride), tuple(padding), tuple(dilation), tuple(input_dilation),
        groups, sums.itemsize, budget(),
    )  # fmt: skip
    if not phases or sums == dtypes.OBJECT:  # small, or of Python ints, which no tile makes faster
        return _slide(pad(dilate(input, input_dilation), padding), weight, stride, dilation, groups, sums)
    output = _empty(shape, groups, weight, result_type(input, weight))
    if max(input_dilation) > 1:
        output[...] = 0  # what meets only inserted zeros is in no phase
    for phase in phases:
        outputs = _by_window(output[(..., *(x.outputs for x in phase.lines))], phase.widths)
        for part in phase.parts:
            _add_part(outputs, input, _rows(weight, phase, part), phase, part, sums)
    return output.reshape(shape)


def _add_part(
    outputs: np.ndarray, input: np.ndarray, rows: np.ndarray, phase: Phase, part: Part, sums: np.dtype
) -> None:
    """Slide a part of the weight over the input, tile by tile, and write or add the results."""
    stride, dilation = [x.s for x in phase.lines], [x.d for x in phase.lines]
    for tile in part.tiles:
        into = outputs[tile.output]
        straight = into if part.first else None
        made = _slide(pad(input[tile.input], tile.padding), rows, stride, dilation, part.groups, sums, straight)
        if not part.first:
            into += made.reshape(into.shape)
        elif made is not into:
            into[...] = made.reshape(into.shape)
        del made  # before the next tile's


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


def _empty(shape: tuple[int, ...], groups: int, weight: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """(N, G, O/G, *o), in memory as (O, N, *o) where N and o are short, as in a weight gradient."""
    N, O, *o = shape
    if prod(weight.shape[2:]) > prod(o):
        return np.moveaxis(np.empty((groups, O // groups, N, *o), dtype), 2, 0)
    return np.empty((N, groups, O // groups, *o), dtype)


def _by_window(y: np.ndarray, widths: tuple[int, ...]) -> np.ndarray:
    """(N, G, O/G, *o) -> (N, G, O/G, *w, *(o/w)): the outputs of one window, then the windows."""
    split = y.reshape(*y.shape[:3], *(n for o, w in zip(y.shape[3:], widths) for n in (o // w, w)))
    axes = range(3, split.ndim)
    return split.transpose(0, 1, 2, *axes[1::2], *axes[::2])


def _rows(weight: np.ndarray, phase: Phase, part: Part) -> np.ndarray:
    """A part of the weight: (O, C/G, *k), or (O*w, C/G, *window) where windows are shared."""
    alone = [slice(None) if len(x.places) > 1 else x.places[0][0] for x in phase.lines]
    rows = weight[(..., *alone)]
    if prod(phase.widths) == 1:
        rows = rows[part.weight]
        if min(rows.strides) >= 0 or prod(rows.shape[2:]) == 1:
            return rows
        # BLAS takes no backward strides.  With its outputs innermost the copy is several times faster.
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(rows, 0, -1)), -1, 0)
    O, channels, *taps = part.weight
    window = [q.stop - q.start for q in taps]
    wide = np.zeros((len(range(len(weight))[O]), *phase.widths, channels.stop - channels.start, *window), rows.dtype)
    whole = [[(q, slice(None))] if len(x.places) == 1 else x.places for x, q in zip(phase.lines, taps)]
    for places in product(*map(enumerate, whole)):
        a = [number for number, _ in places]
        met, at = zip(*(place for _, place in places))
        wide[(slice(None), *a, slice(None), *at)] = rows[(O, channels, *met)]
    return wide.reshape(-1, *wide.shape[1 + len(taps) :])


def _slide(
    x: np.ndarray, weight: np.ndarray, stride: Sequence[int], dilation: Sequence[int], groups: int,
    sums: np.dtype, into: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """The kernel for any number of axes: one is two, of which the first has size 1."""
    rank = weight.ndim - 2
    if rank == 2:
        return slide(x, weight, tuple(stride), tuple(dilation), groups, sums=sums, into=into)
    if rank > 2:
        return _slide_folded(x, weight, stride, dilation, groups, sums)
    if into is not None:
        into = into[:, :, :, None, :, None, :]
    y = slide(x[:, :, None], weight[:, :, None], (1, *stride), (1, *dilation), groups, sums=sums, into=into)
    return y if y is into else y[:, :, 0]


@recorded
def slide(
    x: np.ndarray, weight: np.ndarray, stride: tuple[int, int], dilation: tuple[int, int], groups: int,
    *, sums: np.dtype | None = None, into: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """The kernel: every window of x becomes a column, and the weight's rows meet the columns.

    Shapes: x (N, C, H, W), weight (O, C/G, KH, KW) -> (N, O, OH, OW).
    `into`, (N, G, O/G, *w, OH, OW) with w neighbours of a window, takes the result where it can be
    written there straight, and is what is returned then.
    """
    sums = sums or sums_type(x, weight)
    N, (O, C, KH, KW) = len(x), weight.shape
    windows = im2col(x, (KH, KW), stride, dilation)
    OH, OW = windows.shape[4:]
    small = windows.size <= SMALL and N <= 32
    # Samples with few columns stand side by side in one product.
    B, n = (N, 1) if small or OH * OW >= LONG else (1, N)
    turned = not small and taps_innermost(KW, OW, stride[1], dilation[1])
    if not small:
        # (N, C, KH, KW, OH, OW) -> (B, G, C/G, KH, KW, n, OH, OW)
        windows = windows.reshape(B, n, groups, C, KH, KW, OH, OW).transpose(0, 2, 3, 4, 5, 1, 6, 7)
        windows = _columns(windows, sums, turned)
    columns = windows.reshape(B, groups, C * KH * KW, n * OH * OW).astype(sums, copy=False)
    # (O, C/G, KH, KW) -> (G, O/G, C/G*KH*KW)
    rows = weight.reshape(groups, O // groups, C * KH * KW).astype(sums, copy=False)
    if C * KH * KW == 1 and columns.size > LONG:
        # NumPy keeps sums of one term from BLAS, ten times slower: a second one, 0 * 0.
        rows = np.concatenate([rows, np.zeros_like(rows)], axis=-1)
        columns = np.concatenate([columns, np.zeros_like(columns)], axis=-2)
    out = None if into is None or into.dtype != sums else _straight(into, B, n)
    turned = turned and O // groups <= 64
    if turned:  # few rows: BLAS is up to twice as fast at the transposed product
        rows, columns = columns.swapaxes(2, 3), rows.swapaxes(1, 2)
        if columns.shape[-2] < rows.shape[-2]:  # read more often than it is long
            columns = np.ascontiguousarray(columns)
        out = out.swapaxes(2, 3) if out is not None and out.strides[2] == out.itemsize else None
    made = np.matmul(rows, columns, out=out)
    if into is not None and out is not None:
        return into
    made = made.swapaxes(2, 3) if turned else made
    if n > 1:  # (1, G, O/G, n*OH*OW) -> (n, O, OH, OW)
        made = made.reshape(O, n, OH, OW).swapaxes(0, 1)
    made = made.reshape(N, O, OH, OW)
    return dtypes.settled(made) if result_type(x, weight) == dtypes.INT64 else made


def _straight(into: np.ndarray, B: int, n: int) -> np.ndarray | None:
    """(N, G, O/G, *w, OH, OW) -> (B, G, O/G*w, n*OH*OW), if that needs no copy."""
    y = np.moveaxis(into.reshape(B, n, *into.shape[1:]), 1, -3)
    if not (_join(y, 2, -3) and _join(y, -3, None)):
        return None
    return y.reshape(B, y.shape[1], -1, prod(y.shape[-3:]))


def _columns(windows: np.ndarray, dtype: np.dtype, turned: bool) -> np.ndarray:
    """The windows (B, G, C/G, KH, KW, n, OH, OW) with the taps, and the outputs, in one run each: one copy.

    turned: the runs of taps stand innermost.  Nothing is copied where they are runs already.
    """
    if windows.dtype == dtype and _join(windows, 2, 5) and _join(windows, 5, 8):
        (K, down), (P, along) = _run(windows, 2, 5), _run(windows, 5, 8)
        if down == dtype.itemsize and along >= K * down or along == dtype.itemsize and down >= P * along:
            return windows
    order = (0, 1, 5, 6, 7, 2, 3, 4) if turned else tuple(range(8))
    columns = _scratch(tuple(windows.shape[axis] for axis in order), dtype).transpose(order)
    columns[...] = windows
    return columns


_kept = threading.local()


def _scratch(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Uninitialised memory; between calls one piece is kept, as fresh memory costs more than the copy."""
    size = prod(shape) * dtype.itemsize
    if dtype.hasobject or not SMALL < size <= 2 * TILE:
        return np.empty(shape, dtype)
    if len(getattr(_kept, "bytes", b"")) < size:
        _kept.bytes = b""  # the old piece goes before the new one comes
        _kept.bytes = np.empty(size, np.uint8)
    return _kept.bytes[:size].view(dtype).reshape(shape)


def _join(x: np.ndarray, first: int, last: int | None) -> bool:
    """Whether these axes are one axis without a copy."""
    axes = [(n, step) for n, step in zip(x.shape[first:last], x.strides[first:last]) if n != 1]
    return all(step == n * inner for (_, step), (n, inner) in zip(axes, axes[1:]))


def _run(x: np.ndarray, first: int, last: int) -> tuple[int, int]:
    """The length of these axes as one, and its step in bytes."""
    steps = [step for n, step in zip(x.shape[first:last], x.strides[first:last]) if n != 1]
    return prod(x.shape[first:last]), steps[-1] if steps else x.itemsize


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
    OH = (H - dilation[0] * (taps[0] - 1) - 1) // stride[0] + 1
    OW = (W - dilation[1] * (taps[1] - 1) - 1) // stride[1] + 1
    batch, channel, row, column = x.strides
    shape = (N, C, *taps, OH, OW)
    steps = (batch, channel, row * dilation[0], column * dilation[1], row * stride[0], column * stride[1])
    # A single tap or output takes no step, which may be longer than a step can be.
    strides = tuple(step if n > 1 else 0 for n, step in zip(shape, steps))
    if not x.flags.c_contiguous:
        return as_strided(x, shape, strides, writeable=False)
    view = np.ndarray(shape, x.dtype, x, 0, strides)  # the same, ten times faster
    view.flags.writeable = False
    return view


def _slide_folded(
    x: np.ndarray, weight: np.ndarray, stride: Sequence[int], dilation: Sequence[int], groups: int, sums: np.dtype
) -> np.ndarray:
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
