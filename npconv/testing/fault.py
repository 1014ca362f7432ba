"""What one fault changes on the way from a problem to its result, and what would come of it.

    believe   the numbers of the axes (s, d, lo, hi) that the kernel works with
    look      an axis' table where[p, q], given the true axis
    channel   the table channel[o, j], given C/G and O/G
    cells     which element of a stored array stands where; keys x, w, g are the roles in the sum
    given     the arrays before they are used
    bias      the bias before it is added
    size      the sizes of the result, where they come out wrong
    result    the result itself; NaN marks elements that are never written

`predict` runs a problem through one or several faults, so faults combine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from npconv.geometry import Axis, Shape, output_size
from npconv.problem import Problem
from npconv.testing.parts import geometry_of, output_shape, result_shape
from npconv.testing.reading import ROLES, Reading, evaluate, right, written

Axes = tuple[Axis, ...]

SUMS = ("forward", "grad_input", "grad_weight", "transposed")
OUTPUTS = ("forward", "transposed")


@dataclass(frozen=True)
class Fault:
    """One thing that a kernel does wrong."""

    sentence: str
    parts: tuple[str, ...] = SUMS
    believe: Callable[[Axes], Axes] | None = None
    look: Callable[[np.ndarray, Axis], np.ndarray] | None = None
    channel: Callable[[np.ndarray, int, int], np.ndarray] | None = None
    cells: Mapping[str, Callable[[Shape, int], np.ndarray]] = field(default_factory=dict)
    given: Callable[[str, np.ndarray], np.ndarray] | None = None
    bias: Callable[[np.ndarray, Shape, Problem], np.ndarray] | None = None
    size: Callable[[Axes, Axes], Sequence[int]] | None = None
    result: Callable[[np.ndarray, Problem, Mapping[str, np.ndarray]], np.ndarray] | None = None
    refutable: bool = False  # it rests on sizes alone: a right case that it would spoil refutes it


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
            believed = fault.believe(believed)
    if shape != result_shape(part, problem) and part in ROLES:
        sizes = _sizes(faults, part, believed, true)
        if tuple(sizes) != shape[-len(true) :]:
            return None
        name = {"forward": "o", "grad_weight": "k"}.get(part, "i")
        believed = tuple(replace(axis, **{name: max(size, 0)}) for axis, size in zip(believed, sizes))
    for fault in faults:
        if fault.given:
            arrays = {name: fault.given(name, array) for name, array in arrays.items()}
    reading = _reading(faults, problem, part, believed)
    result = evaluate(reading, arrays)
    if part in OUTPUTS and problem.bias:
        bias = np.asarray(arrays["bias"], np.float64).reshape(1, -1, *(1 for _ in true))
        for fault in faults:
            if fault.bias:
                bias = fault.bias(bias, result.shape, problem)
        result = result + bias
    result = written(reading, result)
    for fault in faults:
        if fault.result:
            result = fault.result(result, problem, arrays)
    return result if result.shape == shape else None


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
            reading = replace(reading, where=_looked(fault.look, reading))
        if fault.channel:
            reading = replace(reading, channel=fault.channel(reading.channel, *per_group))
        if fault.cells:
            reading = replace(reading, cells={**reading.cells, **_cells(fault, reading)})
    return reading


def _looked(look: Any, reading: Reading) -> tuple[np.ndarray, ...]:
    axis_number = getattr(look, "axis", None)
    count = len(reading.where)
    return tuple(
        look(table, axis) if axis_number in (None, number - count) else table
        for number, (table, axis) in enumerate(zip(reading.where, reading.axes))
    )


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
