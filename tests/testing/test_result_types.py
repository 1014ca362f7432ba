"""What a kernel returns in place of an array of the declared format: told, never a traceback."""

import npconv
import numpy as np
import pytest
from npconv.testing import check


def returning(change):
    return lambda input, weight, bias, **p: change(npconv.conv(input, weight, bias, **p))


@pytest.mark.parametrize(
    "given, wide, due",
    [
        ("float32", np.float64, "float32"),
        ("float32", np.longdouble, "float32"),
        ("float16", np.float32, "float16"),
        ("float16", np.float64, "float16"),
        ("bfloat16", np.float64, "bfloat16"),
        ("int8", np.int64, "int32"),
    ],
)
@pytest.mark.parametrize("written_out", [False, True])
def test_a_wider_result_is_right_and_told_whether_its_format_is_declared_or_not(
    given, wide, due, written_out
):
    declared = {"input": given, **({"output": due} if written_out else {})}
    report = check(returning(lambda y: y.astype(wide)), layers=False, **declared)
    told = f"forward returns {np.dtype(wide)}, wider than {due}: it is judged as {due}"
    assert report.verdict == "PASS" and told in str(report)
    assert [rung["notes"].count(told) for rung in report.to_dict()["rungs"]].count(1) == 1


def test_floats_hold_the_integers_of_a_kernel_that_declares_no_output():
    report = check(returning(lambda y: y.astype(np.float64)), layers=False, input="int8")
    assert report.verdict == "PASS" and "wider than int32" in str(report)


@pytest.mark.parametrize(
    "given, other, due",
    [
        ("float32", np.float16, "float32"),
        ("float64", np.float32, "float64"),
        ("float32", np.int64, "float32"),
        ("float32", np.bool_, "float32"),
        ("int8", np.int16, "int32"),
        ("int8", np.uint32, "int32"),
        ("int8", np.float32, "int32"),
    ],
)
def test_a_result_that_does_not_hold_all_numbers_due_is_wrong(given, other, due):
    report = check(returning(lambda y: y.astype(other)), layers=False, input=given)
    assert report.verdict == "WRONG"
    assert f"has dtype {np.dtype(other)}, which does not hold all of {due}" in report.faults[0]
    assert "declare the output" in report.faults[0]


@pytest.mark.parametrize("output", ["int16", "int32"])
def test_a_declared_output_is_the_one_that_is_due(output):
    kernel = returning(lambda y: y.astype(output))
    assert check(kernel, layers=False, input="int8", output=output).verdict == "PASS"


@pytest.mark.parametrize(
    "given, output, other",
    [
        ("int8", "int32", np.float64),
        ("int8", "int32", np.int16),
        ("int8", "int32", np.uint32),
        ("float16", "float16", np.int32),
        ("float16", "float16", np.bool_),
        ("float16", "float32", np.float16),
        ("float64", "float64", np.float32),
        ("bfloat16", "bfloat16", np.float16),
    ],
)
def test_a_narrower_result_than_declared_and_one_of_another_kind_are_wrong(given, output, other):
    report = check(returning(lambda y: y.astype(other)), layers=False, input=given, output=output)
    assert report.verdict == "WRONG"
    assert f"the result has dtype {np.dtype(other)}, declared {output}" in report.faults[0]


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda y: y.tolist(), "the result is a list, not an array"),
        (lambda y: (y, y), "the result is a tuple, not an array"),
        (lambda y: y.flat[0], "the result is a float32, not an array"),
        (lambda y: None, "the result is a NoneType, not an array"),
        (lambda y: y.astype(object), "holds no real numbers"),
        (lambda y: y + 0j, "holds no real numbers"),
        (lambda y: y.astype("U9"), "holds no real numbers"),
        (lambda y: np.rec.fromarrays([y]), "holds no real numbers"),
        (lambda y: np.array(y.flat[0]), "got (), due"),
        (lambda y: y[0], "got (3, 3, 5), due (2, 3, 3, 5)"),
        (lambda y: y[..., None], "got (2, 3, 3, 5, 1), due (2, 3, 3, 5)"),
        (lambda y: np.empty(0, np.float32), "got (0,), due"),
    ],
)
def test_what_is_no_result_has_a_verdict(change, told):
    report = check(returning(change), layers=False)
    assert report.verdict == "WRONG" and told in report.faults[0]


def test_a_masked_array_is_judged_by_its_values():
    assert check(returning(np.ma.masked_array), layers=False).verdict == "PASS"


def test_a_format_that_no_reference_reaches_is_told():
    with pytest.raises(ValueError, match="'longdouble' is not one of float64"):
        check(npconv.conv, input="longdouble")
