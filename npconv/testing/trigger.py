"""When it fails: the smallest combination of conditions that all failures meet and no success does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import gcd

from npconv.geometry import Axis
from npconv.problem import Problem
from npconv.testing.parts import geometry_of


NEAREST = "; nearest is "


def _any(condition: Callable[[Axis], bool]) -> Callable[[Problem], bool]:
    return lambda problem: any(map(condition, geometry_of(problem).axes))


def _unequal(name: str) -> Callable[[Problem], bool]:
    return lambda problem: len({getattr(axis, name) for axis in geometry_of(problem).axes}) > 1


# The plainest and most usual causes first: of two that fit, the earlier is named.
CONDITIONS: dict[str, Callable[[Problem], bool]] = {
    "groups > 1": lambda p: p.G > 1,
    "stride > 1": _any(lambda a: a.s > 1),
    "dilation > 1": _any(lambda a: a.d > 1),
    "padding > 0": _any(lambda a: a.lo > 0 or a.hi > 0),
    "padding is not 0": _any(lambda a: a.lo != 0 or a.hi != 0),
    "negative padding": _any(lambda a: a.lo < 0 or a.hi < 0),
    "uneven padding (lo and hi differ)": _any(lambda a: a.lo != a.hi),
    "remainder > 0": _any(lambda a: a.remainder > 0),
    "bias": lambda p: p.bias,
    "no bias": lambda p: not p.bias,
    "batch > 1": lambda p: p.N > 1,
    "taps > 1": _any(lambda a: a.k > 1),
    "an even number of taps": _any(lambda a: a.k % 2 == 0),
    "more than one input channel": lambda p: p.C > 1,
    "more than one input channel a group": lambda p: p.C > p.G,
    "more than one output channel": lambda p: p.O > 1,
    "more than one output channel a group": lambda p: p.O > p.G,
    "C/G and O/G differ": lambda p: p.C != p.O,
    "height and width of the taps differ": lambda p: len(set(p.k)) > 1,
    "the strides differ": _unequal("s"),
    "the dilations differ": _unequal("d"),
    "stride and dilation differ": _any(lambda a: a.s != a.d),
    "stride and dilation > 1 on one axis": _any(lambda a: a.s > 1 and a.d > 1),
    "stride > taps": _any(lambda a: a.s > a.k),
    "stride and dilation have a common divisor": _any(lambda a: gcd(a.s, a.d) > 1),
    "padding above K-1": _any(lambda a: max(a.lo, a.hi) > a.extent - 1),
    "taps > 2": _any(lambda a: a.k > 2),
    "an odd number of taps above 1": _any(lambda a: a.k > 1 and a.k % 2 == 1),
    "wider than high": lambda p: p.rank > 1 and p.i[-1] > p.i[-2],
    "higher than wide": lambda p: p.rank > 1 and p.i[-2] > p.i[-1],
    "lo is not 0": _any(lambda a: a.lo != 0),
    "hi is not 0": _any(lambda a: a.hi != 0),
    "lo > 0": _any(lambda a: a.lo > 0),
    "hi > 0": _any(lambda a: a.hi > 0),
    "lo < 0": _any(lambda a: a.lo < 0),
    "hi < 0": _any(lambda a: a.hi < 0),
    "lo < hi": _any(lambda a: a.lo < a.hi),
    "lo > hi": _any(lambda a: a.lo > a.hi),
    "one group": lambda p: p.G == 1,
    "stride 1": _any(lambda a: a.s == 1),
    "more than 3 channels a side": lambda p: max(p.C, p.O) > 3,
    "more than 8 channels a side": lambda p: max(p.C, p.O) > 8,
    "more than 16 channels a side": lambda p: max(p.C, p.O) > 16,
    "more than 8 positions an axis": _any(lambda a: max(a.o, a.i) > 8),
    "more than 16 positions an axis": _any(lambda a: max(a.o, a.i) > 16),
    "more than 32 positions an axis": _any(lambda a: max(a.o, a.i) > 32),
    "batch > 2": lambda p: p.N > 2,
    **{
        f"{name} on the {side}": (lambda p, n=number, c=condition: p.rank >= -n and c(geometry_of(p).axes[n]))
        for number, side in ((-2, "height"), (-1, "width"))
        for name, condition in (
            ("stride > 1", lambda a: a.s > 1),
            ("dilation > 1", lambda a: a.d > 1),
            ("taps > 1", lambda a: a.k > 1),
            ("remainder > 0", lambda a: a.remainder > 0),
            ("padding", lambda a: a.lo > 0 or a.hi > 0),
        )
    },
}


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
    common = [name for name, holds in CONDITIONS.items() if all(map(holds, failing))]
    met = {name: frozenset(n for n, p in enumerate(passing) if CONDITIONS[name](p)) for name in common}
    for size in (1, 2, 3):
        for names in combinations(common, size):
            if not frozenset.intersection(*(met[name] for name in names)):
                return " and ".join(names)
    return _either(failing, passing) or _nearest(failing, passing)


def meets(problem: Problem, told: str) -> bool:
    """Whether a problem meets the condition that a trigger calls the nearest; any other trigger holds.

    >>> told = "no combination of up to three conditions; nearest is groups > 1 (9 of 10 cases)"
    >>> meets(Problem.parse("C2O2G2_i9_k3"), told), meets(Problem.parse("i9_k3"), told)
    (True, False)
    """
    _, nearest, rest = told.partition(NEAREST)
    return not nearest or CONDITIONS[rest.rpartition(" (")[0]](problem)


def _either(failing: Sequence[Problem], passing: Sequence[Problem]) -> str:
    """Two conditions of which every failure meets one, and no success either."""
    strikes = {
        name: frozenset(n for n, p in enumerate(failing) if holds(p))
        for name, holds in CONDITIONS.items()
        if not any(map(holds, passing))
    }
    for one, two in combinations(strikes, 2):
        if len(strikes[one] | strikes[two]) == len(failing):
            return f"{one} or {two}"
    return ""


def _nearest(failing: Sequence[Problem], passing: Sequence[Problem]) -> str:
    """No combination parts them: the condition that comes nearest, with how near."""

    def missed(name: str) -> int:
        holds = CONDITIONS[name]
        return sum(not holds(p) for p in failing) + sum(holds(p) for p in passing)

    best = min(CONDITIONS, key=missed)
    right = len(failing) + len(passing) - missed(best)
    cases = len(failing) + len(passing)
    return f"no combination of up to three conditions{NEAREST}{best} ({right} of {cases} cases)"
