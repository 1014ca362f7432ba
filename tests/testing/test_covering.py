"""Covering arrays against a count of all combinations, taken one by one."""

from itertools import combinations, product

import pytest
from npconv.testing.covering import covering_array
from npconv.testing.problems import FACTORS, covering, full


def uncovered(rows, levels, strength):
    """How many combinations the rows leave out."""
    return sum(
        len(set(product(*(range(levels[f]) for f in c))) - {tuple(row[f] for f in c) for row in rows})
        for c in combinations(range(len(levels)), strength)
    )


@pytest.mark.parametrize(
    "levels, strength", [((2, 3, 4), 2), ((3, 3, 3, 3), 3), ((4, 1, 2), 2), ((2,) * 6, 3)]
)
def test_every_combination_of_levels_occurs(levels, strength):
    rows = covering_array(levels, strength)
    for columns in combinations(range(len(levels)), strength):
        for values in product(*(range(levels[c]) for c in columns)):
            assert any(all(row[c] == v for c, v in zip(columns, values)) for row in rows), (columns, values)


def test_far_fewer_rows_than_combinations():
    assert len(covering_array((3,) * 10, 2)) < 25


def test_a_row_taken_away_leaves_something_uncovered():
    rows = covering_array((3, 3, 3), 2)
    assert uncovered(rows, (3, 3, 3), 2) == 0
    assert uncovered(rows[1:], (3, 3, 3), 2) > 0


def test_the_same_rows_every_time():
    covering_array.cache_clear()
    first = covering_array((2, 3, 2), 2)
    covering_array.cache_clear()
    assert covering_array((2, 3, 2), 2) == first


def test_about_25_pairs_and_115_triples():
    assert 20 <= len(covering(full(), 2)) <= 32
    assert 100 <= len(covering(full(), 3)) <= 140


@pytest.mark.parametrize("transposed", [False, True])
def test_height_and_width_never_agree(transposed):
    for problem in covering(full(transposed=transposed), 3):
        sizes = [axis.i for axis in problem.geometry.axes], [axis.o for axis in problem.geometry.axes]
        assert all(len(set(pair)) == 2 for pair in sizes), str(problem)


def test_every_value_of_every_factor_is_used():
    problems = covering(full(), 2)
    assert {p.k for p in problems} >= set(FACTORS["taps"])
    assert {p.stride for p in problems} >= set(FACTORS["stride"])
    assert {p.padding[0][0] for p in problems} >= set(FACTORS["top"])
    assert {p.padding[1][1] for p in problems} >= set(FACTORS["right"])
    assert {p.G for p in problems} >= {1, 2, 3}
    assert any(axis.remainder == 2 for p in problems for axis in p.geometry.axes)


def test_an_unsupported_value_is_left_out():
    domain = full().without("dilation", [(1, 1)]).without("groups", [1])
    problems = covering(domain, 2)
    assert {p.dilation for p in problems} == {(1, 1)} and {p.G for p in problems} == {1}


@pytest.mark.parametrize("rank", [1, 3])
def test_other_ranks_have_their_own_cases(rank):
    problems = covering(full(rank), 2)
    assert len(problems) > 20 and {p.rank for p in problems} == {rank}
