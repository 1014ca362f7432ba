"""The weight, read in another order."""

from npconv.testing.cells import (
    channels_first,
    channels_last,
    channels_swapped,
    channels_swapped_in_groups,
    first_group_serves_all,
    first_group_serves_last,
    planes_turned,
    rotated,
)
from npconv.testing.changes import on_one_axis, reversed_taps, without
from npconv.testing.fault import SPREAD, Fault

FORWARD = ("forward",)
WEIGHT_GRADIENT = ("grad_weight",)

WEIGHT = (
    Fault("the weight is flipped", FORWARD, look=reversed_taps),
    Fault("the weight is not flipped", SPREAD, look=reversed_taps),
    Fault("the result is flipped, as if the weight were", WEIGHT_GRADIENT, look=reversed_taps),
    *on_one_axis(Fault("the taps are flipped", look=reversed_taps)),
    Fault("the tap axes (KH, KW) are swapped", cells={"w": planes_turned}),
    Fault("the weight's channel axes are swapped: (I, O) is taken for (O, I)", cells={"w": channels_swapped}),
    Fault(
        "the weight's channel axes are swapped inside each group: (I, O/G) is taken for (O/G, I)",
        cells={"w": channels_swapped_in_groups},
    ),
    Fault("the weight is taken to be stored (O, KH, KW, I)", cells={"w": channels_last}),
    Fault("a weight stored (O, KH, KW, I) is read as (O, I, KH, KW)", cells={"w": channels_first}),
    Fault("the weight is rotated by 90 degrees, where its taps are square", cells={"w": rotated(1)}),
    Fault(
        "the weight is rotated by 90 degrees the other way, where its taps are square",
        cells={"w": rotated(-1)},
    ),
    Fault("the weight of the first group serves all groups", cells={"w": first_group_serves_all}),
    Fault("the weight of the first group serves the last", cells={"w": first_group_serves_last}),
    Fault("the last tap of each axis is left out", look=without(taps=slice(-1, None))),
    Fault("the last column of taps is left out", look=without(taps=slice(-1, None)), axis=-1),
    Fault("the last row of taps is left out", look=without(taps=slice(-1, None)), axis=-2),
    Fault("the first tap of each axis is left out", look=without(taps=slice(0, 1))),
    Fault("the first column of taps is left out", look=without(taps=slice(0, 1)), axis=-1),
    Fault("the first row of taps is left out", look=without(taps=slice(0, 1)), axis=-2),
)
