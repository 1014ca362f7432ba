"""How a product lies in memory: on either side of every limit it is the one that the loops define."""

from math import prod

import numpy as np
import pytest
from cuts import integers
from products import DTYPES, ONES, PLACES, due, made_large

from npconv import columns, conv, overlap
from npconv.columns import in_one_copy
from npconv.conv import im2col, slide
from npconv.scratch import scratch_budget


def limits(monkeypatch, **values: int) -> None:
    for name, value in values.items():
        monkeypatch.setattr(columns, name, value)


@pytest.fixture
def no_overlap(monkeypatch):
    """All columns are laid out."""
    monkeypatch.setattr(overlap, "LIGHT", 0)
    monkeypatch.setattr(overlap, "SEVERAL", 0)


# ---------------------------------------------------------------- one copy, or a layout

# For a name: what limits there are when windows have n elements, and whether they are copied at once.
SIDES = {
    "as many elements as TINY": (lambda n: dict(TINY=n, SMALL=0), True),
    "one more than TINY": (lambda n: dict(TINY=n - 1, SMALL=0), False),
    "as many elements as SMALL": (lambda n: dict(TINY=0, SMALL=n), True),
    "one more than SMALL": (lambda n: dict(TINY=0, SMALL=n - 1), False),
}


def holds(monkeypatch, x, w, one_copy: bool, stride=ONES, dilation=ONES, groups: int = 1) -> None:
    """The windows are copied at once, or not; and the numbers are those of the loops either way."""
    windows = im2col(x, w.shape[2:], stride, dilation)
    assert in_one_copy(windows, prod(w.shape[1:]), stride[1], dilation[1]) == one_copy
    assert np.array_equal(slide(x, w, stride, dilation, groups), due(x, w, stride, dilation, groups))


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("side", SIDES)
def test_up_to_TINY_or_SMALL_elements_windows_are_copied_at_once(side, kind, monkeypatch):
    x, w = integers((2, 4, 6, 7)).astype(kind), integers((6, 2, 3, 2)).astype(kind)
    set_limits, one_copy = SIDES[side]
    limits(monkeypatch, **set_limits(prod((2, 4, 3, 2, 4, 6))))
    holds(monkeypatch, x, w, one_copy, groups=2)


@pytest.mark.parametrize("samples, one_copy", [(32, True), (33, False)])
@pytest.mark.parametrize("low", ["TINY", "SMALL"])
def test_of_more_than_32_samples_windows_are_laid_out(low, samples, one_copy, monkeypatch):
    limits(monkeypatch, **{"TINY": 0, "SMALL": 0, low: 2**20})
    holds(monkeypatch, integers((samples, 2, 3, 4)), integers((3, 2, 2, 2)), one_copy)


@pytest.mark.parametrize("less, one_copy", [(0, True), (1, False)])
def test_windows_beyond_TINY_are_copied_at_once_up_to_a_sixteenth_of_the_budget(less, one_copy, monkeypatch):
    limits(monkeypatch, TINY=0)
    x, w = integers((2, 3, 5, 6)), integers((2, 3, 2, 2))
    with scratch_budget(16 * 8 * prod((2, 3, 2, 2, 4, 5)) - less):
        holds(monkeypatch, x, w, one_copy)


@pytest.mark.parametrize(
    "width, taps, stride, dilation, one_copy",
    [
        (7, 4, 1, 1, True),  # 4 taps a row, 4 outputs
        (7, 5, 1, 1, False),  # 5 and 3
        (9, 3, 2, 1, False),  # 3 taps, 2 apart for neighbouring outputs, 4 outputs: 3 * 2 > 4
        (9, 2, 2, 1, True),  # 2 * 2 <= 4
        (10, 4, 1, 2, True),  # 4 <= 4 * 2
        (10, 5, 1, 2, False),  # 5 > 2 * 2
    ],
)
def test_windows_beyond_TINY_whose_taps_are_the_longer_runs_are_laid_out(
    width, taps, stride, dilation, one_copy, monkeypatch
):
    limits(monkeypatch, TINY=0)
    x, w = integers((2, 3, 5, width)), integers((2, 3, 2, taps))
    holds(monkeypatch, x, w, one_copy, (1, stride), (1, dilation))
    limits(monkeypatch, TINY=10**6)  # up to TINY elements any order is as good
    holds(monkeypatch, x, w, True, (1, stride), (1, dilation))


