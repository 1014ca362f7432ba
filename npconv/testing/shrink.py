"""The smallest problem that still fails: take away what can be taken away, until nothing can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from npconv.problem import Problem

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
    changes: list[dict[str, Any]] = []
    G = problem.G
    if problem.N > 1:
        changes += [dict(N=1), dict(N=problem.N - 1)]
    if G > 1:
        changes += [dict(G=1), dict(G=1, C=problem.C // G, O=problem.O // G)]
        changes += [dict(G=2, C=problem.C // G * 2, O=problem.O // G * 2)] if G > 2 else []
    for name in "CO":
        value = getattr(problem, name)
        changes += [{name: smaller} for smaller in _less(value // G, G)]
    changes += [dict(bias=False)] if problem.bias else []
    for name, least in (("stride", 1), ("dilation", 1), ("output_padding", 0)):
        values = getattr(problem, name)
        changes += [{name: (least,) * problem.rank}] if any(v > least for v in values) else []
        changes += [{name: entry} for entry in _each_less(values, least)]
    changes += [dict(padding=((0, 0),) * problem.rank)]
    changes += [dict(padding=pads) for pads in _paddings(problem.padding)]
    changes += [{name: entry} for name in ("k", "i") for entry in _each_less(getattr(problem, name), 1)]
    for change in changes:
        try:
            smaller = replace(problem, **change).canonical()
        except ValueError:
            continue
        if smaller != problem:
            yield smaller


def _less(count: int, times: int) -> list[int]:
    return sorted({n * times for n in (1, count // 2, count - 1) if 0 < n < count})


def _each_less(values: tuple[int, ...], least: int) -> Iterator[tuple[int, ...]]:
    """The values with one of them smaller: at once to the least, by half, by one."""
    for axis, value in enumerate(values):
        for smaller in sorted({least, value // 2, value - 1}):
            if least <= smaller < value:
                yield (*values[:axis], smaller, *values[axis + 1 :])


def _paddings(pads: Any) -> Iterator[tuple[tuple[int, int], ...]]:
    """The paddings with one end nearer to 0."""
    for axis, pair in enumerate(pads):
        for end in (0, 1):
            for value in {0, pair[end] - 1 if pair[end] > 0 else pair[end] + 1}:
                if abs(value) < abs(pair[end]):
                    changed = (value, pair[1]) if end == 0 else (pair[0], value)
                    yield (*pads[:axis], changed, *pads[axis + 1 :])
