"""Tiles, phases and shared windows: however a problem is cut, its numbers are those of the loops."""

import importlib
from math import prod

import numpy as np
import oracle
import pytest
from geometries import random_cases

from npconv import conv, conv_input, conv_transpose, conv_weight
from npconv.conv import forward
from npconv.geometry import convolution
from npconv.plan import Phase, budget, plan, scratch_budget
from npconv.record import recording

RNG = np.random.default_rng(5)
CASES = [case for rank in (1, 2, 3) for case in random_cases(rank, 15, (rank,))]


@pytest.fixture
def cut_small(monkeypatch):
    """Limits so low that small problems are cut as large ones are."""
    for module in map(importlib.import_module, ("npconv.plan", "npconv.conv", "npconv.columns")):
        for name, value in (("TINY", 0), ("SMALL", 0), ("LONG", 4), ("TILE", 600)):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    plan.cache_clear()
    yield
    plan.cache_clear()


def integers(shape):
    return RNG.integers(-9, 10, size=shape)


def phases_of_input_gradient(i, k, s, d=1, lo=0, hi=0, C=1, O=1, i_row=1):
    """The phases of an input gradient with one row, whose inputs and taps are these."""
    geometry = convolution((1, C, i_row, i), (O, C, 1, k), (1, s), [(0, 0), (lo, hi)], (1, d))
    return plan(
        geometry.output_shape, (C, O, 1, k), (1, 1), geometry.input_gradient_padding, geometry.dilation,
        geometry.stride, 1, 4, 2**26,
    )  # fmt: skip


def terms_of_each_output(shape, phase: Phase):
    """How many terms of its sum each output gets, from all tiles of all parts; one output a window."""
    found = np.zeros(shape, int)
    for part in phase.parts:
        channels, *taps = part.weight[1:]
        terms = prod(cut.stop - cut.start for cut in (channels, *taps))
        for tile in part.tiles:
            samples, _, _, *outputs = tile.output
            found[(samples, part.weight[0], *outputs)] += terms
    return found


# ---------------------------------------------------------------- the numbers do not depend on the cut


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_cut_gives_the_numbers_of_the_loops(case, cut_small):
    x, w = integers(case.input_shape), integers(case.weight_shape)
    y = oracle.output(x, w, **case.parameters)
    g = integers(y.shape)
    gx = oracle.input_gradient(x.shape, w, g, **case.parameters)
    gw = oracle.weight_gradient(x, w.shape, g, **case.parameters)
    for budget in (300, 5000, 2**26):
        with scratch_budget(budget):
            assert np.array_equal(conv(x, w, **case.parameters), y)
            assert np.array_equal(conv_input(x.shape, w, g, **case.parameters), gx)
            assert np.array_equal(conv_weight(x, w.shape, g, **case.parameters), gw)


@pytest.mark.parametrize("l", [(2, 1), (3, 2), (4, 4)])
@pytest.mark.parametrize("s, d", [((1, 1), (1, 1)), ((2, 3), (1, 2)), ((1, 2), (3, 4)), ((6, 1), (2, 3))])
def test_phases_of_any_three_spacings(s, d, l, cut_small):
    x, w = integers((2, 2, 5, 6)), integers((4, 1, 3, 4))
    parameters = dict(stride=s, padding=[(3, 2), (4, 11)], dilation=d, input_dilation=l, groups=2)
    assert np.array_equal(forward(x, w, **parameters), oracle.output(x, w, **parameters))


# (problem size chosen so that each is cut in its own way; the loops would take minutes)
LARGE = {
    "many rows": dict(x=(1, 8, 60, 61), w=(16, 8, 3, 3), padding=1),
    "small maps side by side": dict(x=(9, 16, 7, 7), w=(32, 16, 3, 3), padding=1),
    "depthwise": dict(x=(2, 24, 30, 33), w=(24, 1, 5, 5), padding=2, groups=24),
    "groups": dict(x=(2, 24, 29, 28), w=(48, 6, 3, 3), padding=(1, 0), groups=4),
    "few channels, stride 2": dict(x=(2, 3, 63, 64), w=(32, 3, 7, 7), padding=3, stride=2),
    "one channel, stride 2": dict(x=(2, 1, 61, 61), w=(40, 1, 5, 5), padding=2, stride=2),
    "patches": dict(x=(2, 3, 64, 64), w=(32, 3, 8, 8), stride=8),
    "one tap, stride 2": dict(x=(2, 32, 41, 41), w=(64, 32, 1, 1), stride=2),
    "dilated": dict(x=(1, 16, 65, 65), w=(16, 16, 3, 3), padding=12, dilation=12),
    "one axis": dict(x=(2, 4, 20000), w=(4, 4, 9), padding=4),
    "three axes": dict(x=(1, 4, 14, 20, 20), w=(8, 4, 3, 3, 3), padding=1, stride=2),
}


