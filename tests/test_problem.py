"""One line names a problem: what it says, that it comes back the same, and what it does not understand."""

import numpy as np
import pytest
from geometries import NAMED, TRANSPOSED, Case, random_cases, random_transposed
from messages import saying

import npconv
from npconv.problem import Problem

# A size of zero on a spatial axis and batches of zero are problems too.
CASES = [
    *NAMED,
    *TRANSPOSED,
    *random_cases(6, 300, (1, 2, 3), modes=True),
    *random_transposed(6, 200, (1, 2, 3)),
]


def problem_of(case: Case, bias: bool = False) -> Problem:
    return Problem(
        i=case.i,
        k=case.k,
        N=case.N,
        C=case.C,
        O=case.O,
        G=case.G,
        stride=case.stride,
        padding=case.padding,
        dilation=case.dilation,
        output_padding=case.output_padding or (0,) * case.rank,
        bias=bias,
        padding_mode=case.padding_mode,
        transposed=case.is_transposed,
    )


@pytest.mark.parametrize(
    "line, fields",
    [
        ("i5_k3", dict(i=(5,), k=(3,), N=1, C=1, O=1, G=1, stride=(1,), padding=((0, 0),), dilation=(1,))),
        ("i5x6_k3", dict(i=(5, 6), k=(3, 3), bias=False, padding_mode="zeros", transposed=False)),
        ("N2C4O8G2_i6x7_k3x1_s2x1_d1x2", dict(N=2, C=4, O=8, G=2, k=(3, 1), stride=(2, 1), dilation=(1, 2))),
        ("i6x7_k3_p1", dict(padding=((1, 1), (1, 1)))),
        ("i6x7_k3_p1:0x2", dict(padding=((1, 0), (2, 2)))),
        ("i6x7_k3_p-1:2", dict(padding=((-1, 2), (-1, 2)))),
        ("i6_k3_s2_psame", dict(padding=((0, 1),))),
        ("i6_k3_s2_psame-lower", dict(padding=((1, 0),))),
        ("i6_k3_pvalid", dict(padding=((0, 0),))),
        ("i6_k3_bias", dict(bias=True)),
        ("i6_k3_p2_reflect", dict(padding_mode="reflect")),
        ("i6_k3_replicate", dict(padding_mode="replicate")),
        ("i6_k3_circular", dict(padding_mode="circular")),
        ("transposed_C2O3_i4_k3_s2_p1_op1", dict(transposed=True, output_padding=(1,), C=2, O=3)),
        ("transposed_i4_k3_s2_psame", dict(padding=((0, 1),), output_padding=(0,))),
        ("bias_k3_i6_C2_N3", dict(N=3, C=2, bias=True)),
        ("  i6_k3\n", dict(i=(6,))),
        ("N0C0O0_i6_k3", dict(N=0, C=0, O=0)),
    ],
)
def test_a_line_says(line, fields):
    problem = Problem.parse(line)
    assert {name: getattr(problem, name) for name in fields} == fields


@pytest.mark.parametrize(
    "line, canonical",
    [
        ("N1C1O1G1_i5x5_k3x3_s1x1_p0_d1", "i5x5_k3"),
        ("i6x7_k3_p1:1x0:0", "i6x7_k3_p1x0"),
        ("k3x1_i6x7", "i6x7_k3x1"),
        ("i6_k3_s2_psame", "i6_k3_s2_p0:1"),
        ("op1_s2_i4_k3_transposed", "transposed_i4_k3_s2_op1"),
        ("transposed_i4_k3_op0", "transposed_i4_k3"),
        ("reflect_bias_p2_k3_i6", "i6_k3_p2_bias_reflect"),
        ("i07_k03", "i7_k3"),
    ],
)
def test_every_way_to_write_a_problem_has_one_canonical_line(line, canonical):
    assert str(Problem.parse(line)) == canonical
    assert Problem.parse(canonical) == Problem.parse(line)


def test_every_problem_comes_back_from_its_line():
    for case in CASES:
        for bias in (False, True):
            problem = problem_of(case, bias)
            assert Problem.parse(str(problem)) == problem, case
            assert str(Problem.parse(str(problem))) == str(problem), case


def test_different_problems_have_different_lines():
    problems = {problem_of(case, bias) for case in CASES for bias in (False, True)}
    assert len({str(problem) for problem in problems}) == len(problems)


def test_a_problem_knows_its_shapes():
    for case in CASES:
        problem = problem_of(case)
        assert problem.rank == case.rank
        assert problem.input_shape == case.input_shape
        assert problem.weight_shape == case.weight_shape
        assert problem.output_shape == case.output_shape, case


