"""Floats that are hard on rounding."""

from __future__ import annotations

from npconv.testing import numerics
from npconv.testing.climb import Climb, Rung


def floats(climb: Climb, rung: Rung) -> None:
    """Floats that are hard on rounding, against the derived bound."""
    if climb.runner.declared.formats[0].is_integer:
        rung.notes.append("the declared formats are integers: nothing rounds")
        return
    for part in climb.parts:
        taken: list[numerics.Measured] = []
        for family in numerics.FAMILIES:
            for plain in (False, True):
                measured = numerics.measure(
                    climb.runner, part, family, numerics.problem_for(part, climb.rank, plain)
                )
                if not isinstance(measured, str) or "refused" not in measured:
                    break
            rung.cases += 1
            if isinstance(measured, str):
                rung.notes.append(measured)
            else:
                taken.append(measured)
        for measured in numerics.agreed(taken):
            climb.measured.append(measured)
            if measured.kind == "WRONG":
                rung.failed.append(str(measured))
            elif measured.kind == "SUSPICIOUS":
                rung.odd.append(str(measured))
        climb.progress(f"{rung.name}: {part}")
