"""Problems made of values: sizes, paddings that follow each other, square inputs."""

from dataclasses import replace

import pytest
from npconv.problem import Problem
from npconv.testing.problems import FACTORS, base, covering, full, rows

PLANE = full()


@pytest.mark.parametrize(
    "chosen, line",
    [
        ({}, "N2C2O3_i5x6_k3x2_bias"),
        ({"stride": (2, 3), "remainder": (1, 2)}, "N2C2O3_i8x13_k3x2_s2x3_bias"),
        ({"top": 1, "right": -1}, "N2C2O3_i4x6_k3x2_p1:0x0:-1_bias"),
        ({"outputs": (1, 1)}, "N2C2O3_i3x2_k3x2_bias"),
        ({"outputs": (1, 65), "taps": (3, 3), "bias": False}, "N2C2O3_i3x67_k3"),
        ({"groups": 4, "channels": (1, 1), "batch": 1}, "C4O4G4_i5x6_k3x2_bias"),
    ],
)
def test_a_base_problem_has_what_is_chosen(chosen, line):
    assert str(base(PLANE, **chosen)) == str(Problem.parse(line))


@pytest.mark.parametrize("outputs", [(1, 1), (1, 7), (9, 2), (4, 4)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 3)])
def test_as_many_outputs_as_are_wanted(outputs, stride):
    problem = base(PLANE, outputs=outputs, stride=stride)
    assert problem.output_shape[2:] == outputs
    assert base(full(transposed=True), outputs=outputs, stride=stride).i == outputs


def test_an_input_has_at_least_one_element_where_padding_would_do_without():
    problem = base(PLANE, outputs=(1, 1), taps=(1, 1), top=4, right=4)
    assert problem.i == (1, 1) and problem.output_shape[2:] == (5, 5)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("strength", [2, 3])
def test_a_square_domain_has_square_inputs_only(transposed, strength):
    problems = covering(replace(full(transposed=transposed), square=True), strength)
    assert len(problems) > 20 and all(len(set(problem.i)) == 1 for problem in problems)
    assert {p.k for p in problems} == set(FACTORS["taps"]) and {p.stride for p in problems} == set(
        FACTORS["stride"]
    )


def test_ends_that_are_not_free_follow_another():
    axes_apart = covering(replace(PLANE, ends=("top", "left")), 2)
    assert all(lo == hi for p in axes_apart for lo, hi in p.padding)
    assert any(p.padding[0] != p.padding[1] for p in axes_apart)
    one = covering(replace(PLANE, ends=("top",)), 2)
    assert all(len({end for pair in p.padding for end in pair}) == 1 for p in one)
    assert {p.padding[0][0] for p in one} == set(FACTORS["top"])
    assert base(replace(PLANE, ends=("top",)), top=4).padding == ((4, 4), (4, 4))


def test_the_rows_are_the_covering_array_in_values():
    made = rows(PLANE, 2)
    assert made[0] == {name: values[0] for name, values in FACTORS.items()}
    assert all(row[name] in FACTORS[name] for row in made for name in FACTORS)
    assert {row["channels"] for row in made} == set(FACTORS["channels"])
