"""Wrong values that no other reading explains: chance, an end of the range, or too narrow sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npconv.testing.bounds import agrees, bounds, magnitude
from npconv.testing.candidate import Declared
from npconv.testing.fault import OUTPUTS
from npconv.testing.fitted import ELEMENTS, EQUATIONS
from npconv.testing.formats import Format, named
from npconv.testing.observation import Observation, exact_case, number, observe
from npconv.testing.running import Runner
from npconv.testing.sentences import explaining

NOT_REPEATABLE = "not repeatable: the same call gives other results"
COSTLY = ("hung", "crashed", "missing")  # kinds of failures that are not asked for again
ASKED = 12  # cases that are put to the candidate again
GUARD = 2  # bits beyond the format's: blocks of sums may be added up in a wider one


def unrepeatable(part: str, observations: Sequence[Observation], runner: Runner) -> str:
    """Cases that come out otherwise when they are asked again, the last first: failures come right, or
    the first right ones fail."""
    failed = [o for o in observations if o.failed and o.kind not in COSTLY][:ASKED]
    right = [o for o in observations if o.kind == "right"][: min(ASKED, len(failed))]
    for o in (*reversed(failed), *reversed(right)):
        again = observe(runner, o.case).kind
        if again in COSTLY:
            break
        if (again == "right") != (o.kind == "right"):
            return f"{part}: {NOT_REPEATABLE}, on {o.problem}"
    return ""


def saturated(part: str, wrong: Sequence[Observation]) -> str:
    """Every wrong value is the end of a range that the due value lies beyond; values enough must say so."""
    if any(o.kind != "wrong" for o in wrong):
        return ""
    got = np.concatenate([o.got[o.wrong] for o in wrong if o.got is not None])
    due = np.concatenate([o.case.due[o.wrong] for o in wrong])
    ends = np.unique(got)
    beyond = ((got >= 0) & (due > got)) | ((got <= 0) & (due < got))
    same = len(ends) == 1 or (len(ends) == 2 and ends[0] < 0 < ends[1])
    if not same or not beyond.all() or not ends.all():
        return ""
    if got.size < ELEMENTS or len(np.unique(due)) < EQUATIONS * len(ends):
        return ""
    told = f"results saturate at {' and '.join(map(number, ends))}"
    return explaining(part, told, wrong, wrong)


def narrow_sums(part: str, wrong: Sequence[Observation], runner: Runner, declared: Declared) -> str:
    """Right on smaller numbers, and wrong on larger ones by what rounding to so few bits can give."""
    for narrow in map(named, ("float16", "bfloat16")):
        if narrow.capacity >= declared.capacity or not all(_rounds_so(o, narrow) for o in wrong):
            continue
        cases = [exact_case(part, o.problem, declared, narrow.capacity) for o in wrong[:ASKED]]
        if all(observe(runner, case).kind == "right" for case in cases):
            told = (
                f"sums are carried in fewer bits than declared: integers are right up to 2^{narrow.p} and "
                f"not up to 2^{declared.capacity.bit_length() - 1}"
            )
            return explaining(part, told, wrong, wrong)
    return ""


def _rounds_so(o: Observation, narrow: Format) -> bool:
    """Whether each wrong value is within the bound of sums in that format, and about as short."""
    if o.kind != "wrong" or o.got is None:
        return False
    y = o.case.due.astype(np.float64)
    limit = bounds(o.part, o.problem, o.case.arrays, y, (narrow,) * 3).worst
    with np.errstate(all="ignore"):
        short = _short(o.got, narrow.p + GUARD) | _short(o.got - _bias(o), narrow.p + GUARD)
        lost = ~np.isfinite(o.got) & (magnitude(o.part, o.problem, o.case.arrays) >= narrow.overflow)
    return bool((short & agrees(o.got, y, limit, narrow) | lost)[o.wrong].all())


def _short(x: np.ndarray, bits: int) -> np.ndarray:
    """Elements whose significand takes no more bits than that."""
    fraction, _ = np.frexp(x)
    scaled = np.ldexp(fraction, bits)
    return scaled == np.rint(scaled)


def _bias(o: Observation) -> np.ndarray | float:
    """What may have been added to the sum in a wider format."""
    if o.part not in OUTPUTS or not o.problem.bias:
        return 0.0
    return o.case.arrays["bias"].reshape(1, -1, *(1 for _ in o.problem.k))