def test_the_parameters_are_the_functions_keywords():
    for case in CASES[::7]:
        problem = problem_of(case)
        function = npconv.conv_transpose if problem.transposed else npconv.conv
        y = function(np.ones(problem.input_shape), np.ones(problem.weight_shape), **problem.parameters)
        assert y.shape == problem.output_shape
    assert problem_of(NAMED[0]).parameters.keys() == {"stride", "padding", "dilation", "groups"}


def test_the_geometry_of_a_transposed_problem_is_the_convolutions():
    geometry = Problem.parse("transposed_C2O3_i4_k3_s2_p1_op1").geometry
    assert (geometry.input_shape, geometry.output_shape) == ((1, 3, 8), (1, 2, 4))


def test_short_forms_are_spelt_out():
    short = Problem(i=(6, 7), k=(3, 3), stride=2, padding="same", dilation=1)
    assert short.canonical() == Problem(
        i=(6, 7), k=(3, 3), stride=(2, 2), padding=((0, 1), (1, 1)), dilation=(1, 1), output_padding=(0, 0)
    )
    assert str(short) == "i6x7_k3_s2_p0:1x1"


@pytest.mark.parametrize(
    "line, text",
    [
        ("", "problem: '' in '' is not understood; write it as in N2C4"),
        ("i5", "problem: 'i5' lacks k"),
        ("k3", "problem: 'k3' lacks i"),
        ("i5_k3_x4", "problem: 'x4' in 'i5_k3_x4' is not understood"),
        ("i5__k3", "problem: '' in 'i5__k3' is not understood"),
        ("i5_k3_", "problem: '' in 'i5_k3_' is not understood"),
        ("i5_k3_s", "problem: 's' in"),
        ("i5_k3_s-1", "problem: 's-1' in"),
        ("i5_k3_s1.5", "problem: 's1.5' in"),
        ("i5_k3_p1:2:3", "problem: 'p1:2:3' in"),
        ("i5_k3_psames", "problem: 'psames' in"),
        ("i5_k3_zeros", "problem: 'zeros' in"),
        ("I5_k3", "problem: 'I5' in"),
        ("n2_i5_k3", "problem: 'n2' in"),
        ("i5 k3", "problem: 'i5 k3' in"),
        ("i5_k" + "9" * 5000, "problem: it has a number of more than 1000 digits, which is no size"),
        ("i5_i5_k3", "problem: 'i5_i5_k3' gives i twice"),
        ("N2N3_i5_k3", "gives N twice"),
        ("i5_k3_bias_bias", "gives bias twice"),
        ("i5_k3_p1_psame", "gives padding twice"),
        ("i5_k3_reflect_circular", "gives padding_mode twice"),
        ("i5x5_k3x3x3", "k: 3 values for 2 spatial axes"),
        ("i5x5_k3_s1x1x1", "stride: 3 values for 2 spatial axes"),
        ("i5x5_k3_p1x1x1", "padding: 3 entries for 2 spatial axes"),
        ("i5_k3_d1x1", "dilation: 2 values for 1 spatial axes"),
        ("i5_k0", "k of spatial axis 0: it is 0, but it must be 1 or more"),
        ("i5_k3_s0", "stride of spatial axis 0: it is 0, but it must be 1 or more"),
        ("G0_i5_k3", "G: it is 0, but it must be 1 or more"),
        ("C4O4G3_i5_k3", "problem: G 3 must divide C 4"),
        ("C3O4G3_i5_k3", "problem: G 3 must divide O 4"),
        ("i5_k3_d9", "padding: on spatial axis 0 ... size 5 ... covers 19"),
        ("i5_k3_op1", "problem: op (1,) is for transposed convolutions"),
        ("transposed_i5_k3_reflect", "problem: reflect is for convolutions"),
        ("transposed_i5_k3_s2_op2", "output_padding: on spatial axis 0 it is 2 ... stride and dilation, 2"),
        ("transposed_i5_k3_s2_psame_op1", "output_padding: ... cannot be given together"),
        ("transposed_i5_k1_p3", "padding: on spatial axis 0 the output would have size -1"),
    ],
)  # fmt: skip
def test_a_line_that_names_no_problem_is_refused_with_the_part_at_fault(line, text):
    with pytest.raises(ValueError, match=saying(text)):
        Problem.parse(line)


def test_numbers_of_numpy_are_as_good_as_any():
    problem = Problem(i=(5, 5), k=(3, 3), stride=np.int64(2), dilation=np.array([1, 1]))
    assert str(problem) == "i5x5_k3_s2" and problem.canonical() == Problem.parse("i5x5_k3_s2")
