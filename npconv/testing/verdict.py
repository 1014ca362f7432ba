"""The verdict on a climb, with its reason, and the record that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from npconv.testing import identity
from npconv.testing.climb import Climb
from npconv.testing.findings import Finding
from npconv.testing.observation import REFUSED, Observation
from npconv.testing.report import Report, counted
from npconv.testing.trigger import trigger


def concluded(climb: Climb, name: str, findings: list[Finding], facts: dict[str, str]) -> Report:
    """The report on all that was seen."""
    verdict, why = _verdict(climb)
    return Report(
        candidate=name,
        verdict=verdict,
        why=why,
        parts=tuple(climb.runner.parts),
        declared=asdict(climb.runner.declared),
        findings=findings,
        rungs=climb.rungs,
        unsupported=_unsupported(climb),
        identity=identity.verdict(climb.observations),
        passport=facts,
    )


def _unsupported(climb: Climb) -> dict[str, list[str]]:
    """What was refused: alone, and, of what is supported alone, in combination."""
    listed = {part: list(lines) for part, lines in climb.unsupported.items()}
    for part in climb.domains:
        of_part = [o for o in climb.observations if o.part == part]
        known = listed.get(part, [])
        refused = [o for o in of_part if o.kind == REFUSED and not any(o.detail in line for line in known)]
        if refused:
            accepted = [o.problem for o in of_part if o.kind != REFUSED]
            when = trigger([o.problem for o in refused], accepted)
            listed.setdefault(part, []).append(
                f"{when} ({refused[0].detail}), {counted(len(refused), 'case')}"
            )
    return listed


def _verdict(climb: Climb) -> tuple[str, str]:
    """The verdict and why; the first that applies."""
    observations = climb.observations
    judged = [o for o in observations if o.kind != REFUSED]
    if not observations and (notes := [note for rung in climb.rungs for note in rung.notes]):
        return "MISTRUSTED", notes[0]
    if not observations:
        return "UNSUPPORTED", "it offers none of the parts that it was asked for"
    if not judged:
        return "UNSUPPORTED", "it refuses every case that it was asked"
    broken = next((rung for rung in climb.rungs if rung.failed), None)
    if broken:
        return "WRONG", f"breaks at {broken.name!r}"
    odd = next((rung for rung in climb.rungs if rung.odd), None)
    if odd:
        return "SUSPICIOUS", f"{odd.name}: {odd.odd[0]}"
    if blind := _blind(judged):
        return "MISTRUSTED", blind
    parts = ", ".join(dict.fromkeys(o.part for o in judged))
    return "PASS", f"{parts}: {counted(len(judged), 'exact result')} equal"


def _blind(judged: Sequence[Observation]) -> str:
    """Why the data could not have shown a fault, or nothing."""
    for part in dict.fromkeys(o.part for o in judged):
        results = [o.case.due for o in judged if o.part == part]
        size = sum(result.size for result in results)
        filled = sum(int(np.count_nonzero(result)) for result in results)
        if not size:
            return f"{part}: the right results have no elements"
        if filled * 2 < size:
            return f"{part}: only {filled} of {size} elements of the right results are not zero"
    return ""
