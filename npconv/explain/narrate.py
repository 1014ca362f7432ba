"""Sizes, paddings and steps in words, with the numbers put into the formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from npconv.explain.scene import Figure
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
    """Extent, output size and remainder, as formulas with the numbers put in.

    >>> from npconv.problem import Problem
    >>> print("\\n".join(sizes(Problem.parse("i6x6_k3_s2").geometry)))
    extent     K = d(k-1)+1 = 1*(3-1)+1 = 3
    output     o = floor((i+lo+hi-K)/s)+1 = floor((6+0+0-3)/2)+1 = 2
    remainder  r = i+lo+hi-K-(o-1)s = 6+0+0-3-(2-1)*2 = 1
    """
    axes = geometry.axes
    return [
        *per_axis(f"extent     K = d(k-1)+1 = {a.d}*({a.k}-1)+1 = {a.extent}" for a in axes),
        *per_axis(
            f"output     o = floor((i+lo+hi-K)/s)+1 "
            f"= floor(({a.i}{plus(a.lo)}{plus(a.hi)}-{a.extent})/{a.s})+1 = {a.o}"
            for a in axes
        ),
        *per_axis(
            f"remainder  r = i+lo+hi-K-(o-1)s "
            f"= {a.i}{plus(a.lo)}{plus(a.hi)}-{a.extent}-({a.o}-1)*{a.s} = {a.remainder}"
            for a in axes
        ),
    ]


def transposed_sizes(geometry: Geometry) -> list[str]:
    """The same for a transposed convolution: its input is the geometry's output, its size is i."""
    axes = geometry.axes
    return [
        *per_axis(f"extent  K = d(k-1)+1 = {a.d}*({a.k}-1)+1 = {a.extent}" for a in axes),
        *per_axis(
            f"output  (i-1)s-lo-hi+K+output_padding "
            f"= ({a.o}-1)*{a.s}{minus(a.lo)}{minus(a.hi)}+{a.extent}{plus(a.remainder)} = {a.i}"
            for a in axes
        ),
    ]


def steps(figure: Figure) -> list[str]:
    """What was done to which array, with the paddings that were applied.

    >>> from npconv.explain.scene import Scene
    >>> from npconv.problem import Problem
    >>> (figure,) = Scene.of(Problem.parse("i6x6_k3_s2")).figures("weight")
    >>> steps(figure)[1]
    'pad input by (lo, hi-r) = (0, 0-1) = (0, -1)'
    """
    return [sentence for _, sentences in moves(figure) for sentence in sentences]


def moves(figure: Figure) -> list[tuple[str, list[str]]]:
    """The same, each step beside the name of the move that did it."""
    return MOVES[figure.map](figure)


def _output_moves(figure: Figure) -> list[tuple[str, list[str]]]:
    axes = figure.geometry.axes
    return [
        ("pad", _padded(f"pad {figure.under} by (lo, hi)", figure, lambda a: f"({a.lo}, {a.hi})")),
        (
            "slide",
            per_axis(f"slide {figure.window} over it: stride {a.s}, dilation {a.d}; no flip" for a in axes),
        ),
    ]


def _input_moves(figure: Figure) -> list[tuple[str, list[str]]]:
    axes = figure.geometry.axes
    padded = _padded(
        "pad it by (K-1-lo, K-1-hi+r)",
        figure,
        lambda a: f"({a.extent}-1{minus(a.lo)}, {a.extent}-1{minus(a.hi)}{plus(a.remainder)})",
    )
    return [
        (
            "dilate",
            per_axis(f"dilate {figure.under} by the stride {a.s}: {zeros_between(a.s)}" for a in axes),
        ),
        ("pad", padded),
        ("flip", [f"flip {figure.window} and swap its channel axes{in_groups(figure.geometry)}"]),
        ("slide", per_axis(f"slide it over that: stride {a.l}, dilation {a.d}" for a in axes)),
    ]


def _weight_moves(figure: Figure) -> list[tuple[str, list[str]]]:
    axes = figure.geometry.axes
    padded = _padded(
        f"pad {figure.under} by (lo, hi-r)", figure, lambda a: f"({a.lo}, {a.hi}{minus(a.remainder)})"
    )
    said = (f"slide {figure.window} over it: stride {a.d} (= d), dilation {a.s} (= s); no flip" for a in axes)
    swapped = f"swap batch and channels of {figure.under} and {figure.window}{in_groups(figure.geometry)}"
    return [("swap", [swapped]), ("pad", padded), ("slide", per_axis(said))]


MOVES = {"output": _output_moves, "input": _input_moves, "weight": _weight_moves}


def formula(figure: Figure) -> list[str]:
    """What one element of the result is, and which indices meet, with the numbers put in.

    c are the problem's input channels and o its output channels, in a transposed one too.

    >>> from npconv.explain.scene import Scene
    >>> from npconv.problem import Problem
    >>> print("\\n".join(formula(Scene.of(Problem.parse("i6_k3_s2_p1")).figures("weight")[0])))
    grad_weight[o,c,q] = sum over n, p of input[n,c,m] * grad_output[n,o,p]
    where m = s*p + d*q - lo = 2*p + 1*q - 1
    """
    under, window, result = figure.under, figure.window, figure.result
    c, o = figure.channels
    sums = {
        "output": f"{result}[n,{o},p] = sum over {c}, q of {under}[n,{c},m] * {window}[{o},{c},q]",
        "input": f"{result}[n,{c},m] = sum over {o}, p, q of {under}[n,{o},p] * {window}[{o},{c},q]",
        "weight": f"{result}[{o},{c},q] = sum over n, p of {under}[n,{c},m] * {window}[n,{o},p]",
    }
    meet = per_axis(
        f"m = s*p + d*q - lo = {a.s}*p + {a.d}*q {minus(a.lo)[0]} {abs(a.lo)}" for a in figure.geometry.axes
    )
    return [sums[figure.map], *(f"where {line}" for line in meet)]


def zeros_between(step: int) -> str:
    """How many zeros a dilation puts between neighbours.

    >>> zeros_between(1), zeros_between(3)
    ('nothing goes in between', '2 zeros between neighbours')
    """
    return "nothing goes in between" if step == 1 else f"{step - 1} zero{'s' * (step > 2)} between neighbours"


def in_groups(geometry: Geometry) -> str:
    """A reminder where there are groups."""
    return f", in each of the {geometry.G} groups" if geometry.G > 1 else ""


def _padded(what: str, figure: Figure, formula: Callable[[Axis], str]) -> list[str]:
    def say(axis: Axis, pair: Pair) -> str:
        said = formula(axis)
        return f"{what} = {said}" + (f" = {pair}" if said != str(pair) else "")

    return per_axis(say(axis, pair) for axis, pair in zip(figure.geometry.axes, figure.trace.padding))
