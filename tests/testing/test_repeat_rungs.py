"""Kernels that remember: what they keep is named, and no fault is stated that comes and goes."""

import ml_dtypes
import npconv
import numpy as np
import pytest
from npconv.testing import check
from npconv.testing.repeat_rungs import identical


def soiled(values, byte):
    """Long doubles whose padding bytes hold `byte`."""
    a = np.array(values, np.longdouble)
    raw = a.view(np.uint8).reshape(a.size, -1)
    used = np.finfo(np.longdouble).bits // 8 if np.finfo(np.longdouble).nmant != 63 else 10
    raw[:, used:] = byte
    return a


def test_padding_bytes_of_a_long_double_are_no_part_of_its_value():
    assert identical(soiled([1, -2, np.nan], 0), soiled([1, -2, np.nan], 255))
    assert not identical(soiled([1, -2], 0), soiled([1, -3], 0))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, ml_dtypes.bfloat16])
def test_signs_of_zero_types_shapes_and_last_bits_count(kind):
    a = np.array([0, 1], kind)
    assert identical(a, a.copy())
    assert not identical(a, np.array([-0.0, 1], kind))
    assert not identical(a, a[None]) and not identical(a, a.astype(np.int64))
    assert not identical(a, np.array([0, np.nan], kind))
    if kind is not ml_dtypes.bfloat16:
        assert not identical(a, np.nextafter(a, kind(2)))


def test_a_kernel_that_returns_long_doubles_is_not_suspicious():
    calls = []

    def kernel(input, weight, bias, **p):
        y = npconv.conv(input, weight, bias, **p)
        calls.append(0)
        return soiled(y, len(calls) % 256)

    report = check(kernel, layers=False)
    assert not any("different bits" in line for rung in report.rungs for line in rung.odd)
    assert report.verdict == "PASS"


def conv(input, weight, bias, **p):
    return npconv.conv(input, weight, bias, **p)


def told(kernel, **options):
    report = check(kernel, layers=False, **options)
    assert report.verdict == "WRONG"
    return report


def test_one_buffer_for_every_result_is_found():
    held = {}

    def kernel(input, weight, bias, **p):
        y = conv(input, weight, bias, **p)
        held.setdefault(y.shape, np.empty_like(y))[...] = y
        return held[y.shape]

    assert "the next call overwrites the result of this one" in told(kernel).faults[0]


def test_one_buffer_is_found_in_a_process_of_its_own(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(
        "import npconv\nheld = {}\ndef f(input, weight, bias, **p):\n"
        "    y = npconv.conv(input, weight, bias, **p)\n"
        "    held.setdefault(y.shape, y.copy())[...] = y\n    return held[y.shape]\n"
    )
    assert "the next call overwrites the result of this one" in told(f"{path}:f").faults[0]


def by_shape(name, array):
    return name, array.shape


def by_address(name, array):
    return name, array.ctypes.data, array.shape


@pytest.mark.parametrize("key", [by_shape, by_address])
@pytest.mark.parametrize("kept", ["input", "weight", "bias"])
def test_an_array_that_is_kept_from_an_earlier_call_is_named(key, kept):
    held = {}

    def kernel(input, weight, bias, **p):
        arrays = {"input": input, "weight": weight, "bias": bias}
        if arrays[kept] is not None:
            arrays[kept] = held.setdefault(key(kept, arrays[kept]), arrays[kept].copy())
        return conv(**arrays, **p)

    report = told(kernel)
    assert report.why == "breaks at 'repeated calls'"
    if key is by_shape:  # whether an address comes again is chance
        assert f"an old {kept} is used" in report.faults[0]


def test_a_gradient_that_keeps_its_grad_output_is_found():
    held = {}

    class Kernel:
        @staticmethod
        def backward(grad_output, input, weight, **p):
            g = held.setdefault(grad_output.shape, grad_output.copy())
            return tuple(npconv.conv2d_backward(g, input, weight, **p))

    assert "grad_weight: an old grad_output is used" in told(Kernel).faults[1]


def on_calls(strikes):
    calls = []

    def kernel(input, weight, bias, **p):
        calls.append(0)
        return conv(input, weight[..., ::-1, ::-1] if strikes(len(calls)) else weight, bias, **p)

    return kernel


@pytest.mark.parametrize(
    "strikes", [lambda n: n % 7 == 0, lambda n: n % 300 == 299, lambda n: n > 1, lambda n: n > 300]
)
def test_a_fault_of_some_calls_is_not_repeatable_and_has_no_other_name(strikes):
    report = told(on_calls(strikes))
    assert "not repeatable" in report.faults[0] and "flipped" not in report.faults[0]
    assert report.trigger == ""


def test_an_error_of_some_calls_is_not_repeatable():
    calls = []

    def kernel(input, weight, bias, **p):
        calls.append(0)
        if len(calls) % 11 == 5:
            raise IndexError("now and then")
        return conv(input, weight, bias, **p)

    report = told(kernel)
    assert "not repeatable" in report.faults[0] and report.trigger == ""


def test_a_fault_that_begins_while_memory_is_looked_at_is_not_repeatable():
    state = []

    def kernel(input, weight, bias, **p):
        state.extend([0] * (not input.flags.c_contiguous))
        return conv(input, weight, bias, **p) + (len(state) > 0)

    assert "not repeatable" in told(kernel).faults[0]


def test_numbers_that_are_wrong_by_themselves_are_no_matter_of_memory():
    def wraps(input, weight, bias, **p):
        return conv(input, weight, bias, **p).astype(np.int64).astype(np.int16).astype(np.float32)

    report = told(wraps)
    assert report.rungs[2].status == "passed" and "wrap" in report.faults[0]


def test_one_problem_alone_is_asked_again_too():
    held = {}

    def kernel(input, weight, bias, **p):
        return conv(input, held.setdefault(weight.shape, weight.copy()), bias, **p)

    report = told(kernel, only="C2O3_i5x6_k3")
    assert "an old weight is used" in report.faults[0] and len(report.rungs) == 1
