"""The geometry of a transposed convolution: that of the convolution whose input gradient it is.

Its own input has the sizes o of that convolution's output, and its output the sizes i of the input:

    i = s*(o-1) + K - lo - hi + r

r, the remainder of the convolution, is here the output_padding, which is chosen and not computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npconv.arguments import (
    IntOrInts,
    Padding,
    Shape,
    integer,
    paddings,
    per_axis,
    shape,
)
from npconv.geometry import (
    Axis,
    Geometry,
    batch_and_channels,
    same_total,
    shapes,
    telling_the_call,
)


def transposed(
    input_shape: Sequence[int],
    weight_shape: Sequence[int],
    stride: IntOrInts = 1,
    padding: Padding = 0,
    output_padding: IntOrInts = 0,
    groups: int = 1,
    dilation: IntOrInts = 1,
    *,
    output_size: IntOrInts | None = None,
    rank: int | None = None,
) -> Geometry:
    """The geometry of the convolution whose input gradient the transposed convolution is.

    In it the transposed convolution's input is the output, and its output is the input.

    >>> geometry = transposed((1, 2, 4), (2, 3, 3), stride=2, padding=1, output_padding=1)
    >>> geometry.output_shape, geometry.input_shape, geometry.remainder
    ((1, 2, 4), (1, 3, 8), (1,))
    """
    call = dict(
        input=input_shape, weight=weight_shape, stride=stride, padding=padding,
        output_padding=output_padding, output_size=output_size, dilation=dilation, groups=groups,
    )  # fmt: skip
    with telling_the_call(call):
        weight_shape, input_shape = shapes(input_shape, weight_shape, rank)
        rank = len(weight_shape) - 2
        groups = integer(groups, "groups", at_least=1)
        batched, N, O = batch_and_channels(input_shape, rank)
        weight_O, channels_per_group, *taps = weight_shape
        if weight_O != O:
            raise ValueError(
                f"weight: its axis 0 has size {weight_O}, but input has {O} channels; they must agree"
            )
        if O % groups:
            raise ValueError(f"groups: {groups} must divide the input's {O} channels")
        strides = per_axis(stride, rank, "stride", at_least=1)
        dilations = per_axis(dilation, rank, "dilation", at_least=1)
        extras = per_axis(output_padding, rank, "output_padding", at_least=0)
        if any(extras) and (
            output_size is not None or isinstance(padding, str) and padding.startswith("same")
        ):
            raise ValueError(
                f"output_padding: {output_padding} cannot be given together with output_size or "
                f"padding 'same', which fix the output's size themselves; leave it at 0"
            )
        C = channels_per_group * groups
        sizes = _wanted_sizes(output_size, rank, (N, C) if batched else (C,))
        if isinstance(padding, str) and padding.startswith("same"):
            sizes = _same_sizes(sizes, input_shape[-rank:], strides)
        totals = [same_total(i, k, s, d) for i, k, s, d in zip(sizes or [0] * rank, taps, strides, dilations)]
        pads = paddings(padding, totals)
        axes = []
        for number, (o, k, s, d, (lo, hi)) in enumerate(
            zip(input_shape[-rank:], taps, strides, dilations, pads)
        ):
            smallest = s * (o - 1) + d * (k - 1) + 1 - lo - hi
            extra = extras[number] if sizes is None else sizes[number] - smallest
            _check_output_padding(number, smallest, extra, max(s, d), from_size=sizes is not None)
            axes.append(Axis(smallest + extra, k, o, s, d, lo=lo, hi=hi))
        return Geometry(N, C, O, groups, tuple(axes), batched)


def _check_output_padding(number: int, smallest: int, extra: int, limit: int, from_size: bool) -> None:
    if from_size and not 0 <= extra < limit:
        raise ValueError(
            f"output_size: on spatial axis {number} it is {smallest + extra}, but this stride, padding and "
            f"dilation reach only sizes {smallest} to {smallest + limit - 1}"
        )
    if extra >= limit:
        raise ValueError(
            f"output_padding: on spatial axis {number} it is {extra}, but it must be smaller than "
            f"the larger of stride and dilation, {limit}"
        )
    if smallest + extra < 1:
        raise ValueError(
            f"padding: on spatial axis {number} the output would have size {smallest + extra}; pad less"
        )


def _wanted_sizes(wanted: IntOrInts | None, rank: int, leading: Shape) -> Shape | None:
    """The spatial sizes, which may come alone or, as in PyTorch's modules, with the whole shape."""
    if not isinstance(wanted, Iterable) or getattr(wanted, "ndim", None) == 0:
        return None if wanted is None else per_axis(wanted, rank, "output_size", at_least=1)
    sizes = shape(wanted, "output_size")
    if len(sizes) == len(leading) + rank:
        if sizes[:-rank] != leading:
            raise ValueError(
                f"output_size: it begins with {sizes[:-rank]}, but batch and channels are {leading}"
            )
        sizes = sizes[-rank:]
    return per_axis(sizes, rank, "output_size", at_least=1)


def _same_sizes(sizes: Shape | None, o: Shape, strides: Shape) -> Shape:
    """Sizes of which the "same" convolution makes o = ceil(i/s) outputs; by itself the largest, s*o."""
    sizes = tuple(s * n for s, n in zip(strides, o)) if sizes is None else sizes
    for number, (i, n, s) in enumerate(zip(sizes, o, strides)):
        if -(-i // s) != n:
            raise ValueError(
                f"output_size: on spatial axis {number} it is {i}, of which padding 'same' with stride {s} "
                f"would make {-(-i // s)}, but the input has {n}"
            )
    return sizes
