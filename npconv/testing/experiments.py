"""Several conditions fit what was seen: ask the cases that tell them apart.

A trigger found in the cases that happened to be asked may be an accident of these.  So, as long as more
than one condition of the fewest words explains all outcomes, the problem is asked on which half of them
hold, which is worth the most, and the outcome removes those that it contradicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npconv.problem import Problem
from npconv.testing.trigger import Names, holds, rivals

QUESTIONS = 24  # asked at most
COMPARED = 200  # rivals, at most, that are compared

Outcome = bool | None  # whether it fails; None where it cannot be asked


def told_apart(
    failing: Sequence[Problem],
    passing: Sequence[Problem],
    pool: Sequence[Problem],
    fails: Callable[[Problem], Outcome],
) -> tuple[list[Problem], list[Problem]]:
    """The failing and the passing problems, with those of the pool that were asked to tell rivals apart.

    >>> p = Problem.parse
    >>> failing, passing = [p("C2O2G2_i9_k3_bias")], [p("i9_k3")]
    >>> pool = [p("i9_k3_bias"), p("C2O2G2_i9_k3"), p("C2O2_i9_k3")]
    >>> _, passed = told_apart(failing, passing, pool, lambda problem: problem.G > 1)
    >>> [str(problem) for problem in passed]
    ['i9_k3', 'C2O2_i9_k3', 'i9_k3_bias']
    """
    failing, passing = list(failing), list(passing)
    unasked = [problem for problem in pool if problem not in failing and problem not in passing]
    for _ in range(QUESTIONS):
        problem = _most_telling(rivals(failing, passing, COMPARED), unasked)
        if problem is None:
            break
        unasked.remove(problem)
        outcome = fails(problem)
        if outcome is not None:
            (failing if outcome else passing).append(problem)
    return failing, passing


def _most_telling(names: Sequence[Names], problems: Sequence[Problem]) -> Problem | None:
    """The problem on which nearest to half of the rivals hold; None where no problem parts them."""
    half = len(names) / 2
    held = {n: sum(holds(rival, problem) for rival in names) for n, problem in enumerate(problems)}
    parting = [n for n, count in held.items() if 0 < count < len(names)]
    return problems[min(parting, key=lambda n: abs(held[n] - half))] if parting else None
