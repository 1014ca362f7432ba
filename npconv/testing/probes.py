"""Index maps: arrays made so that the result itself says which element was read.

A part of a convolution is bilinear, so two arrays of zeros, ones and counted elements read out the
whole index formula: for every output position p and tap q, the input element (c, m) that they meet.

    forward       weight: one-hot, an output channel for each (c, q);  input: 1, 2, 3, ...
    grad_weight   grad_output: one-hot, an output channel for each p;  input: 1, 2, 3, ...
    grad_input    grad_output: one-hot, a sample for each p;           weight: 1, 2, 3, ...
    transposed    input: one-hot, a sample for each p;                 weight: 1, 2, 3, ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from npconv.problem import Problem
from npconv.testing.candidate import Declared
from npconv.testing.observation import Case, Observation, observe
from npconv.testing.parts import geometry_of, output_shape, reference
from npconv.testing.running import Runner

PROBED = ("forward", "grad_input", "grad_weight", "transposed")
SPATIAL = (("oh", "ow"), ("kh", "kw"), ("row", "column"))
LARGEST = 4000  # elements of an array of a probe


def probe(part: str, problem: Problem, declared: Declared) -> Case | None:
    """The case that reads out the problem's index map; None where the formats cannot count so far."""
    geometry = geometry_of(problem)
    per_group = geometry.C // geometry.G
    positions = prod(axis.o for axis in geometry.axes)
    taps = prod(problem.k)
    counts = {"forward": per_group * taps, "grad_weight": positions}.get(part, 1)
    N = positions if part in ("grad_input", "transposed") else 1
    O = geometry.G * counts
    changed: dict[str, Any] = (
        dict(N=N, bias=False, O=O) if part != "transposed" else dict(N=N, bias=False, C=O)
    )
    probed = replace(problem, **changed).canonical()
    shapes = dict(input=probed.input_shape, weight=probed.weight_shape, grad_output=output_shape(probed))
    arrays = {name: _counted(shape) for name, shape in shapes.items()}
    if part == "forward":
        arrays["weight"] = np.tile(_one_hot(counts), (geometry.G, 1)).reshape(probed.weight_shape)
    elif part == "grad_weight":
        arrays["grad_output"] = np.tile(_one_hot(positions), (geometry.G, 1)).reshape(output_shape(probed))
    else:
        hot = np.repeat(_one_hot(positions)[:, None], O, axis=1)  # (p, O, p)
        name = "input" if part == "transposed" else "grad_output"
        arrays[name] = hot.reshape(shapes[name])
    counted = "weight" if part in ("grad_input", "transposed") else "input"
    if arrays[counted].size > declared.capacity or max(a.size for a in arrays.values()) > LARGEST:
        return None
    return Case(part, probed, arrays, reference(part, probed, arrays))


def _counted(shape: Sequence[int]) -> np.ndarray:
    return 1 + np.arange(prod(shape)).reshape(tuple(shape))


def _one_hot(size: int) -> np.ndarray:
    return np.eye(size, dtype=np.int64)


