"""Elements that are not written and hold what the memory held: NaN somewhere, old numbers elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npconv.testing.diagnose import possible_faults
from npconv.testing.fault import Fault, predict_late
from npconv.testing.observation import Observation
from npconv.testing.sentences import explaining


MOST = 0.9  # of what is left unwritten; a few old numbers may happen to be right


def left_over(part: str, wrong: Sequence[Observation], right: Sequence[Observation]) -> str:
    """Which elements are never written, where they hold any numbers at all.

    Sums of integers are never NaN; freed memory is made to hold NaN before a call, so NaN in a result
    was there before.  Where it appears, all wrong elements must be ones that the fault leaves
    unwritten, nearly all of these must be wrong, and no right case may have any.
    """
    if any(o.kind != "wrong" for o in wrong) or not any(
        np.isnan(o.got).any() for o in wrong if o.got is not None
    ):
        return ""
    total = sum(int(o.wrong.sum()) for o in wrong)
    for fault in possible_faults(part, right):
        unwritten = [_unwritten(fault, o) for o in wrong] if fault.late else []
        if not unwritten or any((o.wrong & ~mask).any() for o, mask in zip(wrong, unwritten)):
            continue
        if total < MOST * sum(int(mask.sum()) for mask in unwritten) or any(
            _unwritten(fault, o).any() for o in right
        ):
            continue
        told = f"{fault.told(part)}: old numbers of the memory stay there, NaN among them"
        return explaining(part, told, wrong, wrong)
    return ""


def _unwritten(fault: Fault, o: Observation) -> np.ndarray:
    """The elements of a case that a fault leaves as they were."""
    left = np.isnan(predict_late((fault,), o.problem, o.case.arrays, o.case.due))
    return left if left.shape == o.case.due.shape else np.zeros(o.case.due.shape, bool)
