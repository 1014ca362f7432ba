"""Tiles and parts: however a problem is cut, its numbers are those of the loops."""

from math import prod

import numpy as np
import oracle
import pytest
from cuts import integers
from geometries import random_cases

from npconv import conv, conv_input, conv_weight
from npconv.geometry import convolution
from npconv.plan import Phase, plan
from npconv.scratch import scratch_budget
from npconv.record import recording

CASES = [case for rank in (1, 2, 3) for case in random_cases(rank, 15, (rank,))]


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


def test_padded_zeros_beside_a_nan_make_nan_in_small_and_large():
    for size in (4, 4000):
        y = conv(np.ones((1, 1, size)), [[[np.nan, 1.0]]], padding=[(0, 2)])
        assert np.isnan(y).all()


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
