"""The samples of a batch, and what is averaged where a sum is due."""

import numpy as np

from npconv.testing.cells import samples_apart
from npconv.testing.changes import outputs, samples
from npconv.testing.fault import GRADIENTS, REDUCED, TILED, Fault
from npconv.testing.results import from_axis

AVERAGED = (*GRADIENTS, "grad_bias")

SAMPLES = (
    Fault("only the first sample is computed", TILED, result=from_axis(0, lambda n: 1)),
    Fault(
        "only the first sample is summed",
        REDUCED,
        given=samples(lambda x: np.concatenate([x[:1], 0 * x[1:]])),
    ),
    Fault(
        "only the last sample counts: the sum is overwritten",
        REDUCED,
        given=samples(lambda x: np.concatenate([0 * x[:-1], x[-1:]])),
    ),
    Fault(
        "every sample reads the first one", TILED, given=samples(lambda x: np.broadcast_to(x[:1], x.shape))
    ),
    Fault("the samples come in reverse order", TILED, result=lambda y, p, a: y[::-1]),
    Fault("each sample reads the next one", TILED, given=samples(lambda x: np.roll(x, -1, axis=0))),
    Fault(
        "the samples of the input are counted H*W apart in place of C*H*W", cells={"x": samples_apart(False)}
    ),
    Fault(
        "the samples of the input are counted C/G*H*W apart in place of C*H*W",
        cells={"x": samples_apart(True)},
    ),
)

AVERAGES = (
    Fault("the gradient is averaged over the batch", AVERAGED, result=lambda y, p, a: y / p.N),
    Fault("the gradient is averaged over the positions", AVERAGED, result=lambda y, p, a: y / outputs(p)),
    Fault(
        "the gradient is averaged over batch and positions",
        AVERAGED,
        result=lambda y, p, a: y / (p.N * outputs(p)),
    ),
    Fault(
        "the gradient is summed over the batch and each sample gets the sum",
        ("grad_input",),
        result=lambda y, p, a: np.broadcast_to(y.sum(axis=0), y.shape),
    ),
)