# ---------------------------------------------------------------- the layouts of a large product

# N, C, H, W; O, C/G, KH, KW; stride, dilation, groups
PRODUCTS = {
    "outputs innermost": ((3, 4, 6, 9), (6, 2, 3, 2), (1, 1), (1, 1), 2),
    "taps innermost": ((3, 4, 6, 7), (6, 2, 3, 5), (1, 1), (1, 1), 2),
    "taps innermost, strided": ((2, 2, 9, 11), (4, 2, 2, 3), (3, 4), (2, 1), 1),
    "outputs innermost, dilated": ((2, 2, 7, 11), (4, 2, 2, 3), (2, 1), (3, 4), 1),
    "one output": ((3, 4, 3, 4), (6, 2, 3, 4), (1, 1), (1, 1), 2),
    "one tap": ((3, 4, 4, 5), (6, 4, 1, 1), (1, 1), (1, 1), 1),
    "one tap, strided": ((3, 4, 5, 7), (6, 2, 1, 1), (2, 3), (1, 1), 2),
    "sums of one term": ((3, 4, 4, 5), (8, 1, 1, 1), (1, 1), (1, 1), 4),
    "one sample": ((1, 3, 6, 6), (1, 3, 3, 3), (1, 1), (1, 1), 1),
}


@pytest.mark.parametrize("laid_out", [False, True])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_large_product_is_what_the_loops_define_on_either_side_of_every_limit(
    name, place, laid_out, monkeypatch, request
):
    if laid_out:
        request.getfixturevalue("no_overlap")
    shape, weight_shape, stride, dilation, groups = PRODUCTS[name]
    w, at = integers(weight_shape), {kind: PLACES[place](integers(shape).astype(kind)) for kind in DTYPES}
    assert {x.shape for x in at.values()} == {shape}
    y = due(at["i8"], w, stride, dilation, groups)
    outputs, rows = prod(y.shape[2:]), len(w) // groups
    for LONG, FEW in [(outputs, rows), (outputs, rows - 1), (outputs + 1, rows), (outputs + 1, rows - 1)]:
        limits(monkeypatch, LONG=LONG, FEW=FEW)
        for v in (w, np.asfortranarray(w), w[..., ::-1].copy()[..., ::-1]):
            for kind, x in at.items():
                made, _ = made_large(x, v.astype(kind), stride, dilation, groups)
                assert made.shape == (len(x), groups, rows, *y.shape[2:])
                assert np.array_equal(made.reshape(y.shape), y), (LONG, FEW, kind)


OUTPUTS = {
    "plain": lambda shape: np.full(shape, 77.0),
    "rows innermost": lambda shape: np.moveaxis(np.full((*shape[:2], *shape[3:], shape[2]), 77.0), -1, 2),
    "samples inside": lambda shape: np.moveaxis(np.full((*shape[1:3], shape[0], *shape[3:]), 77.0), 2, 0),
    "every second": lambda shape: np.full((*shape[:-1], 2 * shape[-1]), 77.0)[..., ::2],
    "wider": lambda shape: np.full((*shape[:-1], shape[-1] + 1), 77.0)[..., 1:],
    "integers": lambda shape: np.full(shape, 77),
}


