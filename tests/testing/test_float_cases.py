"""A finding about floats says which element was wrong, what is known of the cause, and how to see it again."""

import re

import numpy as np
import pytest
import torch
from half_sums import half_sums_of_single_taps

import npconv
from npconv.testing import check, float_case
from npconv.testing.families import FAMILIES

LINE = "C16O8_i10x9_k3_p2_d2"


def conv(input, weight, bias, **p):
    return npconv.conv(input, weight, bias, **p)


def whole(x):
    return not (x % 1 > 0).any()  # infinities and NaN are no fractions


def doubled_at(at, y):
    y = y.copy()
    y[at] = 2 * y[at] + 1
    return y


def named_case(line):
    """The case whose call stands in a finding."""
    call = re.search(r"npconv\.testing\.(float_case\(.*?\))", line)[1]
    return eval(call, {"float_case": float_case})


def test_a_wrong_element_is_named_and_its_case_shows_it_again():
    def kernel(input, weight, bias, **p):
        y = conv(input, weight, bias, **p)
        return y if whole(input) or len(weight) != 8 else doubled_at((0, 3, 1, 2), y)

    (fault,) = check(kernel, layers=False).faults
    case = named_case(fault)
    got = kernel(**case.arguments)
    wide = {name: torch.tensor(array.astype(np.float64)) for name, array in case.arrays.items()}
    due = torch.nn.functional.conv2d(
        wide["input"], wide["weight"], wide.get("bias"), case.parameters["stride"], [lo for lo, _ in case.parameters["padding"]],
        case.parameters["dilation"], case.parameters["groups"],
    ).numpy()  # fmt: skip
    at = (0, 3, 1, 2)
    told = re.search(r"at (\(.*?\)) got (\S+), due ([^;]+);", fault)
    assert told[1] == str(at) and float(told[2]) == pytest.approx(float(got[at]), rel=1e-8)
    assert float(told[3]) == pytest.approx(due[at], rel=1e-8)
    assert str(case.problem) in fault.split("; its data")[0]
    with pytest.raises(AssertionError, match=re.escape(f"worst at {at}")):
        case.check(got)


def test_the_data_are_those_that_the_kernel_was_given():
    seen = []

    def kernel(x, w, b, **p):
        if not whole(x):
            seen.append((x, w))
        return conv(x, w, b, **p) + np.float16(not whole(x))

    (fault,) = check(kernel, layers=False, input="float16").faults
    case = named_case(fault)
    assert case.arrays["input"].dtype == np.float16
    assert any(
        np.array_equal(x, case.arrays["input"]) and np.array_equal(w, case.arrays["weight"]) for x, w in seen
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("part", ["forward", "grad_input", "grad_weight", "grad_bias"])
def test_a_right_result_is_within_the_bound_of_its_case(part, family):
    case = float_case(part, LINE, family)
    case.check(case.due.astype(np.float32))
    with pytest.raises(AssertionError, match="off by more than rounding can explain"):
        case.check((case.due * 1.01).astype(np.float32))


@pytest.mark.parametrize(
    "dtype, kind", [("bfloat16", np.float32), ("tf32", np.float32), ("float64", np.float64)]
)
def test_the_bound_is_that_of_the_formats(dtype, kind):
    case = float_case("forward", LINE, "cancelling", dtype=dtype)
    assert case.arrays["input"].dtype == kind
    error = {"bfloat16": 2.0**-9, "tf32": 2.0**-12, "float64": 2.0**-54}[dtype]
    case.check(case.due * (1 + error))


@pytest.mark.parametrize(
    "part, line, family, told",
    [
        ("backwards", LINE, "cancelling", "part: 'backwards' is not one of forward, grad_input"),
        ("transposed", LINE, "cancelling", "part: 'transposed' is not one of forward, grad_input"),
        ("forward", LINE, "large", "family: 'large' is not one of all positive, cancelling"),
        ("forward", "i5_k9", "cancelling", "the padded input has size 5"),
    ],
)
def test_what_is_no_case_is_a_value_error(part, line, family, told):
    with pytest.raises(ValueError, match=told):
        float_case(part, line, family)


def test_a_cause_that_the_passport_knows_stands_in_the_finding():
    (fault,) = check(half_sums_of_single_taps, layers=False, input="float16").faults
    assert "; accumulator: 11 bits, a running sum of ones stalls at 2048; " in fault
    assert len(fault) < 500
