"""What is read or written a step beside its place, and what is left out of the sum."""

from npconv.testing.changes import shifted, without
from npconv.testing.fault import GRADIENTS, Fault

SHIFTS = (
    Fault("the input is read one element too late", look=shifted(1)),
    Fault("the input is read one element too early", look=shifted(-1)),
    Fault("the input is read one column too late", look=shifted(1), axis=-1),
    Fault("the input is read one column too early", look=shifted(-1), axis=-1),
    Fault("the input is read one row too late", look=shifted(1), axis=-2),
    Fault("the input is read one row too early", look=shifted(-1), axis=-2),
    Fault("the output is shifted by one position", look=lambda t, a: t + a.s),
    Fault("the output is shifted by one position backwards", look=lambda t, a: t - a.s),
)

LAST = without(rows=slice(-1, None))

LEFT_OUT = (
    Fault("the last position of the output is left out of the sum", GRADIENTS, look=LAST),
    Fault("the last column of the output is left out of the sum", GRADIENTS, look=LAST, axis=-1),
    Fault("the last row of the output is left out of the sum", GRADIENTS, look=LAST, axis=-2),
)
