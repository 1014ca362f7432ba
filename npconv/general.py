"""The general convolution: input dilation, batch groups and any layout, as jax.lax has it.

The trilinear form is symmetric in its three spacings, so this one function is closed: its gradients,
and a transposed convolution, are itself with other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from npconv import rules
from npconv.form import Form, View
from npconv.functional import MAPS
from npconv.geometry import (
    Axis,
    Geometry,
    Pair,
    Shape,
    integer,
    output_size,
    paddings,
    per_axis,
    same_total,
)
from npconv.transforms import groups_to_batch, groups_to_channels

# One permutation an array: where batch (or output features), features and each spatial axis stand.
Layout = tuple[int, ...]


def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Sequence[str] | Sequence[Sequence[int]] | None = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
) -> np.ndarray:
    """Any convolution: both arrays dilated, any layout, groups of features or of samples.

    Shapes, for the default layout: lhs (N, C, *spatial), rhs (O, C/feature_group_count, *taps)
    -> (N/batch_group_count, O, *sizes).  Sizes may be 0.

    padding: "VALID", "SAME", "SAME_LOWER" (none of them with an lhs_dilation), or one (lo, hi) pair
    an axis; it comes after lhs_dilation, and negative values crop.
    dimension_numbers: None, three strings such as ("NHWC", "HWIO", "NHWC"), or three sequences of
    axes, each naming batch (rhs: output features), features (rhs: input features), spatial axes.
    Strides, paddings and dilations follow the order of the spatial letters in the rhs string.
    dtypes and errors as for `conv`.

    >>> x = np.arange(1, 4).reshape(1, 3, 1)                        # N W C
    >>> w = np.array([1, 10]).reshape(2, 1, 1)                      # W I O
    >>> y = conv_general_dilated(x, w, (1,), [(1, 0)], lhs_dilation=(2,),
    ...                          dimension_numbers=("NWC", "WIO", "NWC"))
    >>> y[0, :, 0]
    array([10,  1, 20,  2, 30])

    Meaning and argument order are those of jax.lax.conv_general_dilated.
    """
    x, w = np.asarray(lhs), np.asarray(rhs)
    form = general_form(
        x.shape, w.shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
        feature_group_count, batch_group_count,
    )  # fmt: skip
    return form.evaluate(rules.GENERAL, x, w)


def general_form(
    lhs_shape: Shape,
    rhs_shape: Shape,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Sequence[str] | Sequence[Sequence[int]] | None = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
) -> Form:
    """The trilinear form of a general convolution; batch groups enter as groups of channels."""
    lhs_layout, rhs_layout, out_layout = layouts(len(lhs_shape), len(rhs_shape), dimension_numbers)
    N, C, *sizes = (lhs_shape[axis] for axis in lhs_layout)
    O, channels, *taps = (rhs_shape[axis] for axis in rhs_layout)
    feature_groups = integer(feature_group_count, "feature_group_count", at_least=1)
    batch_groups = integer(batch_group_count, "batch_group_count", at_least=1)
    _check_groups(N, C, O, channels, feature_groups, batch_groups)
    rank = len(sizes)
    strides = per_axis(window_strides, rank, "window_strides", at_least=1)
    lefts = per_axis(1 if lhs_dilation is None else lhs_dilation, rank, "lhs_dilation", at_least=1)
    rights = per_axis(1 if rhs_dilation is None else rhs_dilation, rank, "rhs_dilation", at_least=1)
    pads = _paddings(padding, sizes, taps, strides, lefts, rights)
    axes = tuple(
        _axis(number, i, k, s, d, l, pair)
        for number, (i, k, s, d, l, pair) in enumerate(zip(sizes, taps, strides, rights, lefts, pads))
    )
    geometry = Geometry(N // batch_groups, C * batch_groups, O, feature_groups * batch_groups, axes)
    shapes = {
        "input": tuple(lhs_shape),
        "weight": tuple(rhs_shape),
        "output": _arranged((N // batch_groups, O, *(axis.o for axis in axes)), out_layout),
    }
    batch = View(lambda x: groups_to_channels(x, batch_groups), lambda y: groups_to_batch(y, batch_groups))
    views = {
        "input": (_layout_view(lhs_layout), batch),
        "weight": (_layout_view(rhs_layout),),
        "output": (_layout_view(out_layout),),
    }
    return Form(geometry, MAPS, shapes, views)


def layouts(
    lhs_axes: int, rhs_axes: int, dimension_numbers: Sequence[str] | Sequence[Sequence[int]] | None
) -> tuple[Layout, Layout, Layout]:
    """Where batch, features and spatial axes stand in lhs, rhs and the result.

    >>> layouts(4, 4, ("NHWC", "HWIO", "NHWC"))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    if lhs_axes != rhs_axes:
        raise ValueError(f"rhs: it has {rhs_axes} axes, but lhs has {lhs_axes}; they must agree")
    if lhs_axes < 3:
        raise ValueError(
            f"lhs: it has {lhs_axes} axes, but it needs batch, features and a spatial axis, so 3 or more"
        )
    if dimension_numbers is None:
        straight = tuple(range(lhs_axes))
        return straight, straight, straight
    if not isinstance(dimension_numbers, (list, tuple)) or len(dimension_numbers) != 3:
        raise ValueError(
            f"dimension_numbers: it is {dimension_numbers!r}, but it must be None or three layouts, "
            f"as in ('NHWC', 'HWIO', 'NHWC')"
        )
    lhs, rhs, out = dimension_numbers
    if not isinstance(rhs, str):
        return _permutation(lhs, lhs_axes), _permutation(rhs, lhs_axes), _permutation(out, lhs_axes)
    spatial = [letter for letter in rhs if letter not in "OI"]
    return (
        _positions(lhs, ["N", "C", *spatial], lhs_axes),
        _positions(rhs, ["O", "I", *spatial], lhs_axes),
        _positions(out, ["N", "C", *spatial], lhs_axes),
    )


