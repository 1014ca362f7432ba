"""What is read where the window leaves the input."""

import numpy as np

from npconv.testing.changes import OUTSIDE, into_middle, next_rows, next_rows_if_cropped
from npconv.testing.fault import Fault

WINDOWED = ("forward", "grad_weight")
ZEROS = "the padding holds {} in place of zeros"

BORDER = (
    Fault(ZEROS.format("the border cell"), look=lambda t, a: np.clip(t, 0, a.i - 1)),
    Fault(
        ZEROS.format("the reflected input"),
        look=lambda t, a: a.i - 1 - abs(a.i - 1 - t % max(2 * a.i - 2, 1)),
    ),
    Fault(
        ZEROS.format("the mirrored input, the border cell twice,"),
        look=lambda t, a: np.minimum(t % (2 * a.i), 2 * a.i - 1 - t % (2 * a.i)),
    ),
    Fault(ZEROS.format("the input wrapped around"), look=lambda t, a: t % a.i),
    Fault("the last input is taken for padding", look=lambda t, a: np.where(t >= a.i - 1, OUTSIDE, t)),
    Fault("the first input is taken for padding", look=lambda t, a: np.where(t <= 0, OUTSIDE, t)),
    Fault(
        "columns are not checked against the width: the neighbouring row is read",
        WINDOWED,
        given=next_rows,
        look=into_middle,
        axis=-1,
    ),
    Fault(
        "where the low padding of the width is negative, the next row is read beyond the end of each row",
        WINDOWED,
        given=next_rows_if_cropped,
    ),
)
