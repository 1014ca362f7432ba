"""Equal calls give equal results, whatever was asked before and whatever is asked after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from npconv.testing.candidate import Call
from npconv.testing.climb import Climb, Rung
from npconv.testing.families import cancelling
from npconv.testing.narrow import NOT_REPEATABLE
from npconv.testing.numerics import problem_for
from npconv.testing.observation import RIGHT, Case, Observation, could_show, exact_case, observe
from npconv.testing.parts import TAKES, array_shapes, reference
from npconv.testing.typical import typical

CHANNELS = (4, 5)  # C/G and O/G that no other rung has: nothing of these shapes has been kept yet
FLOATS = "C64O6_i12x13_k3"  # a problem whose sums are long
EARLY = 3  # cases of the start that are asked again


def repeats(climb: Climb, rung: Rung) -> None:
    """The same case again; after a call with other numbers; and read after the next call."""
    for part in climb.parts:
        early = [o.case for o in climb.observations if o.part == part and o.kind == RIGHT][:EARLY]
        told = _first(in_company(climb, rung, case) for case in _fresh(climb, part))
        told = told or _first(_again(climb, rung, case) for case in early)
        if told:
            rung.told[f"{part}: {told}"] = ""
        else:
            same_bits(climb, rung, part)
        climb.progress(f"{rung.name}: {part}")
    rung.failed += rung.told


def _first(told: Iterable[str]) -> str:
    return next(filter(None, told), "")


def _fresh(climb: Climb, part: str) -> Iterator[Case]:
    """Cases of shapes that have not been asked before."""
    C, O = CHANNELS
    for problem in typical(climb.domains[part]):
        problem = replace(problem, C=C * problem.G, O=O * problem.G)
        if could_show(part, problem, climb.runner.declared):
            yield exact_case(part, problem, climb.runner.declared)


def _again(climb: Climb, rung: Rung, case: Case) -> str:
    """A case that has come out right is asked again: what goes wrong, or ''."""
    rung.cases += 1
    o = observe(climb.runner, case)
    if not o.failed:
        return ""
    if o.got is not None and any(np.array_equal(o.got, times * case.due) for times in (2, 3)):
        return f"the second call adds to the result of the first, on {case.problem}"
    return f"{NOT_REPEATABLE}: what was right before is not any more: {o.detail}, on {case.problem}"


def in_company(climb: Climb, rung: Rung, case: Case) -> str:
    """What goes wrong with a case, right by itself, that has another call before it or after; or ''."""
    if observe(climb.runner, case).kind != RIGHT:
        return ""
    if told := _again(climb, rung, case):
        return told
    arrays = [name for name in TAKES[case.part] if name in case.arrays]
    other = {**case.arrays, **{name: _other(case.arrays[name]) for name in arrays}}
    for changed in (*([name] for name in arrays), arrays):
        asked = _changed(case, {name: other[name] for name in changed})
        if told := _twice(
            climb, rung, asked, {"before": case.arrays}, lambda o: _kept(climb, o, changed, case)
        ):
            return told
    return _twice(climb, rung, case, {"after": other}, lambda o: _overwritten(o, other))


def _twice(
    climb: Climb,
    rung: Rung,
    case: Case,
    how: Mapping[str, Mapping[str, np.ndarray]],
    tell: Callable[[Observation], str],
) -> str:
    """What is to be told of a failure, or that it comes and goes; '' where it is no matter of company."""
    rung.cases += 1
    o = observe(climb.runner, case, **how)
    if not o.failed:
        return ""
    if observe(climb.runner, case, **how).failed:
        return (told := tell(o)) and f"{told}, on {case.problem}"
    return f"{NOT_REPEATABLE}: of two equal calls one is right: {o.detail}, on {case.problem}"


def _other(array: np.ndarray) -> np.ndarray:
    """The same numbers in another order: as exact as they were."""
    return array.reshape(-1)[::-1].reshape(array.shape)


def _changed(case: Case, arrays: Mapping[str, np.ndarray]) -> Case:
    every = {**case.arrays, **arrays}
    return replace(case, arrays=every, due=reference(case.part, case.problem, every))


def _kept(climb: Climb, o: Observation, changed: Sequence[str], before: Case) -> str:
    for name in changed:
        stale = _changed(o.case, {name: before.arrays[name]}).due
        if o.got is not None and np.array_equal(o.got, stale):
            return (
                f"an old {name} is used: with new numbers in the same memory the result is that of the "
                f"{name} before"
            )
    if observe(climb.runner, o.case).failed:  # wrong by itself: a matter for higher rungs
        return ""
    return f"wrong after a call with another {' and '.join(changed)} of the same shape: {o.detail}"


def _overwritten(o: Observation, other: Mapping[str, np.ndarray]) -> str:
    if o.got is not None and np.array_equal(o.got, reference(o.part, o.problem, other)):
        return "the next call overwrites the result of this one: both are given out in the same memory"
    return f"the next call changes the result of this one: {o.detail}"


def same_bits(climb: Climb, rung: Rung, part: str) -> None:
    """Three equal calls with floats give the same bits."""
    if climb.runner.declared.formats[0].is_integer:
        return
    problem = problem_for(part, climb.rank, FLOATS, plain=True)
    arrays = {name: cancelling(f"{problem} {name}", shape) for name, shape in array_shapes(problem).items()}
    answers = (climb.runner.run(Call(part, problem, arrays)) for _ in range(3))
    results = [answer.value.copy() for answer in answers if isinstance(answer.value, np.ndarray)]
    if len(results) < 3:
        return
    rung.cases += 1
    if not all(identical(results[0], result) for result in results[1:]):
        rung.odd.append(f"{part}: three equal calls gave different bits, on {problem}")


def identical(a: np.ndarray, b: np.ndarray) -> bool:
    """The same values and signs of zero; bytes would compare a long double's padding too."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f":
        return a.tobytes() == b.tobytes()
    nan = np.isnan(a) & np.isnan(b)
    return bool((((a == b) & (np.signbit(a) == np.signbit(b))) | nan).all())
