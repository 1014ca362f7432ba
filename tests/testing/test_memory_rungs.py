"""Kernels that look at memory in another way than its strides say, or give it away."""

import npconv
import numpy as np
import pytest
from npconv.testing import check


def conv(input, weight, bias, **p):
    return npconv.conv(input, weight, bias, **p)


def dense(array):
    """The memory behind an array, read as if the array were contiguous."""
    strides = np.zeros(array.shape, array.dtype).strides
    return np.lib.stride_tricks.as_strided(array, array.shape, strides)


CONDITIONS = {
    "always": lambda p: True,
    "stride > 1": lambda p: max(p["stride"]) > 1,
    "dilation > 1": lambda p: max(p["dilation"]) > 1,
    "groups > 1": lambda p: p["groups"] > 1,
}


def positive(array):
    return min(array.strides) > 0  # else `dense` would read outside the memory


@pytest.mark.parametrize("name", ["input", "weight", "bias"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_forward_that_ignores_the_strides_of_one_array_is_found(name, condition):
    def kernel(input, weight, bias, **p):
        arrays = {"input": input, "weight": weight, "bias": bias}
        if arrays[name] is not None and positive(arrays[name]) and CONDITIONS[condition](p):
            arrays[name] = dense(arrays[name])
        return conv(**arrays, **p)

    report = check(kernel, layers=False)
    assert report.verdict == "WRONG" and report.why == "breaks at 'memory order'"
    assert f"wrong where {name} lies in memory as every second element" in " ".join(report.faults)


@pytest.mark.parametrize("name", ["grad_output", "input"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_gradient_that_ignores_the_strides_of_one_array_is_found(name, condition):
    class Kernel:
        @staticmethod
        def grad_weight(grad_output, input, weight_size, **p):
            arrays = {"input": input, "grad_output": grad_output}
            if positive(arrays[name]) and CONDITIONS[condition](p):
                arrays[name] = dense(arrays[name])
            return npconv.conv2d_weight(arrays["input"], weight_size, arrays["grad_output"], **p)

    report = check(Kernel, layers=False)
    assert f"grad_weight: wrong where {name} lies in memory" in report.faults[0]


def test_rows_that_are_further_apart_than_they_are_long_are_found():
    def kernel(input, weight, bias, **p):
        return conv(dense(input) if input.strides[-1] == input.itemsize else input, weight, bias, **p)

    assert "input lies in memory as a window of a larger array" in check(kernel, layers=False).faults[0]


def test_channels_last_is_a_way_to_lie_in_memory():
    def kernel(input, weight, bias, **p):
        last = input.strides[1] == input.itemsize and input.strides[-1] != input.itemsize
        return conv(dense(input) if last else input, weight, bias, **p)

    assert "input lies in memory as" in check(kernel, layers=False).faults[0]


def test_one_number_broadcast_is_a_way_to_lie_in_memory():
    class Kernel:
        @staticmethod
        def grad_input(grad_output, weight, input_size, **p):
            if 0 in grad_output.strides:
                grad_output = np.where(np.arange(grad_output.shape[-1]) == 0, grad_output, 0)
            return npconv.conv2d_input(input_size, weight, grad_output, **p)

    report = check(Kernel, layers=False)
    assert "grad_output lies in memory as one number, broadcast" in report.faults[0]


def test_only_all_arrays_together_may_break_a_kernel():
    def kernel(input, weight, bias, **p):
        both = not input.flags.c_contiguous and not weight.flags.c_contiguous
        return conv(input + both, weight, bias, **p)

    assert "wrong where the arrays lie in memory as" in check(kernel, layers=False).faults[0]


def test_who_refuses_read_only_arrays_is_not_wrong():
    def kernel(input, weight, bias, **p):
        if not input.flags.writeable:
            raise ValueError("buffer source array is read-only")
        return conv(input, weight, bias, **p)

    report = check(kernel, layers=False)
    assert report.verdict == "PASS"
    assert "refuses arrays that lie in memory as read-only" in str(report)


@pytest.mark.parametrize("part", ["forward", "grad_input", "grad_weight", "grad_bias", "transposed"])
def test_handing_out_an_input_is_found(part):
    right = {
        "forward": conv,
        "grad_input": lambda g, w, size, **p: npconv.conv2d_input(size, w, g, **p),
        "grad_weight": lambda g, x, size, **p: npconv.conv2d_weight(x, size, g, **p),
        "grad_bias": npconv.conv2d_bias,
        "transposed": lambda x, w, b, **p: npconv.conv_transpose2d(x, w, b, **p),
    }[part]

    def kernel(array, *others, **p):
        y = right(array, *others, **p)
        return array.reshape(y.shape) if array.size == y.size and (array.ravel() == y.ravel()).all() else y

    class Kernel:
        pass

    setattr(Kernel, part, staticmethod(kernel))
    report = check(Kernel, layers=False)
    assert report.verdict == "WRONG"
    assert "shares the memory of " in report.faults[0]


def test_writing_into_an_array_that_only_backward_takes_is_found():
    class Kernel:
        @staticmethod
        def backward(grad_output, input, weight, **p):
            gradients = npconv.conv2d_backward(grad_output, input, weight, **p)
            input[...] = 0
            return gradients

    assert "grad_input: writes into its inputs: it writes into its input input" in check(Kernel).faults[0]
