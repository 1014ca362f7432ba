"""Geometries to test on: a table of named ones, and as many random ones as wanted, from a seed.

A `Case` holds the arguments of one convolution (or transposed convolution) and its sizes, counted
here and not taken from npconv.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from oracle import count_windows

Sizes = tuple[int, ...]
MODES = ("reflect", "replicate", "circular")


@dataclass(frozen=True)
class Case:
    """One convolution's arguments; build it with `case` or `transposed`, which fill in the axes."""

    name: str
    i: Sizes
    k: Sizes
    N: int
    C: int
    O: int
    G: int
    stride: Sizes
    padding: tuple[tuple[int, int], ...]
    dilation: Sizes
    padding_mode: str = "zeros"
    output_padding: Sizes | None = None  # None: not a transposed convolution

    @property
    def rank(self) -> int:
        return len(self.i)

    @property
    def is_transposed(self) -> bool:
        return self.output_padding is not None

    @property
    def extent(self) -> Sizes:
        return tuple(d * (k - 1) + 1 for d, k in zip(self.dilation, self.k))

    @property
    def padded(self) -> Sizes:
        return tuple(i + lo + hi for i, (lo, hi) in zip(self.i, self.padding))

    @property
    def sizes(self) -> Sizes:
        """The output's sizes."""
        if self.output_padding is not None:
            return tuple(
                s * (i - 1) - lo - hi + K + extra
                for s, i, (lo, hi), K, extra in zip(
                    self.stride, self.i, self.padding, self.extent, self.output_padding
                )
            )
        return tuple(count_windows(*three) for three in zip(self.padded, self.extent, self.stride))

    @property
    def remainder(self) -> Sizes:
        """The padded inputs behind the last window."""
        return tuple(
            padded - (s * (o - 1) + K)
            for padded, s, o, K in zip(self.padded, self.stride, self.sizes, self.extent)
        )

    @property
    def input_shape(self) -> Sizes:
        return (self.N, self.C, *self.i)

    @property
    def weight_shape(self) -> Sizes:
        first, second = (self.C, self.O) if self.is_transposed else (self.O, self.C)
        return (first, second // self.G, *self.k)

    @property
    def output_shape(self) -> Sizes:
        return (self.N, self.O, *self.sizes)

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of the function that solves it, with one entry an axis."""
        shared = dict(stride=self.stride, padding=self.padding, dilation=self.dilation, groups=self.G)
        if self.is_transposed:
            return {**shared, "output_padding": self.output_padding}
        return shared if self.padding_mode == "zeros" else {**shared, "padding_mode": self.padding_mode}

    def arrays(self, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Input, weight, bias and grad_output: small integers as float64, in which every sum is exact."""
        rng = np.random.default_rng(seed)
        shapes = (self.input_shape, self.weight_shape, (self.O,), self.output_shape)
        return tuple(small_integers(rng, shape) for shape in shapes)

    def __str__(self) -> str:
        return self.name


def small_integers(rng: np.random.Generator, shape: Sizes) -> np.ndarray:
    return rng.integers(-4, 5, size=shape).astype(np.float64)


def _every(value: Any, rank: int) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,) * rank


def case(
    name: str,
    i: Sizes,
    k: Sizes | int,
    s: Sizes | int = 1,
    p: Any = 0,
    d: Sizes | int = 1,
    N: int = 2,
    C: int = 1,
    O: int = 1,
    G: int = 1,
    mode: str = "zeros",
) -> Case:
    """A convolution; a number stands for every axis, and in p a number for both ends."""
    rank = len(i)
    padding = tuple(end if isinstance(end, tuple) else (end, end) for end in _every(p, rank))
    return Case(name, i, _every(k, rank), N, C, O, G, _every(s, rank), padding, _every(d, rank), mode)


def transposed(
    name: str,
    i: Sizes,
    k: Sizes | int,
    s: Sizes | int = 1,
    p: Any = 0,
    op: Sizes | int = 0,
    d: Sizes | int = 1,
    **channels: int,
) -> Case:
    """A transposed convolution; i is its own input."""
    plain = case(name, i, k, s, p, d, **channels)
    return Case(*list(vars(plain).values())[:-1], output_padding=_every(op, len(i)))


# Every remainder 0 .. s-1 on one axis while the other has none.
_REMAINDERS = [
    case(f"remainder {r} of stride {s} on axis {axis}", i, 3, s=s, p=1)
    for s in (2, 3, 4)
    for r in range(s)
    for axis, i in enumerate([(1 + s + r, 1 + s), (1 + s, 1 + s + r)])
]

