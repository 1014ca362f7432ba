"""What one fault changes on the way from a problem to its result, and what would come of it.

    believe   the numbers of the axes (s, d, lo, hi) that the kernel works with
    look      an axis' table where[p, q], given the true axis
    axis      the only axis that these two change, counted from the last: W is -1, H is -2
    channel   the table channel[o, j], given C/G and O/G
    cells     which element of a stored array stands where; keys x, w, g are the roles in the sum
    filler    what a position outside the input holds
    given     the arrays before they are used
    bias      the bias before it is added
    size      the sizes of the result, where they come out wrong
    result    the result itself; NaN marks elements that are never written

`predict` runs a problem through one or several faults, so faults combine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from npconv.geometry import Axis, Shape, output_size
from npconv.problem import Problem
from npconv.testing.parts import geometry_of, output_shape, result_shape
from npconv.testing.reading import ROLES, Reading, evaluate, right, written

Axes = tuple[Axis, ...]
T = TypeVar("T")

# What the arrays of a convolution are called in the transposed one.
EXCHANGED = {"input": "output", "output": "input", "grad_output": "the input", "C/G": "O/G", "O/G": "C/G"}

SUMS = ("forward", "grad_input", "grad_weight", "transposed")
OUTPUTS = ("forward", "transposed")
SPREAD = ("grad_input", "transposed")  # each element paints the weight around it
TILED = ("forward", "grad_input", "transposed")  # one result a sample
GRADIENTS = ("grad_input", "grad_weight")
REDUCED = ("grad_weight", "grad_bias")  # summed over samples and positions
ALL = (*SUMS, "grad_bias")


@dataclass(frozen=True)
class Fault:
    """One thing that a kernel does wrong."""

    sentence: str
    parts: tuple[str, ...] = SUMS
    believe: Callable[[Axes], Axes] | None = None
    look: Callable[[np.ndarray, Axis], np.ndarray] | None = None
    axis: int | None = None
    channel: Callable[[np.ndarray, int, int], np.ndarray] | None = None
    cells: Mapping[str, Callable[[Shape, int], np.ndarray]] = field(default_factory=dict)
    filler: float = 0.0
    given: Callable[[str, np.ndarray, Problem], np.ndarray] | None = None
    bias: Callable[[np.ndarray, Shape, Problem], np.ndarray] | None = None
    size: Callable[[Axes, Axes], Sequence[int]] | None = None
    result: Callable[[np.ndarray, Problem, Mapping[str, np.ndarray]], np.ndarray] | None = None
    refutable: bool = False  # it rests on sizes alone: a right case that it would spoil refutes it

    @property
    def late(self) -> bool:
        """Whether it changes the right result only, when it is written down."""
        tables = self.believe or self.look or self.channel or self.cells or self.filler
        return self.result is not None and not (tables or self.given or self.bias or self.size)

    def told(self, part: str) -> str:
        """The sentence; tables name a transposed convolution's arrays by their part in the sum, so there
        its input and output are exchanged.

        >>> Fault("the input is read one row too late", look=lambda t, a: t + 1).told("transposed")
        'the output is read one row too late'
        """
        if part != "transposed" or not (self.believe or self.look or self.channel or self.cells):
            return self.sentence
        return re.sub(r"\w+(/G)?", lambda word: EXCHANGED.get(word[0], word[0]), self.sentence)


def predict(
    faults: Sequence[Fault], problem: Problem, part: str, arrays: Mapping[str, np.ndarray], shape: Shape
) -> np.ndarray | None:
    """The result of a kernel with these faults, in the shape seen; None where they give another shape.

    >>> problem = Problem.parse("i4_k2")
    >>> arrays = {"input": np.array([[[1, 2, 3, 4]]]), "weight": np.array([[[1, 10]]])}
    >>> flipped = Fault("the weight is flipped", look=lambda table, axis: table[:, ::-1])
    >>> predict([flipped], problem, "forward", arrays, (1, 1, 3))
    array([[[12., 23., 34.]]])
    """
    with np.errstate(all="ignore"):
        return _predict(faults, problem, part, arrays, shape)


def _predict(
    faults: Sequence[Fault], problem: Problem, part: str, arrays: Mapping[str, np.ndarray], shape: Shape
) -> np.ndarray | None:
    true = geometry_of(problem).axes
    believed = true
    for fault in faults:
        if fault.believe:
            believed = _on_its_axis(fault, fault.believe(believed), believed)
    if shape != result_shape(part, problem) and part in ROLES:
        sizes = _sizes(faults, part, believed, true)
        if tuple(sizes) != shape[-len(true) :]:
            return None
        name = {"forward": "o", "grad_weight": "k"}.get(part, "i")
        believed = tuple(replace(axis, **{name: max(size, 0)}) for axis, size in zip(believed, sizes))
    for fault in faults:
        if fault.given:
            arrays = {name: fault.given(name, array, problem) for name, array in arrays.items()}
    reading = _reading(faults, problem, part, believed)
    result = evaluate(reading, arrays)
    if part in OUTPUTS and problem.bias:
        bias = np.asarray(arrays["bias"], np.float64).reshape(1, -1, *(1 for _ in true))
        for fault in faults:
            if fault.bias:
                bias = fault.bias(bias, result.shape, problem)
        result = result + bias
    result = _finished(faults, problem, arrays, written(reading, result))
    return result if result.shape == shape else None


def predict_late(
    faults: Sequence[Fault], problem: Problem, arrays: Mapping[str, np.ndarray], due: np.ndarray
) -> np.ndarray:
    """The result of faults that are all late, from what is due: nothing need be summed again."""
    with np.errstate(all="ignore"):
        return _finished(faults, problem, arrays, due.astype(np.float64))


def _finished(
    faults: Sequence[Fault], problem: Problem, arrays: Mapping[str, np.ndarray], result: np.ndarray
) -> np.ndarray:
    for fault in faults:
        if fault.result:
            result = fault.result(result, problem, arrays)
    return result


def _sizes(faults: Sequence[Fault], part: str, believed: Axes, true: Axes) -> Sequence[int]:
    for fault in faults:
        if fault.size:
            return fault.size(believed, true)
    if part == "forward":
        return [output_size(a.i + a.lo + a.hi, a.extent, a.s) for a in believed]
    if part == "transposed":
        return [b.s * (t.o - 1) + b.extent - b.lo - b.hi + t.remainder for b, t in zip(believed, true)]
    return [a.k if part == "grad_weight" else a.i for a in true]


def _reading(faults: Sequence[Fault], problem: Problem, part: str, believed: Axes) -> Reading:
    reading = right(problem, part)
    if part not in ROLES:
        return reading
    reading = replace(reading, believed=believed).with_tables()
    geometry = geometry_of(problem)
    per_group = geometry.C // geometry.G, geometry.O // geometry.G
    for fault in faults:
        if fault.look:
            looked = tuple(map(fault.look, reading.where, reading.axes))
            reading = replace(reading, where=_on_its_axis(fault, looked, reading.where))
        if fault.channel:
            reading = replace(reading, channel=fault.channel(reading.channel, *per_group))
        if fault.cells:
            reading = replace(reading, cells={**reading.cells, **_cells(fault, reading)})
        if fault.filler:
            reading = replace(reading, filler=fault.filler)
    return reading


def _on_its_axis(fault: Fault, changed: tuple[T, ...], before: tuple[T, ...]) -> tuple[T, ...]:
    """What a fault made of each axis' number or table; of the other axes, what was there before."""
    if fault.axis is None:
        return changed
    count = len(before)
    return tuple(changed[n] if n - count == fault.axis else before[n] for n in range(count))


def _cells(fault: Fault, reading: Reading) -> dict[str, np.ndarray]:
    """The fault's cells for the arrays of this part; "output" is the result, if no role names it."""
    problem, part = reading.problem, reading.part
    shapes = {
        "input": problem.input_shape,
        "weight": problem.weight_shape,
        "grad_output": output_shape(problem),
        "output": result_shape(part, problem),
    }
    named = {ROLES[part].get(role, role): change for role, change in fault.cells.items()}
    if part not in OUTPUTS and "output" in fault.cells:
        named = {name: change for name, change in named.items() if name != "output" or part == "grad_input"}
    return {name: change(shapes[name], problem.G) for name, change in named.items()}
