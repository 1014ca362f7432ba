"""PyTorch's autograd on float64 as oracle, for padding of every kind.

torch's own convolutions pad both ends alike and never crop.  Here the border is laid out cell by
cell with `index_select`, so any (lo, hi) and any padding mode works, and autograd follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from geometries import Case

torch.set_num_threads(1)
F = torch.nn.functional
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
CONV_TRANSPOSE = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


class Answers(NamedTuple):
    """What torch says about one case: the output, the gradients, and the gradients of the gradients."""

    output: np.ndarray
    gradients: tuple[np.ndarray, np.ndarray, np.ndarray]
    second: tuple[np.ndarray, np.ndarray, np.ndarray]


def window(x: torch.Tensor, axis: int, lo: int, size: int, mode: str = "zeros") -> torch.Tensor:
    """`size` cells of the line on which x stands, from position -lo on."""
    i = x.shape[axis]
    position = torch.arange(-lo, size - lo)
    if mode == "zeros":
        cell = x.new_zeros([1 if number == axis else size for number, size in enumerate(x.shape)])
        x = torch.cat([x, cell], dim=axis)  # cell i is the zero that stands everywhere outside
        source = torch.where((position >= 0) & (position < i), position, torch.tensor(i))
    elif mode == "replicate":
        source = position.clamp(0, i - 1)
    elif mode == "circular":
        source = position % i
    else:
        source = ((position + i - 1) % (2 * i - 2) - (i - 1)).abs()
    return x.index_select(axis, source)


def conv(
    x: torch.Tensor,
    w: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    groups: int,
    padding_mode: str = "zeros",
) -> torch.Tensor:
    for axis, (lo, hi) in enumerate(padding, start=x.ndim - len(padding)):
        x = window(x, axis, lo, x.shape[axis] + lo + hi, padding_mode)
    return CONV[len(padding)](x, w, bias, tuple(stride), 0, tuple(dilation), groups)


def conv_transpose(
    x: torch.Tensor,
    w: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    stride: Sequence[int],
    padding: Sequence[tuple[int, int]],
    dilation: Sequence[int],
    groups: int,
    output_padding: Sequence[int],
) -> torch.Tensor:
    rank = len(padding)
    y = CONV_TRANSPOSE[rank](x, w, None, tuple(stride), 0, 0, groups, tuple(dilation))
    for axis, ((lo, hi), extra) in enumerate(zip(padding, output_padding), start=x.ndim - rank):
        y = window(y, axis, -lo, y.shape[axis] - lo - hi + extra)
    return y if bias is None else y + bias.reshape(-1, *[1] * rank)


def differentiate(
    function: Callable[..., torch.Tensor],
    arrays: Sequence[np.ndarray],
    grad_output: np.ndarray,
    grad_gradients: Sequence[np.ndarray],
    **parameters: Any,
) -> Answers:
    """The output for input, weight and bias, their gradients, and the gradients of those.

    The latter are by grad_output, input and weight.
    """
    x, w, bias, g = (torch.tensor(a, requires_grad=True) for a in (*arrays, grad_output))
    y = function(x, w, bias, **parameters)
    gradients = torch.autograd.grad(y, (x, w, bias), g, create_graph=True)
    into = [torch.tensor(a) for a in grad_gradients]
    second = torch.autograd.grad(gradients, (g, x, w), into, materialize_grads=True)  # zeros: an empty batch
    return Answers(
        y.detach().numpy(),
        tuple(a.detach().numpy() for a in gradients),
        tuple(a.detach().numpy() for a in second),
    )


def answers(case: Case, arrays: Sequence[np.ndarray], grad_gradients: Sequence[np.ndarray]) -> Answers:
    """torch's answers for a case and its (input, weight, bias, grad_output)."""
    function = conv_transpose if case.is_transposed else conv
    return differentiate(function, arrays[:3], arrays[3], grad_gradients, **case.parameters)