NAMED = [
    *_REMAINDERS,
    case("nothing but a window", (3, 4), (2, 3)),
    case("one element everywhere", (1, 1), 1, N=1),
    case("remainders that differ by axis", (8, 9), 3, s=(3, 2), p=(0, 1), C=2, O=3),
    case("padding larger than K-1", (3, 4), 2, p=3),
    case("padding larger than K-1, strided", (3, 4), 2, s=2, p=(3, 4), C=2, O=2),
    case("padding larger than K-1 at one end", (4, 3), 3, s=2, p=((4, 0), (1, 5))),
    case("padding larger than the input", (1, 2), 2, s=3, p=5),
    case("stride larger than K", (7, 9), 2, s=(3, 4)),
    case("stride larger than K, dilated", (13, 12), 2, s=(5, 6), d=(2, 3), p=1, C=2, O=2),
    case("stride larger than the input", (3, 2), 2, s=7, p=(0, 2)),
    case("1x1 with stride", (5, 6), 1, s=2, C=2, O=3),
    case("1x1 with stride and padding", (4, 5), 1, s=3, p=((1, 0), 2)),
    case("1x1 with stride and crop", (6, 7), 1, s=2, p=((-1, 0), (0, -2))),
    case("1x1 with a dilation that means nothing", (3, 4), 1, d=(3, 5)),
    case("kernel larger than the unpadded input", (2, 3), (5, 4), p=(2, 1)),
    case("dilated extent larger than the unpadded input", (3, 3), 3, d=(2, 3), p=(2, 3), s=2),
    case("kernel as large as the padded input", (3, 4), (5, 4), p=(1, 0), C=2, O=3),
    case("gcd of stride and dilation 2", (9, 11), 3, s=2, d=2, p=1),
    case("gcd of stride and dilation 3", (10, 14), 2, s=(3, 6), d=(6, 3), p=(2, 1), C=2, O=2),
    case("gcd of stride and dilation 2, neither divides", (14, 13), 2, s=(4, 6), d=(6, 4), p=1),
    case("stride and dilation coprime", (11, 12), 3, s=(2, 3), d=(3, 2), p=2, C=2, O=2),
    case("dilation only", (7, 8), 3, d=(2, 3), C=2, O=3),
    case("asymmetric padding", (5, 6), 3, p=((0, 2), (3, 1)), C=2, O=2),
    case("asymmetric padding, strided, with remainder", (5, 6), 3, s=(2, 3), p=((0, 1), (2, 0))),
    case("crop at both ends", (7, 8), 2, p=((-1, -2), (-2, -1)), C=2, O=2),
    case("crop, strided, with remainder", (9, 10), 2, s=(2, 3), p=((-2, -1), (-1, 0))),
    case("crop at one end, pad at the other", (5, 6), 3, s=2, p=((-2, 4), (3, -1))),
    case("crop longer than the array at the start", (1, 2), 2, p=((-2, 4), (-3, 5))),
    case("crop longer than the array at the end", (2, 1), 2, p=((5, -3), (4, -2)), C=2, O=2),
    case("crop longer than the array, strided", (1, 1), 2, s=2, p=((-3, 6), (7, -4))),
    case("groups with C/G and O/G above 1", (5, 4), 3, s=2, p=1, C=4, O=6, G=2),
    case("groups, dilated, asymmetric", (6, 7), 2, s=(2, 3), d=(3, 2), p=((1, 0), (0, 2)), C=6, O=3, G=3),
    case("groups with more in than out", (4, 5), 2, s=2, C=6, O=2, G=2),
    case("depthwise", (5, 6), 3, s=2, p=1, C=3, O=3, G=3),
    case("depthwise with a multiplier", (5, 4), (2, 3), d=(2, 1), p=1, C=2, O=6, G=2),
    case("rectangular everything", (9, 6), (2, 3), s=(3, 1), p=((2, 1), (0, 3)), d=(2, 1), N=3, C=2, O=3),
    case("rectangular the other way", (4, 11), (3, 1), s=(1, 4), p=((1, 2), (-1, 0)), d=(1, 3), C=3, O=2),
    case("a single sample", (4, 5), 2, s=2, N=1, C=2, O=2),
    case("empty batch", (4, 5), 3, s=2, p=1, N=0, C=2, O=3),
    case("zero input channels", (4, 5), 3, s=2, p=1, C=0, O=2),
    case("zero output channels", (4, 5), 3, s=2, p=1, C=2, O=0),
    case("no elements on an axis, only padding", (0, 3), 2, p=(2, 0)),
    case("one axis", (7,), 3, s=2, p=(1,), d=(2,), C=2, O=3),
    case("one axis, every trap", (10,), 2, s=(4,), p=((-1, 3),), d=(6,), C=4, O=6, G=2),
    case("one axis, crop longer than the array", (1,), 1, s=2, p=((-2, 4),)),
    case("three axes", (4, 5, 3), 2, s=(2, 1, 2), p=(1, 0, 1), C=2, O=2),
    case("three axes, every trap", (5, 4, 6), (1, 2, 2), s=(2, 3, 1), p=((-1, 2), 2, 0), d=2, C=2, O=4, G=2),
    case("reflect", (4, 5), 3, s=2, p=(2, (1, 3)), C=2, O=2, mode="reflect"),
    case("reflect further than the array", (2, 3), 2, p=((3, 4), 5), mode="reflect"),
    case("replicate", (3, 4), 3, s=(1, 2), p=((2, 1), (0, 4)), C=2, O=2, G=2, mode="replicate"),
    case("circular", (3, 4), 3, s=2, d=2, p=(4, (5, 1)), mode="circular"),
    case("circular, one end cropped", (4, 5), 2, s=3, p=((-1, 4), (2, -2)), C=2, O=2, mode="circular"),
]  # fmt: skip

