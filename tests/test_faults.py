"""A deliberate fault in each formula, and proof that the comparisons of test_grad.py notice it.

Each fault also names a geometry on which it changes nothing: that is where it hides, and why the
table of geometries has the others.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import test_grad
from geometries import NAMED

from npconv import functional, grad, transposed
from npconv.conv import forward
from npconv.geometry import Axis
from npconv.transforms import pad

CASES = {case.name: case for case in NAMED}


@pytest.fixture
def patch(monkeypatch):
    """Takes faults, and forgets before and after what is kept between calls: no fault outlives its test."""

    def forget():
        for form in (functional.conv_form, transposed.conv_transpose_form):
            form.cache_clear()

    forget()
    yield monkeypatch
    forget()


def drop_r(patch):
    """r = 0, as if the last window always reached the end."""
    patch.setattr(Axis, "remainder", property(lambda axis: 0))


def swap_lo_and_hi_in_the_input_gradient(patch):
    right = Axis.input_gradient_padding.fget
    wrong = property(lambda axis: right(replace(axis, lo=axis.hi, hi=axis.lo)))
    patch.setattr(Axis, "input_gradient_padding", wrong)


def swap_lo_and_hi_in_the_weight_gradient(patch):
    right = Axis.weight_gradient_padding.fget
    wrong = property(lambda axis: right(replace(axis, lo=axis.hi, hi=axis.lo)))
    patch.setattr(Axis, "weight_gradient_padding", wrong)


def forget_the_flip(patch):
    patch.setattr(grad, "flip", lambda x: x)


def forget_the_channel_swap(patch):
    patch.setattr(grad, "swap", lambda x: x)


def do_not_trade_stride_and_dilation(patch):
    right = grad.weight_gradient

    def untraded(*arrays, stride, dilation, **rest):
        return forward(*arrays, stride=dilation, dilation=stride, **rest)

    def wrong(x, g, geometry):
        with pytest.MonkeyPatch.context() as inside:
            inside.setattr(grad, "forward", untraded)
            return right(x, g, geometry)

    patch.setattr(grad, "weight_gradient", wrong)


def crop_before_dilating(patch):
    def wrong(x, w, *, padding, **rest):
        cropped = pad(x, [(min(lo, 0), min(hi, 0)) for lo, hi in padding])
        return forward(cropped, w, padding=[(max(lo, 0), max(hi, 0)) for lo, hi in padding], **rest)

    patch.setattr(grad, "forward", wrong)


def split_the_groups_by_every_gth_channel(patch):
    """Channels 0, G, 2G ... as the first group, in place of the first C/G."""

    def groups_to_batch(x, G):
        N, C, *spatial = x.shape
        return (
            x.reshape(N, C // G, G, *spatial).swapaxes(1, 2).swapaxes(0, 1).reshape(G * N, C // G, *spatial)
        )

    def groups_to_channels(x, G):
        N, C, *spatial = x.shape
        return x.reshape(N // G, G, C, *spatial).reshape(N // G, G * C, *spatial)

    patch.setattr(grad, "groups_to_batch", groups_to_batch)
    patch.setattr(grad, "groups_to_channels", groups_to_channels)


class Fault(NamedTuple):
    make: Callable
    wrong: list[str]  # the maps that it spoils
    seen_on: str
    hides_on: str


FAULTS = [
    Fault(
        drop_r, ["input", "weight"], "remainder 1 of stride 2 on axis 0", "remainder 0 of stride 2 on axis 0"
    ),
    Fault(drop_r, ["input", "weight"], "remainder 1 of stride 2 on axis 1", "gcd of stride and dilation 2"),
    Fault(
        swap_lo_and_hi_in_the_input_gradient,
        ["input"],
        "asymmetric padding",
        "remainders that differ by axis",
    ),
    Fault(
        swap_lo_and_hi_in_the_weight_gradient,
        ["weight"],
        "asymmetric padding, strided, with remainder",
        "remainders that differ by axis",
    ),
    Fault(forget_the_flip, ["input"], "dilation only", "1x1 with stride and padding"),
    Fault(
        forget_the_channel_swap,
        ["input", "weight"],
        "padding larger than K-1, strided",
        "one element everywhere",
    ),
    Fault(
        do_not_trade_stride_and_dilation,
        ["weight"],
        "stride and dilation coprime",
        "gcd of stride and dilation 2",
    ),
    Fault(crop_before_dilating, ["input"], "padding larger than K-1, strided", "padding larger than K-1"),
    Fault(
        split_the_groups_by_every_gth_channel,
        ["input", "weight"],
        "groups with C/G and O/G above 1",
        "depthwise",
    ),
]


def name(fault: Fault) -> str:
    return f"{fault.make.__name__}: {fault.seen_on}"


def spoiled(case) -> list[str]:
    """The maps that are wrong on this geometry: other numbers, another shape, or an error."""
    found = []
    for map in ("output", "input", "weight"):
        try:
            wrong = not np.array_equal(*test_grad.map_and_definition(case, map))
        except ValueError:
            wrong = True
        found += [map] * wrong
    return found


@pytest.mark.parametrize("fault", FAULTS, ids=name)
def test_the_exact_comparison_sees_the_fault_in_the_very_map_that_has_it(fault, patch):
    assert spoiled(CASES[fault.seen_on]) == []
    fault.make(patch)
    assert spoiled(CASES[fault.seen_on]) == fault.wrong


@pytest.mark.parametrize("fault", FAULTS, ids=name)
def test_there_is_a_geometry_on_which_the_fault_hides(fault, patch):
    fault.make(patch)
    assert spoiled(CASES[fault.hides_on]) == []


@pytest.mark.parametrize(
    "watcher",
    [
        test_grad.test_every_derivative_of_a_named_geometry_equals_torchs,
        test_grad.test_the_maps_of_a_named_geometry_equal_the_sums_by_definition,
        test_grad.test_the_trilinear_identity_of_a_named_geometry,
    ],
)
@pytest.mark.parametrize("fault", FAULTS, ids=name)
def test_each_watcher_fails_on_the_fault(fault, watcher, patch):
    watcher(CASES[fault.seen_on])
    fault.make(patch)
    with pytest.raises((AssertionError, ValueError)):
        watcher(CASES[fault.seen_on])


@pytest.mark.parametrize("make", sorted({fault.make for fault in FAULTS}, key=lambda make: make.__name__))
def test_no_fault_hides_from_the_whole_table(make, patch):
    make(patch)
    caught = [case.name for case in test_grad.FULL if spoiled(case)]
    assert len(caught) >= 3, caught
