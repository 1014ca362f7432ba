"""One layer: its arrays, its parameters, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from npconv.form import Form
from npconv.functional import conv, conv_backward, conv_form
from npconv.geometry import Geometry
from npconv.job.bfloat16 import is_bfloat16, narrowed, widened
from npconv.transposed import conv_transpose, conv_transpose_backward, conv_transpose_form

RESULTS = ("output", "grad_input", "grad_weight", "grad_bias")


@dataclass(frozen=True)
class Layer:
    """A convolution with its arrays and a gradient that arrives at its output.

    `parameters` are the keyword arguments of `conv`, or of `conv_transpose` where it is transposed.
    Arrays of raw 2-byte values count as bfloat16, on the way in and on the way out.

    >>> x, w = np.array([[[1, 2, 3]]]), np.array([[[1, 10]]])
    >>> layer = Layer(x, w, bias=None, grad_output=np.array([[[1, 100]]]), parameters={})
    >>> for name, result in layer.results().items():
    ...     print(name, result.tolist())
    output [[[21, 32]]]
    grad_input [[[1, 110, 1000]]]
    grad_weight [[[201, 302]]]
    grad_bias [101]
    """

    input: np.ndarray
    weight: np.ndarray
    bias: np.ndarray | None
    grad_output: np.ndarray
    parameters: Mapping[str, Any]
    transposed: bool = False

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Those that it has, by name."""
        named = {
            "input": self.input, "weight": self.weight, "bias": self.bias, "grad_output": self.grad_output
        }  # fmt: skip
        return {name: array for name, array in named.items() if array is not None}

    @cached_property
    def form(self) -> Form:
        """The shapes of all arrays and the geometry; ValueError or TypeError where they do not fit."""
        return form(self.input.shape, self.weight.shape, self.parameters, self.transposed)

    @cached_property
    def geometry(self) -> Geometry:
        """Sizes and paddings as the parameters have them, before a padding mode lays its border."""
        plain = {name: value for name, value in self.parameters.items() if name != "padding_mode"}
        return form(self.input.shape, self.weight.shape, plain, self.transposed).geometry

    @property
    def rank(self) -> int:
        return self.weight.ndim - 2

    def output(self) -> np.ndarray:
        function = conv_transpose if self.transposed else conv
        plain = self.map(as_numbers)
        return self._narrowed(function(plain.input, plain.weight, plain.bias, **self.parameters))

    def gradients(self) -> dict[str, np.ndarray]:
        function = conv_transpose_backward if self.transposed else conv_backward
        plain = self.map(as_numbers)
        by_input, by_weight, by_bias = function(
            plain.grad_output, plain.input, plain.weight, **self.parameters
        )
        named = {"grad_input": by_input, "grad_weight": by_weight, "grad_bias": by_bias}
        return {name: self._narrowed(array) for name, array in named.items()}

    def results(self, names: Collection[str] = RESULTS) -> dict[str, np.ndarray]:
        """The named results; all gradients where there is one among them."""
        output = {"output": self.output()} if "output" in names else {}
        return {**output, **self.gradients()} if set(names) - {"output"} else output

    def map(self, change: Callable[[np.ndarray], np.ndarray]) -> Layer:
        """The same layer with every array changed, bfloat16 ones made float32 first."""
        changed: dict[str, Any] = {name: change(as_numbers(array)) for name, array in self.arrays.items()}
        return replace(self, **changed)

    def terms(self) -> dict[str, int]:
        """How many products the longest sum of each result adds up, a bias counting as one.

        Padded and inserted zeros are no terms: the same layer with one channel, and ones in every
        array, counts what meets.
        """
        shapes = self.form.shapes
        sizes = {name: shapes[name][-self.rank :] for name in ("input", "weight", "output")}
        ones = Layer(
            input=np.ones((1, 1, *sizes["input"]), np.int8),
            weight=np.ones((1, 1, *sizes["weight"]), np.int8),
            bias=None,
            grad_output=np.ones((1, 1, *sizes["output"]), np.int8),
            parameters={**self.parameters, "groups": 1},
            transposed=self.transposed,
        )
        meetings = {name: int(counts.max(initial=0)) for name, counts in ones.results().items()}
        G = self.parameters.get("groups", 1)
        N = self.input.shape[0] if self.input.ndim == self.rank + 2 else 1
        C, O = (shapes[name][-self.rank - 1] for name in ("input", "output"))
        return {
            "output": C // G * meetings["output"] + (self.bias is not None),
            "grad_input": O // G * meetings["grad_input"],
            "grad_weight": N * meetings["grad_weight"],
            "grad_bias": N * meetings["grad_bias"],
        }

    def _narrowed(self, result: np.ndarray) -> np.ndarray:
        all_bfloat16 = all(
            is_bfloat16(array) for array in self.arrays.values() if array.dtype.kind not in "biu"
        )
        return narrowed(result) if all_bfloat16 and result.dtype.kind == "f" else result


def form(
    input_shape: tuple[int, ...],
    weight_shape: tuple[int, ...],
    parameters: Mapping[str, Any],
    transposed: bool,
) -> Form:
    """The form of the function that the parameters belong to."""
    make = conv_transpose_form if transposed else conv_form
    return make(input_shape, weight_shape, **parameters)


def as_numbers(array: np.ndarray) -> np.ndarray:
    """The array itself, or float32 where it holds bfloat16 as raw values."""
    return widened(array) if is_bfloat16(array) else array