TRANSPOSED = [
    transposed("transposed", (3, 4), 3, C=2, O=3),
    transposed("transposed, strided", (3, 2), 3, s=2, p=1, op=1, C=2, O=2),
    transposed("transposed, asymmetric", (3, 4), 3, s=(2, 3), p=((0, 1), (2, 0)), op=(0, 2)),
    transposed("transposed, negative padding", (2, 3), 2, s=2, p=((-1, 2), (0, -3)), op=1),
    transposed("transposed, output padding up to the stride", (2, 3), 2, s=(1, 2), d=(2, 4), op=(1, 2)),
    transposed("transposed, output padding beyond the stride", (3, 2), 2, s=(2, 1), d=(5, 3), op=(4, 2), p=1),
    transposed("transposed, groups", (3, 2), 2, s=2, p=(1, 0), C=4, O=6, G=2),
    transposed("transposed, depthwise", (3, 2), 3, s=2, p=1, C=3, O=3, G=3),
    transposed("transposed, padding beyond K-1", (5, 6), 2, s=2, p=(3, (0, 4))),
    transposed("transposed, one axis", (3,), 3, s=3, p=((1, 0),), op=2, C=2, O=2),
    transposed("transposed, three axes", (2, 3, 2), 2, s=(2, 1, 3), op=(1, 0, 2), C=2, O=2),
]


def random_cases(seed: int, count: int, ranks: tuple[int, ...] = (2,), modes: bool = False) -> Iterator[Case]:
    """`count` convolutions that have an output, the same for the same seed."""
    rng = random.Random(seed)
    found = 0
    while found < count:
        rank = rng.choice(ranks)
        made = _random_case(rng, rank, rng.choice(("zeros", *MODES)) if modes else "zeros")
        if min(made.sizes) < 1 or (made.padding_mode == "reflect" and min(made.i) < 2):
            continue
        found += 1
        yield made


def _random_case(rng: random.Random, rank: int, mode: str) -> Case:
    def axes(low: int, high: int) -> Sizes:
        return tuple(rng.randint(low, high) for _ in range(rank))

    G = rng.choice((1, 1, 2, 3))
    drawn = dict(
        i=axes(1, 9), k=axes(1, 4), s=axes(1, 5), d=axes(1, 4), p=tuple(zip(axes(-2, 6), axes(-2, 6))),
        N=rng.choice((1, 2)), C=G * rng.choice((1, 2)), O=G * rng.choice((1, 2, 3)), G=G, mode=mode,
    )  # fmt: skip
    return case(", ".join(f"{key}={value}" for key, value in drawn.items()), **drawn)


def random_large_cases(seed: int, count: int, ranks: tuple[int, ...] = (1, 2, 3)) -> Iterator[Case]:
    """`count` convolutions that multiply so much that the kernel cuts them into pieces."""
    rng = random.Random(seed)
    found = 0
    while found < count:
        rank = rng.choice(ranks)
        G = rng.choice((1, 1, 2, 5))
        lengths = {1: (1000, 5000), 2: (20, 70), 3: (8, 16)}[rank]

        def axes(low: int, high: int) -> Sizes:
            return tuple(rng.randint(low, high) for _ in range(rank))

        drawn = dict(
            i=axes(*lengths), k=axes(1, 6), s=axes(1, 4), d=axes(1, 3),
            p=tuple(zip(axes(-3, 7), axes(-3, 7))), N=rng.randint(1, 4),
            C=G * rng.randint(1, 9), O=G * rng.randint(1, 9), G=G,
        )  # fmt: skip
        made = case(", ".join(f"{key}={value}" for key, value in drawn.items()), **drawn)
        if min(made.sizes) >= 1 and made.N * made.C * prod(made.k) * prod(made.sizes) > 2**16:
            found += 1
            yield made


def random_transposed(seed: int, count: int, ranks: tuple[int, ...] = (2,)) -> Iterator[Case]:
    """`count` transposed convolutions that have an output, the same for the same seed."""
    rng = random.Random(seed)
    found = 0
    while found < count:
        rank = rng.choice(ranks)
        plain = _random_case(rng, rank, "zeros")
        op = tuple(rng.randint(0, max(s, d) - 1) for s, d in zip(plain.stride, plain.dilation))
        small = tuple((i + 1) // 2 for i in plain.i)
        name = f"transposed, {plain.name}, but i={small}, op={op}"
        made = replace(plain, name=name, i=small, output_padding=op)
        if min(made.sizes) < 1:
            continue
        found += 1
        yield made
