"""When two results of equal calls count as the same."""

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
