"""Index maps against the index formula, taken element by element."""

from itertools import product

import numpy as np
import pytest
from npconv.problem import Problem
from npconv.testing.candidate import Declared
from npconv.testing.observation import Observation
from npconv.testing.probes import described, formula, index_map, probe

LINES = [
    "C2O2_i5x6_k3x2_s2x1_p1:2x0:1_d1x2",
    "C4O4G2_i5x4_k2_s1x2_p1x0",
    "C2_i4_k3_s2_p1:0",
    "i2x3x4_k2x1x2_s1x2x1",
]


def by_hand(problem):
    """(*o, C, *k): 1 + the flat index of the input element, or 0 for padding."""
    geometry = problem.geometry
    o, k = [axis.o for axis in geometry.axes], [axis.k for axis in geometry.axes]
    due = np.zeros((*o, geometry.C, *k), int)
    for p in product(*map(range, o)):
        for q in product(*map(range, k)):
            m = [a.s * x + a.d * y - a.lo for a, x, y in zip(geometry.axes, p, q)]
            if all(0 <= x < a.i for x, a in zip(m, geometry.axes)):
                for c in range(geometry.C):
                    due[(*p, c, *q)] = 1 + np.ravel_multi_index((c, *m), geometry.input_shape[1:])
    return due


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("part", ["forward", "grad_input", "grad_weight"])
def test_a_probe_reads_out_the_formula(line, part):
    problem = Problem.parse(line)
    case = probe(part, problem, Declared())
    assert np.array_equal(index_map(case, case.due), by_hand(problem))


def test_a_transposed_probe_reads_out_the_formula():
    problem = Problem.parse("transposed_C2O3_i3x4_k3x2_s2x1_p1x0_op1x0")
    case = probe("transposed", problem, Declared())
    assert np.array_equal(index_map(case, case.due), by_hand(problem))


def test_a_formula_of_each_kind():
    case = probe("forward", Problem.parse("C2_i6x7_k3_s2x3_p1:0x2_d1x2"), Declared())
    assert formula(case, index_map(case, case.due)) == [
        "channel = c",
        "row = 2*oh + kh - 1",
        "column = 3*ow + 2*kw - 2",
    ]


def test_swapped_taps_are_read_out():
    case = probe("forward", Problem.parse("i6x7_k3"), Declared())
    due = index_map(case, case.due)
    assert formula(case, due.swapaxes(-1, -2)) == ["channel = 0", "row = oh + kw", "column = ow + kh"]


def test_what_has_no_linear_formula_says_so():
    case = probe("forward", Problem.parse("i6x7_k3"), Declared())
    due = index_map(case, case.due)
    due[0, 0, 0, 0, 0] = 9
    assert "no linear formula" in formula(case, due)[1]


def test_a_number_that_no_element_has_is_told():
    case = probe("forward", Problem.parse("i4x5_k2"), Declared())
    got = case.due.astype(float)
    got[0, 0, 0, 0] = 0.5
    assert (
        "a number that no single element has, due input channel 0 at (0, 0)"
        in described(Observation(case, "wrong", got))[-1]
    )


def test_numbers_beyond_the_format_are_not_asked():
    assert probe("forward", Problem.parse("C2_i20x20_k3"), Declared(output="bfloat16")) is None
