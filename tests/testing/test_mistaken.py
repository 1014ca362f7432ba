"""Gradients in the wrong order are told by their shapes and values."""

from itertools import permutations

import npconv
import pytest
from npconv.testing import check

GRADIENTS = ("grad_input", "grad_weight", "grad_bias")


class Permuted:
    def __init__(self, order):
        self.order = order

    def backward(self, g, x, w, **p):
        right = {
            "grad_input": npconv.conv_input(x.shape, w, g, **p),
            "grad_weight": npconv.conv_weight(x, w.shape, g, **p),
            "grad_bias": g.sum(axis=(0, 2, 3)),
        }
        return tuple(right[name] for name in self.order)


@pytest.mark.parametrize("order", list(permutations(GRADIENTS))[1:], ids=",".join)
def test_the_gradient_in_the_wrong_place_is_named(order):
    report = check(Permuted(order), layers=False)
    due = {part: other for part, other in zip(GRADIENTS, order) if part != other}
    assert report.verdict == "WRONG"
    told = " | ".join(report.faults)
    for part, other in due.items():
        assert f"{part}: {other} is returned where {part} is due" in told
    assert len(report.faults) == len(due)


def test_a_right_order_is_not_accused():
    assert check(Permuted(GRADIENTS), layers=False).verdict == "PASS"


def test_one_case_is_only_consistent_with_another_order():
    order = ("grad_weight", "grad_input", "grad_bias")
    told = check(Permuted(order), only="C3O3_i3x3_k3_p1").faults
    assert told and all(": consistent with: " in line and " is returned where " in line for line in told)
