"""Sums in too few bits are told from chance and from an end of the range."""

import npconv
import numpy as np
from npconv.testing import check


def verdict(change):
    def kernel(input, weight, bias, **p):
        return change(npconv.conv(input, weight, bias, **p)).astype(np.float32)

    return check(kernel, layers=False)


def test_a_fault_on_every_100th_call_is_not_repeatable():
    calls = []

    def sometimes(y):
        calls.append(0)
        return y + (len(calls) % 100 == 0)

    report = verdict(sometimes)
    assert report.verdict == "WRONG"
    assert "not repeatable: the same call gives other results" in report.faults[0]
    assert "fewer bits" not in str(report)


def test_clipped_results_saturate():
    report = verdict(lambda y: np.clip(y, -3000, 3000))
    assert report.verdict == "WRONG" and "results saturate at -3000 and 3000; explains" in report.faults[0]


def test_one_too_much_on_large_sums_is_no_rounding():
    report = verdict(lambda y: np.where(abs(y) > 3000, y + 1, y))
    assert report.verdict == "WRONG" and "fewer bits" not in str(report)


def test_sums_in_float16_are_carried_in_fewer_bits():
    def kernel(input, weight, bias, *, stride, padding, dilation, groups):
        total = 0
        for at in np.ndindex(weight.shape[1:]):  # one tap at a time, each sum rounded
            tap = np.zeros_like(weight)
            tap[(slice(None), *at)] = weight[(slice(None), *at)]
            y = npconv.conv(input, tap, None, stride, padding, dilation, groups)
            with np.errstate(all="ignore"):
                total = (total + y).astype(np.float16).astype(np.float32)
        return total if bias is None else total + bias[:, None, None]

    report = check(kernel, layers=False)
    assert report.verdict == "WRONG" and "sums are carried in fewer bits than declared" in report.faults[0]
    assert "right up to 2^11" in report.faults[0]
