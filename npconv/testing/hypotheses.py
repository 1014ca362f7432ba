"""What can be wrong with a convolution: one entry a fault, with its sentence for the report.

Of two faults that explain the same, the earlier is named.  `fault.Fault` says what each argument
changes; the functions used here are in `changes`.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from npconv.geometry import output_size
from npconv.testing.changes import (
    OUTSIDE,
    UNWRITTEN,
    along,
    begins_then_ends,
    by_channel,
    channels_first,
    channels_last,
    channels_swapped,
    channels_swapped_in_groups,
    crop_then_dilate,
    cut_at_front,
    each,
    extra_taps,
    first_axis,
    first_only,
    from_axis,
    interleaved,
    last_axis,
    on,
    only,
    only_first_group,
    only_first_sample,
    other_axis,
    outputs,
    planes_turned,
    rows_dealt_out,
    shifted,
    to_bfloat16,
    unread_unwritten,
    without,
    wrapped,
    wrong_pitch,
)
from npconv.testing.fault import OUTPUTS, SUMS, Fault

FORWARD = ("forward",)
SPREADING = ("grad_input", "transposed")  # each element paints the weight around it
WEIGHT = ("grad_weight",)
GRADIENTS = ("grad_input", "grad_weight")
REDUCED = ("grad_weight", "grad_bias")  # summed over samples and positions
TILED = ("forward", "grad_input", "transposed")
ALL = (*SUMS, "grad_bias")

ZEROS = "the padding holds {} in place of zeros"

FAULTS: tuple[Fault, ...] = (
    # the weight
    Fault("the weight is flipped", ("forward",), look=lambda t, a: t[:, ::-1]),
    Fault("the weight is not flipped", SPREADING, look=lambda t, a: t[:, ::-1]),
    Fault("the result is flipped, as if the weight were", WEIGHT, look=lambda t, a: t[:, ::-1]),
    Fault("the taps are flipped along the width only", look=only(-1, lambda t, a: t[:, ::-1])),
    Fault("the taps are flipped along the height only", look=only(-2, lambda t, a: t[:, ::-1])),
    Fault("the tap axes (KH, KW) are swapped", cells={"w": planes_turned}),
    Fault("the weight's channel axes are swapped: (I, O) is taken for (O, I)", cells={"w": channels_swapped}),
    Fault(
        "the weight's channel axes are swapped inside each group: (I, O/G) is taken for (O/G, I)",
        cells={"w": channels_swapped_in_groups},
    ),
    Fault("the weight is taken to be stored (O, KH, KW, I)", cells={"w": channels_last}),
    Fault("a weight stored (O, KH, KW, I) is read as (O, I, KH, KW)", cells={"w": channels_first}),
    Fault("the last tap of each axis is left out", look=without(taps=slice(-1, None))),
    Fault("the last column of taps is left out", look=only(-1, without(taps=slice(-1, None)))),
    Fault("the last row of taps is left out", look=only(-2, without(taps=slice(-1, None)))),
    Fault("the first tap of each axis is left out", look=without(taps=slice(0, 1))),
    # stride and dilation
    Fault("the stride is ignored", believe=each(lambda a: replace(a, s=1))),
    Fault("the stride is ignored along the width", believe=on(-1, lambda a: replace(a, s=1))),
    Fault("the stride is ignored along the height", believe=on(-2, lambda a: replace(a, s=1))),
    Fault("the strides of height and width are swapped", believe=other_axis("s")),
    Fault("the height's stride serves both axes", believe=first_axis("s")),
    Fault("the width's stride serves both axes", believe=last_axis("s")),
    Fault("the dilation is ignored", believe=each(lambda a: replace(a, d=1))),
    Fault("the dilation is ignored along the width", believe=on(-1, lambda a: replace(a, d=1))),
    Fault("the dilation is ignored along the height", believe=on(-2, lambda a: replace(a, d=1))),
    Fault("the dilations of height and width are swapped", believe=other_axis("d")),
    Fault("the height's dilation serves both axes", believe=first_axis("d")),
    Fault("the width's dilation serves both axes", believe=last_axis("d")),
    Fault("stride and dilation are swapped", believe=each(lambda a: replace(a, s=a.d, d=a.s))),
    Fault("the dilation counts from 0: one too many is used", believe=each(lambda a: replace(a, d=a.d + 1))),
    Fault(
        "the dilation counts from 0: one too few is used",
        believe=each(lambda a: replace(a, d=max(a.d - 1, 1))),
    ),
    Fault("the stride also multiplies the taps", believe=each(lambda a: replace(a, d=a.d * a.s))),
    Fault("the dilation also multiplies the stride", believe=each(lambda a: replace(a, s=a.d * a.s))),
    # padding
    Fault("the padding is ignored", believe=each(lambda a: replace(a, lo=0, hi=0))),
    Fault("begin and end of the padding are swapped", believe=each(lambda a: replace(a, lo=a.hi, hi=a.lo))),
    Fault(
        "begin and end of the padding are swapped along the width",
        believe=on(-1, lambda a: replace(a, lo=a.hi, hi=a.lo)),
    ),
    Fault(
        "begin and end of the padding are swapped along the height",
        believe=on(-2, lambda a: replace(a, lo=a.hi, hi=a.lo)),
    ),
    Fault("the padding is ignored along the width", believe=on(-1, lambda a: replace(a, lo=0, hi=0))),
    Fault("the padding is ignored along the height", believe=on(-2, lambda a: replace(a, lo=0, hi=0))),
    Fault("the end's padding is used at the begin too", believe=each(lambda a: replace(a, lo=a.hi))),
    Fault("the begin's padding is used at the end too", believe=each(lambda a: replace(a, hi=a.lo))),
    Fault("the paddings of height and width are swapped", believe=other_axis("lo", "hi")),
    Fault("the height's padding serves both axes", believe=first_axis("lo", "hi")),
    Fault("the width's padding serves both axes", believe=last_axis("lo", "hi")),
    Fault(
        "the pads (top, bottom, left, right) are taken for (top, left, bottom, right)",
        believe=begins_then_ends,
    ),
    Fault("the padding is put at the begin only", believe=each(lambda a: replace(a, lo=a.lo + a.hi, hi=0))),
    Fault("the padding is put at the end only", believe=each(lambda a: replace(a, lo=0, hi=a.lo + a.hi))),
    Fault(
        "uneven padding is split evenly, the odd one at the end",
        believe=each(lambda a: replace(a, lo=(a.lo + a.hi) // 2, hi=-(-(a.lo + a.hi) // 2))),
    ),
    Fault(
        "uneven padding is split evenly, the odd one at the begin",
        believe=each(lambda a: replace(a, lo=-(-(a.lo + a.hi) // 2), hi=(a.lo + a.hi) // 2)),
    ),
    Fault("the padding is applied twice", believe=each(lambda a: replace(a, lo=2 * a.lo, hi=2 * a.hi))),
    Fault(
        "a negative padding crops twice",
        believe=each(lambda a: replace(a, lo=min(a.lo, 2 * a.lo), hi=min(a.hi, 2 * a.hi))),
    ),
    Fault(
        "a negative padding is ignored", believe=each(lambda a: replace(a, lo=max(a.lo, 0), hi=max(a.hi, 0)))
    ),
    Fault("a negative padding pads", believe=each(lambda a: replace(a, lo=abs(a.lo), hi=abs(a.hi)))),
    Fault(
        "the padding is multiplied by the dilation",
        believe=each(lambda a: replace(a, lo=a.d * a.lo, hi=a.d * a.hi)),
    ),
    Fault(
        "the padding is multiplied by the stride",
        believe=each(lambda a: replace(a, lo=a.s * a.lo, hi=a.s * a.hi)),
    ),
    Fault(
        "the padding is one too small at the begin",
        believe=each(lambda a: replace(a, lo=max(a.lo - 1, 0) if a.lo > 0 else a.lo)),
    ),
    Fault(ZEROS.format("the border cell"), look=lambda t, a: np.clip(t, 0, a.i - 1)),
    Fault(
        ZEROS.format("the reflected input"),
        look=lambda t, a: a.i - 1 - abs(a.i - 1 - t % max(2 * a.i - 2, 1)),
    ),
    Fault(ZEROS.format("the input wrapped around"), look=lambda t, a: t % a.i),
    Fault("the last input is taken for padding", look=lambda t, a: np.where(t >= a.i - 1, OUTSIDE, t)),
    Fault("the first input is taken for padding", look=lambda t, a: np.where(t <= 0, OUTSIDE, t)),
    # the paddings of the gradients
    Fault(
        "the stride remainder is dropped",
        ("grad_input",),
        size=lambda b, t: [a.i - a.remainder for a in t],
        look=lambda t, a: np.where(t >= a.i - a.remainder, OUTSIDE, t),
    ),
    Fault("the stride remainder is put at the begin", ("grad_input",), look=lambda t, a: t + a.remainder),
    Fault(
        "the stride remainder is dropped and the result spread evenly",
        SPREADING,
        look=lambda t, a: t + a.remainder // 2,
    ),
    Fault(
        "the stride remainder is not cropped from the input: there are more taps than the weight has",
        WEIGHT,
        size=extra_taps,
    ),
    Fault("the extra taps of the stride remainder are cut off at the begin", WEIGHT, look=cut_at_front),
    Fault(
        "the stride remainder is cropped from the input's begin", WEIGHT, look=lambda t, a: t + a.remainder
    ),
    Fault(
        "grad_output is padded by k-1-lo, without the dilation",
        SPREADING,
        look=lambda t, a: t - (a.extent - a.k),
    ),
    Fault(
        "grad_output is padded by lo in place of K-1-lo",
        SPREADING,
        look=lambda t, a: t - (a.extent - 1 - 2 * a.lo),
    ),
    Fault("grad_output is padded by K-1, as if there were no padding", SPREADING, look=lambda t, a: t + a.lo),
    Fault("grad_output is padded by K-lo: one too many", SPREADING, look=shifted(1)),
    Fault(
        "grad_output is padded by K-1-hi at the begin: hi is used for lo",
        SPREADING,
        look=lambda t, a: t + a.lo - a.hi,
    ),
    Fault(
        "a negative pad of grad_output (padding above K-1) is ignored",
        SPREADING,
        look=lambda t, a: t + max(a.lo - a.extent + 1, 0),
    ),
    Fault("grad_output is cropped before it is dilated", SPREADING, look=crop_then_dilate),
    Fault(
        "the cells of output_padding are left at zero",
        ("transposed",),
        look=lambda t, a: np.where(t >= a.i - a.remainder, OUTSIDE, t),
    ),
    Fault("the output_padding is put at the begin", ("transposed",), look=lambda t, a: t + a.remainder),
    Fault("the output_padding is ignored", ("transposed",), size=lambda b, t: [a.i - a.remainder for a in t]),
    Fault(
        "the output_padding is taken from the other axis",
        ("transposed",),
        size=lambda b, t: [a.i - a.remainder + c.remainder for a, c in zip(t, t[::-1])],
    ),
    # sizes
    Fault(
        "the output size is rounded up in place of down",
        FORWARD,
        size=lambda b, t: [-((a.extent - a.i - a.lo - a.hi) // a.s) + 1 for a in t],
    ),
    Fault(
        "the output size counts the extent as dilation * taps",
        FORWARD,
        size=lambda b, t: [output_size(a.i + a.lo + a.hi, a.d * a.k, a.s) for a in t],
    ),
    Fault("the output size has one too many", size=lambda b, t: [a.o + 1 for a in t], parts=FORWARD),
    Fault("the output size has one too few", size=lambda b, t: [a.o - 1 for a in t], parts=FORWARD),
    # pixels
    Fault("the input is read one element too late", look=shifted(1)),
    Fault("the input is read one element too early", look=shifted(-1)),
    Fault("the input is read one column too late", look=only(-1, shifted(1))),
    Fault("the input is read one column too early", look=only(-1, shifted(-1))),
    Fault("the input is read one row too late", look=only(-2, shifted(1))),
    Fault("the input is read one row too early", look=only(-2, shifted(-1))),
    Fault("the output is shifted by one position", look=lambda t, a: t + a.s),
    Fault("the output is shifted by one position backwards", look=lambda t, a: t - a.s),
    Fault(
        "the last position of the output is left out of the sum",
        look=without(rows=slice(-1, None)),
        parts=GRADIENTS,
    ),
    Fault(
        "the last column of the output is left out of the sum",
        look=only(-1, without(rows=slice(-1, None))),
        parts=GRADIENTS,
    ),
    Fault(
        "the last row of the output is left out of the sum",
        look=only(-2, without(rows=slice(-1, None))),
        parts=GRADIENTS,
    ),
    # layouts
    Fault("the input's height and width are swapped", cells={"x": planes_turned}),
    Fault("grad_output's height and width are swapped", GRADIENTS, cells={"g": planes_turned}),
    Fault(
        "the output's height and width are swapped",
        FORWARD,
        cells={"g": planes_turned, "output": planes_turned},
    ),
    Fault("NHWC is read as NCHW: the input", cells={"x": channels_first}),
    Fault("NCHW is read as NHWC: the input", cells={"x": channels_last}),
    Fault("NHWC is read as NCHW: grad_output", GRADIENTS, cells={"g": channels_first}),
    Fault("NCHW is read as NHWC: grad_output", GRADIENTS, cells={"g": channels_last}),
    Fault("the output is written as NHWC", OUTPUTS, cells={"output": channels_last}),
    Fault(
        "input and output are taken for NHWC",
        cells={"x": channels_last, "g": channels_last, "output": channels_last},
    ),
    Fault("rows of the input are counted with its height in place of its width", cells={"x": wrong_pitch}),
    # channels and groups
    Fault(
        "the input channels of the groups are interleaved",
        channel=lambda c, I, O: c % I * (c.shape[0] // O) + c // I,
    ),
    Fault(
        "the output channels of the groups are interleaved",
        channel=lambda c, I, O: np.arange(len(c))[:, None] % (len(c) // O) * I + c % I,
    ),
    Fault("the weight's output channels are dealt out to the groups in turn", cells={"w": rows_dealt_out}),
    Fault("every group reads the channels of the first", channel=lambda c, I, O: c % I),
    Fault(
        "every group reads the channels of the last", channel=lambda c, I, O: c % I + I * (len(c) // O - 1)
    ),
    Fault("the groups are taken in reverse order", channel=lambda c, I, O: c[::-1] // I * I + c % I),
    Fault(
        "the group's channels start at group * O/G in place of group * C/G",
        channel=lambda c, I, O: np.minimum(
            np.arange(len(c))[:, None] // O * O + c % I, I * (len(c) // O) - 1
        ),
    ),
    Fault(
        "the group is found as o // (C/G) in place of o // (O/G)",
        channel=lambda c, I, O: np.minimum(np.arange(len(c))[:, None] // I, len(c) // O - 1) * I + c % I,
    ),
    Fault(
        "the last input channel of each group is left out",
        channel=lambda c, I, O: np.where(c % I == I - 1, OUTSIDE, c),
    ),
    Fault(
        "only the first input channel of each group is used",
        channel=lambda c, I, O: np.where(c % I, OUTSIDE, c),
    ),
    Fault(
        "the input channels of each group are in reverse order",
        channel=lambda c, I, O: c // I * I + I - 1 - c % I,
    ),
    Fault("only the first group is computed", result=only_first_group),
    # samples
    Fault(
        "only the first sample is computed",
        ("forward", "grad_input", "transposed"),
        result=from_axis(0, lambda n: 1),
    ),
    Fault("only the first sample is summed", REDUCED, given=only_first_sample),
    Fault(
        "only the last sample counts: the sum is overwritten",
        REDUCED,
        given=lambda name, x: np.concatenate([0 * x[:-1], x[-1:]]) if name in ("grad_output", "input") else x,
    ),
    Fault(
        "every sample reads the first one",
        ("forward", "grad_input", "transposed"),
        given=lambda name, x: np.broadcast_to(x[:1], x.shape) if name in ("input", "grad_output") else x,
    ),
    Fault(
        "the gradient is averaged over the batch", (*GRADIENTS, "grad_bias"), result=lambda y, p, a: y / p.N
    ),
    Fault(
        "the gradient is averaged over the positions",
        (*GRADIENTS, "grad_bias"),
        result=lambda y, p, a: y / outputs(p),
    ),
    Fault(
        "the gradient is averaged over batch and positions",
        (*GRADIENTS, "grad_bias"),
        result=lambda y, p, a: y / (p.N * outputs(p)),
    ),
    Fault(
        "the gradient is summed over the batch and each sample gets the sum",
        ("grad_input",),
        result=lambda y, p, a: np.broadcast_to(y.sum(axis=0), y.shape),
    ),
    # bias
    Fault("the bias is missing", OUTPUTS, bias=lambda b, shape, p: 0 * b),
    Fault("the bias is added twice", OUTPUTS, bias=lambda b, shape, p: 2 * b),
    Fault("the bias is subtracted", OUTPUTS, bias=lambda b, shape, p: -b),
    Fault(
        "every group gets the bias of the first",
        OUTPUTS,
        bias=by_channel(lambda p: np.arange(p.O) % (p.O // p.G)),
    ),
    Fault("the first channel's bias serves all", OUTPUTS, bias=by_channel(lambda p: [0])),
    Fault("the bias is in reverse order", OUTPUTS, bias=by_channel(lambda p: np.arange(p.O)[::-1])),
    Fault(
        "the bias is dealt out to the groups in turn",
        OUTPUTS,
        bias=by_channel(lambda p: interleaved(p.O, p.G)),
    ),
    Fault("the bias is broadcast along the width", OUTPUTS, bias=along(-1)),
    Fault("the bias is broadcast along the height", OUTPUTS, bias=along(-2)),
    Fault("the bias is added once an input channel", OUTPUTS, bias=lambda b, shape, p: b * (p.C // p.G)),
    Fault("the bias is added once a tap", OUTPUTS, bias=lambda b, shape, p: b * prod(p.k)),
    Fault("the bias is added once a group", OUTPUTS, bias=lambda b, shape, p: b * p.G),
    Fault("the bias reaches only the first sample", OUTPUTS, bias=first_only(0)),
    Fault("the bias reaches only the first row", OUTPUTS, bias=first_only(-2)),
    Fault("the bias reaches only the first column", OUTPUTS, bias=first_only(-1)),
    Fault(
        "the sum runs over batch and channels",
        ("grad_bias",),
        result=lambda y, p, a: a["grad_output"].sum(axis=(0, 1)),
    ),
    Fault(
        "the sum leaves out the batch",
        ("grad_bias",),
        result=lambda y, p, a: a["grad_output"].sum(axis=tuple(range(2, 2 + p.rank))),
    ),
    Fault(
        "the sum runs over the last axis only",
        ("grad_bias",),
        result=lambda y, p, a: a["grad_output"].sum(axis=-1),
    ),
    Fault(
        "only the first position is summed",
        ("grad_bias",),
        result=lambda y, p, a: a["grad_output"].reshape(p.N, p.O, -1)[:, :, 0].sum(axis=0),
    ),
    Fault(
        "only the first row is summed",
        ("grad_bias",),
        result=lambda y, p, a: a["grad_output"][..., :1, :].sum(axis=(0, *range(2, 2 + p.rank))),
    ),
    Fault(
        "the last position is left out of the sum",
        ("grad_bias",),
        result=lambda y, p, a: a["grad_output"].reshape(p.N, p.O, -1)[:, :, :-1].sum(axis=(0, 2)),
    ),
    Fault(
        "the last row is left out of the sum",
        ("grad_bias",),
        result=lambda y, p, a: a["grad_output"][..., :-1, :].sum(axis=(0, *range(2, 2 + p.rank))),
    ),
    Fault(
        "the last column is left out of the sum",
        ("grad_bias",),
        result=lambda y, p, a: a["grad_output"][..., :-1].sum(axis=(0, *range(2, 2 + p.rank))),
    ),
    # what is left unwritten
    Fault("nothing is written", ALL, result=lambda y, p, a: np.full(y.shape, UNWRITTEN)),
    Fault(
        "the last sample is not written",
        ("forward", "grad_input", "transposed"),
        result=from_axis(0, lambda n: n - 1),
    ),
    Fault("the last channel is not written", result=from_axis(1, lambda n: n - 1)),
    Fault(
        "the last output channel is not written", (*WEIGHT, "grad_bias"), result=from_axis(0, lambda n: n - 1)
    ),
    Fault("the last column is not written", result=from_axis(-1, lambda n: n - 1)),
    Fault("the last row is not written", result=from_axis(-2, lambda n: n - 1)),
    Fault("the first column is not written", result=from_axis(-1, lambda n: 0, lambda n: 1)),
    Fault("the first row is not written", result=from_axis(-2, lambda n: 0, lambda n: 1)),
    Fault(
        "inputs that no window reads are not written", ("grad_input", "transposed"), result=unread_unwritten
    ),
    *(
        Fault(
            f"the last incomplete tile of {tile} along the {name} is not written",
            TILED,
            result=from_axis(axis, lambda n, t=tile: n // t * t),
            refutable=True,
        )
        for tile in (2, 4, 8, 16, 32)
        for axis, name in ((-1, "width"), (-2, "height"), (1, "channels"))
    ),
    *(
        Fault(
            f"nothing beyond the first {tile} along the {name} is written",
            TILED,
            result=from_axis(axis, lambda n, t=tile: t),
            refutable=True,
        )
        for tile in (4, 8, 16)
        for axis, name in ((-1, "width"), (-2, "height"), (1, "channels"))
    ),
    # numbers
    Fault("the sign is wrong", ALL, result=lambda y, p, a: -y),
    Fault("every element is computed twice and added up", ALL, result=lambda y, p, a: 2 * y),
    Fault("the result is multiplied by the stride", result=lambda y, p, a: y * prod(p.stride)),
    Fault("negative results are set to zero", ALL, result=lambda y, p, a: np.maximum(y, 0)),
    *(Fault(f"the integers wrap around at {bits} bits", ALL, result=wrapped(bits)) for bits in (8, 16, 32)),
    *(
        Fault(f"the integers wrap around at {bits} bits, unsigned", ALL, result=wrapped(bits, signed=False))
        for bits in (8, 16, 32)
    ),
    *(
        Fault(
            f"the result saturates at {bits} bits",
            ALL,
            result=lambda y, p, a, m=2 ** (bits - 1): np.clip(y, -m, m - 1),
        )
        for bits in (8, 16)
    ),
    Fault("the result saturates at 16 bits, unsigned", ALL, result=lambda y, p, a: np.clip(y, 0, 2**16 - 1)),
    Fault(
        "the result is rounded to float16",
        ALL,
        result=lambda y, p, a: y.astype(np.float16).astype(np.float64),
    ),
    Fault("the result is rounded to bfloat16", ALL, result=lambda y, p, a: to_bfloat16(y)),
)
