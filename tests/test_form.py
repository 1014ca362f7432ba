"""A recipe is kept for equal shapes and dtypes, and for those only."""

import numpy as np
import pytest

from npconv import conv, conv_backward, conv_double_backward
from npconv.functional import conv_form
from npconv.rules import BACKWARD, FORWARD, INPUT

X, W = np.array([[[1, 2, 3]]]), np.array([[[1, 10]]])
KINDS = ["i1", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", "?"]


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_another_dtype_is_computed_in_its_own_way_after_the_first(first, second):
    for kind in (first, second, first):
        y = conv(X.astype(kind), W.astype(kind))
        due = [[[2, 2]]] if kind == "?" else [[[21, 32]]]
        assert np.array_equal(y, due)
        assert y.dtype == (np.int64 if kind in ("i1", "u8", "?") else np.dtype(kind).newbyteorder("="))


def test_the_same_rule_and_kinds_have_one_recipe():
    form = conv_form(X.shape, W.shape)
    form._recipes.clear()
    for scale in (1, 2, 3):
        form.evaluate(FORWARD, scale * X, W, None)
    assert len(form._recipes) == 1
    form.evaluate(FORWARD, X, W, np.array([1]))
    form.evaluate(FORWARD, X.astype(float), W, None)
    form.evaluate(INPUT, W, X[..., 1:])
    assert len(form._recipes) == 4


def test_rules_that_are_equal_are_one():
    twice = [BACKWARD.transposed(("input",)) for _ in range(2)]
    assert twice[0] == twice[1] and hash(twice[0]) == hash(twice[1]) != hash(BACKWARD)


def test_a_shape_that_does_not_fit_is_refused_each_time():
    for _ in range(2):
        with pytest.raises(ValueError, match=r"grad_output: its shape is \(1, 1, 3\), but it must be \(1, 1, 2\)"):
            conv_backward(X, X, W)
        conv_backward(X[..., 1:], X, W)


def test_an_array_that_is_not_there_is_another_recipe():
    g = np.array([[[5, 7]]])
    with_all = conv_double_backward(X, W, np.array([1]), g, X, W)
    without = conv_double_backward(X, None, None, g, X, W)
    assert without.grad_output.tolist() == [[[21, 32]]] and without.input.tolist() == [[[0, 0, 0]]]
    again = conv_double_backward(X, W, np.array([1]), g, X, W)
    assert all(np.array_equal(a, b) for a, b in zip(with_all, again))
    assert with_all.grad_output.tolist() == [[[43, 65]]]


@pytest.mark.parametrize("kind", [int, float])
def test_results_are_c_contiguous(kind):
    x, w = np.ones((2, 3, 4, 4), kind), np.ones((5, 3, 2, 2), kind)
    y = conv(x, w)
    assert all(array.flags.c_contiguous for array in (y, *conv_backward(np.ones(y.shape, kind), x, w)))
