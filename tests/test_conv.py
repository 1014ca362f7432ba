"""The kernel and the forward against the loops, on integers, with exact equality."""

import numpy as np
import oracle
import pytest
from geometries import NAMED, random_cases, random_large_cases

from npconv import conv1d
from npconv.conv import forward, im2col, slide
from npconv.scratch import scratch_budget
from npconv.record import recording

RNG = np.random.default_rng(11)
FULL = [c for c in NAMED if c.padding_mode == "zeros" and 0 not in (*c.input_shape, c.O)]


def integers(shape, low=-9, high=10):
    return RNG.integers(low, high, size=shape)


def plain(rank, **changed):
    """Parameters that do nothing, but for those that are changed."""
    ones = [1] * rank
    nothing = dict(stride=ones, padding=[(0, 0)] * rank, dilation=ones, input_dilation=ones, groups=1)
    return {**nothing, **changed}


# ---------------------------------------------------------------- im2col


def test_im2col_lists_for_each_tap_the_elements_it_meets():
    x = np.arange(20).reshape(1, 1, 4, 5)
    columns = im2col(x, (2, 2), (2, 1), (1, 3))
    assert columns.shape == (1, 1, 2, 2, 2, 2)
    # Tap (1, 1) stands one row down and three columns on; windows start in rows 0, 2 and columns 0, 1.
    assert columns[0, 0, 1, 1].tolist() == [[8, 9], [18, 19]]


def test_im2col_against_the_index_it_stands_for():
    x = integers((2, 3, 9, 8))
    for taps, s, d in [
        ((3, 2), (1, 1), (1, 1)),
        ((2, 3), (2, 3), (3, 1)),
        ((1, 1), (4, 5), (7, 7)),
        ((9, 8), (3, 3), (1, 1)),
    ]:
        columns = im2col(x, taps, s, d)
        for n, c, qh, qw, ph, pw in np.ndindex(columns.shape):
            met = x[n, c, s[0] * ph + d[0] * qh, s[1] * pw + d[1] * qw]
            assert columns[n, c, qh, qw, ph, pw] == met


def test_im2col_has_every_window_that_fits():
    for height in range(5, 12):
        assert im2col(np.zeros((1, 1, height, 1)), (3, 1), (3, 1), (2, 1)).shape[4] == oracle.count_windows(
            height, 5, 3
        )


def test_im2col_is_a_view_that_cannot_be_written():
    x = integers((1, 1, 4, 4))
    columns = im2col(x, (2, 2), (1, 1), (1, 1))
    assert np.shares_memory(columns, x)
    with pytest.raises(ValueError, match="read-only"):
        columns[...] = 0
    assert x.flags.writeable


def test_adding_the_columns_back_is_the_adjoint_and_not_the_inverse():
    def col2im(columns, shape):
        y = np.zeros(shape, int)
        rows, columns_there = im2col(np.indices(shape[2:]).reshape(2, 1, *shape[2:]), (3, 3), (1, 1), (1, 1))
        np.add.at(y[0, 0], (rows[0], columns_there[0]), columns[0, 0])
        return y

    counts = col2im(im2col(np.ones((1, 1, 4, 4), int), (3, 3), (1, 1), (1, 1)), (1, 1, 4, 4))
    assert counts[0, 0].tolist() == [[1, 2, 2, 1], [2, 4, 4, 2], [2, 4, 4, 2], [1, 2, 2, 1]]


# ---------------------------------------------------------------- slide


def test_slide_by_hand():
    x = np.arange(9).reshape(1, 1, 3, 3)
    w = np.array([[[[1, 0], [0, 10]]]])
    assert slide(x, w, (1, 1), (1, 1), 1).tolist() == [[[[40, 51], [73, 84]]]]


