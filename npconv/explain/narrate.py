"""Sizes, paddings and steps in words, with the numbers put into the formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from npconv.geometry import Axis, Geometry, Pair

AXIS_NAMES = {1: ("",), 2: ("rows", "columns"), 3: ("planes", "rows", "columns")}


def by(sizes: Sequence[int]) -> str:
    """Sizes as they are read aloud.

    >>> by((1, 1, 5, 5))
    '1x1x5x5'
    """
    return "x".join(map(str, sizes))


def plus(number: int) -> str:
    """A number as the next term of a sum.

    >>> plus(2), plus(-1)
    ('+2', '-1')
    """
    return f"{number:+d}"


def minus(number: int) -> str:
    """A number as the next term taken away.

    >>> minus(0), minus(2), minus(-1)
    ('-0', '-2', '+1')
    """
    return f"+{-number}" if number < 0 else f"-{number}"


def per_axis(sentences: Iterable[str]) -> list[str]:
    """One sentence where those of all axes agree; else one an axis, under its name.

    >>> per_axis(["K = 3", "K = 3"]), per_axis(["K = 3", "K = 5"])
    (['K = 3'], ['rows:    K = 3', 'columns: K = 5'])
    """
    said = list(sentences)
    if len(set(said)) == 1:
        return said[:1]
    names = AXIS_NAMES.get(len(said), tuple(f"axis {number}" for number in range(len(said))))
    return [f"{name + ':':9}{sentence}" for name, sentence in zip(names, said)]


def shapes(geometry: Geometry) -> str:
    """The three shapes in one line."""
    return (
        f"input {by(geometry.input_shape)}, weight {by(geometry.weight_shape)}, "
        f"output {by(geometry.output_shape)}"
    )


def parameters(geometry: Geometry) -> str:
    """Stride, padding, dilation and groups in one line."""

    def short(entries: Sequence[int | Pair]) -> str:
        return str(entries[0] if len(set(entries)) == 1 else tuple(entries))

    ends = [lo if lo == hi else (lo, hi) for lo, hi in geometry.padding]
    return (
        f"stride {short(geometry.stride)}, padding {short(ends)}, "
        f"dilation {short(geometry.dilation)}, groups {geometry.G}"
    )


def sizes(geometry: Geometry) -> list[str]:
    """Extent, output size and remainder, as formulas with the numbers put in."""
    return [
        *per_axis(f"extent     K = d(k-1)+1 = {a.d}*({a.k}-1)+1 = {a.extent}" for a in geometry.axes),
        *per_axis(
            f"output     o = floor((i+lo+hi-K)/s)+1 "
            f"= floor(({a.i}{plus(a.lo)}{plus(a.hi)}-{a.extent})/{a.s})+1 = {a.o}"
            for a in geometry.axes
        ),
        *per_axis(
            f"remainder  r = i+lo+hi-K-(o-1)s "
            f"= {a.i}{plus(a.lo)}{plus(a.hi)}-{a.extent}-({a.o}-1)*{a.s} = {a.remainder}"
            for a in geometry.axes
        ),
    ]


def forward(geometry: Geometry, padding: Sequence[Pair]) -> list[str]:
    """The forward's steps; `padding` is what was applied."""
    return [
        *_padded("pad the input by (lo, hi)", geometry, padding, lambda a: f"({a.lo}, {a.hi})"),
        *per_axis(f"slide the weight over it: stride {a.s}, dilation {a.d}; no flip" for a in geometry.axes),
    ]


def input_gradient(geometry: Geometry, padding: Sequence[Pair]) -> list[str]:
    """The input gradient's steps; `padding` is what was applied."""
    return [
        *per_axis(f"dilate grad_output by the stride {a.s}: {zeros_between(a.s)}" for a in geometry.axes),
        *_padded(
            "pad it by (K-1-lo, K-1-hi+r)",
            geometry,
            padding,
            lambda a: f"({a.extent}-1{minus(a.lo)}, {a.extent}-1{minus(a.hi)}{plus(a.remainder)})",
        ),
        f"flip the weight and swap its channel axes{in_groups(geometry)}",
        *per_axis(f"slide it over that: stride {a.l}, dilation {a.d}" for a in geometry.axes),
    ]


def weight_gradient(geometry: Geometry, padding: Sequence[Pair]) -> list[str]:
    """The weight gradient's steps; `padding` is what was applied."""
    return [
        f"swap batch and channels of input and grad_output{in_groups(geometry)}",
        *_padded(
            "pad the input by (lo, hi-r)",
            geometry,
            padding,
            lambda a: f"({a.lo}, {a.hi}{minus(a.remainder)})",
        ),
        *per_axis(
            f"slide grad_output over it: stride {a.d} (= d), dilation {a.s} (= s); no flip"
            for a in geometry.axes
        ),
    ]


def zeros_between(step: int) -> str:
    """How many zeros a dilation puts between neighbours.

    >>> zeros_between(1), zeros_between(3)
    ('nothing goes in between', '2 zeros between neighbours')
    """
    return "nothing goes in between" if step == 1 else f"{step - 1} zero{'s' * (step > 2)} between neighbours"


def in_groups(geometry: Geometry) -> str:
    """A reminder where there are groups."""
    return f", in each of the {geometry.G} groups" if geometry.G > 1 else ""


def _padded(
    what: str, geometry: Geometry, padding: Sequence[Pair], formula: Callable[[Axis], str]
) -> list[str]:
    def say(axis: Axis, pair: Pair) -> str:
        said = formula(axis)
        return f"{what} = {said}" + (f" = {pair}" if said != str(pair) else "")

    return per_axis(say(axis, pair) for axis, pair in zip(geometry.axes, padding))
