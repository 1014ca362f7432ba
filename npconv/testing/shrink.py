"""The smallest problem that still fails: take away what can be taken away, until nothing can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from npconv.arguments import Pair
from npconv.problem import Problem
from npconv.testing.parts import geometry_of

LIMIT = 400  # questions asked at most


def shrink(problem: Problem, fails: Callable[[Problem], bool]) -> Problem:
    """The problem, made smaller step by step as long as `fails` says that it still does.

    >>> str(shrink(Problem.parse("N2C4O6G2_i9x7_k3_s2_p1_bias"), lambda p: p.G > 1 and max(p.stride) > 1))
    'C2O2G2_i1x1_k1_s1x2'
    """
    asked = 0
    current = problem.canonical()
    progress = True
    while progress and asked < LIMIT:
        progress = False
        for smaller in _smaller(current):
            asked += 1
            if fails(smaller):
                current, progress = smaller, True
                break
            if asked >= LIMIT:
                break
    return current


def _smaller(problem: Problem) -> Iterator[Problem]:
    """Problems with one thing less, the largest steps first; only those that are legal."""
    for change in _changes(problem):
        try:
            smaller = replace(problem, **change).canonical()
        except ValueError:
            continue
        if smaller != problem:
            yield smaller


def _changes(problem: Problem) -> Iterator[dict[str, Any]]:
    """What may be taken away, legal or not."""
    yield from _fewer_channels(problem)
    yield dict(bias=False)
    for name, least in (("stride", 1), ("dilation", 1), ("output_padding", 0)):
        yield {name: (least,) * problem.rank}
        yield from ({name: entries} for entries in _each_less(getattr(problem, name), least))
    yield dict(padding=((0, 0),) * problem.rank)
    yield from (dict(padding=pads) for pads in _each_end_nearer(geometry_of(problem).padding))
    yield from ({name: entries} for name in ("k", "i") for entries in _each_less(getattr(problem, name), 1))


def _fewer_channels(problem: Problem) -> Iterator[dict[str, Any]]:
    """Fewer samples, then fewer groups, with all channels and with fewer, then fewer channels a group."""
    N, C, O, G = problem.N, problem.C, problem.O, problem.G
    yield from (dict(N=fewer) for fewer in _less(N))
    if G > 1:
        yield dict(G=1)
    yield from (dict(G=fewer, C=C // G * fewer, O=O // G * fewer) for fewer in (1, 2) if fewer < G)
    yield from (dict(C=fewer * G) for fewer in _less(C // G))
    yield from (dict(O=fewer * G) for fewer in _less(O // G))


def _less(value: int, least: int = 1) -> list[int]:
    """A smaller number: the least, the half, one less."""
    return sorted({fewer for fewer in (least, value // 2, value - 1) if least <= fewer < value})


def _each_less(values: tuple[int, ...], least: int) -> Iterator[tuple[int, ...]]:
    """The values with one of them smaller."""
    for axis, value in enumerate(values):
        for smaller in _less(value, least):
            yield (*values[:axis], smaller, *values[axis + 1 :])


def _each_end_nearer(pads: tuple[Pair, ...]) -> Iterator[tuple[Pair, ...]]:
    """The paddings with one end 0, or nearer to it by one."""
    for axis, (lo, hi) in enumerate(pads):
        nearer = [(end, hi) for end in _nearer(lo)] + [(lo, end) for end in _nearer(hi)]
        yield from ((*pads[:axis], pair, *pads[axis + 1 :]) for pair in nearer)


def _nearer(end: int) -> list[int]:
    """0, and one nearer to it."""
    return list(dict.fromkeys([0, end - 1 if end > 0 else end + 1])) if end else []
