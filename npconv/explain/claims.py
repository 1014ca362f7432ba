"""What single lessons prove beyond the gradients of one convolution."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npconv import conv, conv_double_backward, conv_input, conv_weight
from npconv.bound import format_of, rounding_bound
from npconv.explain.proof import Proof, differences, inner_product, prove
from npconv.explain.scene import Scene
from npconv.transforms import flip

BASE = 1000  # larger than any sum here, so that no digit carries


def flip_multiplies(scene: Scene) -> list[Proof]:
    """Slid over the input, the flipped weight gives the digits of a product; the weight itself does not."""
    x, w, p = scene.arrays["input"], scene.arrays["weight"], scene.problem.parameters
    due = number(x) * number(w)
    flipped, plain = (number(conv(x, each, **p)) for each in (flip(w), w))
    said = f"{number(x)} * {number(w)} = {due}"
    return [
        *prove(scene),
        Proof(f"in base {BASE} the flipped weight multiplies", flipped == due, said),
        Proof("the weight as it is does not", plain != due, f"it gives {plain}"),
    ]


def number(digits: np.ndarray) -> int:
    """The number with these digits, the least first.

    >>> number(np.array([[[1, 2, 3]]]))
    3002001
    """
    return sum(int(digit) * BASE**place for place, digit in enumerate(digits.ravel()))


def triangle_is_closed(scene: Scene) -> list[Proof]:
    """Each derivative of each of the two gradients is one of the three maps."""
    x, w, g = (scene.arrays[name] for name in ("input", "weight", "grad_output"))
    u, v = scene.directions()
    p = scene.problem.parameters

    def F(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return conv(x, w, **p)

    def X(w: np.ndarray, g: np.ndarray) -> np.ndarray:
        return conv_input(x.shape, w, g, **p)

    def W(x: np.ndarray, g: np.ndarray) -> np.ndarray:
        return conv_weight(x, w.shape, g, **p)

    return [
        *prove(scene),
        differences("<X(w, g), u> by w is W(u, g)", lambda a: inner_product(X(a, g), u), w, W(u, g)),
        differences("<X(w, g), u> by g is F(u, w)", lambda a: inner_product(X(w, a), u), g, F(u, w)),
        differences("<W(x, g), v> by x is X(v, g)", lambda a: inner_product(W(a, g), v), x, X(v, g)),
        differences("<W(x, g), v> by g is F(x, v)", lambda a: inner_product(W(x, a), v), g, F(x, v)),
    ]


def second_order_is_the_difference(scene: Scene) -> list[Proof]:
    """conv_double_backward is the difference quotient of <grad_input, u> + <grad_weight, v>."""
    arrays = {name: scene.arrays[name] for name in ("grad_output", "input", "weight")}
    g, x, w = arrays.values()
    u, v = scene.directions()
    p = scene.problem.parameters
    found = conv_double_backward(u, v, None, g, x, w, **p)._asdict()

    def both(grad_output: np.ndarray, input: np.ndarray, weight: np.ndarray) -> int:
        grad_input = conv_input(input.shape, weight, grad_output, **p)
        grad_weight = conv_weight(input, weight.shape, grad_output, **p)
        return inner_product(grad_input, u) + inner_product(grad_weight, v)

    def value_with(name: str) -> Callable[[np.ndarray], int]:
        return lambda array: both(**{**arrays, name: array})

    said = "<grad_input, u> + <grad_weight, v>"
    return [
        differences(f"{said} by {name}", value_with(name), array, found[name])
        for name, array in arrays.items()
    ]


def rounding_keeps_to_its_bound(scene: Scene) -> list[Proof]:
    """Integers in float32 are exact; tenths are off by no more than the bound."""
    x, w, p = scene.arrays["input"], scene.arrays["weight"], scene.problem.parameters
    exact = conv(x, w, **p)
    floats = conv(x.astype(np.float32), w.astype(np.float32), **p)
    a, b = ((array / 10).astype(np.float32) for array in (x, w))
    # Each is a multiple of 2^-27, so as integers these products and sums are exact.
    whole = conv((a * np.float64(2**27)).astype(np.int64), (b * np.float64(2**27)).astype(np.int64), **p)
    off = np.abs(conv(a, b, **p).astype(np.float64) - whole / 2.0**54)
    magnitude = conv(np.abs(a).astype(np.float64), np.abs(b).astype(np.float64), **p)
    bound = rounding_bound(magnitude, w[0].size, format_of(np.dtype(np.float32)))
    equal, rounds, kept = bool((floats == exact).all()), bool(off.any()), bool((off <= bound).all())
    return [
        Proof("integers in float32 are exact", equal, f"all {exact.size} outputs equal"),
        Proof("tenths in float32 round", rounds, f"the worst is off by {off.max():.1e}"),
        Proof("but never beyond the bound", kept, f"the largest bound is {bound.max():.1e}"),
    ]
