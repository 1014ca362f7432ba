"""Groups are convolutions of their own, so a large weight gradient is computed some groups at a time.

Its formula lays the input out anew when there are several groups and samples, which takes memory of
the input's size.  A block of groups takes no more than its share of the scratch budget.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from npconv import grad
from npconv.geometry import Geometry
from npconv.scratch import budget, scratch_budget


def weight_gradient(input: np.ndarray, grad_output: np.ndarray, geometry: Geometry) -> np.ndarray:
    """`grad.weight_gradient`, with half of the scratch budget for the input's groups laid out anew.

    >>> x, g = np.arange(8).reshape(2, 2, 2), np.ones((2, 2, 1), int)
    >>> from npconv.geometry import convolution
    >>> with scratch_budget(2**6):
    ...     weight_gradient(x, g, convolution(x.shape, (2, 1, 2), groups=2))
    array([[[ 4,  6]],
    <BLANKLINE>
           [[ 8, 10]]])
    """
    G, share = geometry.G, max(budget() // 2, 1)
    if G == 1 or geometry.N == 1 or input.nbytes <= share // 16:  # so little that it need not be counted
        return grad.weight_gradient(input, grad_output, geometry)
    n = min(max(share * G // input.nbytes, 1), G)  # groups a block; one alone is not laid out anew
    with scratch_budget(share):
        blocks = [_block(input, grad_output, geometry, g, min(g + n, G)) for g in range(0, G, n)]
    return np.concatenate(blocks)


def _block(
    input: np.ndarray, grad_output: np.ndarray, geometry: Geometry, start: int, stop: int
) -> np.ndarray:
    """The gradient for the groups from start to stop: (N, C, ...), (N, O, ...) -> (o, C/G, *taps)."""
    C, O = geometry.C // geometry.G, geometry.O // geometry.G
    groups = stop - start
    return grad.weight_gradient(
        input[:, start * C : stop * C],
        grad_output[:, start * O : stop * O],
        replace(geometry, C=groups * C, O=groups * O, G=groups),
    )
