"""Wrong kernels are found and named; right ones are not called wrong.

A selection: every kernel of the zoo is run by tests/referee/matrix.py.
"""

import pytest
from npconv.testing import check
from zoo import UNKNOWN, WRONG
from zoo_changes import is_named, is_told
from zoo_right import RIGHT

CHOSEN = WRONG[::12]


@pytest.mark.parametrize("wrong", CHOSEN, ids=lambda w: w.name)
def test_a_wrong_kernel_is_killed_and_named(wrong):
    report = check(wrong.make(), layers=False, **wrong.declared)
    assert report.verdict == "WRONG"
    assert is_named(wrong, report), report.faults
    assert report.trigger
    assert "due" in report.reproduction or "npconv check" in report.reproduction


@pytest.mark.parametrize("wrong", UNKNOWN[::3], ids=lambda w: w.name)
def test_a_fault_of_no_table_gets_a_verdict_a_trigger_a_small_case_and_a_formula(wrong):
    report = check(wrong.make(), layers=False)
    assert report.verdict == "WRONG" and is_told(report), str(report)


@pytest.mark.parametrize(
    "name",
    ["im2col", "im2col, two halves", "float16, float32 accumulator, one by one", "bfloat16 values, float32 result",
     "uint8 to int32", "composed, float64"],
)  # fmt: skip
def test_a_right_kernel_passes(name):
    make, declared = RIGHT[name]
    report = check(make(), layers=False, **declared)
    assert report.verdict == "PASS", str(report)


def test_the_zoo_is_large():
    assert len(WRONG) >= 60 and len(RIGHT) >= 20
    assert len({wrong.name for wrong in WRONG}) == len(WRONG)


def test_a_fault_that_numbers_alone_decide_strikes_in_every_case_that_can_show_it():
    (wrong,) = (w for w in WRONG if w.name == "sums of 16 bits")
    assert check(wrong.make(), layers=False, **wrong.declared).trigger == "every case that can show it"
