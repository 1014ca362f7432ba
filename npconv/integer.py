"""Quantised inference: integers with zero points, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from npconv import dtypes
from npconv.functional import conv
from npconv.geometry import IntOrInts, Padding


def conv_integer(
    input: ArrayLike,
    weight: ArrayLike,
    input_zero_point: ArrayLike = 0,
    weight_zero_point: ArrayLike = 0,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    *,
    within: type[np.integer] | np.dtype[np.integer] | str | None = None,
) -> np.ndarray:
    """The convolution of (input - input_zero_point) with (weight - weight_zero_point), in integers.

    Shapes: as for `conv`; input_zero_point is one number, weight_zero_point one number or one an
    output channel, (O,).  Padding is the input's zero point, so that it counts as nothing.
    dtypes: integers of any width -> int64, exact; `within` names a narrower one, int32 say, that
    every result must fit as well.

    Errors: as for `conv`; TypeError where an argument is not an integer, OverflowError where a
    result fits neither int64 nor `within`.

    >>> x = np.array([[[2, 3, 4, 5]]], np.uint8)
    >>> w = np.array([[[1, 1, 1]]], np.uint8)
    >>> conv_integer(x, w, input_zero_point=1, padding=1)
    array([[[3, 6, 9, 7]]])

    Meaning as ONNX's ConvInteger.
    """
    x, w = np.asarray(input), np.asarray(weight)
    zero_x, zero_w = np.asarray(input_zero_point), np.asarray(weight_zero_point)
    named = {"input": x, "weight": w, "input_zero_point": zero_x, "weight_zero_point": zero_w}
    for name, array in named.items():
        if not dtypes.is_integer(array.dtype):
            raise TypeError(f"{name}: its dtype is {array.dtype}; it must hold integers")
    if zero_x.ndim:
        raise ValueError(f"input_zero_point: its shape is {zero_x.shape}, but it must be one number")
    if zero_w.shape not in ((), w.shape[:1]):
        raise ValueError(
            f"weight_zero_point: its shape is {zero_w.shape}, but it must be one number or one an output "
            f"channel, {w.shape[:1]}"
        )
    limits = None if within is None else _limits(np.dtype(within))
    if zero_w.ndim:
        zero_w = zero_w.reshape(-1, *(1 for _ in w.shape[1:]))
    shifted_x = dtypes.difference(x, zero_x) if zero_x.any() else x
    shifted_w = dtypes.difference(w, zero_w) if zero_w.any() else w
    output = conv(shifted_x, shifted_w, None, stride, padding, dilation, groups)
    if limits is not None:
        _check_range(output, limits)
    return output


def _limits(dtype: np.dtype) -> np.iinfo:
    if dtype.kind not in "iu":
        raise TypeError(f"within: it is {dtype}; it must be a kind of integer, as int32")
    return np.iinfo(dtype)


def _check_range(output: np.ndarray, limits: np.iinfo) -> None:
    for extreme in (output.max(initial=0), output.min(initial=0)):
        if not limits.min <= extreme <= limits.max:
            raise OverflowError(
                f"within: a result is {extreme}, but {limits.dtype} holds only {limits.min} to {limits.max}"
            )
