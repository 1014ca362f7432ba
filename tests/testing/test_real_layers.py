"""The contraction over channels against whole results, and the identity against known culprits."""

from types import SimpleNamespace

import npconv
import numpy as np
import pytest
from npconv.problem import Problem
from npconv.testing import check
from npconv.testing.candidate import Declared, adapted
from npconv.testing.climb import Climb, Rung
from npconv.testing.data import exact_arrays
from npconv.testing.exact_rungs import real_layers
from npconv.testing.identity import disagreement, verdict
from npconv.testing.layers import LAYERS, contracted, layer_verdict
from npconv.testing.observation import Observation, exact_case
from npconv.testing.parts import PARTS, parts_of, reference
from npconv.testing.running import Inside
from test_torch_candidate import Torch
from zoo_kernels import build

LINES = ["N2C6O4G2_i7x6_k3x2_s2x1_p1x0_bias", "C4O4G4_i5x6_k3_p1", "C5O7_i6x5_k1x3_d1x2"]
LINES += ["transposed_" + line for line in LINES]
RIGHT = {
    "forward": npconv.conv,
    "grad_input": lambda g, w, size, **p: npconv.conv_input(size, w, g, **p),
    "grad_weight": lambda g, x, size, **p: npconv.conv_weight(x, size, g, **p),
    "grad_bias": lambda g: npconv.conv_bias(g, rank=2),
    "transposed": npconv.conv_transpose,
}
ASKED = [(part, line) for line in LINES for part in parts_of(Problem.parse(line))]


@pytest.mark.parametrize("part, line", ASKED)
def test_a_right_result_contracts_to_the_reference(part, line):
    problem = Problem.parse(line)
    arrays = exact_arrays(problem, 2**24)
    got, due = contracted(part, problem, arrays, reference(part, problem, arrays))
    assert np.array_equal(got, due) and got.size


@pytest.mark.parametrize("part, line", ASKED)
def test_one_wrong_element_shows(part, line):
    problem = Problem.parse(line)
    arrays = exact_arrays(problem, 2**24)
    result = reference(part, problem, arrays)
    result[(0, -1, 0, 0)[-result.ndim :]] += 1
    got, due = contracted(part, problem, arrays, result)
    assert (got != due).sum() == 1


def test_a_layer_too_large_for_the_formats_is_skipped():
    runner = Inside(adapted(build("im2col"), Declared(input="float16")))
    kind, why = layer_verdict(runner, "forward", "C512O4_i14x14_k3_p1")
    assert kind == "skipped" and "too many terms" in why


def test_every_part_has_layers_of_its_own():
    assert {part for line in LAYERS.values() for part in parts_of(Problem.parse(line))} == set(PARTS)


@pytest.mark.parametrize("name", LAYERS)
def test_pytorch_is_right_on_every_layer(name):
    runner = Inside(adapted(Torch))
    for part in parts_of(Problem.parse(LAYERS[name])):
        assert layer_verdict(runner, part, LAYERS[name]) == ("right", "")


@pytest.mark.parametrize("part", PARTS)
def test_one_wrong_element_of_a_layer_shows(part):
    def spoilt(*arrays, **parameters):
        result = RIGHT[part](*arrays, **parameters)
        result.reshape(-1)[result.size // 2] += 1
        return result

    line = next(line for line in LAYERS.values() if part in parts_of(Problem.parse(line)))
    kind, why = layer_verdict(Inside(adapted(SimpleNamespace(**{part: spoilt}))), part, line)
    assert kind == "wrong" and ": 1 of" in why


@pytest.mark.parametrize("error, kind", [(0.3, "near"), (0.6, "wrong"), (1.0, "wrong"), (np.nan, "wrong")])
def test_what_rounds_to_the_integers_due_is_near_and_no_more(error, kind):
    def transform(*arrays, **parameters):
        result = RIGHT["forward"](*arrays, **parameters)
        result.reshape(-1)[::7] += error
        return result

    runner = Inside(adapted(transform))
    seen, why = layer_verdict(runner, "forward", LAYERS["MobileNet depthwise"])
    assert seen == kind and ("nearest to the integers due" in why) == (kind == "near")


def test_layers_are_legal_and_small_enough_to_wait_for():
    for line in LAYERS.values():
        problem = Problem.parse(line)
        shape, channels = problem.output_shape, problem.C
        if problem.transposed:
            shape, channels = problem.input_shape, problem.O
        work = np.prod(shape) * channels // problem.G * np.prod(problem.k)
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


@pytest.mark.parametrize(
    "options, told",
    [
        (dict(rank=1), "rank 1, and they have 2 spatial axes"),
        (dict(rank=3), "rank 3, and they have 2 spatial axes"),
        (dict(layers=False), "as asked for"),
        (
            dict(input="bfloat16", accumulate="bfloat16"),
            "their sums are too long for exact data in formats that hold integers up to 2^8",
        ),
    ],
)
def test_layers_that_are_left_out_say_why(options, told):
    options = dict(options)
    declared = {name: options.pop(name) for name in ("input", "accumulate") if name in options}
    rung = Rung("real layers")
    climb = Climb(
        Inside(adapted(npconv.conv, Declared(**declared))), options.get("rank", 2), "layers" not in options
    )
    real_layers(climb, rung)
    assert rung.notes == [f"real layers are left out: {told}"] and not rung.cases


def test_progress_has_a_total_where_it_is_known():
    lines = []
    check(npconv.conv, layers=False, progress=lines.append)
    for name in ("index maps", "exact, every pair", "exact, further values", "numerics"):
        counts = [line.split()[-3:] for line in lines if line.startswith(f"{name}: forward ")]
        total = int(counts[0][2])
        assert [int(count[0]) for count in counts] == list(range(1, total + 1))
        assert {count[1] for count in counts} == {"of"} and {int(count[2]) for count in counts} == {total}


@pytest.mark.parametrize(
    "kernel, declared",
    [(npconv.conv, dict(input="bfloat16")), (SimpleNamespace(grad_bias=RIGHT["grad_bias"]), {})],
    ids=["bfloat16", "grad_bias"],
)
def test_every_rung_that_was_not_run_says_why_in_the_text(kernel, declared):
    report = check(kernel, layers=False, **declared)
    not_run = [rung for rung in report.rungs if rung.status == "not run"]
    lines = str(report).splitlines()
    assert not_run and all(rung.notes and f"    {rung.notes[0]}" in lines for rung in not_run)
