"""Values beyond those of the covering sets: many kernels have a path of their own for one of them.

Each is asked for twice: where all else is plain, so that nothing but the value can be the cause, and
amid other values, as a row of the pairwise set that has this value in place of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from npconv.problem import Problem
from npconv.testing.parts import geometry_of
from npconv.testing.problems import ENDS, FACTORS, FOLLOWS, Domain, base, covering, made, rows

Chosen = Mapping[str, Any]

LARGEST = 200_000  # elements of an array, amid other values

# (why, values).  `outputs` asks for the sizes of the output, of a transposed one for those of its input.
FURTHER: tuple[tuple[str, Chosen], ...] = (
    ("the smallest even window; U-Net goes up with it", dict(taps=(2, 2))),
    ("the window of most generators", dict(taps=(4, 4))),
    ("even and oblong: a test of k % 2 that asks one axis only", dict(taps=(4, 2))),
    ("often unrolled by hand, after 3x3", dict(taps=(5, 5))),
    ("5 on one axis only", dict(taps=(5, 3))),
    ("first layers", dict(taps=(7, 7))),
    ("longer than a vector of 8", dict(taps=(2, 9))),
    ("one row: half of a separable window", dict(taps=(1, 3))),
    ("one column: the other half", dict(taps=(3, 1))),
    ("one row of many taps", dict(taps=(1, 7))),
    ("one column of many", dict(taps=(6, 1))),
    ("the commonest stride above 1", dict(stride=(2, 2))),
    ("a stride on the width only, as in audio", dict(stride=(1, 2))),
    ("a stride on the height only, as in text lines", dict(stride=(2, 1))),
    ("odd, and the same on both axes", dict(stride=(3, 3))),
    ("the first layer of AlexNet; patches", dict(stride=(4, 4))),
    ("4 on one axis, more on the other", dict(stride=(4, 5))),
    ("larger than most windows", dict(stride=(8, 1))),
    ("the commonest dilation above 1", dict(dilation=(2, 2))),
    ("a dilation on the width only", dict(dilation=(1, 2))),
    ("odd, and the same on both axes", dict(dilation=(3, 3))),
    ("odd, on the height only", dict(dilation=(3, 1))),
    ("segmentation", dict(dilation=(4, 4))),
    ("4 on one axis, more on the other", dict(dilation=(5, 4))),
    ("wide on one axis only", dict(dilation=(1, 6))),
    ("one more than a vector of two", dict(batch=3)),
    ("a whole vector of samples", dict(batch=4)),
    ("and one left over", dict(batch=5)),
    ("two vectors", dict(batch=8)),
    ("and one left over", dict(batch=9)),
    ("a power of two of groups", dict(groups=4, channels=(2, 3))),
    ("and one more", dict(groups=5, channels=(3, 2))),
    ("more", dict(groups=8, channels=(2, 3))),
    ("as many as ResNeXt has, or nearly", dict(groups=17, channels=(2, 1))),
    ("the smallest", dict(channels=(1, 1))),
    ("a vector of 4", dict(channels=(4, 4))),
    ("a vector of inputs only", dict(channels=(4, 3))),
    ("a vector of outputs only", dict(channels=(3, 4))),
    ("a vector of 8", dict(channels=(8, 8))),
    ("8 inputs only", dict(channels=(8, 5))),
    ("8 outputs only", dict(channels=(5, 8))),
    ("more than a tile of 16 inputs", dict(channels=(17, 2), taps=(1, 2))),
    ("more than a tile of 16 outputs", dict(channels=(2, 17), taps=(1, 2))),
    ("more than a tile of 32 inputs", dict(channels=(33, 2), taps=(1, 2))),
    ("more than a tile of 32 outputs", dict(channels=(2, 33), taps=(1, 2))),
    ("more than a tile of 64 inputs", dict(channels=(65, 1), taps=(1, 2))),
    ("more than a tile of 64 outputs", dict(channels=(1, 65), taps=(1, 2))),
    ("two whole tiles of 64", dict(channels=(128, 2), taps=(1, 2))),
    ("two whole tiles of 64, of outputs", dict(channels=(2, 128), taps=(1, 2))),
    ("a window as large as the input", dict(outputs=(1, 1))),
    ("one column of outputs", dict(outputs=(4, 1))),
    ("one row of outputs", dict(outputs=(1, 4))),
    ("one column, of inputs too", dict(outputs=(5, 1), taps=(3, 1))),
    ("the same of single taps", dict(outputs=(4, 1), taps=(1, 1))),
    ("one row, of inputs too", dict(outputs=(1, 5), taps=(1, 3))),
    ("the same of single taps", dict(outputs=(1, 4), taps=(1, 1))),
    ("a whole vector wide", dict(outputs=(2, 8))),
    ("a whole vector high", dict(outputs=(8, 2))),
    ("as high as a tile of 32", dict(outputs=(32, 3))),
    ("as wide as a tile of 32", dict(outputs=(2, 32))),
    ("wider than a tile of 32", dict(outputs=(1, 33))),
    ("higher than a tile of 32", dict(outputs=(33, 2))),
    ("as wide as a tile of 64", dict(outputs=(3, 64))),
    ("as high as a tile of 64", dict(outputs=(64, 2))),
    ("wider than a tile of 64", dict(outputs=(2, 65))),
    ("higher than a tile of 64", dict(outputs=(66, 1))),
    ("as wide as high, with an oblong window", dict(outputs=(4, 5))),  # 3x2 taps: 6x6 inputs
    ("as many outputs in a row as in a column", dict(outputs=(4, 4))),
    ("crops two at the top", dict(top=-2)),
    ("crops two at the bottom", dict(bottom=-2)),
    ("crops two at the left", dict(left=-2)),
    ("crops three at the right", dict(right=-3)),
    ("crops two at every end", dict.fromkeys(ENDS, -2)),
    ("a border wider than most windows, at the top", dict(top=4, outputs=(8, 5))),
    ("the same at the bottom", dict(bottom=5, outputs=(9, 5))),
    ("the same at the left", dict(left=4, outputs=(5, 8))),
    ("the same at the right", dict(right=4, outputs=(5, 8))),
    ("the same all around", dict(outputs=(12, 14), **dict.fromkeys(ENDS, 4))),
    ("all sides equal, the window too: hides every swap of axes", dict(taps=(3, 3), outputs=(4, 4))),
    ("the same, with a border", dict(taps=(3, 3), outputs=(4, 4), **dict.fromkeys(ENDS, 1))),
    ("the same, as layers go down", dict(taps=(3, 3), stride=(2, 2), outputs=(3, 3), **dict.fromkeys(ENDS, 1))),
    ("the same, dilated", dict(taps=(3, 3), dilation=(2, 2), outputs=(4, 4), **dict.fromkeys(ENDS, 2))),
    ("a window as large as a square input", dict(taps=(3, 3), outputs=(1, 1))),
    ("windows side by side", dict(taps=(2, 2), stride=(2, 2))),
    ("the same, of 4: patches", dict(taps=(4, 4), stride=(4, 4))),
    ("the same, oblong", dict(taps=(3, 2), stride=(3, 2))),
    ("windows side by side, the last rows not read", dict(taps=(3, 3), stride=(3, 3), remainder=(2, 1))),
    ("strides that leave single taps, as in shortcuts", dict(taps=(1, 1), stride=(2, 2), remainder=(1, 0))),
    ("an even window with stride 2, as generators have it", dict(taps=(4, 4), stride=(2, 2), **dict.fromkeys(ENDS, 1))),
    ("stride 2 with a row left over", dict(taps=(3, 3), stride=(2, 2), remainder=(1, 1), **dict.fromkeys(ENDS, 1))),
    ("a large window with stride 2: first layers", dict(taps=(7, 7), stride=(2, 2), remainder=(1, 0), **dict.fromkeys(ENDS, 3))),
    ("every remainder of 4", dict(stride=(4, 4), remainder=(3, 2))),
    ("stride = dilation: only some taps ever meet", dict(stride=(2, 2), dilation=(2, 2))),
    ("the same of 3", dict(stride=(3, 3), dilation=(3, 3))),
    ("stride 4 and dilation 2: a common divisor", dict(stride=(4, 4), dilation=(2, 2), remainder=(1, 3))),
    ("depthwise", dict(groups=3, channels=(1, 1))),
    ("depthwise, a vector of channels", dict(groups=8, channels=(1, 1))),
    ("depthwise, more than a tile", dict(groups=33, channels=(1, 1))),
    ("depthwise, 3x3", dict(groups=4, channels=(1, 1), taps=(3, 3), **dict.fromkeys(ENDS, 1))),
    ("depthwise with stride 2", dict(groups=4, channels=(1, 1), taps=(3, 3), stride=(2, 2), **dict.fromkeys(ENDS, 1))),
    ("depthwise, dilated", dict(groups=5, channels=(1, 1), taps=(3, 3), dilation=(2, 2), **dict.fromkeys(ENDS, 2))),
    ("depthwise with two outputs a channel", dict(groups=4, channels=(1, 2))),
    ("depthwise with three", dict(groups=3, channels=(1, 3))),
    ("many channels a group", dict(groups=2, channels=(8, 4))),
    ("many outputs a group", dict(groups=2, channels=(4, 8))),
    ("an input of 1x1, as after pooling", dict(taps=(1, 1), outputs=(1, 1))),
    ("3x3 taps on an input of 1x1: only the middle one meets it", dict(taps=(3, 3), outputs=(1, 1), **dict.fromkeys(ENDS, 1))),
    ("one row and groups", dict(groups=2, taps=(1, 1), outputs=(1, 4))),
    ("stride 2, \"same\" as TensorFlow has it", dict(taps=(3, 3), stride=(2, 2), bottom=1, right=1, outputs=(3, 4))),
    ("stride 2 without a border, odd sides", dict(taps=(3, 3), stride=(2, 2), outputs=(3, 4))),
    ("output padding, or a rest, on the width only", dict(stride=(2, 2), remainder=(0, 1))),
    ("the same on the height only", dict(stride=(2, 2), remainder=(1, 0))),
    ("depthwise, 5x5", dict(groups=4, channels=(1, 1), taps=(5, 5), **dict.fromkeys(ENDS, 2))),
    ("depthwise, 7x7", dict(groups=4, channels=(1, 1), taps=(7, 7), **dict.fromkeys(ENDS, 3))),
    ("depthwise, a vector of columns and one left over", dict(groups=4, channels=(1, 1), taps=(3, 3), outputs=(4, 5))),
    ("one less than a vector of 8 outputs", dict(channels=(2, 7))),
    ("of inputs", dict(channels=(7, 2))),
    ("one less than a vector of 16 outputs", dict(channels=(2, 15))),
    ("of inputs", dict(channels=(15, 2))),
    ("one less than a vector of 16 columns", dict(outputs=(2, 15))),
    ("and one more", dict(outputs=(2, 17))),
    ("one more than a vector of 16 rows", dict(outputs=(17, 2))),
    ("whole tiles of 32 on both sides", dict(channels=(32, 32), taps=(3, 3))),
    ("more than 256 terms in a gradient", dict(channels=(3, 33), taps=(3, 3))),
    ("more than 512 terms in an output", dict(channels=(65, 2), taps=(3, 3))),
    ("more than 1024 positions", dict(outputs=(33, 34))),
    ("wider than 128", dict(outputs=(2, 130))),
    ("higher than 128", dict(outputs=(130, 2))),
    ("tiles of Winograd, cut at both ends", dict(channels=(8, 8), taps=(3, 3), outputs=(5, 7), **dict.fromkeys(ENDS, 1))),
    ("six groups", dict(groups=6, channels=(2, 3))),
    ("a vector of groups", dict(groups=16, channels=(1, 2))),
    ("as many groups as ResNeXt has", dict(groups=32, channels=(2, 2))),
    ("more than a vector of 16 samples", dict(batch=17)),
    ("wide dilations, as in segmentation", dict(dilation=(12, 12))),
    ("patches of 16, as in vision transformers", dict(taps=(16, 16), stride=(16, 16), channels=(1, 2), outputs=(2, 3))),
    ("the first layer of AlexNet", dict(taps=(11, 11), stride=(4, 4))),
)  # fmt: skip


def further(domain: Domain) -> tuple[Problem, ...]:
    """All further problems of a domain.

    >>> from npconv.testing.problems import full
    >>> [str(problem) for problem in further(full())[:2]]
    ['N2C2O3_i4x5_k2_bias', 'N2C9O3G3_i5x3_k2_s3x1_p2:1x1:3_d1x3']
    """
    cases = (case for chosen in within(domain) for case in (alone(domain, chosen), mixed(domain, chosen)))
    return tuple(dict.fromkeys(cases))


def every(domain: Domain, strength: int) -> tuple[Problem, ...]:
    """The covering set of a domain and its further problems.

    >>> from npconv.testing.problems import full
    >>> len(every(full(), 2)), len(every(full(), 3))
    (301, 398)
    """
    return tuple(dict.fromkeys((*covering(domain, strength), *further(domain))))


def within(domain: Domain) -> Iterator[Chosen]:
    """The rows of the table that are not known to be outside of a domain."""
    return (chosen for _, chosen in FURTHER if all(_open(domain, chosen, name) for name in chosen))


def _open(domain: Domain, chosen: Chosen, name: str) -> bool:
    """Whether one of the values may be supported: no end of the padding that should follow another, no
    negative one where those are refused, no value of the covering sets that was refused."""
    value = chosen[name]
    if name == "outputs":
        return True
    if name not in ENDS:
        return value in domain.factors[name] or value not in FACTORS[name]
    free = name in domain.ends or value == chosen.get(FOLLOWS[name])
    return free and any(value * known > 0 for known in domain.factors[name])


def alone(domain: Domain, chosen: Chosen) -> Problem:
    """The values where all else is plain."""
    return base(domain, **chosen)


def mixed(domain: Domain, chosen: Chosen) -> Problem:
    """The values amid others: the next rows of the pairwise set take turns, but for those in which with
    these values most windows lie in the padding, or arrays are large."""
    plain, *others = rows(domain, 2)
    turn = (1 + [values for _, values in FURTHER].index(chosen)) % max(len(others), 1)
    turned = (made(domain, {**other, **chosen}) for other in (*others[turn:], *others[:turn], plain))
    fit = (problem for problem in turned if _size(problem) < LARGEST and _reads(problem))
    return next(fit, alone(domain, chosen))


def _reads(problem: Problem) -> bool:
    """Whether on each axis half of the windows at least read some input."""
    return all(
        2 * sum(any(0 <= a.s * p + a.d * q - a.lo < a.i for q in range(a.k)) for p in range(a.o)) >= a.o
        for a in geometry_of(problem).axes
    )


def _size(problem: Problem) -> int:
    return max(prod(problem.input_shape), prod(problem.output_shape))


def told(chosen: Chosen) -> Chosen:
    """The values without the sizes, where these only make room for another; equal ends as one padding.

    >>> told({"top": 4, "outputs": (8, 5)}), told(dict.fromkeys(ENDS, -2))
    ({'top': 4}, {'padding': -2})
    """
    values = {name: value for name, value in chosen.items() if name != "outputs"} or dict(chosen)
    ends = {values.get(end) for end in ENDS}
    if len(ends) > 1 or None in ends:
        return values
    return {**{name: value for name, value in values.items() if name not in ENDS}, "padding": ends.pop()}
