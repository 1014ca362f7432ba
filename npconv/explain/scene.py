"""A problem with numbers in it, and its maps as they ran: what every picture is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from npconv import conv, conv_input, conv_transpose, conv_weight
from npconv.explain.trace import Trace, trace
from npconv.geometry import Geometry, Shape
from npconv.problem import Problem


def digits(shape: Shape, step: int = 1) -> np.ndarray:
    """1 to 9, `step` by step; each round starts one later and each channel two, so that all differ.

    >>> digits((1, 2, 4)).tolist(), digits((1, 1, 11)).tolist()
    ([[[1, 2, 3, 4], [3, 4, 5, 6]]], [[[1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 3]]])
    >>> digits((1, 1, 6), step=4).tolist()
    [[[1, 5, 9, 4, 8, 3]]]
    """
    channel = np.arange(prod(shape[:2]))[:, None]
    place = np.arange(prod(shape[2:]))
    return (1 + (step * place + place // 9 + 2 * channel) % 9).reshape(shape)


@dataclass(frozen=True, eq=False)
class Scene:
    """A convolution, its three arrays, and the three maps as they ran, each with all its moves.

    >>> scene = Scene.of(Problem.parse("i5x5_k3_s2"))
    >>> scene.output_gradient.tolist(), scene.input_map.padding()
    ([[[[1, 2], [3, 4]]]], ((2, 2), (2, 2)))
    """

    problem: Problem
    input: np.ndarray
    weight: np.ndarray
    output_gradient: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> Scene:
        """The problem with `digits` in all its arrays.

        Were input and output gradient equal, the weight's gradient would be its own mirror image, and
        a flip that does not belong there would not be seen.
        """
        geometry = problem.geometry
        return cls(
            problem, digits(geometry.input_shape, step=4), digits(geometry.weight_shape), digits(geometry.output_shape)
        )

    @property
    def geometry(self) -> Geometry:
        return self.problem.geometry

    @cached_property
    def forward_map(self) -> Trace:
        return trace(conv, {"input": self.input, "weight": self.weight}, **self.problem.parameters)

    @cached_property
    def input_map(self) -> Trace:
        def of(weight: np.ndarray, grad_output: np.ndarray) -> np.ndarray:
            return conv_input(self.input.shape, weight, grad_output, **self.problem.parameters)

        return trace(of, {"weight": self.weight, "grad_output": self.output_gradient})

    @cached_property
    def weight_map(self) -> Trace:
        def of(input: np.ndarray, grad_output: np.ndarray) -> np.ndarray:
            return conv_weight(input, self.weight.shape, grad_output, **self.problem.parameters)

        return trace(of, {"input": self.input, "grad_output": self.output_gradient})

    @cached_property
    def transposed_map(self) -> Trace:
        """The transposed convolution that leads from the output's size back to the input's."""
        parameters = {**self.problem.parameters, "output_padding": self.geometry.remainder}
        arrays = {"input": self.output_gradient, "weight": self.weight}
        return trace(conv_transpose, arrays, **parameters)
