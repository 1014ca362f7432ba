"""The rungs, cheap to dear. The first that breaks ends the climb."""

from __future__ import annotations

from collections.abc import Callable

from npconv.testing.climb import Climb, Rung
from npconv.testing.edge_rungs import edges
from npconv.testing.exact_rungs import further_of, further_values, index_maps, pairs, real_layers, triples
from npconv.testing.float_rungs import floats
from npconv.testing.memory_rungs import memory, written
from npconv.testing.observation import of_part
from npconv.testing.repeat_rungs import repeats
from npconv.testing.special_rungs import special_values
from npconv.testing.support import shapes

RUNGS: dict[str, Callable[[Climb, Rung], None]] = {
    "shapes": shapes,
    "written": written,
    "repeated calls": repeats,
    "index maps": index_maps,
    "exact, every pair": pairs,
    "exact, every triple": triples,
    "exact, further values": further_values,
    "numerics": floats,
    "special values": special_values,
    "memory order": memory,
    "edges": edges,
    "real layers": real_layers,
}


def climb_up(climb: Climb) -> None:
    """All rungs, up to the first that breaks."""
    for name, step in RUNGS.items():
        rung = Rung(name)
        climb.rungs.append(rung)
        climb.progress(name)
        step(climb, rung)
        if rung.failed:
            break


def gather_evidence(climb: Climb) -> None:
    """After a break: at least every pair, so that fault and trigger rest on enough cases; a fault that
    strikes in the minority of them needs more to tell what it depends on."""
    ran = {rung.name for rung in climb.rungs}
    for name in ("index maps", "exact, every pair"):
        if name not in ran:
            RUNGS[name](climb, Rung(name))
    for part in climb.parts:
        seen = of_part(climb.observations, part)
        failed = sum(o.failed for o in seen)
        mapped = any(o.failed for o in of_part(climb.index_maps, part))
        if (failed or mapped) and 2 * failed < len(seen):
            further_of(climb, Rung("exact, further values"), part)
