"""How fast this machine runs the convolutions of well-known networks, beside a bare matrix product.

That is one product a group with as many multiplications: nothing is padded, copied or cut.  It is the wall
where npconv makes the same product; where it regroups them, with few channels say, it can be faster.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from math import prod
from typing import TextIO

import numpy as np

from npconv.conv import forward
from npconv.functional import conv, conv_input, conv_weight
from npconv.layers import LAYERS
from npconv.problem import Problem
from npconv.scratch import forget

LONGEST = 16384  # columns of the bare product: with more, its time grows in proportion


@dataclass(frozen=True)
class Measurement:
    """One direction of one layer: times in seconds, scratch in bytes."""

    layer: str
    problem: str
    direction: str
    seconds: float
    gflops: float
    wall_seconds: float
    scratch: int

    @property
    def over_wall(self) -> float:
        """How many times the bare product's time it takes."""
        return self.seconds / self.wall_seconds


def chosen(what: str | None) -> dict[str, str]:
    """The layers whose name contains the text, or the one problem that it describes; all for None.

    >>> chosen("pw14"), chosen("C2O3_i5x5_k3")
    ({'mobilenet_v1/pw14': 'C1024O1024_i7x7_k1'}, {'C2O3_i5x5_k3': 'C2O3_i5x5_k3'})
    """
    found = {name: line for name, line in LAYERS.items() if what is None or what and what in name}
    if found:
        return found
    problem = Problem.parse(str(what))
    if problem.transposed:
        raise ValueError(
            f"problem: {what} is a transposed convolution; measure the convolution it belongs to"
        )
    if problem.bias:
        raise ValueError(f"problem: {what} has a bias, which is not measured; leave _bias out")
    return {str(what): str(problem)}


def measure(layers: dict[str, str], seconds: float) -> Iterator[Measurement]:
    """One measurement for each direction of each layer; each call is repeated for so many seconds."""
    for name, line in layers.items():
        problem = Problem.parse(line)
        shapes = problem.input_shape, problem.weight_shape, problem.output_shape
        random = np.random.default_rng(0)
        x, w, g = (random.standard_normal(shape, np.float32) for shape in shapes)
        calls: dict[str, Callable[[], np.ndarray]] = {
            "forward": lambda: conv(x, w, **problem.parameters),
            "input": lambda: conv_input(x.shape, w, g, **problem.parameters),
            "weight": lambda: conv_weight(x, w.shape, g, **problem.parameters),
        }
        # Multiplications and additions, those with padded zeros counted.
        operations = 2 * prod(problem.output_shape) * prod(problem.weight_shape[1:])
        for direction, call in calls.items():
            taken = least_time(call, seconds)
            wall = bare_product(problem, direction, seconds)
            yield Measurement(
                name, line, direction, taken, operations / taken / 1e9, wall, peak_scratch(call)
            )


def bare_product(problem: Problem, direction: str, seconds: float) -> float:
    """The time of the product behind one direction, with one row an output channel (input: input channel)."""
    G, rows, others = problem.G, problem.O // problem.G, problem.C // problem.G
    taps, positions = prod(problem.k), problem.N * prod(problem.output_shape[2:])
    if direction == "input":
        rows, others = others, rows
    summed, columns = others * taps, positions
    if direction == "weight":
        summed, columns = columns, summed
    part = max(max(summed, columns) // -(-LONGEST // G), 1)
    summed, columns = (summed // part, columns) if summed > columns else (summed, columns // part)
    x = np.ones((1, G * summed, 1, columns), np.float32)
    w = np.ones((G * rows, summed, 1, 1), np.float32)
    one, none = (1, 1), ((0, 0), (0, 0))

    def alone() -> np.ndarray:
        return forward(x, w, stride=one, padding=none, dilation=one, input_dilation=one, groups=G)

    return part * least_time(alone, seconds)


def least_time(call: Callable[[], object], seconds: float) -> float:
    """The time of the least disturbed call, of as many as fill so many seconds, and of three or more."""
    call()
    taken: list[float] = []
    while len(taken) < 3 or sum(taken) < seconds:
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def peak_scratch(call: Callable[[], np.ndarray]) -> int:
    """The most bytes at once that a call allocates, without its result's."""
    forget()
    tracemalloc.start()
    try:
        result = call()
        return max(tracemalloc.get_traced_memory()[1] - result.nbytes, 0)
    finally:
        tracemalloc.stop()


def _fits(line: str) -> bool:
    """Whether a problem's arrays, twice, fit into half of the memory."""
    problem = Problem.parse(line)
    shapes = problem.input_shape, problem.weight_shape, problem.output_shape
    return 8 * sum(map(prod, shapes)) <= _memory() // 2


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 * 2**30  # a guess where the system does not tell


# ---------------------------------------------------------------- what is printed


def run(what: str | None, style: str, seconds: float) -> int:
    """Measure and print as "text", "csv" or "json"; progress goes to the terminal's other stream.

    Layers whose arrays do not fit into half of the memory are left out.  Errors: ValueError, or MemoryError
    where none is left.
    """
    if not 0 <= seconds < np.inf:
        raise ValueError(f"seconds: it is {seconds}, but it must be 0 or more, and come to an end")
    layers = {name: line for name, line in chosen(what).items() if _fits(line)}
    if not layers:
        raise MemoryError(f"problem: the arrays of {what} do not fit into half of this machine's memory")
    total, done = 3 * len(layers), []
    if style == "csv":
        print(",".join(_columns()))
    elif style == "text":
        print(f"{'layer':32}{'direction':>10}{'ms':>10}{'GFLOP/s':>9}{'/ wall':>8}{'MiB':>7}")
    for number, one in enumerate(measure(layers, seconds), 1):
        _progress(f"{number} of {total}: {one.layer} {one.direction}", sys.stderr)
        done.append(one)
        if style == "csv":
            csv.writer(sys.stdout, lineterminator="\n").writerow(_row(one).values())
        elif style == "text":
            print(
                f"{one.layer:32}{one.direction:>10}{one.seconds * 1e3:10.3f}{one.gflops:9.1f}"
                f"{one.over_wall:8.2f}{one.scratch / 2**20:7.1f}",
                flush=True,
            )
    _progress("", sys.stderr)
    if style == "json":
        print(json.dumps({"numpy": np.__version__, "measurements": [_row(one) for one in done]}, indent=2))
    elif style == "text" and done:
        print(f"{'geometric mean':32}{'':29}{np.exp(np.mean([np.log(one.over_wall) for one in done])):8.2f}")
    return 0


def _columns() -> list[str]:
    return [*(field.name for field in fields(Measurement)), "over_wall"]


def _row(one: Measurement) -> dict[str, object]:
    return {**asdict(one), "over_wall": one.over_wall}


def _progress(text: str, stream: TextIO) -> None:
    """One line that overwrites itself, where somebody looks on."""
    if stream.isatty():
        print(f"\r{text[:78]:<78}\r", end="", file=stream, flush=True)
