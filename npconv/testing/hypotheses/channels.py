"""Which channels meet, and in which order they come.  c is the table channel[o, j], I is C/G, O is O/G."""

import numpy as np

from npconv.testing.cells import rows_dealt_out
from npconv.testing.changes import OUTSIDE, input_channels, later_groups, output_numbers
from npconv.testing.fault import TILED, Fault
from npconv.testing.results import beyond_first_group, channels_dealt_out, channels_reversed, channels_rolled

CHANNELS = (
    Fault(
        "the input channels of the groups are interleaved",
        channel=lambda c, I, O: c % I * (len(c) // O) + c // I,
    ),
    Fault(
        "the output channels of the groups are interleaved",
        channel=lambda c, I, O: output_numbers(c) % (len(c) // O) * I + c % I,
    ),
    Fault("the weight's output channels are dealt out to the groups in turn", cells={"w": rows_dealt_out}),
    Fault("every group reads the channels of the first", channel=lambda c, I, O: c % I),
    Fault(
        "every group reads the channels of the last", channel=lambda c, I, O: c % I + I * (len(c) // O - 1)
    ),
    Fault("the groups are taken in reverse order", channel=lambda c, I, O: c[::-1] // I * I + c % I),
    Fault(
        "the group's channels start at group * O/G in place of group * C/G",
        channel=lambda c, I, O: np.minimum(output_numbers(c) // O * O + c % I, I * (len(c) // O) - 1),
    ),
    Fault(
        "the group is found as o // (C/G) in place of o // (O/G)",
        channel=lambda c, I, O: np.minimum(output_numbers(c) // I, len(c) // O - 1) * I + c % I,
    ),
    Fault(
        "the channels of every group but the first start one too late",
        channel=lambda c, I, O: np.minimum(c + later_groups(c, O), input_channels(c, I, O) - 1),
    ),
    Fault(
        "the channels of every group but the first start one too early",
        channel=lambda c, I, O: c - later_groups(c, O),
    ),
    Fault(
        "every group's channels start one too late, the last one is read twice",
        channel=lambda c, I, O: np.minimum(c + 1, input_channels(c, I, O) - 1),
    ),
    Fault("every group's channels start one too late", channel=lambda c, I, O: c + 1),
    Fault("every group's channels start one too early", channel=lambda c, I, O: c - 1),
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
    Fault("all input channels are in reverse order", channel=lambda c, I, O: input_channels(c, I, O) - 1 - c),
    Fault(
        "each input channel is taken for the next", channel=lambda c, I, O: (c + 1) % input_channels(c, I, O)
    ),
    Fault(
        "each input channel is taken for the one before",
        channel=lambda c, I, O: (c - 1) % input_channels(c, I, O),
    ),
)

# Where the channels of the result stand: output channels come first in a weight gradient.
ORDER = tuple(
    Fault(sentence, parts, result=result(axis))
    for parts, axis in ((TILED, 1), (("grad_weight",), 0))
    for sentence, result in (
        ("the channels of the result are in reverse order", channels_reversed),
        ("each channel of the result stands one place later", lambda axis: channels_rolled(axis, 1)),
        ("each channel of the result stands one place earlier", lambda axis: channels_rolled(axis, -1)),
        (
            "the channels of the result are shuffled: dealt out to the groups in turn",
            lambda axis: channels_dealt_out(axis, back=False),
        ),
        (
            "the channels of the result are shuffled: collected from the groups in turn",
            lambda axis: channels_dealt_out(axis, back=True),
        ),
        ("only the first group is computed", beyond_first_group),
    )
)
