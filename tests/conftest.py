"""What tests of several modules set up alike."""

import importlib

import pytest

from npconv.plan import plan

LOW = {
    "npconv.plan": dict(SMALL=0, LONG=4, TILE=600),
    "npconv.columns": dict(TINY=0, SMALL=0, LONG=4),
}


@pytest.fixture
def cut_small(monkeypatch):
    """Limits so low that small problems are cut as large ones are."""
    for module, limits in LOW.items():
        for name, value in limits.items():
            monkeypatch.setattr(importlib.import_module(module), name, value)
    plan.cache_clear()
    yield
    plan.cache_clear()
