"""One gradient in the place of another: what a backward does that returns them in another order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npconv.testing.candidate import FROM_BACKWARD
from npconv.testing.observation import Observation
from npconv.testing.parts import reference, result_shape
from npconv.testing.sentences import explaining


def mistaken(part: str, wrong: Sequence[Observation]) -> str:
    """Which gradient comes where another is due: in every case its shape, and somewhere its values."""
    for other in FROM_BACKWARD:
        if part not in FROM_BACKWARD or other == part:
            continue
        alike = [o for o in wrong if o.got is not None and o.got.shape == result_shape(other, o.problem)]
        equal = [o for o in alike if _is(other, o)]
        if equal and len(alike) == len(wrong):
            order = ", ".join(FROM_BACKWARD)
            told = f"{other} is returned where {part} is due (the order is {order})"
            return explaining(part, told, equal, wrong)
    return ""


def _is(other: str, o: Observation) -> bool:
    """Whether a result is the other gradient."""
    return o.got is not None and np.array_equal(o.got, reference(other, o.problem, o.case.arrays))
