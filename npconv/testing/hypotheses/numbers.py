"""Signs, factors, and number formats too narrow for the result."""

from math import prod

import numpy as np

from npconv.testing.changes import outputs, strides
from npconv.testing.fault import ALL, OUTPUTS, TILED, Fault
from npconv.testing.results import before_bias, clipped, pairs_saturate, to_bfloat16, to_float16, wrapped

NUMBERS = (
    Fault("the sign is wrong", ALL, result=lambda y, p, a: -y),
    Fault("every element is computed twice and added up", ALL, result=lambda y, p, a: 2 * y),
    Fault("the result is multiplied by the stride", result=lambda y, p, a: y * strides(p)),
    Fault("the result is divided by the batch size", OUTPUTS, result=lambda y, p, a: y / p.N),
    Fault("the result is divided by the number of positions", OUTPUTS, result=lambda y, p, a: y / outputs(p)),
    Fault("the result is divided by the number of taps", result=lambda y, p, a: y / prod(p.k)),
    Fault("the result is divided by the number of groups", result=lambda y, p, a: y / p.G),
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
            result=clipped(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1),
        )
        for bits in (8, 16)
    ),
    *(
        Fault(f"the result saturates at {bits} bits, unsigned", ALL, result=clipped(0, 2**bits - 1))
        for bits in (8, 16)
    ),
    *(
        Fault(
            f"the sums wrap around at {bits} bits, before the bias",
            OUTPUTS,
            result=before_bias(wrapped(bits)),
        )
        for bits in (8, 16)
    ),
    Fault("the sums are rounded to float16, before the bias", OUTPUTS, result=before_bias(to_float16)),
    Fault("negative sums are set to zero, before the bias", OUTPUTS, result=before_bias(clipped(0, 2**62))),
    Fault("pairs of products saturate at 16 bits", TILED[:1], result=pairs_saturate(channels_last=False)),
    Fault(
        "pairs of products saturate at 16 bits, channels fastest",
        TILED[:1],
        result=pairs_saturate(channels_last=True),
    ),
    Fault("the result is rounded to float16", ALL, result=to_float16),
    Fault("the result is rounded to bfloat16", ALL, result=to_bfloat16),
)
