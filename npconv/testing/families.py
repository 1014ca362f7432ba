"""Floats that are hard on rounding, drawn from a name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npconv.problem import Problem
from npconv.testing.data import raw
from npconv.testing.formats import Format, rounded
from npconv.testing.parts import array_shapes


def unit(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Fixed floats in (0, 1] for a name."""
    return (1 + (raw(name, int(np.prod(shape))) >> np.uint64(11)).reshape(shape)) * 2.0**-53


def positive(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """All positive: sums only grow, and so does what each rounding may lose."""
    return unit(name, shape)


def cancelling(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Both signs: results much smaller than their terms."""
    values = unit(name, shape)
    signs = np.where(raw(name + " sign", values.size).reshape(shape) & np.uint64(1), 1.0, -1.0)
    return values * signs


def wide(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Terms of very different sizes."""
    exponents = (raw(name + " exponent", int(np.prod(shape))) % np.uint64(13)).reshape(shape).astype(int) - 6
    return np.ldexp(cancelling(name, shape), exponents)


FAMILIES: dict[str, Callable[[str, tuple[int, ...]], np.ndarray]] = {
    "all positive": positive,
    "cancelling": cancelling,
    "of very different sizes": wide,
}


def drawn(problem: Problem, family: str, held: Format) -> dict[str, np.ndarray]:
    """All arrays of a problem, from one family and as values of a format; float64."""
    return {
        array: rounded(FAMILIES[family](f"{problem} {family} {array}", shape), held).astype(np.float64)
        for array, shape in array_shapes(problem).items()
    }
