"""The same question, asked again."""

from __future__ import annotations

import numpy as np

from npconv.testing import numerics
from npconv.testing.candidate import Call
from npconv.testing.climb import Climb, Rung


def determinism(climb: Climb, rung: Rung) -> None:
    """The same call gives the same bits."""
    if climb.runner.declared.formats[0].is_integer:
        return
    for part in climb.parts:
        problem = numerics.problem_for(part, climb.rank, plain=True)
        arrays = {
            name: numerics.cancelling(f"{problem} {name}", shape)
            for name, shape in numerics.array_shapes(problem).items()
        }
        results = [climb.runner.run(Call(part, problem, arrays)).value for _ in range(3)]
        if not all(isinstance(result, np.ndarray) for result in results):
            continue
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
