"""A problem's sizes: what it makes of what, what it leaves out, and what its gradients need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from math import gcd
from textwrap import wrap
from typing import Any

from npconv.explain import narrate
from npconv.explain.dialects import dialects
from npconv.explain.drawing import WIDTH
from npconv.geometry import Axis, Geometry, Pair
from npconv.problem import Problem
from npconv.progressions import gaps, length

MOST = 12  # of runs, phases or taps that are listed; the others are counted


def run(problem: Problem) -> int:
    """Print a problem's sizes and how other libraries write it; 0."""
    print(shape(problem))
    return 0


def shape(problem: Problem) -> str:
    """Sizes, extent, remainder, unread inputs, the paddings of each gradient, phases, dialects.

    >>> print(shape(Problem.parse("i6_k3_s2")).split("\\n\\n")[1])
    axis  i  k  s  d  lo  hi  K  o  r  unread
       0  6  3  2  1   0   0  3  2  1  5
    """
    axes = _geometry(problem).axes
    heads, *said = _TRANSPOSED if problem.transposed else _CONVOLUTION
    sections = [
        [str(problem), *_shapes(problem)],
        table(["axis", *heads.split()], map(_row, range(len(axes)), axes)),
        *said,
        *_border(problem),
        ["MAPS", *_maps(problem)],
        [_phase_rule(problem), *_phases(axes)],
        ["IN OTHER WORDS", *_dialects(problem)],
    ]
    return "\n\n".join("\n".join(section) for section in sections)


# The heads of the table, then what they mean.
_CONVOLUTION: tuple[Any, ...] = (
    "i k s d lo hi K o r unread",
    [
        "K extent, o outputs, r remainder; unread: the inputs that no window reads, whose",
        "gradient is zero",
    ],
)
_TRANSPOSED: tuple[Any, ...] = (
    "output k s d lo hi K input op unreached",
    [
        "K extent, op output_padding; unreached: the outputs that hear from no input,",
        "which are zero before the bias",
    ],
    [
        "A transposed convolution is the input's gradient of a convolution with the same",
        "k, s, d, lo and hi: what is the output here has the size i of that one's input,",
        "the input here the size o of its output, and op is its remainder r.",
    ],
)


def _geometry(problem: Problem) -> Geometry:
    """Its own; with another border than zeros, that of the input with its border."""
    return problem.geometry if problem.padding_mode == "zeros" else problem.geometry.already_padded()


def _border(problem: Problem) -> list[list[str]]:
    """That a border which is no zeros is put around first, where there is one."""
    if problem.padding_mode == "zeros":
        return []
    return [
        [
            f"The border is {problem.padding_mode}, no zeros: it is put around first. Sizes, unread and maps",
            "are those of the padded input; its gradient then goes back through the border.",
        ]
    ]


def table(heads: Sequence[str], rows: object) -> list[str]:
    """Right-aligned columns under their heads; the last one is left-aligned, and broken where it is long."""
    texts = [list(heads), *(list(map(str, row)) for row in rows)]  # type: ignore[attr-defined]
    widths = [max(map(len, column)) for column in zip(*texts)]
    indent = " " * min(sum(widths[:-1]) + 2 * len(widths[:-1]), WIDTH // 2)
    lines = []
    for *row, last in texts:
        line = "  ".join([*(text.rjust(width) for text, width in zip(row, widths)), last])
        lines += wrap(
            line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
    return lines


def _shapes(problem: Problem) -> list[str]:
    shapes = {"input": problem.input_shape, "weight": problem.weight_shape, "output": problem.output_shape}
    return [
        ", ".join(f"{name} {narrate.by(shape)}" for name, shape in shapes.items()),
        narrate.parameters(problem.geometry),
    ]


def _row(number: int, axis: Axis) -> tuple[object, ...]:
    sizes = (axis.i, axis.k, axis.s, axis.d, axis.lo, axis.hi, axis.extent, axis.o, axis.remainder)
    return (number, *sizes, _unread(axis))


def _unread(axis: Axis) -> str:
    first = list(islice(gaps(axis.read, axis.i), MOST + 1))
    if len(first) <= MOST:
        return ranges(first)
    return f"{ranges(first[:MOST])} ... ({axis.i - sum(map(length, axis.read))} in all)"


def ranges(runs: Iterable[range]) -> str:
    """Runs of numbers, each by its ends.

    >>> ranges([range(3), range(5, 6), range(7, 9)]), ranges([])
    ('0-2 5 7-8', 'none')
    """
    return " ".join(str(run[0]) if run[0] == run[-1] else f"{run[0]}-{run[-1]}" for run in runs) or "none"


def _maps(problem: Problem) -> list[str]:
    geometry = _geometry(problem)
    names = ("output", "grad_input") if problem.transposed else ("grad_input", "output")
    forward = geometry.without_remainder() if problem.transposed else geometry
    ones, s, d = (1,) * geometry.rank, geometry.stride, geometry.dilation
    rows = [
        (names[0], s, _pairs(geometry.input_gradient_padding), ones, d, "yes"),
        ("grad_weight", ones, _pairs(geometry.weight_gradient_padding), d, s, "no"),
        (names[1], ones, _pairs(forward.padding), s, d, "no"),
    ]
    heads = ["map", "dilate first", "then pad", "stride", "dilation", "flip"]
    return table(heads, (tuple(_short(entry) for entry in row) for row in rows))


def _pairs(padding: Sequence[Pair]) -> tuple[str, ...]:
    return tuple(f"({lo}, {hi})" for lo, hi in padding)


def _short(entries: object) -> str:
    if isinstance(entries, str):
        return entries
    texts = [str(entry) for entry in entries]  # type: ignore[attr-defined]
    return texts[0] if len(set(texts)) == 1 else "x".join(texts)


def _phase_rule(problem: Problem) -> str:
    spread = "output" if problem.transposed else "input"
    return f"PHASES (m + lo) mod s: {spread} m meets only the taps q with d*q = m + lo mod s"


def _phases(axes: Sequence[Axis]) -> list[str]:
    return [
        line
        for said in narrate.per_axis(map(_axis_phases, axes))
        for line in wrap(said, WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]


def _axis_phases(axis: Axis) -> str:
    cycle = axis.s // gcd(axis.s, axis.d)
    met = min(cycle, axis.k)  # each of the first taps begins a phase of its own
    first = sorted((axis.d * q % axis.s, q) for q in range(min(met, MOST)))
    listed = [f"{phase}: taps {_taps(range(q, axis.k, cycle))}" for phase, q in first]
    if met > MOST:
        listed.append(f"... ({met} phases have taps)")
    return "; ".join([*listed, *_no_tap(axis.s - met, [phase for phase, _ in first], axis.s)])


def _no_tap(count: int, met: Sequence[int], s: int) -> list[str]:
    if count == 0:
        return []
    named = ranges(gaps([range(phase, phase + 1) for phase in met], s)) if s <= MOST else f"the other {count}"
    return [f"{named}: no tap, zero"]


def _taps(taps: range) -> str:
    """The taps of one phase, which lie one cycle apart."""
    if taps.step == 1:
        return ranges([taps])
    if length(taps) <= MOST:
        return " ".join(map(str, taps))
    return f"{' '.join(map(str, taps[:3]))} ... ({length(taps)} in all)"


def _dialects(problem: Problem) -> list[str]:
    return [
        line
        for name, text in dialects(problem).items()
        for line in wrap(
            f"{name + ':':17} {text}",
            WIDTH,
            subsequent_indent=" " * 18,
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]
