"""What can be wrong with a convolution: one table a subject, one entry a fault.

`fault.Fault` says what each argument changes.  Of two faults that explain the same, the earlier is
named; so the order of the tables is that of how often each is met.
"""

from __future__ import annotations

from npconv.testing.fault import Fault
from npconv.testing.hypotheses.bias import BIAS, BIAS_GRADIENT
from npconv.testing.hypotheses.border import BORDER
from npconv.testing.hypotheses.channels import CHANNELS, ORDER
from npconv.testing.hypotheses.layouts import LAYOUTS
from npconv.testing.hypotheses.numbers import NUMBERS
from npconv.testing.hypotheses.overwriting import OVERWRITING
from npconv.testing.hypotheses.padding import PADDING
from npconv.testing.hypotheses.samples import AVERAGES, SAMPLES
from npconv.testing.hypotheses.shifts import LEFT_OUT, SHIFTS
from npconv.testing.hypotheses.sizes import SIZES
from npconv.testing.hypotheses.spacing import SPACING
from npconv.testing.hypotheses.spreading import REMAINDER, SPREADING
from npconv.testing.hypotheses.unwritten import UNWRITTEN
from npconv.testing.hypotheses.weight import WEIGHT

FAULTS: tuple[Fault, ...] = (
    *WEIGHT,
    *SPACING,
    *PADDING,
    *BORDER,
    *REMAINDER,
    *SPREADING,
    *SIZES,
    *SHIFTS,
    *LEFT_OUT,
    *LAYOUTS,
    *CHANNELS,
    *ORDER,
    *SAMPLES,
    *AVERAGES,
    *BIAS,
    *BIAS_GRADIENT,
    *UNWRITTEN,
    *NUMBERS,
    *OVERWRITING,
)
