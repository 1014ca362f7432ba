"""Every gradient of a convolution is a convolution.

With x the input, w the weight and g the gradient that arrives at the output, one number

    T(x, w, g) = sum over n, o, c, p, q of  x[n, c, s*p + d*q - lo] * w[o, c, q] * g[n, o, p]

is linear in each.  Its derivative by g is the output, by x the input's gradient, by w the weight's:
three maps, each the same forward.  Read them side by side: whichever array is asked for, its own
spacing is the stride and the other two are dilations.  Solving  s*p + d*q = l*m + lo  for m runs
q backwards, so one of them flips the weight; solving it for q does not.
"""

from __future__ import annotations

import numpy as np

from npconv.conv import forward
from npconv.dtypes import sum_over_positions
from npconv.geometry import Geometry
from npconv.transforms import flip, groups_to_batch, groups_to_channels, swap


def output(input: np.ndarray, weight: np.ndarray, geometry: Geometry) -> np.ndarray:
    """dT/dg, the forward itself: pad the input by (lo, hi) and slide the weight over it."""
    return forward(
        input,
        weight,
        input_dilation=geometry.input_dilation,
        padding=geometry.padding,
        stride=geometry.stride,
        dilation=geometry.dilation,
        groups=geometry.G,
    )


def input_gradient(weight: np.ndarray, grad_output: np.ndarray, geometry: Geometry) -> np.ndarray:
    """dT/dx: spread g by the stride, pad it by (K-1-lo, K-1-hi+r), slide the flipped weight over it."""
    return forward(
        grad_output,
        flip(groups_to_batch(swap(weight), geometry.G)),
        input_dilation=geometry.stride,
        padding=geometry.input_gradient_padding,
        stride=geometry.input_dilation,
        dilation=geometry.dilation,
        groups=geometry.G,
    )


def weight_gradient(input: np.ndarray, grad_output: np.ndarray, geometry: Geometry) -> np.ndarray:
    """dT/dw: pad x by (lo, hi-r), slide g over it; stride and dilation trade places."""
    return swap(
        forward(
            groups_to_channels(swap(input), geometry.G),
            swap(grad_output),
            input_dilation=geometry.input_dilation,
            padding=geometry.weight_gradient_padding,
            stride=geometry.dilation,
            dilation=geometry.stride,
            groups=geometry.G,
        )
    )


def bias_gradient(grad_output: np.ndarray) -> np.ndarray:
    """The bias is added to every sample and position, so its gradient is the sum over them."""
    return sum_over_positions(grad_output)
