"""Every reported fault of a framework's kernel, as a candidate: judged WRONG, and named."""

import json
from pathlib import Path

import pytest
from npconv.testing import check
from zoo_changes import is_named
from zoo_reports import NOT_JUDGED, REPORTS

DATA = json.loads((Path(__file__).parents[1] / "data" / "reports.json").read_text())


@pytest.mark.parametrize("wrong", REPORTS, ids=lambda w: w.name)
def test_a_reported_fault_is_judged_wrong_and_named(wrong):
    report = check(wrong.make(), layers=False, **wrong.declared)
    assert report.verdict == "WRONG"
    assert is_named(wrong, report), report.faults


def test_the_names_are_those_of_the_reports():
    names = {wrong.name for wrong in REPORTS}
    assert names <= set(DATA) and set(NOT_JUDGED) <= set(DATA) and not names & set(NOT_JUDGED)
