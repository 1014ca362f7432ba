"""Elements that are never written: they hold what the memory held (`results.NOTHING`)."""

import numpy as np

from npconv.testing.fault import ALL, TILED, Fault
from npconv.testing.results import NOTHING, beyond_first, from_axis, last_tile, unread

AXES = ((-1, "width"), (-2, "height"), (1, "channels"))

UNWRITTEN = (
    Fault("nothing is written", ALL, result=lambda y, p, a: np.full(y.shape, NOTHING)),
    Fault("the last sample is not written", TILED, result=from_axis(0, lambda n: n - 1)),
    Fault("the last channel is not written", result=from_axis(1, lambda n: n - 1)),
    Fault(
        "the last output channel is not written",
        ("grad_weight", "grad_bias"),
        result=from_axis(0, lambda n: n - 1),
    ),
    Fault("the last column is not written", result=from_axis(-1, lambda n: n - 1)),
    Fault("the last row is not written", result=from_axis(-2, lambda n: n - 1)),
    Fault("the first column is not written", result=from_axis(-1, lambda n: 0, lambda n: 1)),
    Fault("the first row is not written", result=from_axis(-2, lambda n: 0, lambda n: 1)),
    Fault("inputs that no window reads are not written", ("grad_input", "transposed"), result=unread),
    *(
        Fault(
            f"the last incomplete tile of {tile} along the {name} is not written",
            TILED,
            result=last_tile(axis, tile),
            refutable=True,
        )
        for tile in (2, 4, 8, 16, 32)
        for axis, name in AXES
    ),
    *(
        Fault(
            f"nothing beyond the first {tile} along the {name} is written",
            TILED,
            result=beyond_first(axis, tile),
            refutable=True,
        )
        for tile in (4, 8, 16)
        for axis, name in AXES
    ),
)