def test_slide_does_not_flip():
    # What deep learning calls convolution gives 14 here; the flipped weight would give 10.
    x = np.array([[[[0, 0, 0], [1, 1, 2], [1, 3, 0]]]])
    w = np.array([[[[4, 1, 1], [0, 3, 3], [2, 1, 2]]]])
    assert slide(x, w, (1, 1), (1, 1), 1).item() == 14


def test_a_weight_with_a_single_one_reads_one_shifted_input():
    x = integers((1, 1, 5, 6))
    for row, column in np.ndindex(2, 3):
        w = np.zeros((1, 1, 2, 3), int)
        w[0, 0, row, column] = 1
        assert np.array_equal(
            slide(x, w, (1, 1), (1, 1), 1)[0, 0], x[0, 0, row : row + 4, column : column + 4]
        )


# ---------------------------------------------------------------- the forward


@pytest.mark.parametrize("case", FULL, ids=str)
def test_forward_agrees_with_the_loops(case):
    x, w = integers(case.input_shape), integers(case.weight_shape)
    y = forward(x, w, **case.parameters, input_dilation=[1] * case.rank)
    assert y.dtype == np.int64
    assert np.array_equal(y, oracle.output(x, w, **case.parameters))


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_forward_with_input_dilation_at_every_rank(rank):
    for case in random_cases(rank, 8, (rank,)):
        small = dict(i=tuple(min(i, 3) for i in case.i), k=tuple(min(k, 2) for k in case.k))
        spread = [1 + n % 3 for n in range(rank)]
        x = integers((1, case.C, *small["i"]))
        w = integers((case.O, case.C // case.G, *small["k"]))
        padding = [(abs(lo) % 3 + 2, hi % 3 + 2) for lo, hi in case.padding]
        parameters = {**case.parameters, "padding": padding, "input_dilation": spread}
        parameters["dilation"] = tuple(min(d, 2) for d in case.dilation)
        assert np.array_equal(forward(x, w, **parameters), oracle.output(x, w, **parameters))


def test_zeros_go_in_before_the_border_is_cropped():
    # 1 0 2 0 3 without its first cell; cropping first would leave 2 0 3.
    x, w = np.array([[[1, 2, 3]]]), np.array([[[1]]])
    y = forward(x, w, **plain(1, input_dilation=[2], padding=[(-1, 0)]))
    assert y.tolist() == [[[0, 2, 0, 3]]]


def test_a_crop_does_not_read_the_neighbouring_row():
    x = integers((1, 15, 6, 3))
    y = forward(x, np.ones((1, 15, 1, 1), int), **plain(2, padding=[(0, 0), (-2, 1)]))
    assert np.array_equal(y[0, 0, :, 0], x[0, :, :, 2].sum(axis=0))
    assert y[0, 0, :, 1].tolist() == [0] * 6


def test_each_axis_is_handled_by_the_one_kernel():
    for rank in (1, 2, 3, 4):
        with recording() as steps:
            forward(np.ones((1, 1) + (3,) * rank), np.ones((1, 1) + (2,) * rank), **plain(rank))
        (step,) = (step for step in steps if step.name == "slide")
        assert step.arguments[0].ndim == step.arguments[1].ndim == 4


def test_a_window_as_large_as_the_input_is_an_inner_product():
    x, w = integers((1, 2, 4, 5)), integers((1, 2, 4, 5))
    assert forward(x, w, **plain(2)).item() == oracle.inner(x, w)


def test_the_same_call_gives_the_same_bits():
    x, w = RNG.standard_normal((2, 6, 9, 9)), RNG.standard_normal((4, 3, 3, 3))
    first, second = (forward(x, w, **plain(2, groups=2, stride=[2, 1])) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("budget", [2**16, 2**20])
def test_a_smaller_scratch_budget_changes_no_integer(budget):
    for c in random_large_cases(3, 4):
        x, w = integers(c.input_shape), integers(c.weight_shape)
        for arrays in ((x, w), (x.astype(np.float32), w.astype(np.float32))):
            due = forward(*arrays, **c.parameters, input_dilation=[1] * c.rank)
            with scratch_budget(budget):
                y = forward(*arrays, **c.parameters, input_dilation=[1] * c.rank)
            assert y.dtype == due.dtype
            assert np.array_equal(y, due), c


# ---------------------------------------------------------------- integers are exact


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_every_kind_of_integer_is_widened_before_it_is_multiplied(dtype):
    top = 1 if dtype is bool else min(np.iinfo(dtype).max, 2**30)
    x, w = np.full((1, 2, 4), top).astype(dtype), np.full((1, 2, 3), top).astype(dtype)
    y = conv1d(x, w)
    assert y.dtype == np.int64
    assert y.tolist() == [[[6 * top * top] * 2]]


@pytest.mark.parametrize("first", [np.int8, np.uint8, np.int64, np.uint64, bool])
@pytest.mark.parametrize("second", [np.int8, np.uint8, np.int64, np.uint64, bool])
def test_mixed_kinds_of_integers_are_exact(first, second):
    x = integers((1, 2, 9), 0, 2).astype(first)
    w = integers((3, 2, 4), 0, 2).astype(second)
    y = conv1d(x, w)
    assert y.dtype == np.int64
    assert np.array_equal(y, oracle.output(x, w, stride=[1], padding=[(0, 0)], dilation=[1], groups=1))


@pytest.mark.parametrize(
    "x, w",
    [
        ([2**53, 1], [1, 1]),  # float64 would lose the one
        ([2**62, 2**62 - 1], [1, 1]),  # the largest sum that int64 holds
        ([-(2**62), -(2**62)], [1, 1]),  # and the smallest
        ([2**63 - 1, 2**63 - 1], [2, -2]),  # int64 would wrap on the way
        ([-(2**63), 5], [1, 1]),
        ([2**32 + 1, 2**32], [2**30, -(2**30)]),
    ],
)
def test_large_integers_are_exact(x, w):
    y = conv1d(np.array([[x]]), np.array([[w]]))
    assert y.dtype == np.int64
    assert y.item() == sum(a * b for a, b in zip(x, w))


@pytest.mark.parametrize("other", [np.int8, np.int64, np.uint8, np.uint64, bool])
def test_uint64_beside_any_integer_is_exact(other):
    x = np.array([[[2**53 + 1, 2**63 - 1]]], np.uint64)
    assert conv1d(x, np.ones((1, 1, 1), other)).tolist() == [[[2**53 + 1, 2**63 - 1]]]


@pytest.mark.parametrize(
    "x, w, total",
    [
        (np.array([[[2**62, 2**62]]]), np.array([[[1, 1]]]), 2**63),
        (np.array([[[-(2**62), -(2**62)]]]), np.array([[[1, 2]]]), -3 * 2**62),
        (np.array([[[2**64 - 1]]], np.uint64), np.array([[[1]]], np.int8), 2**64 - 1),
        (np.array([[[2**64 - 1]]], np.uint64), np.array([[[2**64 - 1]]], np.uint64), (2**64 - 1) ** 2),
    ],
)
def test_a_sum_that_int64_cannot_hold_is_an_error_that_names_it(x, w, total):
    with pytest.raises(
        OverflowError, match=f"a sum is {total}, but int64 holds only {-(2**63)} to {2**63 - 1}"
    ):
        conv1d(x, w)


def test_only_the_sum_must_fit():
    x = np.array([[[2**63 - 1, 2**63 - 1, 7]]])
    assert conv1d(x, np.array([[[2, -2, 1]]])).item() == 7


def test_identity_weights_copy_float32_to_the_bit():
    x = RNG.standard_normal((2, 16, 5, 6)).astype(np.float32)
    w = np.zeros((16, 16, 1, 1), np.float32)
    w[range(16), range(16)] = 1
    assert forward(x, w, **plain(2)).tobytes() == x.tobytes()
