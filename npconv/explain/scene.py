"""A problem with numbers in it, and its maps as they ran: what every picture is drawn from.

Which maps there are, and of which arrays, stands in the same rules that npconv evaluates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from npconv import rules
from npconv.explain.trace import Trace, trace
from npconv.form import Form
from npconv.functional import conv_form
from npconv.geometry import Geometry, Shape
from npconv.problem import Problem
from npconv.transposed import conv_transpose_form
from npconv.trilinear import Rule, Term

RULES = {
    "forward": rules.FORWARD,
    "input": rules.INPUT,
    "weight": rules.WEIGHT,
    "double": rules.DOUBLE_BACKWARD,
}
OF = ("forward", "input", "weight", "transpose", "double")
MOST_PRODUCTS = 2**14  # so small a problem is computed in one piece, and nobody looks at more one by one


@dataclass(frozen=True, eq=False)
class Figure:
    """One map of two arrays, as it ran.

    result: the name of what it gives, or of the sum of which this is one term.
    map: which of grad.py's maps ran, by what it gives: "output", "input" or "weight".
    names: the names of its two arrays, by the role that each plays in that map.
    channels: the letters of what the problem calls its input and output channels, the first those of
    the map's input, the second those of its output: a transposed problem has them exchanged.
    """

    result: str
    map: str
    names: Mapping[str, str]
    geometry: Geometry
    trace: Trace
    channels: tuple[str, str] = ("c", "o")

    @property
    def under(self) -> str:
        """The name of the array that was padded."""
        return self.names["output" if self.map == "input" else "input"]

    @property
    def window(self) -> str:
        """The name of the array that slid over it."""
        return self.names["output" if self.map == "weight" else "weight"]


@dataclass(frozen=True, eq=False)
class Scene:
    """A problem, and the arrays to run it on, by name.

    >>> scene = Scene.of(Problem.parse("i5x5_k3_s2"))
    >>> scene.arrays["grad_output"].tolist()
    [[[[1, 2], [3, 4]]]]
    >>> [(figure.result, figure.under, figure.trace.padding) for figure in scene.figures("input")]
    [('grad_input', 'grad_output', ((2, 2), (2, 2)))]
    """

    problem: Problem
    arrays: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, problem: Problem) -> Scene:
        """The problem with `digits` in all its arrays; ValueError where pictures cannot show it.

        Were input and output gradient equal, the weight's gradient would be its own mirror image, and
        a flip that does not belong there would not be seen.
        """
        _check(problem)
        arrays = {
            "input": digits(problem.input_shape, step=4),
            "weight": digits(problem.weight_shape),
            "grad_output": digits(problem.output_shape),
        }
        if problem.bias:
            arrays["bias"] = 10 * np.arange(1, problem.O + 1)
        return cls(problem, arrays)

    @cached_property
    def geometry(self) -> Geometry:
        return self.problem.geometry

    @cached_property
    def form(self) -> Form:
        """The trilinear form on which npconv evaluates the problem."""
        make = conv_transpose_form if self.problem.transposed else conv_form
        return make(self.problem.input_shape, self.problem.weight_shape, **self.problem.parameters)

    def transposed(self) -> Scene:
        """The transposed convolution that leads from the output's size back to the input's."""
        p, geometry = self.problem, self.geometry
        if p.transposed:
            raise ValueError("of: the problem is a transposed convolution already; explain its 'forward'")
        back = Problem(
            i=tuple(axis.o for axis in geometry.axes), k=p.k, N=p.N, C=p.O, O=p.C, G=p.G,
            stride=geometry.stride, padding=geometry.padding, dilation=geometry.dilation,
            output_padding=geometry.remainder, transposed=True,
        )  # fmt: skip
        arrays = {"input": self.arrays["grad_output"], "weight": self.arrays["weight"]}
        return Scene(back, {**arrays, "grad_output": self.arrays["input"]})

    def figures(self, of: str) -> list[Figure]:
        """The maps of which one of `OF` consists, as they ran."""
        if of not in OF:
            raise ValueError(f"of: it is {of!r}, but it must be one of {', '.join(OF)}")
        if of == "transpose":
            return self.transposed().figures("forward")
        made = self._run(RULES[of])
        return [
            self._figure(total.name, term, made)
            for total in RULES[of].sums
            for term in total.terms
            if len(term.takes) == 2  # not a bias, which is only added
        ]

    def _run(self, rule: Rule) -> Trace:
        given = {name: array for name, array in self._named().items() if name in rule.arrays}

        def evaluate(*arrays: np.ndarray) -> Any:
            named = dict(zip(given, arrays))
            return self.form.evaluate(rule, *(named.get(name) for name in rule.arrays))

        return trace(evaluate, given)

    def _named(self) -> dict[str, np.ndarray]:
        """All arrays, and for the second order what arrives at the two gradients."""
        u, v = self.directions()
        return {**self.arrays, "grad_grad_input": u, "grad_grad_weight": v}

    def directions(self) -> tuple[np.ndarray, np.ndarray]:
        """One array shaped like the input and one like the weight, for derivatives of the second order."""
        u, v = (digits(self.arrays[name].shape, step=2) for name in ("input", "weight"))
        return u, v

    def _figure(self, result: str, term: Term, made: Trace) -> Figure:
        names, geometry = dict(term.takes), self.geometry
        part = made.part(*names.values())
        gives, channels = term.gives, ("c", "o")
        if self.problem.transposed:  # what it calls its input stands where the convolution has its output
            exchanged = {"input": "output", "output": "input", "weight": "weight"}
            channels = ("o", "c")
            gives, names = exchanged[gives], {exchanged[role]: name for role, name in names.items()}
            geometry = geometry.without_remainder() if gives == "output" else geometry
        named = result if result == "output" else f"grad_{result}"
        return Figure(named, gives, names, geometry, part, channels)


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


def _check(problem: Problem) -> None:
    if problem.rank > 2:
        raise ValueError(f"problem: it has {problem.rank} spatial axes; pictures show one or two")
    if problem.padding_mode != "zeros":
        raise ValueError(
            f"problem: its border is {problem.padding_mode}; pictures show a border of zeros; "
            f"pad the input first and leave the padding at 0"
        )
    geometry = problem.geometry
    if 0 in geometry.input_shape + geometry.weight_shape + geometry.output_shape:
        raise ValueError(
            f"problem: an array is empty; input {geometry.input_shape}, weight {geometry.weight_shape}"
        )
    inputs, weights, outputs = map(prod, (geometry.input_shape, geometry.weight_shape, geometry.output_shape))
    products = max(outputs * weights // geometry.O, inputs * weights // (geometry.C // geometry.G),
                   weights * outputs // geometry.O)  # fmt: skip
    if products > MOST_PRODUCTS:
        raise ValueError(
            f"problem: its {products} products are too many to show one by one; the most is {MOST_PRODUCTS}; "
            f"choose fewer channels or a smaller input"
        )