def _positions(spec: object, letters: list[str], axes: int) -> Layout:
    if (
        not isinstance(spec, str)
        or len(spec) != axes
        or sorted(spec) != sorted(letters)
        or len(set(spec)) != axes
    ):
        raise ValueError(
            f"dimension_numbers: {spec!r} must name {axes} axes with the letters {', '.join(letters)}, "
            f"each once"
        )
    return tuple(spec.index(letter) for letter in letters)


def _permutation(spec: object, axes: int) -> Layout:
    if not isinstance(spec, (list, tuple, np.ndarray, str)):
        raise TypeError(
            f"dimension_numbers: it has {spec!r} in it; it must have strings, or sequences of axes"
        )
    permutation = tuple(integer(axis, "dimension_numbers") for axis in spec)
    if sorted(permutation) != list(range(axes)):
        raise ValueError(f"dimension_numbers: {permutation} must name the axes 0 to {axes - 1}, each once")
    return permutation


def _check_groups(N: int, C: int, O: int, channels: int, feature_groups: int, batch_groups: int) -> None:
    if feature_groups > 1 and batch_groups > 1:
        raise ValueError(
            f"batch_group_count: {batch_groups} and feature_group_count {feature_groups} cannot both exceed 1"
        )
    if C % feature_groups or O % feature_groups:
        raise ValueError(
            f"feature_group_count: {feature_groups} must divide the {C} features of lhs and the {O} output "
            f"features of rhs"
        )
    if N % batch_groups or O % batch_groups:
        raise ValueError(
            f"batch_group_count: {batch_groups} must divide the batch of {N} of lhs and the {O} output "
            f"features of rhs"
        )
    if channels * feature_groups != C:
        raise ValueError(
            f"rhs: it has {channels} input features, but lhs has {C} in {feature_groups} group(s), "
            f"so it must have {C // feature_groups}"
        )


def _paddings(
    padding: str | Sequence[tuple[int, int]],
    sizes: Sequence[int],
    taps: Sequence[int],
    strides: Shape,
    lefts: Shape,
    rights: Shape,
) -> tuple[Pair, ...]:
    if not isinstance(padding, str):
        return paddings(padding, [0] * len(sizes))
    if padding.upper() not in ("VALID", "SAME", "SAME_LOWER"):
        raise ValueError(
            f"padding: {padding!r} is not one of 'VALID', 'SAME', 'SAME_LOWER'; or give (lo, hi) pairs"
        )
    if any(left > 1 for left in lefts):
        raise ValueError(
            f"padding: {padding!r} has no meaning with lhs_dilation {lefts}; give (lo, hi) pairs"
        )
    totals = [same_total(i, k, s, d) for i, k, s, d in zip(sizes, taps, strides, rights)]
    return paddings(padding.lower(), totals)


def _axis(number: int, i: int, k: int, s: int, d: int, l: int, pair: Pair) -> Axis:
    axis = Axis(i, k, 0, s, d, l, *pair)
    padded = axis.dilated + axis.lo + axis.hi
    if padded < 0:
        raise ValueError(
            f"padding: on spatial axis {number} it crops {-axis.lo - axis.hi} of {axis.dilated} elements; "
            f"crop {axis.dilated} or fewer"
        )
    if k < 1:
        raise ValueError(f"rhs: on spatial axis {number} it has {k} taps; it must have 1 or more")
    return Axis(i, k, max(output_size(padded, axis.extent, s), 0), s, d, l, *pair)


def _arranged(shape: Sequence[int], layout: Layout) -> Shape:
    """The shape whose axis layout[n] is the given shape's axis n."""
    arranged = [0] * len(layout)
    for size, axis in zip(shape, layout):
        arranged[axis] = size
    return tuple(arranged)


def _layout_view(layout: Layout) -> View:
    return View(lambda x: x.transpose(layout), lambda y: y.transpose(_arranged(range(len(layout)), layout)))