def index_map(case: Case, result: np.ndarray) -> np.ndarray:
    """(*o, C, *k): 1 + the flat index of the input element that is met, 0 where none is, -1 where
    the result holds a number that no element has.

    >>> case = probe("forward", Problem.parse("i4_k2_s2_p1"), Declared())
    >>> index_map(case, case.due)[:, 0].tolist()
    [[0, 1], [2, 3], [4, 0]]
    """
    problem, part = case.problem, case.part
    geometry = geometry_of(problem)
    o, k = tuple(axis.o for axis in geometry.axes), problem.k
    C = geometry.C
    values: np.ndarray
    if part == "forward":  # (1, G*(C/G)*k, *o) -> (*o, C, *k)
        values = np.moveaxis(result.reshape(C * prod(k), prod(o)), 0, 1)
        return _valid(values.reshape(*o, C, *k), C * prod(problem.i))
    if part == "grad_weight":  # (G*o, C/G, *k) -> (*o, C, *k)
        values = np.moveaxis(result.reshape(geometry.G, prod(o), C // geometry.G, prod(k)), 1, 0)
        return _valid(values.reshape(*o, C, *k), C * prod(problem.i))
    return _inverted(result.reshape(prod(o), -1), C * prod(k)).reshape(*o, C, *k)


def _valid(values: np.ndarray, count: int) -> np.ndarray:
    known = (values >= 0) & (values <= count) & (values == np.rint(values))
    return np.where(known, values, -1).astype(np.int64)


def _inverted(result: np.ndarray, taps: int) -> np.ndarray:
    """(p, C*m) holding weight elements -> (p, C*k) holding input elements."""
    values = _valid(result, taps)
    found = np.zeros((len(values), taps), np.int64)
    for p, row in enumerate(values):
        met = np.flatnonzero(row > 0)
        found[p, row[met] - 1] = 1 + met
        if (row < 0).any():
            found[p, found[p] == 0] = -1
    return found


def formula(case: Case, map_: np.ndarray) -> list[str]:
    """The map in words: each coordinate of the element read as a linear formula, or where it has none.

    >>> case = probe("forward", Problem.parse("C2_i6x7_k3_s2x1_p1x0"), Declared())
    >>> formula(case, index_map(case, case.due))
    ['channel = c', 'row = 2*oh + kh - 1', 'column = ow + kw']
    """
    problem = case.problem
    sizes = geometry_of(problem).input_shape[1:]
    known = np.argwhere(map_ > 0)
    if not len(known):
        return ["nothing is read"]
    elements = np.unravel_index(map_[tuple(known.T)] - 1, sizes)
    o, k, names = (_named(words, problem.rank) for words in SPATIAL)
    return [
        f"{name} = {_linear(known, values, (*o, 'c', *k))}"
        for name, values in zip(("channel", *names), elements)
    ]


def _named(words: tuple[str, str], rank: int) -> tuple[str, ...]:
    third = words[0].replace("h", "d") if "h" in words[0] else "plane"
    return (third, *words)[-rank:] if rank <= 3 else tuple(f"{words[1]}{n}" for n in range(rank))


def _linear(known: np.ndarray, values: np.ndarray, names: Sequence[str]) -> str:
    """The integers a with values = sum a*index + a0, written out."""
    columns = np.column_stack([known, np.ones(len(known), int)])
    solved = np.rint(np.linalg.lstsq(columns.astype(float), values.astype(float), rcond=None)[0]).astype(int)
    if ((columns * solved).sum(axis=1) != values).any():
        return "no linear formula"
    signed = [(a, name if abs(a) == 1 else f"{abs(a)}*{name}") for a, name in zip(solved, names) if a]
    signed += [(solved[-1], str(abs(solved[-1])))] if solved[-1] or not signed else []
    text = "".join((" - " if a < 0 else " + ") + word for a, word in signed)
    return text[3:] if text.startswith(" + ") else "-" + text[3:]


def observed_formula(runner: Runner, part: str, problem: Problem) -> list[str]:
    """The index formula that a candidate follows on a problem, beside the one that is due."""
    case = probe(part, problem, runner.declared) if part in PROBED else None
    if case is None:
        return []
    o = observe(runner, case)
    if o.got is None or o.got.shape != case.due.shape:
        return [f"on {case}: {o.kind} ({o.detail})"]
    return described(o)


def described(o: Observation) -> list[str]:
    """What an observed probe read, and what was due."""
    assert o.got is not None
    got, due = index_map(o.case, o.got), index_map(o.case, o.case.due)
    if np.array_equal(got, due) and not o.failed:
        return [f"on {o.problem}: the elements read are the right ones"]
    lines = [f"on {o.problem}:"]
    for seen, right in zip(formula(o.case, got), formula(o.case, due)):
        lines.append(f"  {seen}" + ("" if seen == right else f"    (due: {right})"))
    where = np.argwhere(got != due)
    if len(where):
        first = tuple(map(int, where[0]))
        rank = o.problem.rank
        lines.append(
            f"  {len(where)} of {got.size} readings differ, first at output {first[:rank]}, channel "
            f"{first[rank]}, tap {first[rank + 1 :]}: {_element(got[first], o.problem)}, "
            f"due {_element(due[first], o.problem)}"
        )
    return lines


def _element(value: int, problem: Problem) -> str:
    if value < 0:
        return "a number that no single element has"
    if value == 0:
        return "zero"
    c, *m = (int(n) for n in np.unravel_index(value - 1, geometry_of(problem).input_shape[1:]))
    return f"input channel {c} at {tuple(m)}"