@pytest.mark.parametrize("laid_out", [False, True])
@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("widths", [(1, 1), (1, 3), (3, 1), (2, 3)])
@pytest.mark.parametrize("name", PRODUCTS)
def test_what_a_large_product_writes_into_is_what_it_would_make(
    name, widths, outputs, laid_out, monkeypatch, request
):
    if laid_out:
        request.getfixturevalue("no_overlap")
    shape, (O, *weight_shape), stride, dilation, groups = PRODUCTS[name]
    x, w = integers(shape).astype("f8"), integers((O * prod(widths), *weight_shape)).astype("f8")
    y = due(x, w, stride, dilation, groups)
    whole = (len(x), groups, O // groups, *widths, *y.shape[2:])
    rows = len(w) // groups
    for LONG in (prod(y.shape[2:]), prod(y.shape[2:]) + 1):
        for FEW in (rows, rows - 1):
            limits(monkeypatch, LONG=LONG, FEW=FEW)
            into = OUTPUTS[outputs](whole)
            made, _ = made_large(x, w, stride, dilation, groups, into)
            assert made is into
            assert np.array_equal(into, y.reshape(whole)), (LONG, FEW)


@pytest.mark.parametrize(
    "few, outputs, straight",
    [
        (False, "plain", True),
        (False, "wider", False),
        (False, "every second", True),
        (False, "integers", False),
        (True, "plain", False),  # the turned product writes one output's rows after the other
        (True, "rows innermost", True),
    ],
)
def test_the_product_writes_straight_where_its_outputs_are_runs(
    few, outputs, straight, monkeypatch, no_overlap
):
    x, w = (integers(shape).astype("f8") for shape in PRODUCTS["taps innermost"][:2])
    limits(monkeypatch, LONG=1, FEW=3 if few else 2)
    into = OUTPUTS[outputs]((3, 2, 3, 1, 1, 4, 3))
    _, product = made_large(x, w, groups=2, into=into)
    assert np.shares_memory(product.out, into) == straight


def test_samples_with_fewer_columns_than_LONG_stand_side_by_side(monkeypatch, no_overlap):
    x, w = integers((3, 4, 6, 9)), integers((6, 2, 3, 2))
    for LONG, product_shape in [(32, (3, 2, 12, 32)), (33, (1, 2, 12, 3 * 32))]:
        limits(monkeypatch, LONG=LONG)
        assert made_large(x, w, groups=2)[1].columns.shape == product_shape


def test_up_to_FEW_rows_are_the_right_factor_where_taps_are_the_longer_runs(monkeypatch, no_overlap):
    for name, few, right in [
        ("taps innermost", 3, 3),
        ("taps innermost", 2, 12),
        ("outputs innermost", 3, 32),
    ]:
        shape, weight_shape, stride, dilation, groups = PRODUCTS[name]
        limits(monkeypatch, LONG=1, FEW=few)
        _, product = made_large(integers(shape), integers(weight_shape), stride, dilation, groups)
        assert product.columns.shape[-1] == right


def test_a_sum_of_one_term_gets_a_second_of_zeros():
    x, w = integers((3, 4, 4, 5)), integers((8, 1, 1, 1))
    _, product = made_large(x, w, groups=4)
    assert product.columns.shape[2] == product.rows.shape[2] == 2
    assert not product.columns[:, :, 1].any() and not product.rows[..., 1].any()


@pytest.mark.parametrize("place", ["plain", "Fortran", "every second"])
def test_windows_are_copied_unless_taps_and_outputs_are_runs_already(place, monkeypatch):
    x = PLACES[place](integers((3, 4, 4, 5)))
    limits(monkeypatch, LONG=1)
    one, four = (made_large(x, integers((2, 4, k, k)))[1].columns for k in (1, 2))
    assert not np.shares_memory(four, x)
    assert np.shares_memory(one, x) == (place == "plain")


# ---------------------------------------------------------------- whole convolutions


def test_the_numbers_do_not_depend_on_where_the_arrays_lie(cut_small):
    x, w = integers((2, 6, 12, 9)), integers((4, 3, 3, 2))
    plainly = conv(x, w, groups=2, stride=(2, 1), padding=1)
    backward, channels_last = (
        x[..., ::-1][..., ::-1],
        np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
    )
    for same in (backward, channels_last, np.asfortranarray(x)):
        assert np.array_equal(conv(same, np.asfortranarray(w), groups=2, stride=(2, 1), padding=1), plainly)
    broadcast = np.broadcast_to(x[:1, :1], x.shape)
    copied = broadcast.copy()
    assert np.array_equal(conv(broadcast, w, groups=2), conv(copied, w, groups=2))


def test_rows_of_any_step_in_memory_give_the_same():
    """A field of records, whose rows are no whole number of items apart, and rows that overlap."""
    w = integers((24, 1, 3, 3))
    records = np.zeros((2, 24, 100), [("a", "f8", (60,)), ("b", "i4")])
    records["a"] = integers((2, 24, 100, 60))
    overlapping = np.lib.stride_tricks.sliding_window_view(integers((2, 24, 160)), 60, axis=2)
    for x in (records["a"], overlapping, integers((2, 24, 100, 90))[..., 7:67]):
        assert np.array_equal(conv(x, w, groups=24), conv(x.copy(), w, groups=24))
