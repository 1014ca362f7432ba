"""Sums that begin anew: of what should be added up, only the last written stays.

Of the windows that meet in one element of an input gradient, the last is the one with the earliest
tap; a loop over the taps outside the one over the windows ends with the latest tap instead.
"""

import numpy as np

from npconv.testing.changes import OUTSIDE, only_first_window, only_last_inside, only_last_window, without
from npconv.testing.fault import SPREAD, Fault


def last_output_channel(c: np.ndarray, I: int, O: int) -> np.ndarray:
    """Of each group, only the last output channel meets anything."""
    return np.where(np.arange(len(c))[:, None] % O == O - 1, c, OUTSIDE)


def last_input_channel(c: np.ndarray, I: int, O: int) -> np.ndarray:
    """Of each group, only the last input channel is met."""
    return np.where(c % I == I - 1, c, OUTSIDE)


OVERWRITING = (
    Fault(
        "overlapping windows overwrite each other: only the last one's products stay",
        SPREAD,
        look=only_last_window,
    ),
    Fault(
        "overlapping windows overwrite each other: only the last tap's products stay",
        SPREAD,
        look=only_first_window,
    ),
    Fault(
        "output channels overwrite each other: only the last of each group stays",
        SPREAD,
        channel=last_output_channel,
    ),
    Fault(
        "every product overwrites the one before: only the last window's and the last output channel's stay",
        SPREAD,
        look=only_last_window,
        channel=last_output_channel,
    ),
    Fault(
        "every product overwrites the one before: only the last tap's and the last output channel's stay",
        SPREAD,
        look=only_first_window,
        channel=last_output_channel,
    ),
    Fault(
        "the sum begins anew at each input channel: only the last of each group counts",
        ("forward",),
        channel=last_input_channel,
    ),
    Fault(
        "the sum begins anew at each row of taps: only the last row counts",
        ("forward",),
        look=without(taps=slice(0, -1)),
        axis=-2,
    ),
    Fault(
        "the sum begins anew at each tap: only the last tap counts",
        ("forward",),
        look=without(taps=slice(0, -1)),
    ),
    Fault(
        "the sum begins anew at each position: only the last one counts",
        ("grad_weight",),
        look=without(rows=slice(0, -1)),
    ),
    Fault(
        "the sum begins anew at each row: only the last row counts",
        ("grad_weight",),
        look=without(rows=slice(0, -1)),
        axis=-2,
    ),
    Fault(
        "every product overwrites the one before: only the last position inside the input stays",
        ("grad_weight",),
        look=only_last_inside,
    ),
    Fault(
        "every product overwrites the one before: only the last tap of the last input channel stays",
        ("forward",),
        look=without(taps=slice(0, -1)),
        channel=last_input_channel,
    ),
)
