"""Exact data: sums that no order of summation can round, and the same in every NumPy."""

import ml_dtypes
import numpy as np
import pytest
from npconv import conv, conv_input, conv_weight
from npconv.problem import Problem
from npconv.testing import check
from npconv.testing.candidate import Declared
from npconv.testing.data import exact_arrays, exact_parts, integers, largest_exact
from npconv.testing.formats import FORMATS, named, rounded
from npconv.testing.parts import PARTS, reference, terms
from npconv.testing.problems import covering, full

PROBLEMS = covering(full(), 2)


def test_fixed_numbers_for_a_name():
    # Written down once: a bit generator's stream does not change with NumPy.
    assert integers("i4_k2 input", (6,), 9).tolist() == [9, -4, 3, -7, -6, -4]


def test_never_zero_and_never_above():
    values = integers("x", (1000,), 7)
    assert set(np.unique(values)) == {*range(-7, 0), *range(1, 8)}


def test_unsigned_data_are_positive():
    assert integers("x", (100,), 7, signed=False).min() >= 1


@pytest.mark.parametrize("capacity", [2**8, 2**11, 2**24])
def test_no_sum_of_absolute_values_exceeds_the_capacity(capacity):
    for problem in PROBLEMS:
        arrays = {name: abs(a) for name, a in exact_arrays(problem, capacity).items()}
        for part in exact_parts(problem, capacity):
            assert reference(part, problem, arrays).max() <= capacity, (str(problem), part)


@pytest.mark.parametrize("dtype, capacity", [(np.float32, 2**24), (np.float16, 2**11)])
def test_any_order_of_summation_gives_the_same_bits(dtype, capacity):
    problem = Problem.parse("C8O1_i1x3_k1x3")
    arrays = exact_arrays(problem, capacity)
    terms_ = (arrays["input"][0, :, 0] * arrays["weight"][0, :, 0]).reshape(-1).astype(dtype)
    due = int(reference("forward", problem, arrays)[0, 0, 0, 0])
    for seed in range(20):
        total = dtype(0)
        for term in np.random.default_rng(seed).permutation(terms_):
            total = dtype(total + term)
        assert total == due


def test_terms_are_counted_by_brute_force():
    for problem in PROBLEMS[:12]:
        ones = {name: np.ones_like(a) for name, a in exact_arrays(problem, 2**24).items()}
        p = problem.parameters
        most = {
            "forward": conv(ones["input"], ones["weight"], ones.get("bias"), **p).max(),
            "grad_input": conv_input(problem.input_shape, ones["weight"], ones["grad_output"], **p).max(),
            "grad_weight": conv_weight(ones["input"], problem.weight_shape, ones["grad_output"], **p).max(),
            "grad_bias": ones["grad_output"][:, 0].sum(),
        }
        for part in PARTS[:4]:
            assert most[part] <= terms(part, problem), (str(problem), part)


def test_too_long_sums_are_left_out():
    problem = Problem.parse("C2_i20x20_k3")  # 324 positions
    assert exact_parts(problem, 2**8) == ("forward", "grad_input")
    assert "forward" not in exact_parts(Problem.parse("C300_i3_k3"), 2**8)
    assert largest_exact(Problem.parse("N300C300O300_i3_k3"), 2**8) == 0


@pytest.mark.parametrize("name", ["float16", "float32"])
def test_rounding_to_a_format_is_numpys(name):
    values = np.random.default_rng(0).normal(size=500)
    assert np.array_equal(rounded(values, named(name)), values.astype(name))


def test_rounding_to_bfloat16_is_that_of_ml_dtypes():
    values = np.random.default_rng(0).normal(size=2000).astype(np.float32)
    due = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    assert np.array_equal(rounded(values, named("bfloat16")), due)


def test_declared_formats_have_their_defaults():
    assert [f.name for f in Declared().formats] == ["float32"] * 3
    assert [f.name for f in Declared(input="float16").formats] == ["float16", "float32", "float16"]
    assert [f.name for f in Declared(input="int8").formats] == ["int8", "int32", "int32"]
    assert Declared(input="float16").capacity == 2**11 and Declared(input="int8").capacity == 2**31 - 1


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="float7.*is not one of float64"):
        Declared(input="float7")
    assert all(f.capacity > 0 for f in FORMATS.values())


@pytest.mark.parametrize(
    "line, told",
    [
        ("i100000x100000_k3", "input of shape (1, 1, 100000, 100000) has 10000000000 elements"),
        ("transposed_i1000x1000_k1_s1000", "grad_output of shape (1, 1, 999001, 999001) has"),
        ("C5000O5000_i1_k1", "weight of shape (5000, 5000, 1) has 25000000 elements"),
    ],
)
def test_a_problem_beyond_all_memory_is_refused_before_anything_is_made(line, told):
    with pytest.raises(ValueError) as error:
        exact_arrays(Problem.parse(line), 2**24)
    assert told in str(error.value) and "but exact data have at most 16777216 an array" in str(error.value)


def test_a_check_of_a_problem_beyond_all_memory_is_bad_input():
    with pytest.raises(ValueError, match="^i100000x100000_k3: input of shape"):
        check(conv, only="i100000x100000_k3")
