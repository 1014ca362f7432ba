"""Some groups at a time, or all at once: the same weight gradient."""

import numpy as np
import pytest

import oracle
from npconv import conv_transpose_backward, conv_weight
from npconv.scratch import scratch_budget

random = np.random.default_rng(0)


def integers(*shape: int) -> np.ndarray:
    return random.integers(-9, 10, shape)


@pytest.mark.parametrize("groups_at_a_time", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("shape", [(3, 12, 7), (2, 6, 4, 5)], ids=str)
def test_blocks_of_groups_give_the_gradient_of_all(shape, groups_at_a_time):
    x, taps = integers(*shape), (2,) * (len(shape) - 2)
    g = integers(shape[0], 18, *(size - 1 for size in shape[2:]))
    weight_shape = (18, shape[1] // 6, *taps)
    due = oracle.weight_gradient(
        x, weight_shape, g, stride=[1] * len(taps), padding=[(0, 0)] * len(taps), dilation=[1] * len(taps), groups=6
    )
    with scratch_budget(2 * groups_at_a_time * x.nbytes // 6):
        assert np.array_equal(conv_weight(x, weight_shape, g, groups=6), due)


def test_sums_beyond_int64_are_added_up_before_they_are_judged():
    """One group's sums need Python ints, the other's do not."""
    x = np.stack([np.full((2, 1), 2**62), np.ones((2, 1), int)], axis=1)  # two samples, two groups
    g = np.stack([np.array([[3], [-3]]), np.array([[5], [7]])], axis=1)
    with scratch_budget(x.nbytes):
        assert conv_weight(x, (2, 1, 1), g, groups=2).tolist() == [[[0]], [[12]]]


def test_a_transposed_convolution_has_blocks_too():
    x, w, g = integers(3, 4, 5), integers(4, 2, 3), integers(3, 4, 7)
    due = conv_transpose_backward(g, x, w, groups=2).weight
    with scratch_budget(g.nbytes):
        assert np.array_equal(conv_transpose_backward(g, x, w, groups=2).weight, due)