@pytest.mark.parametrize("name", LARGE)
def test_integers_are_the_same_bits_within_every_budget(name):
    parameters = dict(LARGE[name])
    x, w = integers(parameters.pop("x")), integers(parameters.pop("w"))
    found = []
    for budget in (10**5, 10**6, 2**26):
        with scratch_budget(budget):
            y = conv(x, w, **parameters)
            g = y % 7 - 3
            found.append(
                (y, conv_input(x.shape, w, g, **parameters), conv_weight(x, w.shape, g, **parameters))
            )
    for other in found[1:]:
        for first, second in zip(found[0], other):
            assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("name", LARGE)
def test_three_numbers_that_must_be_one(name):
    # <output, g> = <x, grad_input> = <w, grad_weight>: an exact equality of integers, without an oracle.
    parameters = dict(LARGE[name])
    x, w = integers(parameters.pop("x")), integers(parameters.pop("w"))
    y = conv(x, w, **parameters)
    g = integers(y.shape)
    first = int((y * g).sum())
    assert first == int((x * conv_input(x.shape, w, g, **parameters)).sum())
    assert first == int((w * conv_weight(x, w.shape, g, **parameters)).sum())


@pytest.mark.parametrize("name", LARGE)
def test_floats_that_hold_integers_are_exact_as_well(name):
    parameters = dict(LARGE[name])
    x, w = integers(parameters.pop("x")), integers(parameters.pop("w"))
    exact = conv(x, w, **parameters)
    assert np.abs(exact).max() < 2**24
    floats = conv(x.astype(np.float32), w.astype(np.float32), **parameters)
    assert floats.dtype == np.float32
    assert floats.flags.c_contiguous
    assert np.array_equal(floats, exact)


def test_python_ints_are_exact_within_any_budget():
    x = np.full((1, 8, 70, 70), 2**61)
    w = np.zeros((1, 8, 3, 3), int)
    w[0, :, 1, 1] = [3, -3, 1, 0, 0, 0, 0, 0]
    with scratch_budget(1000):
        assert (conv(x, w, padding=1) == 2**61).all()


def test_strides_of_any_kind(cut_small):
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


# ---------------------------------------------------------------- what is cut, and what is not


def test_a_small_problem_is_one_pad_one_dilation_one_slide():
    with recording() as steps:
        conv_input((1, 3, 9, 9), np.ones((4, 3, 3, 3)), np.ones((1, 4, 4, 4)), stride=2)
    assert [step.name for step in steps] == ["swap", "groups_to_batch", "flip", "dilate", "pad", "slide"]


def test_a_large_one_is_padded_by_the_tile():
    x, w = np.ones((1, 8, 400, 400), np.float32), np.ones((32, 8, 5, 5), np.float32)
    with recording() as steps:
        conv(x, w, padding=2)
    slides = [step for step in steps if step.name == "slide"]
    assert len(slides) > 4
    assert max(step.arguments[0].shape[2] for step in slides) < 100
    assert sum(step.result.size for step in slides) == 32 * 400 * 400


def test_no_inserted_zero_is_read():
    g, w = np.ones((1, 32, 40, 40), np.float32), np.ones((32, 32, 3, 3), np.float32)
    with recording() as steps:
        conv_input((1, 32, 81, 81), w, g, stride=2)
    slides = [step for step in steps if step.name == "slide"]
    assert not any(step.name == "dilate" for step in steps)
    # Of the nine taps an output meets four, two, two or one.
    assert sorted(step.arguments[1].shape[2:] for step in slides) == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_phases_by_hand():
    # Input gradient, stride 2, three taps: even inputs meet taps 0 and 2, odd ones tap 1.
    phases = phases_of_input_gradient(i=40001, k=3, s=2, C=40, O=2).phases
    lines = [phase.lines[1] for phase in phases]
    assert [(line.outputs.start, line.outputs.step, line.k) for line in lines] == [(0, 2, 2), (1, 2, 1)]


