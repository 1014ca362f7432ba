"""Index maps, and integers compared by equality: small problems first, real layers last."""

from __future__ import annotations

from npconv.problem import Problem
from npconv.testing import layers
from npconv.testing.climb import Climb, Rung
from npconv.testing.further import Chosen, alone, mixed, told, within
from npconv.testing.observation import REFUSED, Observation, could_show, observe
from npconv.testing.parts import parts_of
from npconv.testing.probes import PROBED, probe
from npconv.testing.problems import covering
from npconv.testing.refusals import Refusals
from npconv.testing.typical import typical


def index_maps(climb: Climb, rung: Rung) -> None:
    """Which input element every tap of every output reads."""
    if climb.parts == ("grad_bias",):
        rung.notes.append("index maps are left out: grad_bias has no taps, and reads every element")
    for part in climb.parts:
        if part not in PROBED:
            continue
        problems = typical(climb.domains[part])
        for number, problem in enumerate(problems, 1):
            climb.progress(f"{rung.name}: {part} {number} of {len(problems)}")
            case = probe(part, problem, climb.runner.declared)
            if case is None:
                continue
            o = observe(climb.runner, case)
            if o.kind != REFUSED:
                climb.take(rung, o)
                climb.index_maps.append(o)


def exact(climb: Climb, rung: Rung, strength: int) -> None:
    """Every combination of `strength` parameter values, on integers, compared by equality."""
    if climb.parts == ("grad_bias",) and strength > 2:
        rung.notes.append("triples are left out: few parameters bear on grad_bias, and pairs show them")
    for part in climb.parts:
        if part != "grad_bias" or strength == 2:
            asked = Asked(climb, rung, part)
            problems = list(covering(climb.domains[part], strength))
            for number, problem in enumerate(problems, 1):
                climb.progress(f"{rung.name}: {part} {number} of {len(problems)}")
                asked.one(problem)


class Asked:
    """Exact cases of one part, each asked once at most."""

    def __init__(self, climb: Climb, rung: Rung, part: str):
        self.climb, self.rung, self.part = climb, rung, part
        self.seen = {o.problem: o for o in climb.observations if o.part == part}

    def one(self, problem: Problem) -> Observation | None:
        """The case, counted into the rung; None where no exact data can show anything."""
        if self.part in self.climb.stopped or problem in self.seen:
            return self.seen.get(problem)
        if not could_show(self.part, problem, self.climb.runner.declared):
            self.rung.notes.append(
                f"{self.part} of {problem}: more terms than exact data allow in the declared formats"
            )
            return None
        o = self.seen[problem] = self.climb.ask(self.part, problem)
        self.climb.take(self.rung, o)
        return o


def pairs(climb: Climb, rung: Rung) -> None:
    exact(climb, rung, 2)


def triples(climb: Climb, rung: Rung) -> None:
    exact(climb, rung, 3)


def further_values(climb: Climb, rung: Rung) -> None:
    """Values that the covering sets lack, each alone and amid others."""
    for part in climb.parts:
        further_of(climb, rung, part)


def further_of(climb: Climb, rung: Rung, part: str) -> None:
    """The further values of one part; what is refused alone is told, and not asked amid others."""
    domain = climb.domains[part]
    asked = Asked(climb, rung, part)
    refused: list[Chosen] = []
    refusals = Refusals()
    values = list(within(domain))
    for number, chosen in enumerate(values, 1):
        climb.progress(f"{rung.name}: {part} {number} of {len(values)}")
        if any(less.items() <= chosen.items() for less in refused):
            continue
        o = asked.one(alone(domain, chosen))
        if o is None or o.kind != REFUSED or len(told(chosen)) > 1:
            asked.one(mixed(domain, chosen))
            continue
        refused.append(chosen)
        refusals.add(o.detail, *next(iter(told(chosen).items())))
        climb.observations.remove(o)  # told by its value: no riddle for the trigger
    if refused:
        climb.unsupported.setdefault(part, []).extend(refusals.lines())


def real_layers(climb: Climb, rung: Rung) -> None:
    """Shapes of real networks, compared after a contraction over channels."""
    if why := _without_layers(climb):
        rung.notes.append(f"real layers are left out: {why}")
        return
    for number, (name, line) in enumerate(layers.LAYERS.items(), 1):
        climb.progress(f"{rung.name}: {name}, {number} of {len(layers.LAYERS)}")
        for part in parts_of(Problem.parse(line)):
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
            elif kind == "near":
                rung.odd.append(f"{name}: {why}")


def _without_layers(climb: Climb) -> str:
    """Why the layers are not asked; or ''."""
    if not climb.with_layers:
        return "as asked for"
    if climb.rank != 2:
        return f"rank {climb.rank}, and they have 2 spatial axes"
    declared = climb.runner.declared
    if not layers.fits(declared):
        held = declared.capacity.bit_length() - 1
        return f"their sums are too long for exact data in formats that hold integers up to 2^{held}"
    return ""
