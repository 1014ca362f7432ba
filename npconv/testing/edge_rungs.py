"""What lies at the edge of meaning: no samples, no window."""

from __future__ import annotations

import numpy as np

from npconv.problem import Problem
from npconv.testing.candidate import Call
from npconv.testing.climb import Climb, Rung
from npconv.testing.observation import REFUSED
from npconv.testing.problems import base


def edges(climb: Climb, rung: Rung) -> None:
    """What lies at the edge of meaning: no samples, no window."""
    for part in climb.parts:
        empty_batch(climb, part, rung)
    if "forward" in climb.parts:
        impossible(climb, rung)


def empty_batch(climb: Climb, part: str, rung: Rung) -> None:
    """No samples: an empty result, or sums that are zero. Who cannot do that may say so."""
    problem = base(climb.domains[part], bias=False, batch=0)
    o = climb.ask(part, problem, memory="plain")
    if o.kind in (REFUSED, "raised"):
        climb.unsupported.setdefault(part, []).append(f"an empty batch ({o.detail})")
    else:
        climb.take(rung, o)


# Where no window fits, an error or an empty result is right.  Numbers that mean nothing are noted only.
NO_WINDOW = (
    ("a weight larger than the input", dict(i=3, k=4)),
    ("a weight larger than the input, with a stride", dict(i=4, k=3, stride=2, dilation=2)),
)
MEANINGLESS = (("dilation 0", dict(i=5, k=3, dilation=0)), ("stride 0", dict(i=5, k=3, stride=0)))


def impossible(climb: Climb, rung: Rung) -> None:
    """What cannot be computed must not give numbers."""
    for told, sizes in (*NO_WINDOW, *MEANINGLESS):
        shape = _made_of_nothing(climb, sizes)
        rung.cases += 1
        if shape:
            lines = rung.failed if (told, sizes) in NO_WINDOW else rung.notes
            lines.append(f"forward: {told} gives an output of shape {shape}, where an error is due")


def _made_of_nothing(climb: Climb, sizes: dict[str, int]) -> tuple[int, ...]:
    """The shape of what a forward gives where nothing can be computed; () where it refuses."""
    every = {**dict(stride=1, dilation=1), **sizes}
    axes = {name: (size,) * climb.rank for name, size in every.items()}
    problem = Problem(padding=((0, 0),) * climb.rank, **axes)  # type: ignore[arg-type]
    arrays = {"input": np.ones(problem.input_shape), "weight": np.ones(problem.weight_shape)}
    value = climb.runner.run(Call("forward", problem, arrays)).value
    return np.shape(value) if getattr(value, "size", 0) else ()
