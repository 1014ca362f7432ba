"""The paddings of the gradients, and the stride's remainder (a transposed one's output_padding)."""

import numpy as np

from npconv.testing.changes import OUTSIDE, crop_then_dilate, cut_at_front, shifted
from npconv.testing.fault import SPREAD, Fault
from npconv.testing.hypotheses.sizes import extra_taps

INPUT = ("grad_input",)
WEIGHT = ("grad_weight",)
TRANSPOSED = ("transposed",)

REMAINDER = (
    Fault(
        "the stride remainder is dropped",
        INPUT,
        size=lambda believed, true: [a.i - a.remainder for a in true],
        look=lambda t, a: np.where(t >= a.i - a.remainder, OUTSIDE, t),
    ),
    Fault("the stride remainder is put at the begin", INPUT, look=lambda t, a: t + a.remainder),
    Fault(
        "the stride remainder is dropped and the result spread evenly",
        SPREAD,
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
)

SPREADING = (
    Fault(
        "grad_output is padded by k-1-lo, without the dilation",
        SPREAD,
        look=lambda t, a: t - (a.extent - a.k),
    ),
    Fault(
        "grad_output is padded by lo in place of K-1-lo",
        SPREAD,
        look=lambda t, a: t - (a.extent - 1 - 2 * a.lo),
    ),
    Fault("grad_output is padded by K-1, as if there were no padding", SPREAD, look=lambda t, a: t + a.lo),
    Fault("grad_output is padded by K-lo: one too many", SPREAD, look=shifted(1)),
    Fault(
        "grad_output is padded by K-1-hi at the begin: hi is used for lo",
        SPREAD,
        look=lambda t, a: t + a.lo - a.hi,
    ),
    Fault(
        "a negative pad of grad_output (padding above K-1) is ignored",
        SPREAD,
        look=lambda t, a: t + max(a.lo - a.extent + 1, 0),
    ),
    Fault("grad_output is cropped before it is dilated", SPREAD, look=crop_then_dilate),
    Fault(
        "the cells of output_padding are left at zero",
        TRANSPOSED,
        look=lambda t, a: np.where(t >= a.i - a.remainder, OUTSIDE, t),
    ),
    Fault("the output_padding is put at the begin", TRANSPOSED, look=lambda t, a: t + a.remainder),
    Fault(
        "the output_padding is ignored",
        TRANSPOSED,
        size=lambda believed, true: [a.i - a.remainder for a in true],
    ),
    Fault(
        "the output_padding is taken from the other axis",
        TRANSPOSED,
        size=lambda believed, true: [a.i - a.remainder + b.remainder for a, b in zip(true, true[::-1])],
    ),
)
