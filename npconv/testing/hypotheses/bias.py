"""The bias, and its gradient."""

from math import prod

import numpy as np

from npconv.testing.cells import interleaved
from npconv.testing.fault import OUTPUTS, Fault
from npconv.testing.results import by_channel, first_only, laid_along, summed

GRADIENT = ("grad_bias",)

BIAS = (
    Fault("the bias is missing", OUTPUTS, bias=lambda b, shape, p: 0 * b),
    Fault("the bias is added twice", OUTPUTS, bias=lambda b, shape, p: 2 * b),
    Fault("the bias is subtracted", OUTPUTS, bias=lambda b, shape, p: -b),
    Fault(
        "every group gets the bias of the first",
        OUTPUTS,
        bias=by_channel(lambda p: np.arange(p.O) % (p.O // p.G)),
    ),
    Fault(
        "the bias is taken by the group's number",
        OUTPUTS,
        bias=by_channel(lambda p: np.arange(p.O) // (p.O // p.G)),
    ),
    Fault("only the first group gets its bias", OUTPUTS, bias=first_only(1, lambda p: p.O // p.G)),
    Fault("the first channel's bias serves all", OUTPUTS, bias=by_channel(lambda p: np.zeros(p.O, int))),
    Fault("the bias is in reverse order", OUTPUTS, bias=by_channel(lambda p: np.arange(p.O)[::-1])),
    Fault(
        "the bias is dealt out to the groups in turn",
        OUTPUTS,
        bias=by_channel(lambda p: interleaved(p.O, p.G)),
    ),
    Fault("the bias is broadcast along the width", OUTPUTS, bias=laid_along(-1)),
    Fault("the bias is broadcast along the height", OUTPUTS, bias=laid_along(-2)),
    Fault("the bias is added once an input channel", OUTPUTS, bias=lambda b, shape, p: b * (p.C // p.G)),
    Fault("the bias is added once a tap", OUTPUTS, bias=lambda b, shape, p: b * prod(p.k)),
    Fault("the bias is added once a group", OUTPUTS, bias=lambda b, shape, p: b * p.G),
    Fault("the bias reaches only the first sample", OUTPUTS, bias=first_only(0)),
    Fault("the bias reaches only the first row", OUTPUTS, bias=first_only(-2)),
    Fault("the bias reaches only the first column", OUTPUTS, bias=first_only(-1)),
)

BIAS_GRADIENT = (
    Fault(
        "the sum runs over batch and channels",
        GRADIENT,
        result=lambda y, p, a: a["grad_output"].sum(axis=(0, 1)),
    ),
    Fault(
        "the sum leaves out the batch",
        GRADIENT,
        result=lambda y, p, a: a["grad_output"].sum(axis=summed(p)[1:]),
    ),
    Fault(
        "the sum runs over the last axis only", GRADIENT, result=lambda y, p, a: a["grad_output"].sum(axis=-1)
    ),
    Fault(
        "only the first position is summed",
        GRADIENT,
        result=lambda y, p, a: a["grad_output"].reshape(p.N, p.O, -1)[:, :, 0].sum(axis=0),
    ),
    Fault(
        "only the first row is summed",
        GRADIENT,
        result=lambda y, p, a: a["grad_output"][..., :1, :].sum(axis=summed(p)),
    ),
    Fault(
        "the last position is left out of the sum",
        GRADIENT,
        result=lambda y, p, a: a["grad_output"].reshape(p.N, p.O, -1)[:, :, :-1].sum(axis=(0, 2)),
    ),
    Fault(
        "the last row is left out of the sum",
        GRADIENT,
        result=lambda y, p, a: a["grad_output"][..., :-1, :].sum(axis=summed(p)),
    ),
    Fault(
        "the last column is left out of the sum",
        GRADIENT,
        result=lambda y, p, a: a["grad_output"][..., :-1].sum(axis=summed(p)),
    ),
    Fault("the result is in reverse order", GRADIENT, result=lambda y, p, a: y[::-1]),
)
