"""Two proofs that need no other library, both exact on integers.

The form T(x, w, g) is one number, linear in each of its arrays.  So it can be computed three ways, and
the difference of its values one step up and one step down, halved, is the derivative itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from npconv import conv, conv_backward, conv_transpose, conv_transpose_backward
from npconv.explain.scene import Scene


@dataclass(frozen=True)
class Proof:
    """One statement, whether it holds, and the numbers that show it."""

    statement: str
    holds: bool
    evidence: str

    def __str__(self) -> str:
        return f"  {'ok  ' if self.holds else 'FAIL'}  {self.statement}: {self.evidence}"


def inner_product(a: np.ndarray, b: np.ndarray) -> int:
    """<a, b>, the sum of products cell by cell, in Python's own integers.

    >>> inner_product(np.array([1, 2]), np.array([10, 100]))
    210
    """
    return sum(int(x) * int(y) for x, y in zip(a.ravel(), b.ravel(), strict=True))


def same_shapes(arrays: Mapping[str, np.ndarray], gradients: Mapping[str, np.ndarray]) -> Proof:
    """Each gradient has the shape of its array."""
    wrong = [
        f"the gradient of {name} has shape {gradients[name].shape}, {name} has {arrays[name].shape}"
        for name in gradients
        if gradients[name].shape != arrays[name].shape
    ]
    return Proof("each gradient has its array's shape", not wrong, "; ".join(wrong) or ", ".join(gradients))


def three_ways(pairs: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Proof:
    """<output, g> = <x, grad_input> = <w, grad_weight>: all pairs give one number.

    >>> print(three_ways({"<a, b>": (np.array([2]), np.array([3])), "<c, d>": (np.array([1]), np.array([6]))}))
      ok    <a, b> = <c, d>: all are 6
    """
    values = [inner_product(a, b) for a, b in pairs.values()]
    agree = len(set(values)) == 1
    said = f"all are {values[0]}" if agree else f"they are {' and '.join(map(str, values))}"
    return Proof(" = ".join(pairs), agree, said)


def differences(
    statement: str, value: Callable[[np.ndarray], int], array: np.ndarray, derivative: np.ndarray
) -> Proof:
    """Every element of a derivative is (value one step up - value one step down) / 2.

    >>> print(differences("by x", lambda x: int(5 * x[0]), np.array([2]), np.array([4])))
      FAIL  by x: at [0] it is 4, but the quotient is 5
    """
    for cell in np.ndindex(*array.shape):
        up, down = array.copy(), array.copy()
        up[cell] += 1
        down[cell] -= 1
        twice = value(up) - value(down)
        if twice != 2 * int(derivative[cell]):
            said = f"at {list(cell)} it is {derivative[cell]}, but the quotient is {twice / 2:g}"
            return Proof(statement, False, said)
    return Proof(statement, True, f"all {array.size} elements equal")


def prove(scene: Scene) -> list[Proof]:
    """The proofs for one convolution: shapes, three ways to one number, every difference quotient."""
    problem, g, p = scene.problem, scene.arrays["grad_output"], scene.problem.parameters
    forward: Callable[..., np.ndarray] = conv_transpose if problem.transposed else conv
    backward = conv_transpose_backward if problem.transposed else conv_backward
    arrays = {name: scene.arrays[name] for name in ("input", "weight", "bias") if name in scene.arrays}
    found = backward(g, arrays["input"], arrays["weight"], **p)._asdict()
    gradients = {name: found[name] for name in arrays}
    shapes = same_shapes(arrays, gradients)
    if not shapes.holds:
        return [shapes]

    def value_with(name: str) -> Callable[[np.ndarray], int]:
        return lambda array: inner_product(forward(**{**arrays, name: array}, **p), g)

    # A bias is added, not multiplied: only without it is the form linear in each of the other two.
    pairs = {"<output, g>": (forward(arrays["input"], arrays["weight"], **p), g)}
    pairs.update({f"<{name}, grad_{name}>": (arrays[name], gradients[name]) for name in ("input", "weight")})
    quotients = (
        differences(
            f"grad_{name} is the difference quotient", value_with(name), arrays[name], gradients[name]
        )
        for name in arrays
    )
    return [shapes, three_ways(pairs), *quotients]
