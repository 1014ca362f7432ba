"""Index maps, and integers compared by equality: small problems first, real layers last."""

from __future__ import annotations

from npconv.testing import layers
from npconv.testing.climb import Climb, Rung
from npconv.testing.observation import REFUSED, could_show, observe
from npconv.testing.probes import PROBED, probe
from npconv.testing.problems import covering
from npconv.testing.typical import typical


def index_maps(climb: Climb, rung: Rung) -> None:
    """Which input element every tap of every output reads."""
    for part in climb.parts:
        if part not in PROBED:
            continue
        for problem in typical(climb.domains[part]):
            case = probe(part, problem, climb.runner.declared)
            if case is None:
                continue
            o = observe(climb.runner, case)
            if o.kind != REFUSED:
                climb.take(rung, o)
                climb.index_maps.append(o)


def exact(climb: Climb, rung: Rung, strength: int) -> None:
    """Every combination of `strength` parameter values, on integers, compared by equality."""
    declared = climb.runner.declared
    for part in climb.parts:
        seen = {str(o.problem) for o in climb.observations if o.part == part}
        for problem in covering(climb.domains[part], strength):
            if part in climb.stopped:
                break
            if str(problem) in seen or part == "grad_bias" and strength > 2:
                continue
            if not could_show(part, problem, declared):
                rung.notes.append(
                    f"{part} of {problem}: more terms than exact data allow in the declared formats"
                )
                continue
            climb.take(rung, climb.ask(part, problem))
            climb.progress(f"{rung.name}: {part} {rung.cases}")


def pairs(climb: Climb, rung: Rung) -> None:
    exact(climb, rung, 2)


def triples(climb: Climb, rung: Rung) -> None:
    exact(climb, rung, 3)


def real_layers(climb: Climb, rung: Rung) -> None:
    """Shapes of real networks, compared after a contraction over channels."""
    if not climb.with_layers or climb.rank != 2 or not layers.fits(climb.runner.declared):
        rung.notes.append("left out")
        return
    for name, line in layers.LAYERS.items():
        for part in layers.PARTS:
            if part not in climb.parts:
                continue
            kind, why = layers.layer_verdict(
                climb.runner, part, line, bias=True in climb.domains[part].factors["bias"]
            )
            if kind == "skipped":
                rung.notes.append(f"{name}: {why}")
                if "hung" in why:
                    rung.notes.append("further layers are left out: over the time limit, which is no fault")
                    return
                continue
            rung.cases += 1
            if kind == "wrong":
                rung.failed.append(f"{name}: {why}")
            climb.progress(f"{rung.name}: {name}")
