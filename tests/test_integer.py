"""Integer convolutions with zero points, against values worked out by hand and the loops."""

import random

import numpy as np
import oracle
import pytest

from npconv import conv, conv_integer


def test_the_example_of_a_3x3_window_of_2x2() -> None:
    """x - 1 = [[1 2 3] [4 5 6] [7 8 9]]; four ones add up each 2x2 window: 1+2+4+5 = 12, ..."""
    x = np.arange(2, 11, dtype=np.uint8).reshape(1, 1, 3, 3)
    w = np.ones((1, 1, 2, 2), np.uint8)
    y = conv_integer(x, w, input_zero_point=1)
    assert y.dtype == np.int64 and y.tolist() == [[[[12, 16], [24, 28]]]]
    padded = conv_integer(x, w, input_zero_point=1, padding=1)
    assert padded.tolist() == [[[[1, 3, 5, 3], [5, 12, 16, 9], [11, 24, 28, 15], [7, 15, 17, 9]]]]


def test_padding_is_the_zero_point_and_not_zero() -> None:
    """With x = zero point everywhere there is nothing to see, inside or at the border."""
    x, w = np.full((1, 1, 4), 128, np.uint8), np.array([[[100, -100, 7]]], np.int8)
    assert conv_integer(x, w, 128, padding=2).tolist() == [[[0] * 6]]
    assert conv_integer(x, w, 0, padding=1).tolist() == [[[128 * -93, 128 * 7, 128 * 7, 0]]]


def test_zero_points_by_hand() -> None:
    """(10-3)*(5-2) + (20-3)*(1-2) = 21 - 17 = 4; (20-3)*3 - (0-3) = 51 + 3 = 54."""
    x, w = np.array([[[10, 20, 0]]], np.uint8), np.array([[[5, 1]]], np.uint8)
    assert conv_integer(x, w, 3, 2).tolist() == [[[4, 54]]]
    assert conv_integer(x, w, np.uint8(3), np.array(2, np.uint8)).tolist() == [[[4, 54]]]
    assert conv_integer(x, w).tolist() == [[[70, 100]]]
    assert conv_integer(x[0], w, 3, 2).tolist() == [[4, 54]]


def test_a_zero_point_for_each_output_channel() -> None:
    """Channel 0: weights (1, 2) - 1 = (0, 1) read the right neighbour; channel 1: - 2 = (-1, 0)."""
    x, w = np.array([[[4, 6, 9]]], np.uint8), np.array([[[1, 2]], [[1, 2]]], np.uint8)
    assert conv_integer(x, w, 4, [1, 2]).tolist() == [[[2, 5], [0, -2]]]


def test_narrow_kinds_do_not_wrap_when_a_zero_point_is_taken_off() -> None:
    x, w = np.array([[[0, 255]]], np.uint8), np.array([[[-128]]], np.int8)
    assert conv_integer(x, w, 255, 127).tolist() == [[[-255 * -255, 0]]]


def test_the_saturating_pair_of_8_bit_products() -> None:
    """255*127 + 255*127 = 64770, which a 16-bit pair sum would cut to 32767."""
    x, w = np.full((1, 2, 1), 255, np.uint8), np.full((1, 2, 1), 127, np.int8)
    assert conv_integer(x, w).tolist() == [[[64770]]]


def test_random_settings_of_every_rank_are_the_loops_of_the_shifted_numbers() -> None:
    rng = random.Random(0)
    numbers = np.random.default_rng(0)
    for _ in range(60):
        rank, G = rng.choice((1, 2, 3)), rng.choice((1, 2))
        s, d, taps = ([rng.randint(1, most) for _ in range(rank)] for most in (3, 2, 2))
        pads = [(rng.randint(-1, 3), rng.randint(0, 3)) for _ in range(rank)]
        x = numbers.integers(
            0, 256, (rng.choice((1, 2)), G, *[rng.randint(4, 5) for _ in range(rank)]), np.uint8
        )
        w = numbers.integers(-128, 128, (2 * G, 1, *taps), np.int8)
        zero_x, zero_w = rng.randint(0, 255), numbers.integers(-128, 128, 2 * G, np.int8)
        shifted = x.astype(int) - zero_x, w - zero_w.astype(int).reshape(-1, *[1] * (rank + 1))
        expected = oracle.output(*shifted, stride=s, padding=pads, dilation=d, groups=G)
        assert conv_integer(x, w, zero_x, zero_w, s, pads, d, G).tolist() == expected.tolist()


