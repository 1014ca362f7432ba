"""Raw 2-byte values against ml_dtypes, which knows bfloat16."""

import ml_dtypes
import numpy as np
import pytest

from npconv.job.bfloat16 import RAW, is_bfloat16, narrowed, widened

ALL = np.arange(2**16, dtype=np.uint16)


def test_a_saved_bfloat16_array_is_recognised(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(3, ml_dtypes.bfloat16))
    assert is_bfloat16(np.load(tmp_path / "x.npy", allow_pickle=False))
    assert not is_bfloat16(np.ones(3, np.float16))


def test_all_bit_patterns_widen_to_the_same_number():
    expected = ALL.view(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(widened(ALL.view(RAW)), expected)


def test_widening_and_narrowing_gives_the_same_bits_back():
    numbers = widened(ALL.view(RAW))
    finite = ~np.isnan(numbers)
    np.testing.assert_array_equal(narrowed(numbers).view(np.uint16)[finite], ALL[finite])


def test_rounding_is_to_nearest_with_ties_to_even():
    """Every bfloat16 with the float32 tails around a tie: one below, the tie, one above, and none."""
    tails = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    numbers = ((ALL.astype(np.uint32) << 16)[:, None] | tails).view(np.float32)
    numbers = numbers[~np.isnan(numbers)]
    expected = numbers.astype(ml_dtypes.bfloat16).view(np.uint16)
    np.testing.assert_array_equal(narrowed(numbers).view(np.uint16), expected)


@pytest.mark.parametrize("bits", [0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF])
def test_no_nan_becomes_a_number(bits):
    nan = np.array([bits], np.uint32).view(np.float32)
    assert np.isnan(widened(narrowed(nan))).all()


def test_shape_and_memory_order_do_not_matter():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (x, np.asfortranarray(x), x[::-1, :, ::2], x[:, :0], x[0, 0, 0]):
        np.testing.assert_array_equal(widened(narrowed(view)), view)
