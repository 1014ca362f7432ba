"""Axes and plans for the tests of how a forward is cut and laid out."""

import numpy as np
import oracle

from npconv.geometry import convolution
from npconv.phases import Axis
from npconv.plan import Plan, plan

FAR = 100  # further than a window of these tests' axes reaches


def integers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).integers(-9, 10, size=shape)


def random_axis(rng: np.random.Generator, most: int) -> Axis:
    """An axis with at most so many outputs, of any spacings up to 5, with or without a border, or cropped."""
    k, s, d, l = rng.integers(1, 6, size=4).tolist()
    i, lo, o = rng.integers((1, -5, 1), (8, 10, most + 1)).tolist()
    return Axis(i, k, s, d, l, lo, o)


def meetings(axis: Axis) -> list[tuple[int, int, int]]:
    """All (p, q, m) with  s*p + d*q - lo = l*m,  found by trying; m may stand in the padding."""
    _, k, s, d, l, lo, o = axis
    assert max(lo, s * o + d * k - lo) < l * FAR
    tried = oracle.meetings(2 * FAR, k, o, s, d, l, lo - l * FAR, "zeros")
    return sorted((p, q, m - FAR) for m, q, p in tried)


def phases_of_input_gradient(
    i: int, k: int, s: int, d: int = 1, C: int = 1, O: int = 1, i_row: int = 1
) -> Plan:
    """The plan of an input gradient with one row of taps, whose inputs and taps are these."""
    geometry = convolution((1, C, i_row, i), (O, C, 1, k), (1, s), 0, (1, d))
    return plan(
        geometry.output_shape, (C, O, 1, k), (1, 1), geometry.input_gradient_padding, geometry.dilation,
        geometry.stride, 1, 4, 2**26,
    )  # fmt: skip
