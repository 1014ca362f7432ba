"""The two oracles know nothing of each other and agree."""

import numpy as np
import oracle
import pytest
import torch
from geometries import NAMED, TRANSPOSED
from torch_oracle import answers, window

# torch refuses a convolution without channels.
CASES = [case for case in NAMED if case.C * case.O > 0]


@pytest.mark.parametrize(
    "lo, size, mode, cells",
    [
        (2, 6, "zeros", [0, 0, 1, 2, 3, 0]),
        (-1, 4, "zeros", [2, 3, 0, 0]),
        (-4, 2, "zeros", [0, 0]),
        (2, 6, "replicate", [1, 1, 1, 2, 3, 3]),
        (2, 6, "circular", [2, 3, 1, 2, 3, 1]),
        (3, 8, "reflect", [2, 3, 2, 1, 2, 3, 2, 1]),
    ],
)
def test_a_window_on_the_padded_line(lo, size, mode, cells):
    assert window(torch.tensor([[[1, 2, 3]]]), 2, lo, size, mode).tolist() == [[cells]]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_torch_and_the_loops_agree(case):
    x, w, bias, g = arrays = case.arrays()
    found = answers(case, arrays, [np.zeros_like(a) for a in (x, w, bias)])
    assert np.array_equal(found.output, oracle.output(x, w, bias, **case.parameters))
    assert np.array_equal(found.gradients[0], oracle.input_gradient(x.shape, w, g, **case.parameters))
    assert np.array_equal(found.gradients[1], oracle.weight_gradient(x, w.shape, g, **case.parameters))
    assert np.array_equal(found.gradients[2], oracle.bias_gradient(g))


@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
def test_torch_and_the_loops_agree_on_transposed_convolutions(case):
    x, w, bias, _ = arrays = case.arrays()
    found = answers(case, arrays, [np.zeros_like(a) for a in (x, w, bias)])
    assert np.array_equal(found.output, oracle.transposed_output(x, w, bias, **case.parameters))
