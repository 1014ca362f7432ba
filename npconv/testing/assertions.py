"""For test suites: one assertion with a derived bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from npconv.geometry import IntOrInts, Padding, Shape
from npconv.problem import Problem
from npconv.testing.comparison import assert_near, numbers, result
from npconv.testing.parts import TAKES, array_shapes, result_shape

WITH_BATCH = ("input", "grad_output")  # arrays that may come without their batch axis
BATCHED = ("forward", "grad_input", "transposed")  # parts whose result then has none either


def assert_conv_close(
    actual: ArrayLike,
    *,
    part: str = "forward",
    input: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    grad_output: ArrayLike | None = None,
    input_size: Sequence[int] | None = None,
    weight_size: Sequence[int] | None = None,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    output_padding: IntOrInts = 0,
    accumulate: str = "",
) -> None:
    """Assert that a result of a convolution is right, to within what rounding can do and no more.

    part: "forward", "grad_input", "grad_weight", "grad_bias" or "transposed"; each needs its arrays
    (grad_input: grad_output, weight, input_size; grad_weight: grad_output, input, weight_size;
    grad_bias: grad_output).  An array in place of its size will do.  Where input and grad_output come
    without a batch axis, the result has none either; grad_bias then needs weight_size, too.

    The formats are those of the arrays: floats, integers (compared by equality) or complex numbers, whose
    gradients are conjugated as PyTorch's are.  accumulate names the accumulator's where it is another
    than npconv assumes (float32 for float16, else the input's).

    AssertionError: the worst element, its bound, the problem's descriptor, and the fault if it has
    a name; also where the result is no array of numbers, or has another shape.  TypeError where an
    argument is missing or holds no numbers; ValueError where shapes and parameters do not fit.

    >>> import npconv
    >>> x, w = np.arange(6.0).reshape(1, 1, 6), np.array([[[1.0, 2.0, 4.0]]])
    >>> assert_conv_close(npconv.conv(x, w, stride=2), input=x, weight=w, stride=2)
    >>> assert_conv_close(npconv.conv(x, w[..., ::-1], stride=2), input=x, weight=w, stride=2)
    Traceback (most recent call last):
    AssertionError: forward of i6_k3_s2: 2 of 2 elements are off by more than rounding can explain
      worst at (0, 0, 0): got 4.0, due 10.0, bound 8.9e-15
      consistent with: the weight is flipped; explains all 2 wrong elements
    """
    given = dict(input=input, weight=weight, bias=bias, grad_output=grad_output)
    arrays = {name: numbers(name, array) for name, array in given.items() if array is not None}
    shapes = _shapes(part, arrays, {"input": input_size, "weight": weight_size})
    unbatched = _lack_batch(part, shapes)
    if unbatched:
        arrays = {name: array[None] if name in WITH_BATCH else array for name, array in arrays.items()}
        shapes = {name: (1, *shape) if name in WITH_BATCH else shape for name, shape in shapes.items()}
    parameters: dict[str, Any] = dict(stride=stride, padding=padding, dilation=dilation)
    if part == "transposed":
        parameters["output_padding"] = output_padding
    problem = _problem(part, shapes, groups, parameters)
    arrays = {name: arrays[name] for name in TAKES[part] if name in arrays}
    due = result_shape(part, problem)
    without = unbatched and part in BATCHED
    kind = np.result_type(*map(_kind, arrays.values()))
    got = result(actual, f"{part} of {problem}", due[1:] if without else due, kind)
    assert_near(got[None] if without else got, part, problem, arrays, accumulate)


def _kind(array: np.ndarray) -> type:
    return complex if array.dtype.kind == "c" else float


def _shapes(
    part: str, arrays: Mapping[str, np.ndarray], sizes: Mapping[str, Sequence[int] | None]
) -> dict[str, Shape]:
    """The shapes of the arrays, and those that are given as sizes; TypeError where one is missing."""
    if part not in TAKES:
        raise ValueError(f"part: {part!r} is not one of {', '.join(TAKES)}")
    needed = [name for name in TAKES[part] if name != "bias"]
    if missing := [name for name in needed if name not in arrays]:
        raise TypeError(f"{part}: it needs {', '.join(needed)}; {', '.join(missing)} missing")
    shapes = {name: tuple(size) for name, size in sizes.items() if size is not None}
    shapes |= {name: array.shape for name, array in arrays.items()}
    for name in ("input", "weight") if part != "grad_bias" else ():
        if name not in shapes:
            raise TypeError(f"{part}: it needs {name}_size")
    return shapes


def _lack_batch(part: str, shapes: Mapping[str, Shape]) -> bool:
    """Whether the images come without a batch axis; ValueError where that cannot be."""
    axes = len(shapes["weight"] if "weight" in shapes else shapes["grad_output"])
    lack = {}
    for name in WITH_BATCH:
        if name in shapes:
            shape = shapes[name]
            if len(shape) not in (axes, axes - 1) or not 3 <= axes <= 5:
                raise ValueError(
                    f"{name}: shape {shape} has {len(shape)} axes; beside a weight of {axes} axes it must "
                    f"have {axes}, or {axes - 1} without a batch, and a weight has 3 to 5"
                )
            lack[name] = len(shape) == axes - 1
    if len(set(lack.values())) > 1:
        told = ", ".join(f"{name} {shapes[name]}" for name in lack)
        raise ValueError(f"{part}: {told}: one has a batch axis and one has none; give both or neither")
    return any(lack.values())


def _problem(part: str, shapes: Mapping[str, Shape], groups: int, parameters: Mapping[str, Any]) -> Problem:
    """The problem that the shapes belong to; ValueError where they do not fit each other."""
    if part == "grad_bias":
        N, O, *o = shapes["grad_output"]
        return Problem(i=tuple(o), k=(1,) * len(o), N=N, O=O, C=1).canonical()
    N, C, *i = shapes["input"]
    first, second, *k = shapes["weight"]
    transposed = part == "transposed"
    problem = Problem(
        i=tuple(i), k=tuple(k), N=N, C=C, O=second * groups if transposed else first, G=groups,
        bias="bias" in shapes and "bias" in TAKES[part], transposed=transposed, **parameters,
    ).canonical()  # fmt: skip
    for name, due in array_shapes(problem).items():
        if shapes.get(name, due) != due:
            raise ValueError(f"{name}: shape {shapes[name]}, but {problem} has one of shape {due}")
    return problem


__all__ = ["assert_conv_close"]
