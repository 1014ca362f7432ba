"""A convolution as an index formula, which a fault can change.

The sum  T = x[n, channel(o, j), where(p, q)] * w[o, j, q] * g[n, o, p]  is written down as tables:

    where     an axis: (o, k) -> the position in the input that output p and tap q meet
    channel   (O, C/G)        -> the input channel that output channel o and weight channel j meet
    cells     an array        -> the element of the array as given that stands at each place

A position outside the input counts as zero (or as `filler`).  Any wrong convolution that reads or
writes the wrong elements is this sum with another table, and all its gradients go wrong in the same way.

Nothing is multiplied here: the input is read through the tables into windows that do not overlap,
and npconv's own maps slide over those with stride k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from npconv import grad
from npconv.geometry import Axis, Geometry, Shape
from npconv.problem import Problem
from npconv.testing.parts import geometry_of


@dataclass(frozen=True)
class Reading:
    """The tables of one convolution; `believed` holds the numbers from which they were made."""

    problem: Problem
    part: str
    believed: tuple[Axis, ...]
    where: tuple[np.ndarray, ...] = ()
    channel: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    cells: Mapping[str, np.ndarray] = field(default_factory=dict)
    filler: float = 0.0

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The true numbers."""
        return geometry_of(self.problem).axes

    def with_tables(self) -> Reading:
        """The tables that follow from the believed numbers."""
        geometry = geometry_of(self.problem)
        per_group = geometry.C // geometry.G
        first = np.arange(geometry.O) // max(geometry.O // geometry.G, 1) * per_group
        return replace(
            self,
            where=tuple(positions(axis) for axis in self.believed),
            channel=first[:, None] + np.arange(per_group),
            cells={},
        )


def right(problem: Problem, part: str) -> Reading:
    """The reading that is right.

    >>> reading = right(Problem.parse("i6_k3_s2_p1:0"), "forward").with_tables()
    >>> reading.where[0]
    array([[-1,  0,  1],
           [ 1,  2,  3],
           [ 3,  4,  5]])
    """
    return Reading(problem, part, geometry_of(problem).axes)


def positions(axis: Axis) -> np.ndarray:
    """(o, k): s*p + d*q - lo for every output p and tap q."""
    return axis.s * np.arange(axis.o)[:, None] + axis.d * np.arange(axis.k) - axis.lo


# Which array plays which role in the sum.
ROLES = {
    "forward": {"x": "input", "w": "weight", "g": "output"},
    "grad_input": {"x": "output", "w": "weight", "g": "grad_output"},
    "grad_weight": {"x": "input", "w": "output", "g": "grad_output"},
    "transposed": {"x": "output", "w": "weight", "g": "input"},
}


def evaluate(reading: Reading, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """What a kernel that reads so computes, before any bias and before it is written down; float64,
    exact on small integers.

    The result's sizes are those of the tables (forward, grad_weight) or of the believed axes.
    """
    if reading.part == "grad_bias":
        return grad.bias_gradient(arrays["grad_output"].astype(np.float64))
    roles = ROLES[reading.part]
    named = {role: _read(reading, name, arrays) for role, name in roles.items() if name != "output"}
    apart = _windows_apart(reading)
    if reading.part == "forward":
        return grad.output(_windows(named["x"], reading), named["w"], apart)
    if reading.part == "grad_weight":
        return grad.weight_gradient(_windows(named["x"], reading), named["g"], apart)
    windows = grad.input_gradient(named["w"], named["g"], apart)
    return _gathered_back(windows, reading, geometry_of(reading.problem).C)


def _windows_apart(reading: Reading) -> Geometry:
    """The geometry of windows that do not overlap: stride k, and each output channel its own group."""
    O, per_group = reading.channel.shape
    axes = tuple(
        Axis(i=table.size, k=table.shape[1], o=len(table), s=table.shape[1]) for table in reading.where
    )
    return Geometry(reading.problem.N, O * per_group, O, O, axes)


def written(reading: Reading, result: np.ndarray) -> np.ndarray:
    """The result, each element in the cell where the kernel puts it."""
    cells = reading.cells.get("output")
    if cells is None or cells.shape != result.shape:
        return result
    places = np.zeros(result.size)
    np.add.at(places, cells.reshape(-1), result.reshape(-1))
    return places.reshape(result.shape)


def _read(reading: Reading, name: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    array = np.asarray(arrays[name], np.float64)
    cells = reading.cells.get(name)
    return array if cells is None else array.reshape(-1)[cells]


def _windows(x: np.ndarray, reading: Reading) -> np.ndarray:
    """(N, C, *i) -> (N, O * C/G, *(o * k)): every window apart, read through the tables."""
    x = np.concatenate([x, np.zeros_like(x[:, :1])], 1)[:, _inside(reading.channel, x.shape[1]).reshape(-1)]
    for axis, table in enumerate(reading.where, start=2):
        size = x.shape[axis]
        edge = list(x.shape)
        edge[axis] = 1
        x = np.concatenate([x, np.full(edge, reading.filler)], axis).take(
            _inside(table, size).reshape(-1), axis
        )
    return x


def _gathered_back(windows: np.ndarray, reading: Reading, C: int) -> np.ndarray:
    """The adjoint of `_windows`: every window's elements are added where they were read."""
    for axis, (table, believed) in enumerate(zip(reading.where, reading.believed), start=2):
        size = believed.i
        moved = np.moveaxis(windows, axis, 0)
        target = np.zeros((size + 1, *moved.shape[1:]))
        np.add.at(target, _inside(table, size).reshape(-1), moved)
        windows = np.moveaxis(target[:size], 0, axis)
    moved = np.moveaxis(windows, 1, 0)
    result = np.zeros((C + 1, *moved.shape[1:]))
    np.add.at(result, _inside(reading.channel, C).reshape(-1), moved)
    return np.ascontiguousarray(np.moveaxis(result[:C], 0, 1))


def _inside(table: np.ndarray, size: int) -> np.ndarray:
    """Places outside become the one after the last, which holds zero."""
    return np.where((table >= 0) & (table < size), table, size)


def as_stored(shape: Shape, stored: tuple[int, ...]) -> np.ndarray:
    """Cells of an array whose memory is taken to have its axes in another order.

    >>> as_stored((2, 3), (1, 0))
    array([[0, 2, 4],
           [1, 3, 5]])
    """
    memory = np.arange(int(np.prod(shape))).reshape([shape[axis] for axis in stored])
    return memory.transpose(np.argsort(stored))
