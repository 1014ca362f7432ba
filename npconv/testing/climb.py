"""The climb: what has been seen so far, rung by rung, and what each part supports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from npconv.problem import Problem
from npconv.testing.numerics import Measured
from npconv.testing.observation import INEXACT, Observation, exact_case, observe
from npconv.testing.problems import Domain
from npconv.testing.running import Runner

CRASHES = 5  # a part that crashed as often is not asked again


@dataclass
class Rung:
    """What one rung did: how many cases, what failed or looked odd, and which results never came.

    told: what the failures come to, and when it strikes, where the lines of `failed` do not say it best."""

    name: str
    cases: int = 0
    failed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)

    @property
    def status(self) -> str:
        if self.failed:
            return "broken"
        if self.missing:
            return "partial"
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
    measured: list[Measured] = field(default_factory=list)
    facts: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # by name, then by part

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in self.runner.parts if part in self.domains and part not in self.stopped)

    def ask(self, part: str, problem: Problem, **how: Any) -> Observation:
        """One exact case; kept as evidence unless it was asked in a special way."""
        o = observe(self.runner, exact_case(part, problem, self.runner.declared), **how)
        if not how:
            self.observations.append(o)
        if o.kind == "hung" or o.kind == "crashed" and self._crashes(part) > CRASHES:
            self.stopped.add(part)
        return o

    def _crashes(self, part: str) -> int:
        return sum(seen.part == part and seen.kind == "crashed" for seen in self.observations)

    def take(self, rung: Rung, o: Observation) -> None:
        """Count an observation into a rung."""
        rung.cases += 1
        if o.kind == "missing":
            rung.missing.append(f"{o.case}: {o.detail}")
        elif o.failed:
            rung.failed.append(f"{o.case}: {o.detail or o.kind}")
        elif o.kind == INEXACT:
            rung.odd.append(f"{o.case}: {o.detail}")
        if o.wider:
            due = self.runner.declared.formats[2].name
            line = f"{o.part} returns {o.wider}, wider than {due}: it is judged as {due}"
            if not any(line in earlier.notes for earlier in self.rungs):
                rung.notes.append(line)
