"""The loops against values worked out by hand, and against sums that need no convolution."""

import numpy as np
import oracle
import pytest

PLAIN = dict(stride=[1], padding=[(0, 0)], dilation=[1], groups=1)


def line(*numbers):
    return np.array(numbers).reshape(1, 1, -1)


@pytest.mark.parametrize(
    "padded, extent, s, windows",
    [
        (5, 3, 1, 3),
        (5, 3, 2, 2),
        (6, 3, 2, 2),
        (7, 3, 2, 3),
        (3, 3, 9, 1),
        (2, 3, 1, 0),
        (-4, 3, 2, 0),
        (1, 1, 1, 1),
    ],
)
def test_windows_are_counted(padded, extent, s, windows):
    assert oracle.count_windows(padded, extent, s) == windows


@pytest.mark.parametrize(
    "mode, cells",
    [
        ("zeros", [None, None, None, 0, 1, 2, None, None, None]),
        ("replicate", [0, 0, 0, 0, 1, 2, 2, 2, 2]),
        ("circular", [0, 1, 2, 0, 1, 2, 0, 1, 2]),
        ("reflect", [1, 2, 1, 0, 1, 2, 1, 0, 1]),
    ],
)
def test_what_stands_outside_three_elements(mode, cells):
    assert [oracle.source(position, 3, mode) for position in range(-3, 6)] == cells


def test_a_stride_a_crop_and_a_padded_zero():
    # The line is 2 3 4 0 after cropping one and padding one; windows of 2 at 0 and 2.
    y = oracle.output(line(1, 2, 3, 4), line(1, 10), stride=[2], padding=[(-1, 1)], dilation=[1], groups=1)
    assert y.tolist() == [[[2 + 30, 4 + 0]]]


def test_both_dilations_spread_their_own_array():
    # 1 0 2 0 3 under the taps 1 . 10: every other cell meets two of the inputs.
    y = oracle.output(
        line(1, 2, 3), line(1, 10), stride=[1], padding=[(0, 0)], dilation=[2], groups=1, input_dilation=[2]
    )
    assert y.tolist() == [[[21, 0, 32]]]


def test_two_axes_and_a_bias():
    x, w = np.arange(9).reshape(1, 1, 3, 3), np.array([[[[1, 0], [0, 10]]]])
    y = oracle.output(x, w, [100], stride=[1, 1], padding=[(0, 0)] * 2, dilation=[1, 1], groups=1)
    assert y.tolist() == [[[[140, 151], [173, 184]]]]


def test_groups_keep_to_their_channels():
    x = np.array([1, 10, 100, 1000]).reshape(1, 4, 1)
    w = np.array([[1, 2], [3, 4], [5, 6], [7, 8]]).reshape(4, 2, 1)
    y = oracle.output(x, w, **{**PLAIN, "groups": 2})
    assert y.ravel().tolist() == [1 + 20, 3 + 40, 500 + 6000, 700 + 8000]


def test_inputs_behind_the_last_window_get_no_gradient():
    # 11 inputs, 4 taps, stride 4: two windows and three inputs that none reaches.
    gx = oracle.input_gradient(
        (1, 1, 11), line(1, 2, 3, 4), line(1, 1), stride=[4], padding=[(0, 0)], dilation=[1], groups=1
    )
    assert gx.ravel().tolist() == [1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0]


def test_input_gradient_with_stride_dilation_padding_and_remainder():
    gx = oracle.input_gradient(
        (1, 1, 8), line(1, 10, 100), line(1, 1), stride=[3], padding=[(1, 1)], dilation=[2], groups=1
    )
    assert gx.ravel().tolist() == [0, 10, 1, 100, 10, 0, 100, 0]


def test_weight_gradient_ignores_what_no_window_reaches():
    gw = oracle.weight_gradient(
        line(0, 1, 2, 3, 4, 5), (1, 1, 3), line(1, 10), stride=[2], padding=[(0, 0)], dilation=[1], groups=1
    )
    assert gw.ravel().tolist() == [20, 31, 42]


def test_weight_gradient_of_two_groups():
    x = np.arange(36).reshape(1, 4, 3, 3)
    gw = oracle.weight_gradient(
        x,
        (4, 2, 2, 2),
        np.ones((1, 4, 2, 2), int),
        stride=[1, 1],
        padding=[(0, 0)] * 2,
        dilation=[1, 1],
        groups=2,
    )
    assert gw[0].tolist() == gw[1].tolist() == [[[8, 12], [20, 24]], [[44, 48], [56, 60]]]
    assert gw[2].tolist() == gw[3].tolist() == [[[80, 84], [92, 96]], [[116, 120], [128, 132]]]


@pytest.mark.parametrize(
    "mode, folded",
    [
        ("zeros", [11, 111, 110]),
        ("replicate", [12, 111, 210]),
        ("reflect", [11, 212, 110]),
        ("circular", [111] * 3),
    ],
)
def test_a_border_gives_its_gradient_to_the_cell_it_copied(mode, folded):
    gx = oracle.input_gradient(
        (1, 1, 3), line(1, 10, 100), line(1, 1, 1),
        stride=[1], padding=[(1, 1)], dilation=[1], groups=1, padding_mode=mode,
    )  # fmt: skip
    assert gx.ravel().tolist() == folded


def test_bias_gradient_sums_over_samples_and_positions():
    assert oracle.bias_gradient(np.arange(8).reshape(2, 2, 2)).tolist() == [0 + 1 + 4 + 5, 2 + 3 + 6 + 7]


def test_transposed_paints_the_weight():
    y = oracle.transposed_output(line(1, 2, 3, 4), line(1, 2, 3), **PLAIN, output_padding=[0])
    assert y.ravel().tolist() == [1, 4, 10, 16, 17, 12]


def test_transposed_with_output_padding_beyond_the_stride():
    ones = np.ones((1, 1, 6), int)
    y = oracle.transposed_output(
        ones, line(1, 1, 1), stride=[2], padding=[(1, 1)], dilation=[2], groups=1, output_padding=[1]
    )
    assert y.ravel().tolist() == [0, 2, 0, 3, 0, 3, 0, 3, 0, 3, 0, 2, 0, 1]


def test_transposed_keeps_groups_apart():
    x, w = np.array([1, 10]).reshape(1, 2, 1), np.array([[[1], [2]], [[3], [4]]])
    y = oracle.transposed_output(x, w, [1000, 0, 0, 0], **{**PLAIN, "groups": 2}, output_padding=[0])
    assert y.ravel().tolist() == [1001, 2, 30, 40]


def test_numbers_beyond_every_machine_integer_stay_exact():
    assert oracle.output(line(2**63 - 1), line(2**62 - 1), **PLAIN).item() == (2**63 - 1) * (2**62 - 1)


def test_inner_refuses_arrays_of_different_sizes():
    assert oracle.inner(line(1, 2), line(3, 4)) == 11
    with pytest.raises(ValueError):
        oracle.inner(line(1, 2), line(3))
