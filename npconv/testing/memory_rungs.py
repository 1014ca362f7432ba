"""What a kernel does with memory: where it writes, and in what order it reads."""

from __future__ import annotations

import numpy as np

from npconv.testing.candidate import MEMORY
from npconv.testing.climb import Climb, Rung
from npconv.testing.observation import REFUSED, Observation, could_show
from npconv.testing.typical import typical

SENTINEL = 7.0


def written(climb: Climb, rung: Rung) -> None:
    """Every element is written, and nothing is added to what was there: twice, over soiled memory."""
    for part in climb.parts:
        problem = typical(climb.domains[part])[-1]
        first = climb.ask(part, problem, memory="plain")
        again = climb.ask(part, problem, memory="plain")
        if first.kind == "right" and again.failed:
            doubled = again.got is not None and again.got.shape == again.case.due.shape
            doubled = doubled and np.array_equal(again.got, 2 * again.case.due)
            told = "the second call adds to the result of the first" if doubled else again.detail
            rung.failed.append(f"{part}: {told}, on {again.case}")
        rung.cases += 1
        if not climb.runner.takes_out(part):
            continue
        for content in (np.nan, SENTINEL) if not climb.runner.declared.formats[2].is_integer else (SENTINEL,):
            o = climb.ask(part, problem, out=content)
            rung.cases += 1
            if o.failed and first.kind == "right":
                rung.failed.append(f"{part}: {_left(o, content)}, on {o.case}")


def _left(o: Observation, content: float) -> str:
    """What became of an output that held something before."""
    if o.got is None or o.got.shape != o.case.due.shape:
        return o.detail
    kept = int((np.isnan(o.got) if np.isnan(content) else o.got == content).sum())
    if np.array_equal(o.got, o.case.due + content) or np.isnan(content) and kept == o.got.size:
        return "the result is added to what the output held before"
    return f"{kept} of {o.got.size} elements of the output are not written"


def memory(climb: Climb, rung: Rung) -> None:
    """The same values, lying in memory in other ways."""
    for part in climb.parts:
        for problem in typical(climb.domains[part])[1::3]:
            if not could_show(part, problem, climb.runner.declared):
                continue
            plain = climb.ask(part, problem, memory="plain")
            for name in list(MEMORY)[1:]:
                o = climb.ask(part, problem, memory=name)
                rung.cases += 1
                if o.failed and plain.kind == "right":
                    rung.failed.append(
                        f"{part}: wrong where the inputs lie in memory as {name}: {o.detail}, on {o.case}"
                    )
                elif o.kind == REFUSED:
                    rung.notes.append(f"{part}: refuses inputs that lie in memory as {name} ({o.detail})")