def test_a_phase_without_a_tap_is_left_out():
    # Stride and dilation 2: an odd input meets no tap at all, and its gradient is zero.
    found = phases_of_input_gradient(i=40001, k=3, s=2, d=2, C=40, O=2)
    assert len(found.phases) == 1
    gradient = conv_input(
        (1, 40, 1, 4001), np.ones((2, 40, 1, 3)), np.ones((1, 2, 1, 1999)), stride=2, dilation=(1, 2)
    )
    assert not gradient[..., 1::2].any()
    assert gradient[..., 4:-4:2].all()


def test_phases_are_as_few_as_taps_however_long_the_stride():
    """Inputs stand 10**9 outputs apart: only those that a tap meets are no zeros."""
    far = phases_of_input_gradient(i=2 * 10**9 + 2, k=2, s=10**9)
    assert [phase.lines[-1].outputs.start for phase in far.phases] == [0, 1]


@pytest.mark.parametrize(
    "k, s, shared",
    [(9, 1, True), (9, 4, True), (9, 5, False), (9, 10, False), (7, 1, False), (2, 100, False)],
)
def test_outputs_side_by_side_share_windows_that_overlap_and_have_many_taps(k, s, shared):
    cut = plan((1, 1, 10**7), (1, 1, k), (s,), ((0, 0),), (1,), (1,), 1, 4, 2**26)
    assert (prod(cut.phases[0].widths) > 1) == shared


@pytest.mark.parametrize(
    "taps, stride, widths", [((3, 3), 1, {8}), ((5, 1), 2, {8}), ((1, 3), 1, {1}), ((3, 3), 2, {1})]
)
def test_outputs_one_below_the_other_share_windows_that_overlap_by_half(taps, stride, widths):
    cut = plan((1, 90, 322, 322), (90, 1, *taps), (stride,) * 2, ((0, 0),) * 2, (1, 1), (1, 1), 90, 4, 2**26)
    assert {phase.widths[0] for phase in cut.phases if phase.lines[0].o > 1} == widths


@pytest.mark.parametrize(
    "stride, dilation", [((1, 1), (1, 1)), ((1, 1), (1, 3)), ((2, 1), (1, 2)), ((2, 2), (1, 1))]
)
@pytest.mark.parametrize("taps, groups", [((3, 3), 24), ((4, 1), 24), ((7, 5), 24), ((2, 3), 12)])
@pytest.mark.parametrize("size", [(21, 40), (32, 31)])
def test_windows_that_are_shared_one_below_the_other_give_what_those_of_single_outputs_do(
    taps, groups, size, stride, dilation, monkeypatch
):
    x, w = integers((2, 24, *size)), integers((24, 24 // groups, *taps))
    for array in (x, np.asfortranarray(x), x[..., ::-1], np.repeat(x, 2, 3)[..., ::2]):
        parameters = dict(stride=stride, dilation=dilation, groups=groups)
        parameters = [{**parameters, "padding": padding} for padding in (0, 2, ((1, 0), (0, 3)))]
        shared = [conv(array, w, **p) for p in parameters]
        with monkeypatch.context() as m:
            m.setattr(importlib.import_module("npconv.sharing"), "ROWS", 0)
            plan.cache_clear()
            single = [conv(array, w, **p) for p in parameters]
        plan.cache_clear()
        assert all(np.array_equal(a, b) for a, b in zip(shared, single))


def test_rows_of_any_step_in_memory_give_the_same():
    """A field of records, whose rows are no whole number of items apart, and rows that overlap."""
    w = integers((24, 1, 3, 3))
    records = np.zeros((2, 24, 100), [("a", "f8", (60,)), ("b", "i4")])
    records["a"] = integers((2, 24, 100, 60))
    overlapping = np.lib.stride_tricks.sliding_window_view(integers((2, 24, 160)), 60, axis=2)
    for x in (records["a"], overlapping, integers((2, 24, 100, 90))[..., 7:67]):
        assert np.array_equal(conv(x, w, groups=24), conv(x.copy(), w, groups=24))


def test_a_phase_that_is_the_only_one_shares_its_windows():
    # Stride and dilation 2: odd inputs meet no tap, and the even ones are a convolution without gaps.
    (phase,) = phases_of_input_gradient(i=400, k=3, s=2, d=2, C=2, O=40, i_row=9).phases
    assert phase.widths == (1, 1)
    (phase,) = phases_of_input_gradient(i=40000, k=9, s=2, d=2, C=2, O=40).phases
    assert phase.widths == (1, 8)
    assert phase.lines[1].outputs.step == 2


def test_few_channels_share_their_windows():
    # Four phases with one channel each make one window of two taps for four neighbours.
    (phase,) = phases_of_input_gradient(i=40000, k=8, s=4, C=1, O=40).phases
    assert phase.widths[1] % 4 == 0
    # Input m = 4*p + q: inputs 0, 1, 2, 3 meet taps 0, 1, 2, 3 and, of the window before, those 4 on.
    # The weight is flipped, so they are its taps from 3, 2, 1 and 0 on.
    assert [taps for taps, _ in phase.lines[1].places[:4]] == [slice(b, 8, 4) for b in (3, 2, 1, 0)]


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "c8"])
def test_what_is_not_finite_reaches_only_the_outputs_that_read_it(kind, odd):
    """Who reads it is counted with integers."""
    x, w = np.ones((2, 3, 60, 61), kind), np.ones((3, 1, 3, 3), kind)
    x[1, 2, 30, 31] = x[0, 0, 0, 0] = odd
    cut = plan(x.shape, w.shape, (1, 1), ((1, 1),) * 2, (1, 1), (1, 1), 3, 4, 2**26)
    assert any(phase.shared for phase in cut.phases)
    seen, there = (~np.isfinite(x)).astype(int), np.ones(w.shape, int)
    with np.errstate(all="ignore"):
        y = conv(x, w, padding=1, groups=3)
        gradient = conv_input(x.shape, w, x, padding=1, groups=3)
    assert np.array_equal(~np.isfinite(y), conv(seen, there, padding=1, groups=3) > 0)
    assert np.array_equal(~np.isfinite(gradient), conv_input(x.shape, there, seen, padding=1, groups=3) > 0)
    if kind != "c8":  # in which infinity * (1 + 0j) has a NaN
        assert np.isnan(y).any() == np.isnan(odd)


