"""Values beyond the covering sets: each alone and amid others, small, and only where they are supported."""

from dataclasses import replace
from math import prod

import pytest
from npconv.testing.further import FURTHER, alone, further, mixed, told, within
from npconv.testing.parts import PARTS, parts_of, terms
from npconv.testing.problems import FACTORS, base, full

DOMAINS = [full(rank, transposed) for rank in (1, 2, 3) for transposed in (False, True)]
PLANE = full()


def has(problem, name, value):
    """Whether a problem has a value of a factor, read off its own fields."""
    ends = dict(zip(("top", "bottom", "left", "right"), (end for pair in problem.padding for end in pair)))
    read = {
        "taps": problem.k, "stride": problem.stride, "dilation": problem.dilation, "groups": problem.G,
        "batch": problem.N, "channels": (problem.C // problem.G, problem.O // problem.G),
        "outputs": problem.output_shape[2:], "remainder": problem.geometry.remainder, **ends,
    }  # fmt: skip
    return read[name] == value


@pytest.mark.parametrize("chosen", [chosen for _, chosen in FURTHER], ids=str)
def test_every_value_is_asked_for_alone_and_amid_others(chosen):
    plain, among = alone(PLANE, chosen), mixed(PLANE, chosen)
    asked = {name: value for name, value in chosen.items() if name != "remainder"}
    assert all(has(plain, name, value) for name, value in chosen.items())
    assert all(has(among, name, value) for name, value in asked.items() if name != "outputs")
    others = {
        name: values[0] for name, values in FACTORS.items() if name not in (*chosen, "remainder", "bias")
    }
    assert all(has(plain, name, value) for name, value in others.items()) and plain.bias
    assert not all(has(among, name, value) for name, value in others.items())


def test_every_row_has_a_reason_and_stands_once():
    assert all(reason for reason, _ in FURTHER)
    values = [str(chosen) for _, chosen in FURTHER]
    assert len(set(values)) == len(values)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: f"rank {d.rank}{' transposed' * d.transposed}")
def test_legal_small_and_never_mostly_padding(domain):
    problems = further(domain)
    assert len(problems) > 150 and len(set(problems)) == len(problems)
    for problem in problems:
        assert problem.rank == domain.rank and problem.transposed == domain.transposed
        assert min(problem.output_shape) > 0
        assert max(prod(problem.input_shape), prod(problem.output_shape)) < 5e5  # 2 MB of float32
        for axis in problem.geometry.axes:
            windows = [
                range(axis.s * p - axis.lo, axis.s * p - axis.lo + axis.extent, axis.d) for p in range(axis.o)
            ]
            reading = sum(any(0 <= m < axis.i for m in window) for window in windows)
            assert 2 * reading >= axis.o, str(problem)


def test_the_data_of_every_case_are_exact_in_float32_and_of_most_in_bfloat16():
    asked = [terms(part, problem) for problem in further(PLANE) for part in parts_of(problem)]
    assert max(asked) < 2**16
    assert sum(n < 2**8 for n in asked) > 0.9 * len(asked)


def test_what_a_domain_refuses_is_not_asked_for():
    domain = replace(PLANE.without("top", [0, 1]).without("bottom", [0, 1]), ends=("top", "left"))
    domain = domain.without("taps", [(3, 2), (1, 1)])
    left = list(within(domain))
    assert not any(chosen.get("top", 0) < 0 for chosen in left)
    assert not any(chosen.get("taps") == (3, 3) for chosen in left)  # of the covering sets, and refused
    assert any(chosen.get("taps") == (5, 5) for chosen in left)
    assert {"top": 4, "outputs": (8, 5)} in left and {"bottom": 5, "outputs": (9, 5)} not in left
    assert all(lo == hi for problem in further(domain) for lo, hi in problem.padding)


def test_a_domain_of_one_value_each_has_further_cases_too():
    domain = PLANE
    for name, values in FACTORS.items():
        domain = domain.without(name, values[:1])
    assert mixed(domain, {"stride": (2, 2)}) == alone(domain, {"stride": (2, 2)})


def test_values_in_words():
    assert told({"stride": (4, 4)}) == {"stride": (4, 4)}
    assert told({"outputs": (1, 1)}) == {"outputs": (1, 1)}
    assert told({"taps": (3, 3), "top": 1, "bottom": 1, "left": 1, "right": 1}) == {
        "taps": (3, 3),
        "padding": 1,
    }


def test_all_parts_have_further_cases():
    parts = {part for domain in DOMAINS[2:4] for problem in further(domain) for part in parts_of(problem)}
    assert parts == set(PARTS) and base(PLANE) not in further(PLANE)
