"""Triggers and shrinking, on failures whose cause is known."""

import pytest
from npconv.problem import Problem
from npconv.testing.problems import covering, full
from npconv.testing.shrink import shrink
from npconv.testing.trigger import trigger

PROBLEMS = covering(full(), 3)
CAUSES = {
    "groups > 1": lambda p: p.G > 1,
    "negative padding": lambda p: any(e < 0 for pair in p.padding for e in pair),
    "groups > 1 and stride > 1": lambda p: p.G > 1 and max(p.stride) > 1,
    "groups > 1 and dilation > 1 and bias": lambda p: p.G > 1 and max(p.dilation) > 1 and p.bias,
    "remainder > 0": lambda p: any(p.geometry.remainder),
    "dilation > 1 or bias": lambda p: max(p.dilation) > 1 or p.bias,
}


@pytest.mark.parametrize("told", CAUSES)
def test_the_cause_is_told(told):
    fails = CAUSES[told]
    assert trigger([p for p in PROBLEMS if fails(p)], [p for p in PROBLEMS if not fails(p)]) == told


def test_every_case_and_no_case():
    assert trigger(PROBLEMS, []) == "every case"
    assert trigger([], PROBLEMS) == ""


def test_without_a_combination_the_nearest_is_told():
    failing, passing = PROBLEMS[::2], PROBLEMS[1::2]
    assert trigger(failing, passing).startswith("no combination of up to three conditions; nearest is ")


@pytest.mark.parametrize("told", CAUSES)
def test_a_shrunk_problem_still_fails_and_nothing_smaller_does(told):
    fails = CAUSES[told]
    problem = next(p for p in PROBLEMS if fails(p))
    small = shrink(problem, fails)
    assert fails(small)
    assert small.geometry.output_shape
    assert sum(small.input_shape) <= sum(problem.input_shape)


def test_shrunk_to_the_bone():
    problem = Problem.parse("N2C6O9G3_i9x8_k3x2_s3x1_p1:2_d1x3_bias")
    assert str(shrink(problem, lambda p: True)) == "i1x1_k1"
    assert str(shrink(problem, lambda p: p.bias)) == "i1x1_k1_bias"
    assert str(shrink(problem, lambda p: p.padding[0][1] > 1)) == "i1x1_k1_p0:2x0"
