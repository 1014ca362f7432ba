"""Scratch: what is allocated beside arguments and results, counted by tracemalloc."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from npconv import conv, conv_input, conv_weight
from npconv.scratch import budget, scratch_budget
from npconv.problem import Problem
from npconv.scratch import _kept

MIB = 2**20


def scratch(function: Callable[[], np.ndarray]) -> int:
    """The most bytes at once that the call allocates, without its result's."""
    vars(_kept).clear()  # what earlier calls kept counts as well
    tracemalloc.start()
    try:
        result = function()
        return tracemalloc.get_traced_memory()[1] - result.nbytes
    finally:
        tracemalloc.stop()


def calls(line: str, dtype: type = np.float32) -> dict[str, Callable[[], np.ndarray]]:
    problem = Problem.parse(line)
    x, w, g = (np.ones(s, dtype) for s in (problem.input_shape, problem.weight_shape, problem.output_shape))
    p = problem.parameters
    return {
        "forward": lambda: conv(x, w, **p),
        "input": lambda: conv_input(x.shape, w, g, **p),
        "weight": lambda: conv_weight(x, w.shape, g, **p),
    }


def test_the_measure_sees_an_array():
    assert scratch(lambda: np.stack([np.zeros(MIB, np.uint8)] * 2)[0]) >= MIB
    assert scratch(lambda: np.zeros(MIB, np.uint8)) < MIB // 10


def test_a_layer_whose_columns_would_need_seven_gigabytes():
    problem = Problem.parse("C8O2_i1345x1345_k11_p5")
    _, _, *taps = problem.weight_shape
    assert 4 * 8 * taps[0] * taps[1] * 1345 * 1345 > 7 * 10**9
    assert scratch(calls(str(problem))["forward"]) < budget()


def test_one_large_image_is_not_padded_whole():
    x = np.zeros((1, 32, 2800, 2800), np.float32)  # a gigabyte that nothing has written: it takes no room
    w = np.ones((1, 32, 3, 3), np.float32)
    assert scratch(lambda: conv(x, w, padding=1)) < budget()


LINES = [
    "C64O64_i56x56_k3_p1",
    "N8C64O96_i14x14_k3_p1",
    "C64O64_i100x100_k3_s2_p1",
    "C128O128G128_i56x56_k3_p1",
    "C3O64_i224x224_k7_s2_p3",
    "C128O32_i65x65_k3_p24_d24",
    "C16O16_i100000_k9_p4",
    "C8O8_i20x30x30_k3_p1",
    "N8C64O64G8_i56x56_k3_p1",
    "N64C3O3G3_i112x112_k3_s2_p1",
    "C32O32G32_i100x600_k7_p0x-150",
    "C12O24G12_i116x1000_k4x5_p4x1",
    "C53O159G53_i59x314_k4x7",
    "N2C64O64G64_i40x40_k2_p5_d5",
]


@pytest.mark.parametrize("direction", ["forward", "input", "weight"])
@pytest.mark.parametrize("line", LINES)
def test_a_smaller_budget_is_kept_too(line, direction):
    call = calls(line)[direction]
    for mebibytes in (2, 8):
        with scratch_budget(mebibytes * MIB):
            assert scratch(call) < mebibytes * MIB


@pytest.mark.parametrize("direction", ["forward", "input", "weight"])
def test_integers_keep_it_as_well(direction):
    call = calls("C32O32_i60x60_k3_p1", np.int32)[direction]
    with scratch_budget(4 * MIB):
        assert scratch(call) < 4 * MIB


def test_one_tap_copies_nothing():
    for call in calls("C64O64_i56x56_k1").values():
        assert scratch(call) < MIB // 10
