"""The rungs, cheap to dear. The first that breaks ends the climb."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from npconv.problem import Problem
from npconv.testing import layers, numerics
from npconv.testing.candidate import MEMORY, Call
from npconv.testing.observation import INEXACT, REFUSED, Observation, could_show, exact_case, observe
from npconv.testing.parts import PARTS
from npconv.testing.probes import PROBED, probe
from npconv.testing.problems import FACTORS, Domain, base, covering, full
from npconv.testing.running import Runner

SENTINEL = 7.0
CRASHES = 5  # a part that crashed as often is not asked again


@dataclass
class Rung:
    """What one rung did: how many cases, and what failed or looked odd."""

    name: str
    cases: int = 0
    failed: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        if self.failed:
            return "broken"
        return "odd" if self.odd else "passed" if self.cases else "not run"


@dataclass
class Climb:
    """Everything seen so far, and what each part supports."""

    runner: Runner
    rank: int = 2
    with_layers: bool = True
    progress: Callable[[str], None] = lambda line: None
    domains: dict[str, Domain] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)
    unsupported: dict[str, list[str]] = field(default_factory=dict)
    stopped: set[str] = field(default_factory=set)  # parts that are not asked again
    rungs: list[Rung] = field(default_factory=list)
    index_maps: list[Observation] = field(default_factory=list)
    measured: list[numerics.Measured] = field(default_factory=list)

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in self.runner.parts if part in self.domains and part not in self.stopped)

    def ask(self, part: str, problem: Problem, **how: Any) -> Observation:
        """One exact case; kept as evidence unless it was asked in a special way."""
        o = observe(self.runner, exact_case(part, problem, self.runner.declared), **how)
        if not how:
            self.observations.append(o)
        crashes = sum(seen.part == part and seen.kind == "crashed" for seen in self.observations)
        if o.kind == "hung" or crashes > CRASHES:
            self.stopped.add(part)
        return o

    def take(self, rung: Rung, o: Observation) -> None:
        """Count an observation into a rung."""
        rung.cases += 1
        if o.failed:
            rung.failed.append(f"{o.case}: {o.detail or o.kind}")
        elif o.kind == INEXACT:
            rung.odd.append(f"{o.case}: {o.detail}")


# ---------------------------------------------------------------- what is supported


def find_domain(climb: Climb, part: str, rung: Rung) -> None:
    """Ask for each value of each factor alone; what is refused is left out from then on."""
    domain = full(climb.rank, transposed=part == "transposed")
    refused: list[str] = []
    plain: dict[str, Any] = {}

    def accepts(told: str, **chosen: Any) -> bool:
        if part in climb.stopped:
            return True
        o = climb.ask(part, base(domain, **{**plain, **chosen}))
        if o.kind == REFUSED:
            refused.append(f"{told} ({o.detail})")
            return False
        note(o)
        return True

    def note(o: Observation) -> None:
        if o.kind != "wrong":  # a matter for higher rungs, where more is seen
            climb.take(rung, o)

    for plain in _plainest():
        o = climb.ask(part, base(domain, **plain))
        if o.kind != REFUSED:
            note(o)
            break
    else:
        climb.unsupported[part] = [f"everything ({o.detail})"]
        return
    domain = _even_or_not(domain, accepts)
    for name, told in (("taps", "taps"), ("stride", "stride"), ("dilation", "dilation"), ("groups", "groups"),
                       ("channels", "C/G, O/G ="), ("batch", "batch"), ("bias", "bias")):  # fmt: skip
        keep = [
            v
            for v in FACTORS[name]
            if v == plain.get(name, FACTORS[name][0]) or accepts(f"{told} {v}", **{name: v})
        ]
        domain = domain.without(name, keep)
    if steps := [s for s in domain.factors["stride"] if s == (2, 3)]:
        told = "output_padding" if part == "transposed" else "a remainder"
        keep = [
            r
            for r in FACTORS["remainder"]
            if r == (0, 0) or accepts(f"{told} {r}", stride=steps[0], remainder=r)
        ]
        domain = domain.without("remainder", keep)
    climb.domains[part] = domain
    if refused:
        climb.unsupported[part] = refused


def _plainest() -> Iterator[dict[str, Any]]:
    """The plainest problems, until one is accepted."""
    for taps in FACTORS["taps"]:
        for bias in FACTORS["bias"]:
            for batch in FACTORS["batch"]:
                yield {"taps": taps, "bias": bias, "batch": batch}


def _even_or_not(domain: Domain, accepts: Callable[..., bool]) -> Domain:
    """Padding at all, more of it, uneven, negative."""
    ends = ("top", "bottom", "left", "right")
    if not accepts("padding", **dict.fromkeys(ends, 1)):
        for end in ends:
            domain = domain.without(end, [0])
        return domain
    uneven = accepts("uneven padding", top=1, bottom=2, left=2, right=0)
    negative = accepts("negative padding", **dict.fromkeys(ends, -1))
    for end in ends:
        domain = domain.without(end, [v for v in FACTORS[end] if v >= 0 or negative])
    return Domain(domain.factors, uneven, domain.transposed, domain.rank)


# ---------------------------------------------------------------- the rungs


def shapes(climb: Climb, rung: Rung) -> None:
    """Shape and type of the result, for each value of each parameter alone."""
    for part in climb.runner.parts:
        find_domain(climb, part, rung)


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


def written(climb: Climb, rung: Rung) -> None:
    """Every element is written, and nothing is added to what was there: twice, over soiled memory."""
    for part in climb.parts:
        problem = _probe_problems(climb, part)[-1]
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


def index_maps(climb: Climb, rung: Rung) -> None:
    """Which input element every tap of every output reads."""
    for part in climb.parts:
        if part not in PROBED:
            continue
        for problem in _probe_problems(climb, part):
            case = probe(part, problem, climb.runner.declared)
            if case is None:
                continue
            o = observe(climb.runner, case)
            if o.kind != REFUSED:
                climb.take(rung, o)
                climb.index_maps.append(o)


def _probe_problems(climb: Climb, part: str) -> list[Problem]:
    """A plain problem, then one with all that the part supports."""
    domain = climb.domains[part]
    least = {name: values[0] for name, values in domain.factors.items()}
    if not domain.uneven:
        pads = {end: max(domain.factors["top"]) and 1 for end in ("top", "bottom", "left", "right")}
    else:
        pads = dict(top=1, bottom=2, left=2, right=0) if len(domain.factors["top"]) > 1 else {}

    def pick(name: str, *wanted: Any) -> dict[str, Any]:
        return {name: next((v for v in wanted if v in domain.factors[name]), least[name])}

    some = {**least, **pick("channels", (1, 2)), **pick("bias", False), **pick("batch", 1)}
    strided = {**some, **pads, **pick("stride", (2, 3)), **pick("remainder", (1, 1))}
    dilated = {**some, **pick("dilation", (2, 1))}
    both = {
        **strided,
        **pick("dilation", (1, 3), (2, 1)),
        **pick("taps", (2, 3)),
        **pick("remainder", (0, 2)),
    }
    grouped = {**strided, **pick("groups", 2), **pick("channels", (1, 2))}
    return [base(domain, **chosen) for chosen in (some, strided, dilated, both, grouped)]


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


def memory(climb: Climb, rung: Rung) -> None:
    """The same values, lying in memory in other ways."""
    for part in climb.parts:
        for problem in _probe_problems(climb, part)[1::3]:
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


RUNGS: dict[str, Callable[[Climb, Rung], None]] = {
    "shapes": shapes,
    "written": written,
    "index maps": index_maps,
    "exact, every pair": pairs,
    "exact, every triple": triples,
    "numerics": floats,
    "memory order": memory,
    "determinism": determinism,
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
    """After a break: at least every pair, so that fault and trigger rest on enough cases."""
    ran = {rung.name for rung in climb.rungs}
    for name in ("index maps", "exact, every pair"):
        if name not in ran:
            RUNGS[name](climb, Rung(name))


__all__ = ["PARTS", "RUNGS", "Climb", "Rung", "climb_up", "gather_evidence"]
