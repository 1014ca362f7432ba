"""Columns that overlap in memory against the loops; how much is copied; and where they are not used."""

from math import prod

import numpy as np
import pytest
from cuts import integers
from products import DTYPES, ONES, PLACES, Watched, due

from npconv import conv, conv_weight, overlap
from npconv.conv import im2col
from npconv.overlap import overlapping_product


def overlapped(x, w, stride=ONES, dilation=ONES, groups=1, into=None):
    """(N, G, O/G, OH, OW), `into`, or None; and the product that was asked for."""
    product, windows = Watched(), im2col(x, w.shape[2:], stride, dilation)
    return overlapping_product(product, w, windows, groups, stride[1], dilation[1], into), product


def right(made, x, w, stride=ONES, dilation=ONES, groups=1) -> bool:
    y = due(x, w, stride, dilation, groups)
    assert made.dtype == w.dtype and made.shape[:2] == (len(x), groups)
    return np.array_equal(made.reshape(y.shape), y, equal_nan=y.dtype.kind in "fc")


def different_elements(view: np.ndarray) -> int:
    """How many elements of memory a view shows, each counted once."""
    offsets = np.zeros((), int)
    for n, step in zip(view.shape, view.strides):
        offsets = np.add.outer(offsets, np.arange(n) * step)
    return len(np.unique(offsets))


# ---------------------------------------------------------------- by rows

