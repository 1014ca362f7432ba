"""What can be said of a problem's parameters: the words in which a trigger is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd

from npconv.geometry import Axis, Shape
from npconv.problem import Problem
from npconv.testing.parts import geometry_of, output_shape

Condition = Callable[[Problem], bool]

SIDES = {"height": -2, "width": -1}
ENDS_OF = {"height": ("top", "bottom"), "width": ("left", "right")}

# The numbers of an axis, and of a whole problem, of which the families below speak.
PER_AXIS: dict[str, Callable[[Axis], int]] = {
    "taps": lambda a: a.k,
    "stride": lambda a: a.s,
    "dilation": lambda a: a.d,
}
COUNTS: dict[str, Callable[[Problem], int]] = {
    "groups": lambda p: p.G,
    "batch": lambda p: p.N,
    "input channels": lambda p: p.C,
    "output channels": lambda p: p.O,
    "input channels a group": lambda p: p.C // p.G,
    "output channels a group": lambda p: p.O // p.G,
    "output height": lambda p: _side(output_shape(p), "height"),
    "output width": lambda p: _side(output_shape(p), "width"),
    "input height": lambda p: _side(p.input_shape, "height"),
    "input width": lambda p: _side(p.input_shape, "width"),
}


def _side(shape: Shape, side: str) -> int:
    """The size of one side; 0 where there is no such axis."""
    return shape[SIDES[side]] if len(shape) > 1 - SIDES[side] else 0


def _any(condition: Callable[[Axis], bool]) -> Condition:
    return lambda problem: any(map(condition, geometry_of(problem).axes))


def _all(condition: Callable[[Axis], bool]) -> Condition:
    return lambda problem: all(map(condition, geometry_of(problem).axes))


def _unequal(name: str) -> Condition:
    return lambda problem: len({getattr(axis, name) for axis in geometry_of(problem).axes}) > 1


def _on(side: str, condition: Callable[[Axis], bool]) -> Condition:
    at = SIDES[side]
    return lambda problem: problem.rank >= -at and condition(geometry_of(problem).axes[at])


def _equal(shape: Shape) -> bool:
    """Whether there are several sides, all of one size."""
    return len(shape) > 1 and len(set(shape)) == 1


def _alike(p: Problem) -> bool:
    """Whether no number tells one axis from another."""
    return p.rank > 1 and len(set(geometry_of(p).axes)) == 1


# The plainest and most usual causes first: of two that fit, the earlier is named.
PLAIN: dict[str, Condition] = {
    "groups > 1": lambda p: p.G > 1,
    "stride > 1": _any(lambda a: a.s > 1),
    "dilation > 1": _any(lambda a: a.d > 1),
    "padding > 0": _any(lambda a: a.lo > 0 or a.hi > 0),
    "padding is not 0": _any(lambda a: a.lo != 0 or a.hi != 0),
    "negative padding": _any(lambda a: a.lo < 0 or a.hi < 0),
    "uneven padding (lo and hi differ)": _any(lambda a: a.lo != a.hi),
    "remainder > 0": _any(lambda a: a.remainder > 0),
    "bias": lambda p: p.bias,
    "no bias": lambda p: not p.bias,
    "batch > 1": lambda p: p.N > 1,
    "taps > 1": _any(lambda a: a.k > 1),
    "an even number of taps": _any(lambda a: a.k % 2 == 0),
    "more than one input channel": lambda p: p.C > 1,
    "more than one input channel a group": lambda p: p.C > p.G,
    "more than one output channel": lambda p: p.O > 1,
    "more than one output channel a group": lambda p: p.O > p.G,
    "C/G and O/G differ": lambda p: p.C != p.O,
    "height and width of the taps differ": lambda p: len(set(p.k)) > 1,
    "the strides differ": _unequal("s"),
    "the dilations differ": _unequal("d"),
    "stride and dilation differ": _any(lambda a: a.s != a.d),
    "stride and dilation > 1 on one axis": _any(lambda a: a.s > 1 and a.d > 1),
    "stride > taps": _any(lambda a: a.s > a.k),
    "stride and dilation have a common divisor": _any(lambda a: gcd(a.s, a.d) > 1),
    "padding above K-1": _any(lambda a: max(a.lo, a.hi) > a.extent - 1),
    "taps > 2": _any(lambda a: a.k > 2),
    "an odd number of taps above 1": _any(lambda a: a.k > 1 and a.k % 2 == 1),
    "wider than high": lambda p: p.rank > 1 and p.i[-1] > p.i[-2],
    "higher than wide": lambda p: p.rank > 1 and p.i[-2] > p.i[-1],
    "lo is not 0": _any(lambda a: a.lo != 0),
    "hi is not 0": _any(lambda a: a.hi != 0),
    "lo > 0": _any(lambda a: a.lo > 0),
    "hi > 0": _any(lambda a: a.hi > 0),
    "lo < 0": _any(lambda a: a.lo < 0),
    "hi < 0": _any(lambda a: a.hi < 0),
    "lo < hi": _any(lambda a: a.lo < a.hi),
    "lo > hi": _any(lambda a: a.lo > a.hi),
    "one group": lambda p: p.G == 1,
    "more than 3 channels a side": lambda p: max(p.C, p.O) > 3,
    "more than 8 channels a side": lambda p: max(p.C, p.O) > 8,
    "more than 16 channels a side": lambda p: max(p.C, p.O) > 16,
    "more than 8 positions an axis": _any(lambda a: max(a.o, a.i) > 8),
    "more than 16 positions an axis": _any(lambda a: max(a.o, a.i) > 16),
    "more than 32 positions an axis": _any(lambda a: max(a.o, a.i) > 32),
    "batch > 2": lambda p: p.N > 2,
    **{
        f"{name} on the {side}": _on(side, condition)
        for side in SIDES
        for name, condition in (
            ("stride > 1", lambda a: a.s > 1),
            ("dilation > 1", lambda a: a.d > 1),
            ("taps > 1", lambda a: a.k > 1),
            ("remainder > 0", lambda a: a.remainder > 0),
            ("padding", lambda a: a.lo > 0 or a.hi > 0),
        )
    },
    **{
        f"{end} padding > 0": _on(side, condition)
        for side, ends in ENDS_OF.items()
        for end, condition in zip(ends, (lambda a: a.lo > 0, lambda a: a.hi > 0))
    },
}

# One kind of layer, or one relation of parameters, that a kernel may have a path of its own for.
SPECIAL: dict[str, Condition] = {
    "depthwise (G = C = O)": lambda p: 1 < p.G == p.C == p.O,
    "depthwise with several outputs a channel": lambda p: 1 < p.G == p.C < p.O,
    "one input channel a group": lambda p: 1 < p.G == p.C,
    "an even number of taps on every axis": _all(lambda a: a.k % 2 == 0),
    "dilation and taps > 1 on one axis": _any(lambda a: a.d > 1 and a.k > 1),
    "stride = taps": _all(lambda a: a.s == a.k > 1),
    "stride = dilation": _all(lambda a: a.s == a.d > 1),
    "a square input": lambda p: _equal(p.i),
    "a square output": lambda p: _equal(output_shape(p)[2:]),
    "height and width alike in everything": _alike,
    "a window as large as the input": _all(lambda a: a.extent == a.i and a.lo == a.hi == 0),
    "a window as large as the padded input": _any(lambda a: a.extent == a.i + a.lo + a.hi),
    "one sample": lambda p: p.N == 1,
    "padding > 1": _any(lambda a: max(a.lo, a.hi) > 1),
    "padding > 3": _any(lambda a: max(a.lo, a.hi) > 3),
    "padding < -1": _any(lambda a: min(a.lo, a.hi) < -1),
    "lo > 3": _any(lambda a: a.lo > 3),
    "hi > 3": _any(lambda a: a.hi > 3),
    "lo < -1": _any(lambda a: a.lo < -1),
    "hi < -1": _any(lambda a: a.hi < -1),
}


# From a number on, which is more usual than at one number only.
THRESHOLDS: dict[str, tuple[int, ...]] = {
    "taps": (3, 4, 6, 10),
    "stride": (2, 3, 4, 8),
    "dilation": (2, 3, 4, 6),
    "groups": (2, 3, 4, 7, 8),
    "batch": (3, 4, 7, 8, 16),
    "input channels": (4, 8, 16, 32, 64),
    "output channels": (4, 8, 16, 32, 64),
    "input channels a group": (4, 16, 32),
    "output channels a group": (4, 16, 32),
    "output height": (8, 16, 32, 64),
    "output width": (8, 16, 32, 64),
    "input height": (32, 64),
    "input width": (32, 64),
}
VALUES: dict[str, tuple[int, ...]] = {
    "taps": (1, 2, 3, 4, 5, 7),
    "stride": (1, 2, 3, 4),
    "dilation": (1, 2, 3, 4),
    "groups": (2, 3, 4, 6, 8, 16, 32),
    "batch": (2, 3, 4, 8),
    "input channels": (1, 4, 8),
    "output channels": (1, 4, 8),
    "output height": (1, 8),
    "output width": (1, 8),
    "input height": (1,),
    "input width": (1,),
}
DIVISORS = (4, 8)
OBLONG: dict[str, tuple[Shape, ...]] = {
    "taps": ((1, 3), (3, 1), (2, 3), (3, 2)),
    "stride": ((1, 2), (2, 1), (2, 3), (3, 1)),
    "dilation": ((1, 2), (2, 1), (1, 3), (3, 1)),
}


def _families() -> dict[str, Condition]:
    """The thresholds and values of all parameters, in words."""
    made: dict[str, Condition] = {}
    for name, numbers in THRESHOLDS.items():
        for n in numbers:
            made[f"{name} > {n}"] = _where(name, n.__lt__)  # n < value
    for name, numbers in VALUES.items():
        for n in numbers:
            made[f"{name} = {n}"] = _where(name, n.__eq__)
            if name in PER_AXIS:
                made[f"{name} = {n} on every axis"] = _all(_equals(name, n))
                for side in SIDES if n < 4 else ():
                    made[f"{name} = {n} on the {side}"] = _on(side, _equals(name, n))
    for name, pairs in OBLONG.items():
        for pair in pairs:
            made[f"{name} {pair[0]}x{pair[1]}"] = _pair(PER_AXIS[name], pair)
    for name in COUNTS:
        for n in DIVISORS if "channels" in name else ():
            made[f"{name} divisible by {n}"] = _where(name, _divisible(n))
    return made


def _equals(name: str, n: int) -> Callable[[Axis], bool]:
    """Whether a number of one axis is n."""
    return lambda axis: PER_AXIS[name](axis) == n


def _divisible(n: int) -> Callable[[int], bool]:
    return lambda value: value % n == 0


def _pair(of: Callable[[Axis], int], pair: Shape) -> Condition:
    """A condition on the height's and the width's number together."""
    return lambda problem: tuple(map(of, geometry_of(problem).axes[-2:])) == pair


def _where(name: str, condition: Callable[[int], bool]) -> Condition:
    """A condition on one of the numbers that have a name here."""
    if name in PER_AXIS:
        return _any(lambda axis: condition(PER_AXIS[name](axis)))
    return lambda problem: condition(COUNTS[name](problem))


CONDITIONS: Mapping[str, Condition] = {**PLAIN, **SPECIAL, **_families()}
