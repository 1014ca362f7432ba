"""The contraction over channels against whole results, and the identity against known culprits."""

import numpy as np
import pytest
from npconv.problem import Problem
from npconv.testing.candidate import Declared, adapted
from npconv.testing.data import exact_arrays
from npconv.testing.identity import disagreement, verdict
from npconv.testing.layers import LAYERS, PARTS, contracted, layer_verdict
from npconv.testing.observation import Observation, exact_case
from npconv.testing.parts import reference
from npconv.testing.running import Inside
from zoo_kernels import build

LINES = ["N2C6O4G2_i7x6_k3x2_s2x1_p1x0_bias", "C4O4G4_i5x6_k3_p1", "C5O7_i6x5_k1x3_d1x2"]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("part", PARTS)
def test_a_right_result_contracts_to_the_reference(line, part):
    problem = Problem.parse(line)
    arrays = exact_arrays(problem, 2**24)
    got, due = contracted(part, problem, arrays, reference(part, problem, arrays))
    assert np.array_equal(got, due) and got.size


@pytest.mark.parametrize("part", PARTS)
def test_one_wrong_element_shows(part):
    problem = Problem.parse(LINES[0])
    arrays = exact_arrays(problem, 2**24)
    result = reference(part, problem, arrays)
    result[0, 1, 0, 0] += 1
    got, due = contracted(part, problem, arrays, result)
    assert (got != due).sum() == 1


def test_a_layer_too_large_for_the_formats_is_skipped():
    runner = Inside(adapted(build("im2col"), Declared(input="float16")))
    kind, why = layer_verdict(runner, "forward", "C512O4_i14x14_k3_p1")
    assert kind == "skipped" and "too many terms" in why


def test_layers_are_legal_and_small_enough_to_wait_for():
    for line in LAYERS.values():
        problem = Problem.parse(line)
        work = np.prod(problem.output_shape) * problem.C // problem.G * np.prod(problem.k)
        assert work < 4e8 and problem.geometry.output_shape


PROBLEM = Problem.parse("C4O6G2_i5x6_k3x2_s2x1_p1_bias")


def observed(**spoilt):
    seen = {}
    for part in ("forward", "grad_input", "grad_weight"):
        case = exact_case(part, PROBLEM, Declared())
        got = np.array(case.due, float, order="C")
        if part in spoilt:
            got.reshape(-1)[3] += spoilt[part]
        seen[part] = Observation(case, "wrong" if part in spoilt else "right", got)
    return seen


def test_the_three_maps_agree():
    assert disagreement(observed()) == ""
    assert (
        verdict(observed().values()) == "<output, g> = <x, grad_input> = <w, grad_weight> in all 1 problems"
    )


@pytest.mark.parametrize("part", ["forward", "grad_input", "grad_weight"])
def test_the_culprit_is_the_one_that_differs(part):
    assert disagreement(observed(**{part: 5})) == part


def test_three_different_numbers_have_no_culprit():
    assert disagreement(observed(forward=1, grad_input=1)) == "all three"


def test_two_maps_cannot_accuse_each_other():
    seen = observed()
    del seen["grad_weight"]
    assert disagreement(seen) is None and verdict(seen.values()) == ""
