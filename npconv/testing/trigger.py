"""When it fails: the smallest combination of conditions that all failures meet and no success does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from itertools import combinations, islice
from operator import and_

from npconv.problem import Problem
from npconv.testing.conditions import CONDITIONS

NEAREST = "; nearest is "

Names = tuple[str, ...]  # of conditions, which are all to be met


@lru_cache(maxsize=4096)
def conditions_of(problem: Problem) -> frozenset[str]:
    """The names of all conditions that a problem meets."""
    return frozenset(name for name, holds in CONDITIONS.items() if holds(problem))


def _cases(name: str, problems: Sequence[Problem]) -> int:
    """Which problems meet a condition, as the bits of a number: sets in the quickest form."""
    return sum(1 << n for n, problem in enumerate(problems) if name in conditions_of(problem))


def trigger(failing: Sequence[Problem], passing: Sequence[Problem]) -> str:
    """The fewest conditions, up to three, present in all failures and together in no success.

    >>> p = Problem.parse
    >>> trigger([p("C2O2G2_i9_k3_s2"), p("C2O2G2_i8_k3_s2")], [p("C2O2G2_i9_k3"), p("i9_k3_s2")])
    'groups > 1 and stride > 1'
    """
    if not failing:
        return ""
    if not passing:
        return "every case"
    first = rivals(failing, passing, 1)
    return " and ".join(first[0]) if first else _either(failing, passing) or _nearest(failing, passing)


def rivals(failing: Sequence[Problem], passing: Sequence[Problem], most: int) -> list[Names]:
    """The combinations of the fewest conditions, up to three, that all failures meet and no success does:
    the first ones, the plainest first.

    >>> p = Problem.parse
    >>> rivals([p("C2O2G2_i9_k3_bias")], [p("i9_k3")], 2)
    [('groups > 1',), ('bias',)]
    """
    shared = frozenset.intersection(*map(conditions_of, failing))
    common = {name: _cases(name, passing) for name in CONDITIONS if name in shared}
    for size in (1, 2, 3):
        found = (n for n in combinations(common, size) if not _all_of(common[name] for name in n))
        if first := list(islice(found, most)):
            return first
    return []


def holds(names: Names, problem: Problem) -> bool:
    """Whether a problem meets all of these conditions."""
    return conditions_of(problem).issuperset(names)


def _all_of(cases: Iterable[int]) -> int:
    return reduce(and_, cases)


def meets(problem: Problem, told: str) -> bool:
    """Whether a problem meets the condition that a trigger calls the nearest; any other trigger holds.

    >>> told = "no combination of up to three conditions; nearest is groups > 1 (4 of 4 failing cases, 1 of 9 right ones)"
    >>> meets(Problem.parse("C2O2G2_i9_k3"), told), meets(Problem.parse("i9_k3"), told)
    (True, False)
    """
    _, nearest, rest = told.partition(NEAREST)
    return not nearest or CONDITIONS[rest.rpartition(" (")[0]](problem)


def _either(failing: Sequence[Problem], passing: Sequence[Problem]) -> str:
    """Two conditions of which every failure meets one, and no success either."""
    met = frozenset.union(*map(conditions_of, passing))
    strikes = {name: _cases(name, failing) for name in CONDITIONS if name not in met}
    every = (1 << len(failing)) - 1
    for one, two in combinations(strikes, 2):
        if strikes[one] | strikes[two] == every:
            return f"{one} or {two}"
    return ""


def _nearest(failing: Sequence[Problem], passing: Sequence[Problem]) -> str:
    """No combination parts them: the condition that comes nearest, with how near; both kinds of cases
    weigh the same, however few fail."""

    def met(name: str, problems: Sequence[Problem]) -> int:
        return sum(name in conditions_of(p) for p in problems)

    def parted(name: str) -> float:
        return met(name, failing) / len(failing) - met(name, passing) / len(passing)

    best = max(CONDITIONS, key=parted)
    hits, misses = met(best, failing), met(best, passing)
    near = f"{hits} of {len(failing)} failing cases, {misses} of {len(passing)} right ones"
    return f"no combination of up to three conditions{NEAREST}{best} ({near})"