STEPS = [
    ((1, 1), (1, 1)),
    ((2, 1), (1, 1)),
    ((3, 1), (1, 1)),
    ((1, 2), (1, 1)),
    ((1, 1), (1, 2)),
    ((2, 2), (2, 1)),
]


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride, dilation", STEPS)
def test_a_product_for_each_row_of_outputs_gives_what_the_loops_define(stride, dilation, groups, kind):
    x, w = integers((2, 4, 9, 10)).astype(kind), integers((6, 4 // groups, 3, 2)).astype(kind)
    made, product = overlapped(x, w, stride, dilation, groups)
    assert right(made, x, w, stride, dilation, groups)
    N, O, OH, OW = due(x, w, stride, dilation, groups).shape
    assert product.columns.shape == (N, OH, groups, prod(w.shape[1:]), OW)


@pytest.mark.parametrize("stride, dilation", [s for s in STEPS if s[0] not in ((2, 1), (3, 1))])
def test_each_row_of_the_input_is_copied_once_for_each_of_its_taps(stride, dilation):
    x, w = integers((2, 4, 9, 10)), integers((6, 2, 3, 2))
    _, product = overlapped(x, w, stride, dilation, 2)
    OH, OW = due(x, w, stride, dilation, 2).shape[2:]
    rows = (stride[0] // dilation[0]) * (OH - 1) + 3
    assert different_elements(product.columns) == 2 * 4 * rows * 2 * OW
    assert not np.shares_memory(product.columns, x)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("down, taps", [(2, 3), (2, 4), (3, 5), (4, 5)])
def test_rows_of_outputs_that_share_windows_are_filled(down, taps, groups, kind):
    """`down` outputs, one below the other, to a window of so many rows."""
    x, w = integers((2, 4, 13, 10)).astype(kind), integers((2 * down, 4 // groups, taps, 3)).astype(kind)
    y = due(x, w, (down, 1), groups=groups)
    for into_kind in {kind, "c16" if kind == "c8" else "i8"}:
        into = np.full((2, groups, 2 // groups, down, 1, *y.shape[2:]), 77, into_kind)
        made, product = overlapped(x, w, (down, 1), groups=groups, into=into)
        assert made is into and np.array_equal(into, y.reshape(into.shape))
        assert np.shares_memory(product.out, into) == (into_kind == kind)


@pytest.mark.parametrize(
    "width, cut, stride, dilation, whole",
    [
        (9, slice(None), (2, 1), (1, 1), True),
        (9, slice(None), (3, 1), (1, 1), True),
        (9, slice(None), (2, 1), (1, 2), True),
        (9, slice(None), (1, 1), (1, 1), False),  # rows that most windows share
        (9, slice(0, 8), (2, 1), (1, 1), False),  # one element of each row that no window reads
        (9, slice(1, 9), (2, 1), (1, 1), False),
        (9, slice(None), (2, 2), (1, 1), False),  # outputs that are no run
    ],
)
def test_a_tap_column_is_copied_in_one_run_where_that_reads_little_twice(width, cut, stride, dilation, whole):
    x, w = integers((2, 3, 8, width))[..., cut], integers((4, 3, 3, 2))
    made, product = overlapped(x, w, stride, dilation)
    row = product.columns.strides[-2] // product.columns.itemsize
    assert row == (x.shape[-1] if whole else made.shape[-1])
    assert right(made, x, w, stride, dilation)


def test_rows_of_outputs_are_products_of_their_own_for_a_light_weight(monkeypatch):
    x, w = integers((2, 4, 9, 10)), integers((6, 2, 3, 2))
    for LIGHT, there in [(3 * 2 * 3 * 2, True), (3 * 2 * 3 * 2 - 1, False)]:
        monkeypatch.setattr(overlap, "LIGHT", LIGHT)
        assert (overlapped(x, w, groups=2)[0] is not None) == there


@pytest.mark.parametrize(
    "size, taps, stride, dilation",
    [
        ((9, 10), (2, 2), (1, 1), (1, 1)),  # two rows of taps: less is saved than it costs
        ((9, 10), (3, 2), (1, 1), (2, 1)),  # the next row of outputs is between the taps' rows
        ((9, 10), (3, 2), (3, 1), (2, 1)),
        ((12, 10), (3, 2), (4, 1), (1, 1)),  # rows of the input that no tap reads
    ],
)
def test_rows_that_do_not_overlap_in_steps_of_the_taps_are_left_alone(size, taps, stride, dilation):
    assert overlapped(integers((2, 4, *size)), integers((6, 4, *taps)), stride, dilation)[0] is None


# ---------------------------------------------------------------- by outputs

LONG_TAPS = {  # input, weight, stride, groups: the taps are the longer runs
    "one channel a group": ((1, 4, 9, 8), (4, 1, 7, 6), (1, 1), 4),
    "many samples": ((5, 4, 9, 8), (4, 1, 7, 6), (1, 1), 4),
    "many channels": ((3, 6, 9, 8), (4, 3, 7, 6), (1, 1), 2),
    "one group": ((3, 3, 9, 9), (4, 3, 8, 7), (1, 1), 1),
    "strided": ((3, 4, 11, 12), (2, 2, 7, 6), (3, 2), 2),
    "one row": ((3, 4, 1, 20), (4, 2, 1, 15), (1, 1), 2),
    "one row, one channel": ((3, 2, 1, 20), (4, 1, 1, 15), (1, 1), 2),
    "one output": ((7, 4, 6, 7), (4, 2, 6, 7), (1, 1), 2),
}


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", LONG_TAPS)
def test_a_product_for_each_output_gives_what_the_loops_define_and_copies_nothing(name, kind):
    shape, weight_shape, stride, groups = LONG_TAPS[name]
    x, w = integers(shape).astype(kind), integers(weight_shape).astype(kind)
    made, product = overlapped(x, w, stride, groups=groups)
    assert right(made, x, w, stride, groups=groups)
    assert np.shares_memory(product.columns, x)
    y = due(x, w, stride, groups=groups)
    into = np.full((len(x), groups, len(w) // groups, 1, 1, *y.shape[2:]), 77)
    if kind != "c8":
        assert overlapped(x, w, stride, groups=groups, into=into)[0] is into
        assert np.array_equal(into.reshape(y.shape), y)


def test_the_weight_gets_zeros_for_what_stands_between_rows_and_channels():
    x, w = integers((2, 3, 4, 9)), 1 + integers((2, 3, 3, 7)) ** 2
    _, product = overlapped(x, w)
    (rows,) = product.rows
    laid = np.zeros((2, 3, 4, 9), int)  # channels of 4 rows of 9
    laid[:, :, :3, :7] = w
    assert np.array_equal(rows, laid.reshape(2, -1)[:, : rows.shape[-1]])
    assert rows.shape[-1] == 2 * 4 * 9 + 2 * 9 + 7  # to the last tap, and no further


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [(0, 0, 3, 7), (1, 2, 0, 0), (2, 1, 4, 8)])
def test_what_is_not_finite_between_the_rows_reaches_no_output_that_does_not_read_it(at, odd):
    x, w = integers((3, 3, 9, 9)).astype(float), 1 + integers((4, 3, 8, 7)).astype(float) ** 2
    x[at] = odd
    seen = due((~np.isfinite(x)).astype(int), np.ones(w.shape, int)) > 0
    with np.errstate(invalid="ignore"):
        made, _ = overlapped(x, w)
        y = np.moveaxis(conv_weight(x.swapaxes(0, 1), (4, 3, 2, 3), w.swapaxes(0, 1)), 0, 1)
    assert made is None  # another way is taken then
    assert np.array_equal(np.isfinite(y), ~seen)
    x[at] = 0
    assert np.array_equal(y[~seen], due(x, w)[~seen])


def test_up_to_SEVERAL_rows_a_group_each_output_is_a_product_of_its_own(monkeypatch):
    x, w = integers((5, 4, 9, 8)), integers((6, 2, 7, 6))
    for SEVERAL, there in [(3, True), (2, False)]:
        monkeypatch.setattr(overlap, "SEVERAL", SEVERAL)
        assert (overlapped(x, w, groups=2)[0] is not None) == there


def test_the_weight_with_zeros_is_no_larger_than_columns_would_be():
    x = integers((1, 3, 9, 8))  # 3*3 outputs, and 9*8 elements a channel, of which 7*6 are met
    for rows, there in [(5, True), (6, False)]:
        assert (rows * 9 * 8 <= 9 * 7 * 6) == there
        assert (overlapped(x, integers((rows, 3, 7, 6)))[0] is not None) == there


def test_a_window_with_more_between_its_rows_than_in_them_is_copied():
    for width, there in [(24, True), (25, False)]:  # at most four times as long
        x, w = integers((9, 1, 20, width))[..., :8], integers((1, 1, 18, 6))
        assert (overlapped(x, w)[0] is not None) == there


def test_a_window_of_another_dtype_is_copied():
    x, w = integers((1, 4, 9, 8)), integers((4, 1, 7, 6))
    assert overlapped(x.astype("f4"), w.astype("f8"), groups=4)[0] is None


# ---------------------------------------------------------------- both

BOTH = {
    "by rows": ((2, 4, 8, 9), (4, 4, 3, 2)),
    "by rows, one output a row": ((2, 4, 8, 1), (4, 4, 3, 1)),
    "by outputs": ((3, 4, 8, 9), (2, 4, 6, 7)),
}


@pytest.mark.parametrize("kind", ["i8", "f8"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", BOTH)
def test_overlapping_products_do_not_depend_on_where_the_input_lies(name, place, kind):
    x, w = (integers(shape).astype(kind) for shape in BOTH[name])
    x = PLACES[place](x)
    made, _ = overlapped(x, w)
    assert made is not None or place != "plain"
    assert made is None or right(made, x, w)


@pytest.mark.parametrize("size", [(31, 33), (40, 17), (1, 300)])
@pytest.mark.parametrize("groups", [1, 3, 12])
@pytest.mark.parametrize("samples", [1, 3])
def test_whole_convolutions_are_the_same_with_and_without(samples, groups, size, monkeypatch):
    x, w = integers((samples, 12, *size)), integers((12, 12 // groups, min(size[0], 3), 5))
    padding, ways = ((1, 1) if size[0] > 1 else (0, 0), (2, 2)), []
    for limit in (None, 0):
        if limit is not None:
            monkeypatch.setattr(overlap, "LIGHT", limit)
            monkeypatch.setattr(overlap, "SEVERAL", limit)
        arrays = (x.astype(float), w.astype(float))
        y = conv(*arrays, padding=padding, groups=groups)
        ways.append((y, conv_weight(arrays[0], w.shape, y, padding=padding, groups=groups)))
    for first, second in zip(*ways):
        assert np.array_equal(first, second)