def test_padded_zeros_beside_a_nan_make_nan_in_small_and_large():
    for size in (4, 4000):
        y = conv(np.ones((1, 1, size)), [[[np.nan, 1.0]]], padding=[(0, 2)])
        assert np.isnan(y).all()


def test_inserted_zeros_beside_a_nan_may_be_left_out():
    """Even cells of the result meet the taps 0 and 2, odd ones tap 1, which is no NaN."""
    for size in (4, 4000):
        y = conv_transpose(np.ones((1, 1, size)), [[[np.nan, 1.0, 1.0]]], stride=2)[0, 0]
        assert np.isnan(y[:-1:2]).all() and (np.isnan(y[1::2]) | (y[1::2] == 1)).all()


@pytest.mark.parametrize("size", [24, 25, 47, 59])
def test_what_fills_no_window_is_computed_as_it_was(size):
    x, w = integers((1, 40, size, size)), integers((40, 1, 5, 5))
    y = conv(x, w, padding=2, groups=40)
    for channel in (0, 39):
        alone = conv(x[:, [channel]], w[[channel]], padding=2)
        assert np.array_equal(y[:, [channel]], alone)


def test_tiles_and_parts_add_up_to_the_whole():
    geometry = convolution((3, 64, 90, 90), (32, 64, 3, 3), 1, 1)
    for budget in (10**5, 10**6, 2**26):
        found = plan(
            geometry.input_shape,
            geometry.weight_shape,
            (1, 1),
            geometry.padding,
            (1, 1),
            (1, 1),
            1,
            4,
            budget,
        )
        (phase,) = found.phases
        assert phase.widths == (1, 1)
        assert (terms_of_each_output(found.output, phase) == 64 * 9).all()


# ---------------------------------------------------------------- the budget


def test_the_budget_is_the_blocks_own():
    before = budget()
    with scratch_budget(10), scratch_budget(20):
        assert budget() == 20
    assert budget() == before == 64 * 2**20


@pytest.mark.parametrize("bytes", [0, -1])
def test_a_budget_of_nothing_is_refused(bytes):
    with pytest.raises(ValueError, match=f"bytes: the scratch budget is {bytes}, but it must be 1 or more"):
        with scratch_budget(bytes):
            pass
