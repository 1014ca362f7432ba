"""What a kernel does with memory: where it writes, and in what order it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from npconv.problem import Problem
from npconv.testing.climb import Climb, Rung
from npconv.testing.memory import BROADCAST, MEMORY
from npconv.testing.narrow import NOT_REPEATABLE
from npconv.testing.observation import REFUSED, RIGHT, Case, Observation, could_show, exact_case, observe
from npconv.testing.parts import TAKES, array_shapes, reference
from npconv.testing.trigger import trigger
from npconv.testing.typical import typical

SENTINEL = 7.0


def written(climb: Climb, rung: Rung) -> None:
    """Every element is written, over soiled memory, and nothing is added to what the output held; the
    result has memory of its own."""
    integers = climb.runner.declared.formats[2].is_integer
    for part in climb.parts:
        first = climb.ask(part, typical(climb.domains[part])[-1], memory="plain")
        own = observe(climb.runner, _copy(part, climb.rank))
        rung.cases += 2
        if own.kind == "shares":
            rung.failed.append(f"{part}: {own.detail}: to write into one changes the other, on {own.case}")
        if not climb.runner.takes_out(part):
            continue
        for content in (SENTINEL,) if integers else (np.nan, SENTINEL):
            o = observe(climb.runner, first.case, out=content)
            rung.cases += 1
            if o.failed and first.kind == RIGHT:
                rung.failed.append(f"{part}: {_left(o, content)}, on {o.case}")


def _copy(part: str, rank: int) -> Case:
    """One element times 1: the result is a copy of an input, and tempts to hand out the input itself."""
    ones = (1,) * rank
    problem = Problem(i=ones, k=ones, transposed=part == "transposed").canonical()
    arrays = {name: np.ones(shape, np.int64) for name, shape in array_shapes(problem).items()}
    return Case(part, problem, arrays, reference(part, problem, arrays))


def _left(o: Observation, content: float) -> str:
    """What became of an output that held something before."""
    if o.got is None or o.got.shape != o.case.due.shape:
        return o.detail
    kept = int((np.isnan(o.got) if np.isnan(content) else o.got == content).sum())
    if np.array_equal(o.got, o.case.due + content) or np.isnan(content) and kept == o.got.size:
        return "the result is added to what the output held before"
    return f"{kept} of {o.got.size} elements of the output are not written"


def memory(climb: Climb, rung: Rung) -> None:
    """The same values, lying in memory in other ways: each array alone, then all together."""
    refused: dict[str, Observation] = {}
    for part in climb.parts:
        seen: dict[tuple[str, str], list[Observation]] = {}
        for problem in typical(climb.domains[part]):
            if not could_show(part, problem, climb.runner.declared):
                continue
            case = exact_case(part, problem, climb.runner.declared)
            if observe(climb.runner, case).kind != RIGHT:
                continue
            for way, array, asked in _ways(case):
                o = observe(climb.runner, asked, memory=way, array=array)
                rung.cases += 1
                if o.kind == REFUSED:
                    refused.setdefault(way, o)
                seen.setdefault((way, array), []).append(o)
        _take(climb, rung, part, seen)
        climb.progress(f"{rung.name}: {part}")
    rung.notes += [f"refuses arrays that lie in memory as {way} ({o.detail})" for way, o in refused.items()]


def _ways(case: Case) -> Iterator[tuple[str, str, Case]]:
    """A way to lie in memory, the array that does (all without a name), and the case to ask."""
    arrays = [name for name in TAKES[case.part] if name in case.arrays]
    for way in MEMORY:
        if way not in ("plain", BROADCAST):
            yield from ((way, array, case) for array in (*arrays, ""))
    for array in arrays:  # one value stands in all places, so another result is due
        level = {**case.arrays, array: np.full_like(case.arrays[array], case.arrays[array].flat[0])}
        yield BROADCAST, array, replace(case, arrays=level, due=reference(case.part, case.problem, level))


def _take(climb: Climb, rung: Rung, part: str, seen: dict[tuple[str, str], list[Observation]]) -> None:
    """Into the rung; of all arrays together only what shows in none alone."""
    alone = {way for (way, array), every in seen.items() if array and any(o.failed for o in every)}
    for (way, array), observations in seen.items():
        failing = [o for o in observations if o.failed]
        which = f"{array} lies" if array else "the arrays lie"
        if failing and (array or way not in alone):
            first = failing[0]
            passing = [o.problem for o in observations if not o.failed and o.kind != REFUSED]
            line = f"{part}: wrong where {which} in memory as {way}: {first.detail}, on {first.case}"
            if not _stands(climb, first.case, way, array):
                line, passing = f"{part}: {NOT_REPEATABLE}, on {first.case}", []
            rung.failed.append(line)
            rung.told[line] = trigger([o.problem for o in failing], passing) if passing else ""


def _stands(climb: Climb, case: Case, way: str, array: str) -> bool:
    """Whether a case is still right where it lies plainly in memory, and still wrong where it does not."""
    plain, otherwise = observe(climb.runner, case), observe(climb.runner, case, memory=way, array=array)
    return plain.kind == RIGHT and otherwise.failed
