"""Infinities and NaN, and sums at the end of the range."""

from __future__ import annotations

import numpy as np

from npconv.problem import Problem
from npconv.testing.candidate import Call
from npconv.testing.climb import Climb, Rung
from npconv.testing.numerics import problem_for
from npconv.testing.observation import RIGHT, Case, comparable, could_show, exact_case, observe, without_array
from npconv.testing.parts import TAKES, array_shapes, result_shape
from npconv.testing.specials import VALUES, answered, judged

# Problems, and where in each the zeros stand that inf and NaN may meet.
LINES = {
    "N2C2O3_i5x6_k3_p1_bias": "0 * inf in the padding",
    "N2C2O3_i7x9_k3_s2": "0 * inf between strided elements",
    "N2C2O3_i7x8_k3x2_d2": "0 * inf between dilated taps",
}
END = "sums beyond the largest number"


def special_values(climb: Climb, rung: Rung) -> None:
    """One inf or NaN in one array; then the largest numbers."""
    if climb.runner.declared.formats[0].is_integer:
        rung.notes.append("the declared formats are integers: they hold neither infinity nor NaN")
        return
    for part in climb.parts:
        for line in LINES:
            if (case := _case(climb, part, line)) is not None:
                _put_in(climb, rung, case, LINES[line])
        _end_of_range(climb, rung, part)
        climb.progress(f"{rung.name}: {part}")


def _case(climb: Climb, part: str, line: str) -> Case | None:
    """The exact case of a line that comes out right, or of its plainer form."""
    for plain in (False, True):
        problem = problem_for(part, climb.rank, line, plain)
        if could_show(part, problem, climb.runner.declared):
            case = exact_case(part, problem, climb.runner.declared)
            if observe(climb.runner, case).kind == RIGHT:
                return case
    return None


def _put_in(climb: Climb, rung: Rung, case: Case, fact: str) -> None:
    """One special element in each array in turn."""
    zeros = climb.facts.setdefault(fact, {}).setdefault(case.part, [])
    for array in (name for name in TAKES[case.part] if name in case.arrays):
        for value in VALUES:
            got = answered(climb.runner, case, array, VALUES[value])
            if got is None:
                continue
            rung.cases += 1
            seen = judged(case, got, array, value)
            if seen.wrong:
                rung.failed.append(f"{case.part}: {seen.wrong}")
            elif seen.spread:
                rung.odd.append(f"{case.part}: {seen.spread}")
            elif seen.zeros and seen.zeros not in zeros:
                zeros.append(seen.zeros)


def _end_of_range(climb: Climb, rung: Rung, part: str) -> None:
    """Two terms that sum to the largest power of two, and to twice as much."""
    exponent = min(1 - f.e_min for f in climb.runner.declared.formats)
    top = 2.0**exponent
    below, above = (_sum_of_two(climb, part, term) for term in (top / 2, top))
    if below is None or above is None:
        return
    rung.cases += 1
    if not (below == top).all():
        got = below[below != top][0]
        rung.failed.append(f"{part}: 2^{exponent - 1} + 2^{exponent - 1} gives {got:g}, due 2^{exponent}")
    fact = "inf" if np.isposinf(above).all() else "NaN" if np.isnan(above).all() else f"{above.min():g}"
    climb.facts.setdefault(END, {}).setdefault(part, []).append(fact)


def _sum_of_two(climb: Climb, part: str, term: float) -> np.ndarray | None:
    """A problem in which every result of every part sums two terms of that size."""
    one = (1,) * climb.rank
    problem = Problem(i=(*one[1:], 2), k=one, C=2, O=2, transposed=part == "transposed").canonical()
    arrays = {name: np.ones(shape) for name, shape in array_shapes(problem).items()}
    arrays[TAKES[part][0]] *= term
    answer = climb.runner.run(Call(part, problem, arrays))
    if without_array(answer, climb.runner.declared) or answer.value.shape != result_shape(part, problem):
        return None
    return comparable(answer.value).astype(np.float64)


def facts(climb: Climb) -> dict[str, str]:
    """What was left to the kernel, and what it does, in a line each."""
    told = {}
    for name, by_part in climb.facts.items():
        lines = {part: " or ".join(found) for part, found in by_part.items() if found}
        if len(set(lines.values())) == 1:
            told[name] = next(iter(lines.values()))
        elif lines:
            told[name] = "; ".join(f"{part}: {line}" for part, line in lines.items())
    return told
