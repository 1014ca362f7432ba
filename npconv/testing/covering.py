"""Covering arrays: few rows in which every combination of t values of different factors occurs."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, product

Row = tuple[int, ...]


@lru_cache(maxsize=32)
def covering_array(levels: tuple[int, ...], strength: int) -> tuple[Row, ...]:
    """Rows of level numbers, such that any `strength` columns show all combinations of their levels.

    Greedy and without chance: each row starts from the first combination not yet seen and then takes,
    factor by factor, the level that shows most new combinations.

    >>> covering_array((2, 2, 2), 2)
    ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0))
    """
    strength = min(strength, len(levels))
    columns = list(combinations(range(len(levels)), strength))
    missing = {(c, v) for c in columns for v in product(*(range(levels[f]) for f in c))}
    rows: list[Row] = []
    while missing:
        first = min(missing)
        row = dict(zip(*first))
        for factor in sorted(set(range(len(levels))) - set(row), key=lambda f: (-levels[f], f)):
            row[factor] = _best(factor, row, levels[factor], strength, missing, start=len(rows))
        complete = tuple(row[f] for f in range(len(levels)))
        missing -= {(c, tuple(complete[f] for f in c)) for c in columns}
        rows.append(complete)
    return tuple(rows)


def _best(factor: int, row: dict[int, int], levels: int, strength: int, missing: set, start: int) -> int:
    """The level of one factor that shows most new combinations; of equal ones another in every row."""
    others = list(combinations(sorted(row), strength - 1))
    counts = [0] * levels
    for other in others:
        columns = tuple(sorted((*other, factor)))
        for level in range(levels):
            values = tuple(level if f == factor else row[f] for f in columns)
            counts[level] += (columns, values) in missing
    return max(range(levels), key=lambda level: (counts[level], -((level - start) % levels)))