def test_within_watches_the_range_and_changes_no_result() -> None:
    """int32 ends at 2**31 - 1 and -(2**31); one further, at either end, is an error with the number."""
    x, w = np.array([[[2**31 - 1, -(2**31), 2**31]]]), np.array([[[1]]])
    assert conv_integer(x[..., :2], w, within=np.int32).tolist() == [[[2**31 - 1, -(2**31)]]]
    with pytest.raises(
        OverflowError, match=f"within: a result is {2**31}, but int32 holds only -{2**31} to {2**31 - 1}"
    ):
        conv_integer(x, w, within=np.int32)
    with pytest.raises(OverflowError, match=f"within: a result is -{2**31 + 1}, but int32"):
        conv_integer(x[..., 1:2], w, 1, within="int32")
    assert conv_integer(x, w).tolist() == x.tolist()
    assert conv_integer(x, w, within=np.int64).tolist() == x.tolist()


def test_beyond_int64_is_an_error() -> None:
    with pytest.raises(OverflowError, match=f"a sum is {2**63}"):
        conv_integer(np.array([[[2**63 - 1]]]), np.array([[[1]]]), -1)
    assert conv_integer(
        np.array([[[2**64 - 1]]], np.uint64), np.array([[[1]]]), np.uint64(2**63)
    ).tolist() == [[[2**63 - 1]]]


def test_empty_arrays() -> None:
    assert conv_integer(
        np.zeros((0, 2, 4), np.uint8), np.ones((3, 2, 2), np.int8), 5, within=np.int32
    ).shape == (0, 3, 3)
    assert conv_integer(np.zeros((1, 0, 4), int), np.ones((3, 0, 2), int), 5, [1, 2, 3]).tolist() == [
        [[0] * 3] * 3
    ]


def test_without_zero_points_it_is_conv() -> None:
    x, w = np.arange(24, dtype=np.int16).reshape(2, 2, 6), np.arange(-4, 4, dtype=np.int16).reshape(2, 2, 2)
    np.testing.assert_array_equal(conv_integer(x, w, 0, 0, 2, "same", 2), conv(x, w, None, 2, "same", 2))


ERRORS = [
    (dict(input=np.ones((1, 1, 3))), TypeError, "input: its dtype is float64; it must hold integers"),
    (
        dict(weight=np.ones((1, 1, 2), np.float16)),
        TypeError,
        "weight: its dtype is float16; it must hold integers",
    ),
    (dict(input_zero_point=1.0), TypeError, "input_zero_point: its dtype is float64"),
    (dict(weight_zero_point=[0.5]), TypeError, "weight_zero_point: its dtype is float64"),
    (
        dict(input_zero_point=[1]),
        ValueError,
        "input_zero_point: its shape is (1,), but it must be one number",
    ),
    (
        dict(weight_zero_point=[1, 2]),
        ValueError,
        "weight_zero_point: its shape is (2,), but it must be one number or one an output channel, (1,)",
    ),
    (dict(stride=0), ValueError, "stride: it is 0"),
    (dict(padding=-1), ValueError, "padding: on spatial axis 0 the padded input has size 1"),
    (dict(within=np.float32), TypeError, "within: it is float32; it must be a kind of integer"),
    (dict(within=bool), TypeError, "within: it is bool"),
]


@pytest.mark.parametrize("changed, kind, message", ERRORS, ids=lambda v: str(v)[:50])
def test_errors_name_the_argument(changed: dict, kind: type, message: str) -> None:
    arguments = dict(input=np.ones((1, 1, 3), int), weight=np.ones((1, 1, 2), int))
    with pytest.raises(kind) as raised:
        conv_integer(**{**arguments, **changed})
    assert message in str(raised.value)
