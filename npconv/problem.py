"""A convolution in one line: its name, and all that is needed to make it again.

N2C4O8G2_i6x7_k3_s2_p1:0x1_d1_bias        a convolution
transposed_C2O3_i4_k3_s2_p1_op1           a transposed one; i is its own input

N C O G   batch, input channels, output channels, groups    (1 where left out)
i k       sizes of input and weight, one an axis, joined by x; one k stands for all axes
s p d     stride, padding (lo:hi, or one number for both; same, same-lower, valid), dilation
op        output_padding
bias, reflect, replicate, circular
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from npconv.arguments import Pair, Shape, integer, per_axis
from npconv.geometry import Geometry, convolution
from npconv.transposed_geometry import transposed

MODES = ("reflect", "replicate", "circular")
DIGITS = 1000  # Python reads numbers of 4300 digits and no longer ones


@dataclass(frozen=True)
class Problem:
    """Everything about one convolution but its numbers.

    >>> problem = Problem.parse("N2C4O8G2_i6x7_k3_s2_p1:0x1_bias")
    >>> problem.weight_shape, problem.geometry.output_shape
    ((8, 2, 3, 3), (2, 8, 3, 4))
    >>> str(problem)
    'N2C4O8G2_i6x7_k3_s2_p1:0x1_bias'
    >>> Problem.parse("transposed_C2O3_i4_k3_s2_p1_op1").output_shape
    (1, 3, 8)
    """

    i: Shape
    k: Shape
    N: int = 1
    C: int = 1
    O: int = 1
    G: int = 1
    stride: Shape | int = 1
    padding: tuple[Pair, ...] | str | int = 0
    dilation: Shape | int = 1
    output_padding: Shape | int = 0
    bias: bool = False
    padding_mode: str = "zeros"
    transposed: bool = False

    @classmethod
    def parse(cls, line: str) -> Problem:
        """The problem that a line names; ValueError that says which part is not understood."""
        if not isinstance(line, str):
            raise TypeError(f"problem: it is {line!r}, a {type(line).__name__}; it must be a line of text")
        if re.search(rf"\d{{{DIGITS + 1}}}", line):
            raise ValueError(f"problem: it has a number of more than {DIGITS} digits, which is no size")
        found: dict[str, Any] = {}
        for part in line.strip().split("_"):
            for key, value in _read(part, line):
                if key in found:
                    raise ValueError(f"problem: {line!r} gives {key} twice")
                found[key] = value
        for key in ("i", "k"):
            if key not in found:
                raise ValueError(f"problem: {line!r} lacks {key}, as in C1O1_i5x5_k3_s2_p1")
        rank = len(found["i"])
        found["k"] = per_axis(found["k"], rank, "k", at_least=1)
        if isinstance(found.get("padding"), tuple) and len(found["padding"]) == 1:
            found["padding"] *= rank
        problem = cls(**found)
        return problem.canonical()

    @property
    def rank(self) -> int:
        return len(self.i)

    @property
    def input_shape(self) -> Shape:
        return (self.N, self.C, *self.i)

    @property
    def weight_shape(self) -> Shape:
        first, second = (self.C, self.O) if self.transposed else (self.O, self.C)
        return (first, second // self.G, *self.k)

    @property
    def output_shape(self) -> Shape:
        geometry = self.geometry
        return geometry.input_shape if self.transposed else geometry.output_shape

    @cached_property
    def geometry(self) -> Geometry:
        """Its geometry; a transposed problem's is that of the convolution whose gradient it is."""
        for name, channels in (("C", self.C), ("O", self.O)):
            if channels % integer(self.G, "G", at_least=1):
                raise ValueError(f"problem: G {self.G} must divide {name} {channels}")
        if self.transposed and self.padding_mode != "zeros":
            raise ValueError(
                f"problem: {self.padding_mode} is for convolutions; a transposed one pads with zeros"
            )
        if not self.transposed and any(per_axis(self.output_padding, self.rank, "output_padding")):
            raise ValueError(
                f"problem: op {self.output_padding} is for transposed convolutions; leave it out"
            )
        p = self.parameters
        p.pop("padding_mode", None)
        make = transposed if self.transposed else convolution
        return make(self.input_shape, self.weight_shape, **p, rank=self.rank)

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of the function that solves it, beside its arrays."""
        shared = dict(stride=self.stride, padding=self.padding, dilation=self.dilation, groups=self.G)
        if self.transposed:
            return {**shared, "output_padding": self.output_padding}
        return shared if self.padding_mode == "zeros" else {**shared, "padding_mode": self.padding_mode}

    def canonical(self) -> Problem:
        """The same problem with one entry an axis everywhere and its padding in numbers."""
        geometry = self.geometry
        plain = Problem(
            i=self.i, k=self.k, N=self.N, C=self.C, O=self.O, G=self.G,
            stride=geometry.stride, padding=geometry.padding, dilation=geometry.dilation,
            output_padding=geometry.remainder if self.transposed else (0,) * self.rank,
            bias=self.bias, padding_mode=self.padding_mode, transposed=self.transposed,
        )  # fmt: skip
        entries = (self.stride, self.padding, self.dilation, self.output_padding)
        same = all(isinstance(entry, tuple) for entry in entries) and self == plain
        return self if same else plain  # what it has worked out stays with it

    def __str__(self) -> str:
        return self._line

    @cached_property
    def _line(self) -> str:
        if (plain := self.canonical()) is not self:
            return str(plain)
        channels = "".join(f"{c}{getattr(self, c)}" for c in "NCOG" if getattr(self, c) != 1)
        ends = [str(lo) if lo == hi else f"{lo}:{hi}" for lo, hi in self.geometry.padding]
        parts = [
            "transposed" if self.transposed else "",
            channels,
            "i" + "x".join(map(str, self.i)),
            "k" + _joined(self.k),
            _unless("s", self.stride, 1),
            _unless("p", ends, "0"),
            _unless("d", self.dilation, 1),
            _unless("op", self.output_padding, 0),
            "bias" if self.bias else "",
            "" if self.padding_mode == "zeros" else self.padding_mode,
        ]
        return "_".join(part for part in parts if part)


def _joined(entries: Any) -> str:
    texts = [str(entry) for entry in entries]
    return texts[0] if len(set(texts)) == 1 else "x".join(texts)


def _unless(letters: str, entries: Any, default: object) -> str:
    """The part that gives these entries, or nothing where all are the default."""
    return "" if all(entry == default for entry in entries) else letters + _joined(entries)


def _read(part: str, line: str) -> list[tuple[str, Any]]:
    """The fields that one part between underscores gives."""
    if part in ("bias", "transposed"):
        return [(part, True)]
    if part in MODES:
        return [("padding_mode", part)]
    if part in ("psame", "pvalid"):
        return [("padding", part[1:])]
    if part == "psame-lower":
        return [("padding", "same_lower")]
    if re.fullmatch(r"([NCOG]\d+)+", part):
        return [(letter, int(number)) for letter, number in re.findall(r"([NCOG])(\d+)", part)]
    if match := re.fullmatch(r"(i|k|s|d|op)(\d+(?:x\d+)*)", part):
        name = {"s": "stride", "d": "dilation", "op": "output_padding"}.get(match[1], match[1])
        return [(name, tuple(map(int, match[2].split("x"))))]
    if match := re.fullmatch(r"p(-?\d+(?::-?\d+)?(?:x-?\d+(?::-?\d+)?)*)", part):
        ends = [tuple(map(int, entry.split(":"))) for entry in match[1].split("x")]
        pairs = tuple((entry[0], entry[-1]) for entry in ends)
        return [("padding", pairs)]
    raise ValueError(
        f"problem: {part!r} in {line!r} is not understood; write it as in N2C4O8G2_i6x7_k3_s2_p1:0x1_d1_bias"
    )
