"""The problems that a candidate is put to: every pair, then every triple, of parameter values.

Each factor has few values, chosen so that no fault can hide: height and width differ, so do the
strides, the dilations and the two ends of the padding; remainders are asked for by name.  Values
beyond these few stand in `further`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from npconv.problem import Problem
from npconv.testing.covering import covering_array

# A factor's values, the plainest first: a candidate that refuses a value is spared it.  The paddings
# stand for each axis, (lo, hi); further axes than two take the values of the last.
FACTORS: dict[str, tuple[Any, ...]] = {
    "taps": ((3, 2), (1, 1), (2, 3), (3, 3)),
    "stride": ((1, 1), (2, 3), (3, 1)),
    "dilation": ((1, 1), (2, 1), (1, 3)),
    "top": (0, 1, 2, -1),
    "bottom": (0, 2, 1, -1),
    "left": (0, 2, 1, -1),
    "right": (0, 1, 3, -1),
    "groups": (1, 2, 3),
    "channels": ((2, 3), (1, 2), (3, 1)),  # C/G and O/G
    "batch": (2, 1),
    "bias": (True, False),
    "remainder": ((0, 0), (1, 1), (0, 2)),  # of a transposed one: output_padding
}

# The ends of the padding, and whose value an end takes that a candidate cannot choose freely.
ENDS = ("top", "bottom", "left", "right")
FOLLOWS = {"bottom": "top", "left": "top", "right": "left"}

# Sizes that no tile divides, and one larger than most tiles.
TAILS = ("C5O19_i11x13_k3_p1_bias", "N3C19O5_i18x7_k2x3_s2", "C2O3_i37x21_k3_p1_bias")
TRANSPOSED_TAILS = ("transposed_C5O19_i11x13_k3_p1_bias", "transposed_C2O3_i19x10_k3_s2_p1_op1x0")


@dataclass(frozen=True)
class Domain:
    """The values that a candidate supports of each factor, the ends of the padding that it takes apart
    from each other, and whether it wants all sides of the input equal."""

    factors: Mapping[str, tuple[Any, ...]]
    ends: tuple[str, ...] = ENDS
    square: bool = False
    transposed: bool = False
    rank: int = 2

    @property
    def uneven(self) -> bool:
        """Whether the two ends of an axis may differ."""
        return "bottom" in self.ends

    @property
    def free(self) -> dict[str, tuple[Any, ...]]:
        """The factors whose values can be chosen apart from each other."""
        tied = set(ENDS) - set(self.ends)
        return {name: values for name, values in self.factors.items() if name not in tied}

    def without(self, factor: str, keep: Iterable[Any]) -> Domain:
        """The domain with other, or fewer, values of one factor."""
        return replace(self, factors={**self.factors, factor: tuple(keep)})


def full(rank: int = 2, transposed: bool = False) -> Domain:
    """All values."""
    return Domain(FACTORS, rank=rank, transposed=transposed)


def covering(domain: Domain, strength: int) -> tuple[Problem, ...]:
    """Problems that show every combination of `strength` values of the domain, and the tails.

    >>> len(covering(full(), 2)), [str(problem) for problem in covering(full(), 2)[:2]]
    (29, ['N2C2O3_i5x6_k3x2_bias', 'C2O4G2_i7x9_k3x2_s2x3_p1:2x2:1_d2x1'])
    """
    problems = dict.fromkeys(made(domain, row) for row in rows(domain, strength))
    return (*problems, *_tails(domain))


def rows(domain: Domain, strength: int) -> list[dict[str, Any]]:
    """The covering array in the domain's values: one dictionary a problem."""
    factors = domain.free
    return [
        {name: values[level] for (name, values), level in zip(factors.items(), row)}
        for row in covering_array(tuple(map(len, factors.values())), strength)
    ]


def base(domain: Domain, **chosen: Any) -> Problem:
    """The plainest problem, with some of its factors chosen."""
    return made(domain, {**{name: values[0] for name, values in domain.free.items()}, **chosen})


def made(domain: Domain, value: Mapping[str, Any]) -> Problem:
    """The problem with these values: of each factor one, and of `outputs` if the sizes are not left free."""
    rank = domain.rank
    padding = dict(value)
    for end, other in FOLLOWS.items():
        padding.setdefault(end, padding[other])
    ends = [(padding["top"], padding["bottom"]), (padding["left"], padding["right"])]
    k, s, d, r, pads = (
        per_axis(pair, rank)
        for pair in (value["taps"], value["stride"], value["dilation"], value["remainder"], ends)
    )
    G, (C, O) = value["groups"], value["channels"]
    shared = dict(
        N=value["batch"], C=G * C, O=G * O, G=G, k=k, stride=s, dilation=d, padding=pads, bias=value["bias"]
    )
    extra = tuple(rest % (max(si, di) if domain.transposed else si) for rest, si, di in zip(r, s, d))
    # What an axis of o outputs has beside s*o: i = s(o-1) + K + r - lo - hi.
    beside = [di * (ki - 1) + 1 + ri - si - lo - hi for ki, si, di, ri, (lo, hi) in zip(k, s, d, extra, pads)]
    if "outputs" in value:
        outputs, sizes = _as_asked(per_axis(value["outputs"], rank), s, beside)
    else:
        outputs, sizes = _different(s, beside)
    if domain.square:
        outputs, sizes = [max(outputs)] * rank, [max(sizes)] * rank
    if domain.transposed:
        return Problem(i=tuple(outputs), output_padding=extra, transposed=True, **shared).canonical()
    return Problem(i=tuple(sizes), output_padding=(0,) * rank, **shared).canonical()


def per_axis(values: Sequence[Any], rank: int) -> tuple[Any, ...]:
    """One axis takes the first value; a third one the last again."""
    return tuple(values[min(axis, len(values) - 1)] for axis in range(rank))


def _different(stride: Sequence[int], beside: Sequence[int]) -> tuple[list[int], list[int]]:
    """The smallest sides that differ from each other, so that no swap hides: outputs, inputs."""
    outputs: list[int] = []
    sizes: list[int] = []
    for s, rest in zip(stride, beside):
        o = 3
        while s * o + rest < 2 or s * o + rest in sizes or o in outputs:
            o += 1
        outputs.append(o)
        sizes.append(s * o + rest)
    return outputs, sizes


def _as_asked(
    wanted: Sequence[int], stride: Sequence[int], beside: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The sides with as many outputs as are wanted, or as few more as an input of size 1 gives."""
    outputs = [max(o, -(-(1 - rest) // s)) for o, s, rest in zip(wanted, stride, beside)]
    return outputs, [s * o + rest for o, s, rest in zip(outputs, stride, beside)]


def _tails(domain: Domain) -> tuple[Problem, ...]:
    """The tails that the domain allows; two axes only."""
    lines = TRANSPOSED_TAILS if domain.transposed else TAILS
    problems = (Problem.parse(line) for line in lines if domain.rank == 2 and not domain.square)
    return tuple(problem for problem in problems if _allowed(problem, domain.factors))


def _allowed(problem: Problem, factors: Mapping[str, tuple[Any, ...]]) -> bool:
    return (
        problem.bias in factors["bias"]
        and (problem.N == 1 or 2 in factors["batch"])
        and (problem.stride == (1, 1) or len(factors["stride"]) > 1)
        and (problem.padding == ((0, 0), (0, 0)) or 1 in factors["top"])
        and (not any(problem.output_padding) or len(factors["remainder"]) > 1)  # type: ignore[arg-type]
    )
