"""Inputs at the edge: sums and sizes near what int64 can hold, memory in any order, and huge parameters."""

import functools
import tracemalloc

import numpy as np
import pytest

import npconv

TOP = 2**63 - 1


@pytest.mark.parametrize(
    "call, due",
    [
        (lambda: npconv.conv1d([[[2**62]]], [[[2]]], [-1]), [[[TOP]]]),
        (lambda: npconv.jvp(npconv.conv1d, ([[[2**31]]], [[[2**30]]]), ([[[2**33]]], [[[-(2**32)]]]))[1], [[[0]]]),
        (lambda: npconv.conv1d_input((1, 1, 2), [[[2]]], [[[2**62, 0, -(2**62), 0]]], padding=1, padding_mode="circular"), [[[0, 0]]]),
        (lambda: npconv.conv_integer(np.full((1, 1, 3), 2**63, np.uint64), [[[1, -1]]]), [[[0, 0]]]),
    ],
    ids=["bias", "tangent", "border folded back", "zero points of 0"],
)  # fmt: skip
def test_a_sum_that_fits_is_given_whatever_its_parts_reach(call, due):
    assert call().tolist() == due


def test_a_second_derivative_that_cancels_is_given():
    grads = npconv.conv1d_double_backward([[[2**62]]], [[[-2]]], None, [[[1]]], [[[2**62]]], [[[2]]])
    assert grads.grad_output.tolist() == [[[0]]]


def test_an_overflow_names_the_whole_sum_and_not_a_part_of_it():
    with pytest.raises(OverflowError, match=f"a sum is {-(2**63) - 1}, but"):
        npconv.conv1d([[[2**62]]], [[[-4]]], [TOP])


def test_a_float32_bias_gradient_does_not_stick_at_2_to_the_24_in_any_memory_order():
    channels_last = np.ones((1, 2**24 + 4096, 2), np.float32)
    assert npconv.conv1d_bias(channels_last.transpose(0, 2, 1)).tolist() == [2**24 + 4096] * 2


@pytest.mark.parametrize("stride, dilation, taps", [(2**60, 1, 2), (1, 2**60, 1), (2**60, 2**60, 1)])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_step_that_is_never_taken_may_be_of_any_length(rank, stride, dilation, taps):
    x, w = np.arange(3**rank).reshape(1, 1, *(3,) * rank), np.ones((1, 1) + (taps,) * rank, int)
    s, d = (stride if stride > 1 else 3), dilation
    assert np.array_equal(npconv.conv(x, w, None, stride if stride > 1 else 3, 0, d), npconv.conv(x, w, None, 3))
    g = np.ones((1, 1) + (1,) * rank, int)
    far, near = npconv.conv_backward(g, x, w, s, 0, d), npconv.conv_backward(g, x, w, 3)
    assert all(np.array_equal(a, b) for a, b in zip(far, near, strict=True))


def test_a_few_outputs_far_apart_cost_no_memory_between_them():
    tracemalloc.start()
    y = npconv.conv1d(np.ones((1, 1, 1)), np.ones((1, 1, 1)), stride=2 * 10**8, padding=10**8)
    z = npconv.conv1d(np.ones((1, 1, 3)), [[[1.0, 10.0]]], stride=10**8, padding=10**8)
    x = npconv.conv_transpose1d(np.ones((1, 1, 2)), np.ones((1, 1, 1)), stride=10**8, padding=[(0, 10**8)])
    assert (y.tolist(), z.tolist(), x.tolist()) == ([[[0, 0]]], [[[0, 11, 0]]], [[[1]]])
    assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    tracemalloc.stop()


@pytest.mark.parametrize(
    "call, error, says",
    [
        (lambda: npconv.conv1d(np.ones((1, 1, 6)), np.ones((1, 1, 2)), padding=2**61), MemoryError, "more than 2\\*\\*40"),
        (lambda: npconv.conv1d(np.ones((1, 1, 6)), np.ones((1, 1, 2)), padding=10**23, stride=10**23), MemoryError, f"padded input would have {2 * 10**23 + 6} elements.*more than 2\\*\\*40"),
        (lambda: npconv.conv1d([[[1, 2]]], [[[1, 2]]], padding=2**62, stride=2**40), MemoryError, f"padded input would have {2**63 + 2} elements"),
        (lambda: npconv.conv1d_weight([[[1, 2, 3]]], (1, 1, 2), [[[1, 1, 1]]], padding=2**60, stride=2**60), MemoryError, f"padded input would have {2**61 + 2} elements"),
        (lambda: npconv.conv1d([[[1, 2]]], [[[1, 2]]], padding=2**60, dilation=2**61), MemoryError, f"padded input would have {2**61 + 2} elements"),
        (lambda: npconv.pad(np.ones((1, 1, 6)), 2**62, "reflect"), MemoryError, "no array has such a size"),
        (lambda: npconv.conv1d([[[1]]], [[[1]]], stride=b"\2"), TypeError, "a bytes; it must be an integer"),
        (lambda: npconv.conv1d([[[1]]], [[[1]]], padding_mode=["zeros"]), TypeError, "padding_mode: it is"),
        (lambda: npconv.conv_transpose1d([[[1]]], [[[1]]], output_size=[7, 9, 1]), ValueError, r"\(7, 9\), but batch and channels are \(1, 1\)"),
        (lambda: npconv.conv_transpose1d([[[1]]], [[[1]]], padding="same", dilation=2, output_size=2), ValueError, "would make 2, but the input has 1"),
        (lambda: npconv.conv_general_dilated([[[1]]], [[[1]]], (1,), "VALID", dimension_numbers=5), ValueError, "None or three layouts"),
        (lambda: npconv.conv_general_dilated([[[1]]], [[[1]]], (1,), "VALID", dimension_numbers=(None,) * 3), TypeError, "it has None in it"),
        (lambda: npconv.conv_input(np.array(5), [[[1]]], [[[1]]]), TypeError, "input_size: it is array"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_by_name(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_a_function_that_only_wraps_one_of_ours_has_no_derivative_here():
    @functools.wraps(npconv.conv1d)
    def squared(*arrays, **parameters):
        return npconv.conv1d(*arrays, **parameters) ** 2

    with pytest.raises(TypeError, match="not one of npconv's maps"):
        npconv.vjp(squared, [[[1]]], [[[1]]])


def test_an_array_that_no_term_takes_must_fit_all_the_same():
    x, w = np.ones((1, 1, 3)), np.ones((1, 1, 2))
    y, pullback = npconv.vjp(npconv.conv1d, x, w)
    with pytest.raises(ValueError, match="bias: its shape is"):
        npconv.vjp(pullback, y, x, w, np.zeros(7))


def test_a_recording_inside_another_is_part_of_it():
    from npconv.record import recording
    from npconv.transforms import flip

    with recording() as outer:
        with recording() as inner:
            flip(np.ones((1, 1, 2)))
    assert [step.name for step in inner] == [step.name for step in outer] == ["flip"]
