"""What is left of a failing problem: legal, still failing, and nothing can be taken away any more."""

from dataclasses import replace

import pytest

from npconv.problem import Problem
from npconv.testing.shrink import LIMIT, shrink

LARGE = Problem.parse("N3C12O8G4_i19x23x17_k3x4x2_s3x2x4_p2:1x-1:3x0:2_d2x1x3_bias")
TRANSPOSED = Problem.parse("transposed_N2C4O6G2_i4x5_k3x2_s3x2_p1:0x0:1_op2x1_bias")


def watched(fails):
    """The question, and the problems that it was asked about."""
    asked = []

    def ask(problem):
        asked.append(problem)
        return fails(problem)

    return ask, asked


# Each condition, and the smallest problem that meets it, worked out by hand.
CONDITIONS = [
    (lambda p: True, "i1x1x1_k1"),
    (lambda p: p.bias, "i1x1x1_k1_bias"),
    (lambda p: p.N > 1, "N2_i1x1x1_k1"),
    (lambda p: p.G > 1, "C2O2G2_i1x1x1_k1"),
    (lambda p: p.G > 1 and p.C > p.G, "C4O2G2_i1x1x1_k1"),
    (lambda p: p.O > 6, "O7_i1x1x1_k1"),
    (lambda p: p.stride[1] > 1, "i1x1x1_k1_s1x2x1"),
    (lambda p: p.dilation[2] > 1 and p.k[2] > 1, "i1x1x3_k1x1x2_d1x1x2"),
    (lambda p: p.padding[0][1] > 0, "i1x1x1_k1_p0:1x0x0"),
    (lambda p: p.padding[1][0] < 0, "i1x2x1_k1_p0x-1:0x0"),
    (lambda p: p.i[0] > 6 and p.k[0] == 3, "i7x1x1_k3x1x1"),
]


@pytest.mark.parametrize("fails, smallest", CONDITIONS, ids=[smallest for _, smallest in CONDITIONS])
def test_the_smallest_problem_is_found(fails, smallest):
    assert fails(LARGE)
    assert str(shrink(LARGE, fails)) == smallest


@pytest.mark.parametrize(
    "fails, smallest",
    [
        (lambda p: p.output_padding[0] > 1, "transposed_i1x1_k1_s3x1_op2x0"),
        (lambda p: p.G == 2 and p.stride[1] == 2, "transposed_C2O2G2_i1x1_k1_s1x2"),
    ],
)
def test_transposed_problems_stay_transposed(fails, smallest):
    assert str(shrink(TRANSPOSED, fails)) == smallest


def test_every_question_is_legal_smaller_and_canonical():
    ask, asked = watched(lambda p: p.G > 1 and p.padding[1][1] > 1)
    shrink(LARGE, ask)
    assert 0 < len(asked) <= LIMIT
    for problem in asked:
        assert problem == problem.canonical() and problem != LARGE and min(problem.output_shape) > 0


def test_a_way_without_end_is_given_up():
    sizes = iter(range(3999, 0, -1))
    due = [next(sizes)]

    def fails(problem):  # only the input's last size may shrink, one step at a time
        right = problem == replace(LARGE, i=(19, 23, due[0]))
        if right:
            due[0] = next(sizes)
        return right

    ask, asked = watched(fails)
    left = shrink(replace(LARGE, i=(19, 23, 4000)), ask)
    assert len(asked) == LIMIT and left.i[2] == due[0] + 1 > 3000


def test_what_does_not_fail_when_smaller_stays():
    ask, _ = watched(lambda p: False)
    assert shrink(LARGE, ask) == LARGE
