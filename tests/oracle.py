"""The convolution and its gradients by definition: one sum over one equation, in plain loops.

On every spatial axis the output p, the tap q and the input m meet where  s*p + d*q = l*m + lo.
Whichever of the three arrays is asked for, its elements are sums over the meetings.  Nothing here
comes from npconv and nothing is fast.  Results hold Python numbers (dtype object), so integers and
fractions are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

Pairs = Sequence[tuple[int, int]]


def count_windows(padded: int, extent: int, s: int) -> int:
    """The output size, found by laying one window after the other."""
    windows = 0
    while s * windows + extent <= padded:
        windows += 1
    return windows


def source(position: int, i: int, mode: str) -> int | None:
    """Which of i elements stands at this position of the padded line; None where a zero stands."""
    if 0 <= position < i:
        return position
    if mode == "zeros":
        return None
    if mode == "replicate":
        return 0 if position < 0 else i - 1
    if mode == "circular":
        return source(position + i if position < 0 else position - i, i, mode)
    assert mode == "reflect"
    return source(-position if position < 0 else 2 * (i - 1) - position, i, mode)


def meetings(
    i: int, k: int, o: int, s: int, d: int, l: int, lo: int, mode: str
) -> list[tuple[int, int, int]]:
    """All (m, q, p) of one axis with  s*p + d*q = l*m + lo;  with a padding mode, m is the cell copied."""
    found = []
    for p, q in product(range(o), range(k)):
        if mode == "zeros":
            found += [(m, q, p) for m in range(i) if s * p + d * q == l * m + lo]
        else:
            found.append((source(s * p + d * q - lo, i, mode), q, p))
    return found


def terms(
    input_shape: Sequence[int],
    weight_shape: Sequence[int],
    output_shape: Sequence[int],
    *,
    stride: Sequence[int],
    padding: Pairs,
    dilation: Sequence[int],
    groups: int,
    input_dilation: Sequence[int] | None = None,
    padding_mode: str = "zeros",
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """The indices (of the input, of the weight, of the output) of every term of T(x, w, g)."""
    N, _, *inputs = input_shape
    O, channels, *taps = weight_shape
    input_dilation = input_dilation or [1] * len(taps)
    axes = [
        meetings(i, k, o, s, d, l, lo, padding_mode)
        for i, k, o, s, d, l, (lo, _) in zip(
            inputs, taps, output_shape[2:], stride, dilation, input_dilation, padding
        )
    ]
    for n, out, c in product(range(N), range(O), range(channels)):
        group = out // (O // groups)
        for meeting in product(*axes):
            m, q, p = zip(*meeting)
            yield (n, group * channels + c, *m), (out, c, *q), (n, out, *p)


def _numbers(array: Any) -> np.ndarray:
    return np.asarray(array).astype(object)


def _zeros(shape: Sequence[int]) -> np.ndarray:
    return np.full(tuple(shape), 0, object)


def output_shape(
    input_shape: Sequence[int],
    weight_shape: Sequence[int],
    *,
    stride: Sequence[int],
    padding: Pairs,
    dilation: Sequence[int],
    input_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """(N, O, *sizes), each size counted."""
    N, _, *inputs = input_shape
    O, _, *taps = weight_shape
    input_dilation = input_dilation or [1] * len(taps)
    sizes = [
        count_windows((l * (i - 1) + 1 if i else 0) + lo + hi, d * (k - 1) + 1, s)
        for i, k, s, d, l, (lo, hi) in zip(inputs, taps, stride, dilation, input_dilation, padding)
    ]
    return (N, O, *sizes)


def output(x: Any, w: Any, bias: Any = None, **parameters: Any) -> np.ndarray:
    """y[n, o, p] = bias[o] + the sum of x[n, c, m] * w[o, c, q] over the meetings of p."""
    x, w = _numbers(x), _numbers(w)
    sized = {name: value for name, value in parameters.items() if name not in ("groups", "padding_mode")}
    y = _zeros(output_shape(x.shape, w.shape, **sized))
    for at_x, at_w, at_y in terms(x.shape, w.shape, y.shape, **parameters):
        y[at_y] += x[at_x] * w[at_w]
    return y if bias is None else y + _numbers(bias).reshape(1, -1, *[1] * (x.ndim - 2))


def input_gradient(input_shape: Sequence[int], w: Any, g: Any, **parameters: Any) -> np.ndarray:
    """gx[n, c, m] = the sum of g[n, o, p] * w[o, c, q] over the meetings of m."""
    w, g, gx = _numbers(w), _numbers(g), _zeros(input_shape)
    for at_x, at_w, at_y in terms(gx.shape, w.shape, g.shape, **parameters):
        gx[at_x] += g[at_y] * w[at_w]
    return gx


def weight_gradient(x: Any, weight_shape: Sequence[int], g: Any, **parameters: Any) -> np.ndarray:
    """gw[o, c, q] = the sum of g[n, o, p] * x[n, c, m] over the meetings of q."""
    x, g, gw = _numbers(x), _numbers(g), _zeros(weight_shape)
    for at_x, at_w, at_y in terms(x.shape, gw.shape, g.shape, **parameters):
        gw[at_w] += g[at_y] * x[at_x]
    return gw


def bias_gradient(g: Any) -> np.ndarray:
    """gb[o] = the sum of g[n, o, p] over n and p."""
    g = _numbers(g)
    gb = _zeros(g.shape[1:2])
    for index in np.ndindex(g.shape):
        gb[index[1]] += g[index]
    return gb


def transposed_output(
    x: Any,
    w: Any,
    bias: Any = None,
    *,
    stride: Sequence[int],
    padding: Pairs,
    dilation: Sequence[int],
    groups: int,
    output_padding: Sequence[int],
) -> np.ndarray:
    """Every x[n, c, p] paints x * w[c, o, q] into the cell s*p + d*q - lo, where there is such a cell."""
    x, w = _numbers(x), _numbers(w)
    N, C, *inputs = x.shape
    _, channels, *taps = w.shape
    sizes = [
        s * (i - 1) + d * (k - 1) + 1 - lo - hi + extra
        for i, k, s, d, (lo, hi), extra in zip(inputs, taps, stride, dilation, padding, output_padding)
    ]
    y = _zeros((N, channels * groups, *sizes))
    for n, c, out in product(range(N), range(C), range(channels)):
        group = c // (C // groups)
        for p, q in product(np.ndindex(*inputs), np.ndindex(*taps)):
            cell = [s * a + d * b - lo for a, b, s, d, (lo, _) in zip(p, q, stride, dilation, padding)]
            if all(0 <= position < size for position, size in zip(cell, sizes)):
                y[(n, group * channels + out, *cell)] += x[(n, c, *p)] * w[(c, out, *q)]
    return y if bias is None else y + _numbers(bias).reshape(1, -1, *[1] * (x.ndim - 2))


def inner(x: Any, y: Any) -> Any:
    """The sum of products of two arrays' elements, in Python numbers."""
    return sum(a * b for a, b in zip(_numbers(x).flat, _numbers(y).flat, strict=True))
