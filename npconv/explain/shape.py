"""A problem's sizes: what it makes of what, what it leaves out, and what its gradients need."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from npconv.explain import narrate
from npconv.explain.dialects import dialects
from npconv.explain.drawing import WIDTH
from npconv.geometry import Axis, Pair
from npconv.problem import Problem


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
    axes = problem.geometry.axes
    sections = [
        [str(problem), *_shapes(problem)],
        table(
            ["axis", "i", "k", "s", "d", "lo", "hi", "K", "o", "r", "unread"],
            map(_row, range(len(axes)), axes),
        ),
        [
            "K extent, o outputs, r remainder; unread: the inputs that no window reads, whose",
            "gradient is zero",
        ],
        *([] if not problem.transposed else [_REVERSED]),
        ["MAPS", *_maps(problem)],
        [_phase_rule(problem), *_phases(axes)],
        ["IN OTHER WORDS", *_dialects(problem)],
    ]
    return "\n\n".join("\n".join(section) for section in sections)


_REVERSED = [
    "A transposed convolution is the input's gradient of the convolution above: its",
    "input has the size o, its output the size i, and its output_padding is r.",
]


def table(heads: Sequence[str], rows: object) -> list[str]:
    """Right-aligned columns under their heads; the last one is left-aligned."""
    texts = [list(heads), *(list(map(str, row)) for row in rows)]  # type: ignore[attr-defined]
    widths = [max(map(len, column)) for column in zip(*texts)]
    return [
        "  ".join([*(text.rjust(width) for text, width in zip(row[:-1], widths)), row[-1]]).rstrip()
        for row in texts
    ]


def _shapes(problem: Problem) -> list[str]:
    shapes = {"input": problem.input_shape, "weight": problem.weight_shape, "output": problem.output_shape}
    return [
        ", ".join(f"{name} {narrate.by(shape)}" for name, shape in shapes.items()),
        narrate.parameters(problem.geometry),
    ]


def _row(number: int, axis: Axis) -> tuple[object, ...]:
    sizes = (axis.i, axis.k, axis.s, axis.d, axis.lo, axis.hi, axis.extent, axis.o, axis.remainder)
    return (number, *sizes, ranges(axis.unread))


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in rising order, neighbours drawn together.

    >>> ranges((0, 1, 2, 5, 7, 8)), ranges(())
    ('0-2 5 7-8', 'none')
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs) or "none"


def _maps(problem: Problem) -> list[str]:
    geometry = problem.geometry
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
    taps = [[q for q in range(axis.k) if axis.d * q % axis.s == phase] for phase in range(axis.s)]
    met = [f"{phase}: taps {ranges(found)}" for phase, found in enumerate(taps) if found]
    empty = [phase for phase, found in enumerate(taps) if not found]
    return "; ".join([*met, *([f"{ranges(empty)}: no tap, zero"] if empty else [])])


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
