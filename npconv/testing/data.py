"""Integers small enough that no sum of their products can round, drawn from the case's own name.

Where every partial sum of a convolution is an integer that the accumulator holds exactly, every
order of summation, fused or split, gives the same bits.  Then right is equal, and a difference has
one cause only: other elements were read, or other products were summed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from math import isqrt, prod

import numpy as np

from npconv.geometry import Shape
from npconv.problem import Problem
from npconv.testing.parts import array_shapes, parts_of, terms

LARGEST = 99  # two digits: more would tell no more faults apart, and nobody could read the case
MOST = 2**24  # elements of an array: many times those of any layer in use, and soon made


def raw(name: str, count: int) -> np.ndarray:
    """Fixed random 64-bit integers for a name: a bit generator's stream is the same in every NumPy."""
    return np.random.Philox(key=zlib.crc32(name.encode())).random_raw(count)


def integers(name: str, shape: Sequence[int], largest: int, signed: bool = True) -> np.ndarray:
    """Integers from -largest to largest without 0, which would hide what is read; int64.

    >>> integers("a name", (2, 3), 9).tolist() == integers("a name", (2, 3), 9).tolist()
    True
    """
    bits = raw(name, prod(shape)).reshape(tuple(shape))
    magnitude = (bits >> np.uint64(8)).astype(np.int64) % largest + 1
    return np.where(bits & np.uint64(1), -magnitude, magnitude) if signed else magnitude


def exact_parts(problem: Problem, capacity: int) -> tuple[str, ...]:
    """The parts whose sums are short enough for exact data: n ones still fit the accumulator.

    >>> exact_parts(Problem.parse("C2_i20x20_k3"), 256)
    ('forward', 'grad_input')
    """
    return tuple(part for part in parts_of(problem) if terms(part, problem) < capacity)


def largest_exact(problem: Problem, capacity: int, largest: int = LARGEST) -> int:
    """The largest |value| whose products sum to at most `capacity`, in every part that is exact at all.

    A 0 says that none is.

    >>> largest_exact(Problem.parse("C4O8_i6x7_k3"), 2**24), largest_exact(Problem.parse("C4_i6_k3"), 256)
    (99, 4)
    """
    n = max((terms(part, problem) for part in exact_parts(problem, capacity)), default=capacity) + 1
    return min(isqrt(capacity // n), largest)


def exact_arrays(
    problem: Problem, capacity: int, unsigned: Sequence[str] = (), largest: int = LARGEST
) -> dict[str, np.ndarray]:
    """All arrays of a problem, int64, sized for an accumulator that holds integers up to `capacity`.

    ValueError where an array would have more than 2^24 elements."""
    for name, shape in array_shapes(problem).items():
        if prod(shape) > MOST:
            raise ValueError(
                f"{problem}: {name} of shape {shape} has {prod(shape)} elements, but exact data have at most "
                f"{MOST} an array; ask for a smaller problem"
            )
    largest = max(largest_exact(problem, capacity, largest), 1)
    return {
        name: integers(f"{problem} {name}", shape, largest, signed=name not in unsigned)
        for name, shape in array_shapes(problem).items()
    }


def signs(name: str, shape: Shape) -> np.ndarray:
    """Fixed random ones and minus ones, int64."""
    return integers(name, shape, 1)
