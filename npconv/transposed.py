"""A transposed convolution is a convolution's input gradient, read forwards.

Its input stands where the convolution has its output, and the other way round.  So its three maps
are the convolution's with those two names exchanged, and nothing is left to derive.

Its output_padding is the convolution's remainder r.  A convolution has r < s by itself; here r may
reach s, and the forward, which would find a window there, is told to leave those cells out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from npconv import blocks, grad, rules
from npconv.arguments import IntOrInts, Padding
from npconv.form import Form
from npconv.functional import fixed_rank, form_of, kept
from npconv.rules import Gradients
from npconv.transposed_geometry import transposed

MAPS = {
    "output": lambda input, weight, geometry: grad.input_gradient(weight, input, geometry),
    "input": lambda weight, output, geometry: grad.output(output, weight, geometry.without_remainder()),
    "weight": lambda input, output, geometry: blocks.weight_gradient(output, input, geometry),
}


def conv_transpose(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    output_padding: IntOrInts = 0,
    groups: int = 1,
    dilation: IntOrInts = 1,
    *,
    output_size: IntOrInts | None = None,
    rank: int | None = None,
) -> np.ndarray:
    """Spread the input out by the stride and let every element paint the weight, scaled, around it.

    Shapes: input (N, C, *spatial) or without N, weight (C, O/groups, *taps), bias (O,)
    -> (N, O, *sizes) with sizes (i-1)*stride - lo - hi + dilation*(k-1) + 1 + output_padding an axis.

    padding: as for `conv`, and it means that convolution's padding, so it cuts the output; "same"
    gives stride*i outputs, the adjoint of the "same" convolution.  output_padding: more cells at the
    end, fewer than the larger of stride and dilation; they are computed like all others.
    output_size: the wanted spatial sizes (or the whole shape), in place of output_padding.
    dtypes and errors as for `conv`.

    >>> x, w = np.array([[[1, 2, 3, 4]]]), np.array([[[1, 2, 3]]])
    >>> conv_transpose(x, w, stride=2, padding="same")
    array([[[ 1,  2,  5,  4,  9,  6, 13,  8]]])
    >>> conv_transpose(x, w, stride=2, padding=1, output_padding=1)
    array([[[ 2,  5,  4,  9,  6, 13,  8, 12]]])

    Formula: the input gradient of the convolution with the same weight and parameters, as in
    torch.nn.functional.conv_transpose2d.
    """
    x, w = np.asarray(input), np.asarray(weight)
    form = conv_transpose_form(
        x.shape, w.shape, stride, padding, output_padding, groups, dilation, output_size, rank
    )
    return form.evaluate(rules.FORWARD, x, w, bias)


def conv_transpose_backward(
    grad_output: ArrayLike,
    input: ArrayLike,
    weight: ArrayLike,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    output_padding: IntOrInts = 0,
    groups: int = 1,
    dilation: IntOrInts = 1,
    *,
    output_size: IntOrInts | None = None,
    rank: int | None = None,
) -> Gradients:
    """All three gradients of a transposed convolution, as the named tuple (input, weight, bias).

    Shapes: as `conv_transpose` has them; each gradient has the shape of its array, the bias's is (O,).
    Parameters, dtypes and errors as for `conv_transpose`.

    >>> x, w = np.array([[[1, 2]]]), np.array([[[1, 10]]])
    >>> conv_transpose_backward(np.array([[[1, 2, 3]]]), x, w)
    Gradients(input=array([[[21, 32]]]), weight=array([[[5, 8]]]), bias=array([6]))

    Formula: the input's gradient is the forward convolution of grad_output; the weight's is the
    convolution's weight gradient with input and grad_output exchanged.
    """
    x, w = np.asarray(input), np.asarray(weight)
    form = conv_transpose_form(
        x.shape, w.shape, stride, padding, output_padding, groups, dilation, output_size, rank
    )
    return form.evaluate(rules.BACKWARD, grad_output, x, w)


@kept
def conv_transpose_form(
    input_shape: Sequence[int],
    weight_shape: Sequence[int],
    stride: IntOrInts = 1,
    padding: Padding = 0,
    output_padding: IntOrInts = 0,
    groups: int = 1,
    dilation: IntOrInts = 1,
    output_size: IntOrInts | None = None,
    rank: int | None = None,
) -> Form:
    """The trilinear form of a transposed convolution: the convolution's, input and output exchanged."""
    geometry = transposed(
        input_shape, weight_shape, stride, padding, output_padding, groups, dilation,
        output_size=output_size, rank=rank,
    )  # fmt: skip
    form = form_of(geometry, MAPS)
    exchanged = {"input": geometry.output_shape, "output": geometry.input_shape, "bias": (geometry.C,)}
    return replace(form, shapes={**form.shapes, **exchanged})


conv_transpose1d, conv_transpose2d, conv_transpose3d = (fixed_rank(conv_transpose, n) for n in (1, 2, 3))
conv_transpose1d_backward, conv_transpose2d_backward, conv_transpose3d_backward = (
    fixed_rank(conv_transpose_backward, n) for n in (1, 2, 3)
)
