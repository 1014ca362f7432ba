"""The convolutions and their gradients, as users call them.

Names, order of arguments and meaning are those of torch.nn.functional and torch.nn.grad.  Each
function is written once for any number of spatial axes; conv1d, conv2d and conv3d are the same
function with that number fixed.  What each computes stands in rules.py; here its arguments become a
geometry and a form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from npconv import blocks, grad, rules
from npconv.form import NO_BATCH, Form, Map, View
from npconv.geometry import (
    Axis,
    Geometry,
    IntOrInts,
    Padding,
    Shape,
    convolution,
    integer,
)
from npconv.padding import padding_view
from npconv.rules import DoubleGradients, Gradients

MAPS = {"output": grad.output, "input": grad.input_gradient, "weight": blocks.weight_gradient}


def conv(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    *,
    padding_mode: str = "zeros",
    rank: int | None = None,
) -> np.ndarray:
    """Slide the weight over the input: the cross-correlation that deep learning calls convolution.

    Shapes: input (N, C, *spatial) or without N, weight (O, C/groups, *taps), bias (O,)
    -> (N, O, *sizes) with sizes floor((i + lo + hi - dilation*(k-1) - 1) / stride) + 1 an axis.

    padding: an int, one int an axis, one (lo, hi) pair an axis, "valid", "same" (ceil(i / stride)
    outputs, the odd cell at the end) or "same_lower" (at the start); negative values crop.
    padding_mode: "zeros", "reflect", "replicate" or "circular".  rank: the number of spatial axes,
    taken from the weight where it is not given.

    dtypes: floats and complex numbers give their own (NumPy's promotion where they differ);
    float16 and narrower sum in float32 and round once; integers and bool give exact int64.
    Padded zeros are ordinary zeros: beside an infinite or NaN weight they make NaN, unless the input
    has no element at all, which gives 0.  Zeros that a stride inserts may be left out, and then make none.

    Errors: ValueError (TypeError for a wrong kind) that states the rule and both numbers;
    OverflowError where int64 cannot hold a sum.

    >>> x = np.arange(16).reshape(1, 1, 4, 4)
    >>> w = np.array([[[[1, 0], [0, -1]]]])
    >>> conv(x, w, stride=2, padding=1)
    array([[[[ 0, -2,  0],
             [-8, -5,  7],
             [ 0, 13, 15]]]])

    Formula: output[n, o, p] = bias[o] + sum over c, q of input[n, c, stride*p + dilation*q - lo]
    * weight[o, c, q], as in torch.nn.functional.conv2d.
    """
    x, w = np.asarray(input), np.asarray(weight)
    form = conv_form(x.shape, w.shape, stride, padding, dilation, groups, padding_mode, rank)
    return form.evaluate(rules.FORWARD, x, w, bias)


def conv_input(
    input_size: Sequence[int],
    weight: ArrayLike,
    grad_output: ArrayLike,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    *,
    padding_mode: str = "zeros",
    rank: int | None = None,
) -> np.ndarray:
    """The gradient by the input: grad_output, spread out and padded, under the flipped weight.

    Shapes: weight (O, C/groups, *taps), grad_output the shape of the output -> `input_size`, which
    is the input's whole shape.  The size must be told: several inputs have the same output size.
    Parameters, dtypes and errors as for `conv`; complex weights are conjugated.

    >>> w = np.array([[[1, 2, 3, 4]]])
    >>> conv_input((1, 1, 11), w, np.ones((1, 1, 2), int), stride=4)
    array([[[1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0]]])

    Formula: the derivative by input of the sum of output * grad_output; with extent K and remainder
    r, dilate grad_output by the stride, pad it by (K-1-lo, K-1-hi+r), flip the weight and exchange
    its channel axes, and convolve with stride 1.  As torch.nn.grad.conv2d_input.
    """
    w = np.asarray(weight)
    names = ("input_size", "weight")
    form = conv_form(input_size, w.shape, stride, padding, dilation, groups, padding_mode, rank, names)
    return form.evaluate(rules.INPUT, w, grad_output)


def conv_weight(
    input: ArrayLike,
    weight_size: Sequence[int],
    grad_output: ArrayLike,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    *,
    padding_mode: str = "zeros",
    rank: int | None = None,
) -> np.ndarray:
    """The gradient by the weight: grad_output slides over the input, stride and dilation exchanged.

    Shapes: input (N, C, *spatial) or without N, grad_output the shape of the output ->
    `weight_size`, the weight's whole shape (O, C/groups, *taps).
    Parameters, dtypes and errors as for `conv`; a complex input is conjugated.

    >>> x = np.arange(6).reshape(1, 1, 6)
    >>> conv_weight(x, (1, 1, 3), np.array([[[1, 10]]]), stride=2)
    array([[[20, 31, 42]]])

    Formula: the derivative by weight of the sum of output * grad_output; exchange batch and channels
    of both arrays, pad the input by (lo, hi-r), and convolve with stride `dilation` and dilation
    `stride`.  As torch.nn.grad.conv2d_weight.
    """
    x = np.asarray(input)
    names = ("input", "weight_size")
    form = conv_form(x.shape, weight_size, stride, padding, dilation, groups, padding_mode, rank, names)
    return form.evaluate(rules.WEIGHT, x, grad_output)


def conv_bias(grad_output: ArrayLike, *, rank: int | None = None) -> np.ndarray:
    """The gradient by the bias: the sum of grad_output over samples and positions.

    Shapes: (N, O, *sizes) -> (O,).  Without a batch axis, say the number of spatial axes in `rank`
    (conv1d_bias, conv2d_bias and conv3d_bias know it).  dtypes as for `conv`.

    Errors: ValueError where the axes do not fit the rank.

    >>> conv_bias(np.ones((2, 3, 4, 5), np.float16))
    array([40., 40., 40.], dtype=float16)

    Formula: the derivative by bias of the sum of output * grad_output.
    """
    g = np.asarray(grad_output)
    return bias_form(g.shape, rank).evaluate(rules.BIAS, g)


def conv_backward(
    grad_output: ArrayLike,
    input: ArrayLike,
    weight: ArrayLike,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    *,
    padding_mode: str = "zeros",
    rank: int | None = None,
) -> Gradients:
    """All three gradients of a convolution, as the named tuple (input, weight, bias).

    Shapes: as `conv` has them; each gradient has the shape of its array, the bias's is (O,).
    Parameters, dtypes and errors as for `conv`.  Where input or weight is real, so is its gradient.

    >>> x, w = np.array([[[1, 2, 3]]]), np.array([[[1, 10]]])
    >>> conv_backward(np.array([[[1, 100]]]), x, w)
    Gradients(input=array([[[   1,  110, 1000]]]), weight=array([[[201, 302]]]), bias=array([101]))

    Formula: those of `conv_input`, `conv_weight` and `conv_bias`.
    """
    x, w = np.asarray(input), np.asarray(weight)
    form = conv_form(x.shape, w.shape, stride, padding, dilation, groups, padding_mode, rank)
    return form.evaluate(rules.BACKWARD, grad_output, x, w)


def conv_double_backward(
    grad_grad_input: ArrayLike | None,
    grad_grad_weight: ArrayLike | None,
    grad_grad_bias: ArrayLike | None,
    grad_output: ArrayLike,
    input: ArrayLike,
    weight: ArrayLike,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    *,
    padding_mode: str = "zeros",
    rank: int | None = None,
) -> DoubleGradients:
    """The gradients of `conv_backward`, as the named tuple (grad_output, input, weight).

    The first three arguments arrive at conv_backward's three results and have their shapes; any of
    them may be None, which counts as zeros.  Parameters, dtypes and errors as for `conv`.

    >>> x, w, g = np.array([[[1, 2]]]), np.array([[[3]]]), np.array([[[5, 7]]])
    >>> conv_double_backward(np.array([[[1, 0]]]), None, np.array([100]), g, x, w)
    DoubleGradients(grad_output=array([[[103, 100]]]), input=array([[[0, 0]]]), weight=array([[[5]]]))

    Formula: grad_output = conv(grad_grad_input, weight) + conv(input, grad_grad_weight) +
    grad_grad_bias, input = conv_input(grad_grad_weight, grad_output), weight =
    conv_weight(grad_grad_input, grad_output).
    """
    x, w = np.asarray(input), np.asarray(weight)
    form = conv_form(x.shape, w.shape, stride, padding, dilation, groups, padding_mode, rank)
    return form.evaluate(
        rules.DOUBLE_BACKWARD, grad_grad_input, grad_grad_weight, grad_grad_bias, grad_output, x, w
    )


# ---------------------------------------------------------------- from arguments to a form


P = ParamSpec("P")


def kept(build: Callable[P, Form]) -> Callable[P, Form]:
    """The same builder of forms, which for equal arguments gives the form that it made before."""
    remember = lru_cache(maxsize=1024)(build)
    remembering = cast("Callable[P, Form]", remember)  # lru_cache forgets what its function takes

    @wraps(build)
    def form(*args: P.args, **kwargs: P.kwargs) -> Form:
        # Equal is not the same: 2.0 == 2 and True == 1, but only 2 and 1 are strides.
        same = _exact(args) and _exact(kwargs.values())
        return (remembering if same else build)(*args, **kwargs)

    vars(form)["cache_clear"] = remember.cache_clear
    return form


def _exact(arguments: Iterable[Any]) -> bool:
    """Whether these are ints, strings, None and tuples of such, so that equal ones are the same."""
    for argument in arguments:
        if type(argument) is tuple:
            for entry in argument:
                if type(entry) is not int and not _exact((entry,)):
                    return False
        elif type(argument) is not int and type(argument) is not str and argument is not None:
            return False
    return True


@kept
def conv_form(
    input_shape: Sequence[int],
    weight_shape: Sequence[int],
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    rank: int | None = None,
    names: tuple[str, str] = ("input", "weight"),
) -> Form:
    """The trilinear form of a convolution with these arguments; `names` are those that errors use."""
    geometry = convolution(
        input_shape, weight_shape, stride, padding, dilation, groups, rank=rank, names=names
    )
    return form_of(geometry, MAPS, padding_mode)


def form_of(geometry: Geometry, maps: Mapping[str, Map], padding_mode: str = "zeros") -> Form:
    """A geometry's form, with what its arrays need on the way in: a batch axis, a border."""
    shapes = {
        "input": geometry.input_shape,
        "weight": geometry.weight_shape,
        "output": geometry.output_shape,
        "bias": (geometry.O,),
    }
    batch = () if geometry.batched else (NO_BATCH,)
    border: tuple[View, ...] = ()
    if not (isinstance(padding_mode, str) and padding_mode == "zeros"):
        border = (padding_view(padding_mode, geometry.input_shape, geometry.padding),)
        geometry = geometry.already_padded()
    return Form(geometry, maps, shapes, {"input": border + batch, "output": batch})


def bias_form(output_shape: Shape, rank: int | None) -> Form:
    """The form of a convolution with one tap, whose output has this shape: enough to add a bias."""
    if rank is None and len(output_shape) < 3:
        raise ValueError(
            f"grad_output: it has {len(output_shape)} axes, but it needs batch, channels and a spatial axis, "
            f"so 3 or more; without the batch, say the rank"
        )
    rank = len(output_shape) - 2 if rank is None else integer(rank, "rank", at_least=1)
    if len(output_shape) not in (rank + 1, rank + 2):
        raise ValueError(
            f"grad_output: it has {len(output_shape)} axes, but with {rank} spatial axes it must have "
            f"{rank + 2} (batch, channels, spatial) or {rank + 1} (without the batch)"
        )
    channels, *sizes = output_shape[-rank - 1 :]
    batched = len(output_shape) == rank + 2
    axes = tuple(Axis(i=size, k=1, o=size) for size in sizes)
    return form_of(Geometry(output_shape[0] if batched else 1, channels, channels, 1, axes, batched), MAPS)


# ---------------------------------------------------------------- with the number of axes fixed

F = TypeVar("F", bound=Callable[..., object])


# The functions of a fixed rank, and what they fix.
FIXED: dict[Callable[..., object], tuple[Callable[..., object], int]] = {}


def fixed_rank(function: F, rank: int) -> F:
    """The same function, which checks that the arrays have `rank` spatial axes."""
    name = function.__name__.replace("conv", f"conv{rank}d", 1).replace(
        f"conv{rank}d_transpose", f"conv_transpose{rank}d"
    )

    @wraps(function)
    def numbered(*args: object, **kwargs: object) -> object:
        return function(*args, rank=rank, **kwargs)

    numbered.__name__ = numbered.__qualname__ = name
    axes = "axis" if rank == 1 else "axes"
    numbered.__doc__ = (
        f"`{function.__name__}` with {rank} spatial {axes}, which is:\n\n    {function.__doc__}"
    )
    FIXED[numbered] = function, rank
    shown = [p for p in signature(function).parameters.values() if p.name != "rank"]
    numbered.__signature__ = signature(function).replace(parameters=shown)  # type: ignore[attr-defined]
    return numbered  # type: ignore[return-value]


conv1d, conv2d, conv3d = (fixed_rank(conv, rank) for rank in (1, 2, 3))
conv1d_input, conv2d_input, conv3d_input = (fixed_rank(conv_input, rank) for rank in (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = (fixed_rank(conv_weight, rank) for rank in (1, 2, 3))
conv1d_bias, conv2d_bias, conv3d_bias = (fixed_rank(conv_bias, rank) for rank in (1, 2, 3))
conv1d_backward, conv2d_backward, conv3d_backward = (fixed_rank(conv_backward, rank) for rank in (1, 2, 3))
conv1d_double_backward, conv2d_double_backward, conv3d_double_backward = (
    fixed_rank(conv_double_backward, rank) for rank in (1, 2, 3)
)
