"""Elements that are not written and hold what the memory held: NaN somewhere, old numbers elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npconv.testing.diagnose import possible_faults
from npconv.testing.fault import Fault, predict
from npconv.testing.observation import Observation


def left_over(part: str, wrong: Sequence[Observation], right: Sequence[Observation]) -> str:
    """Which elements are never written, where they hold any numbers at all.

    Sums of integers are never NaN; freed memory is made to hold NaN before a call, so NaN in a result
    was there before.  Where it appears, all wrong elements must be ones that the fault leaves
    unwritten, all others right, and no right case may have any.
    """
    if not any(o.got is not None and np.isnan(o.got).any() for o in wrong):
        return ""
    for fault in possible_faults(part, right):
        if (
            fault.result
            and all(_leaves(fault, o) for o in wrong)
            and not any(_unwritten(fault, o) for o in right)
        ):
            total = sum(int(o.wrong.sum()) for o in wrong)
            told = "they hold what the memory held before, NaN among it"
            return f"{part}: {fault.told(part)}: {told}; explains {total} of {total} wrong elements"
    return ""


def _leaves(fault: Fault, o: Observation) -> bool:
    """Whether the wrong elements are some that the fault leaves, and all the others as it predicts."""
    if o.kind != "wrong" or o.got is None:
        return False
    predicted = predict((fault,), o.problem, o.part, o.case.arrays, o.got.shape)
    if predicted is None:
        return False
    unwritten = np.isnan(predicted)
    return bool(
        (unwritten | (o.got == predicted)).all() and unwritten.any() and not (o.wrong & ~unwritten).any()
    )


def _unwritten(fault: Fault, o: Observation) -> bool:
    predicted = predict((fault,), o.problem, o.part, o.case.arrays, o.case.due.shape)
    return predicted is not None and bool(np.isnan(predicted).any())
