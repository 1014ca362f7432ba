"""An exercise of the course, graded by the referee: the one place where the two meet.

The referee says what is right and what is wrong.  Where a learner's slip changes even the shape of the
result, it can name no fault; so the slips that learners make are composed here, as grad.py composes
what is right, and compared with the answers by equality.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from npconv.conv import forward
from npconv.explain.course import LESSONS, Lesson
from npconv.explain.scene import digits
from npconv.geometry import Geometry, Pair
from npconv.problem import Problem
from npconv.testing import check
from npconv.testing.candidate import Call
from npconv.testing.findings import Finding
from npconv.testing.parts import array_shapes, reference
from npconv.testing.report import Report
from npconv.testing.running import Apart, Runner
from npconv.transforms import flip, swap

Arrays = Mapping[str, np.ndarray]
Slip = Callable[[Arrays, Geometry], np.ndarray]

PARTS_OF = {"backward": ("grad_input", "grad_weight", "grad_bias")}
MAP_OF = {"forward": "forward", "grad_input": "input", "grad_weight": "weight", "transposed": "forward"}
# One group; channels alike, so that a missing swap fits; each parameter apart, then together.
PROBES = tuple(
    Problem.parse(line)
    for line in (
        "C2O2_i4x5_k3x2", "C2O2_i5x6_k3_p1", "C2O2_i5x5_k3_s2", "C2O2_i6x6_k3_s2", "C2O2_i7x7_k2_d2",
        "C2O2_i8x8_k2_s2_d3", "N3C2O2_i7x6_k3x2_s2_p1",
    )
)  # fmt: skip


def attempt(name: str | None, path: str) -> int:
    """Grade the functions in FILE.py, name the mistakes, say what to look at; the referee's exit code.

    ValueError where there is no such lesson, or the file lacks what the lesson asks for; otherwise as
    the referee's.
    """
    if name is None:
        raise ValueError(f"lesson: which one does {path} answer? Choose one of {', '.join(LESSONS)}")
    if name not in LESSONS:
        raise ValueError(f"lesson: there is no {name!r}; choose one of {', '.join(LESSONS)}")
    lesson = LESSONS[name]
    asked = PARTS_OF.get(lesson.part, (lesson.part,))
    if not set(asked) <= set(offered(path)):
        raise ValueError(
            f"{path}: it has no {lesson.part}, for which the lesson {name!r} asks: {lesson.exercise}"
        )
    report = check(path, layers=False)
    unnamed = {finding.part for finding in report.findings if not finding.named}
    print(*graded(lesson, report, slips_in(path, unnamed) if unnamed else {}), sep="\n")
    return report.exit_code


def graded(lesson: Lesson, report: Report, slips: Mapping[str, str]) -> list[str]:
    """The verdict, the mistakes, when each strikes and where it can be seen."""
    lines = [f"{lesson.name}: {report.verdict}, {report.why}"]
    for finding in report.findings:
        lines.append(f"  {_sentence(finding, slips)}")
        if finding.trigger and not finding.trigger.startswith("no "):
            lines.append(f"    when: {finding.trigger}")
        if finding.smallest and finding.part in MAP_OF:
            lines.append(f"    see:  python -m npconv explain {finding.smallest} --of {MAP_OF[finding.part]}")
    lines += [f"  refused, {part}: {', '.join(what)}" for part, what in report.unsupported.items() if what]
    return lines


def _sentence(finding: Finding, slips: Mapping[str, str]) -> str:
    if not finding.named and finding.part in slips:
        return f"{finding.part}: {slips[finding.part]}"
    return finding.sentence


# ---------------------------------------------------------------- the slips of learners


def input_gradient(
    arrays: Arrays,
    geometry: Geometry,
    weight: Callable[[np.ndarray], np.ndarray] = lambda w: flip(swap(w)),
    between: Callable[[Geometry], tuple[int, ...]] = lambda geometry: geometry.stride,
    around: Callable[[Geometry], tuple[Pair, ...]] = lambda geometry: geometry.input_gradient_padding,
) -> np.ndarray:
    """The input's gradient, but for what is put in another's place."""
    ones = (1,) * geometry.rank
    return forward(
        arrays["grad_output"], weight(arrays["weight"]), input_dilation=between(geometry),
        padding=around(geometry), stride=ones, dilation=geometry.dilation, groups=1,
    )  # fmt: skip


def weight_gradient(
    arrays: Arrays,
    geometry: Geometry,
    around: Callable[[Geometry], tuple[Pair, ...]] = lambda geometry: geometry.weight_gradient_padding,
    steps: Callable[[Geometry], tuple[tuple[int, ...], ...]] = lambda geometry: (
        geometry.dilation,
        geometry.stride,
    ),
    exchange: Callable[[np.ndarray], np.ndarray] = swap,
) -> np.ndarray:
    """The weight's gradient, but for what is put in another's place."""
    stride, dilation = steps(geometry)
    made = forward(
        exchange(arrays["input"]), exchange(arrays["grad_output"]), input_dilation=(1,) * geometry.rank,
        padding=around(geometry), stride=stride, dilation=dilation, groups=1,
    )  # fmt: skip
    return exchange(made)


def _without_r(geometry: Geometry) -> tuple[Pair, ...]:
    return tuple((a.extent - 1 - a.lo, a.extent - 1 - a.hi) for a in geometry.axes)


def _own_with_r(geometry: Geometry) -> tuple[Pair, ...]:
    return tuple((a.lo, a.hi + a.remainder) for a in geometry.axes)


SLIPS: dict[str, dict[str, Slip]] = {
    "grad_input": {
        "the weight is not flipped": lambda arrays, g: input_gradient(arrays, g, weight=swap),
        "the weight's channel axes are not swapped": lambda arrays, g: input_gradient(arrays, g, weight=flip),
        "grad_output is padded by the forward's padding, not by K-1-lo and K-1-hi": lambda arrays, g: (
            input_gradient(arrays, g, around=_own_with_r)
        ),
        "grad_output is padded by the forward's padding, not by K-1-lo and K-1-hi+r": lambda arrays, g: (
            input_gradient(arrays, g, around=lambda g: g.padding)
        ),
        "the remainder r is forgotten: pad by K-1-hi+r at the end": lambda arrays, g: input_gradient(
            arrays, g, around=_without_r
        ),
        "no zeros are put between the elements of grad_output": lambda arrays, g: input_gradient(
            arrays, g, between=lambda g: (1,) * g.rank
        ),
    },
    "grad_weight": {
        "stride and dilation are not exchanged": lambda arrays, g: weight_gradient(
            arrays, g, steps=lambda g: (g.stride, g.dilation)
        ),
        "stride and dilation are not exchanged, and the remainder r is not cropped": lambda arrays, g: (
            weight_gradient(arrays, g, steps=lambda g: (g.stride, g.dilation), around=lambda g: g.padding)
        ),
        "the remainder r is forgotten: crop it from the input's end": lambda arrays, g: weight_gradient(
            arrays, g, around=lambda g: g.padding
        ),
        "the result is flipped": lambda arrays, g: flip(weight_gradient(arrays, g)),
        "batch and channels are not swapped": lambda arrays, g: weight_gradient(
            arrays, g, exchange=lambda x: x
        ),
    },
    "grad_bias": {
        "it sums over the channels, not over the samples": lambda arrays, _: arrays["grad_output"].sum(
            (1, 2, 3)
        ),
        "it does not sum over the samples": lambda arrays, _: arrays["grad_output"].sum((2, 3)),
        "it does not sum over the positions": lambda arrays, _: arrays["grad_output"].sum(0),
        "it sums over the channels too": lambda arrays, _: np.array(arrays["grad_output"].sum()),
    },
}


def offered(path: str) -> tuple[str, ...]:
    """The parts of a convolution for which a file has functions."""
    runner = Apart(path, {})
    try:
        return tuple(runner.parts)
    finally:
        runner.close()


def slips_in(path: str, parts: set[str]) -> dict[str, str]:
    """For each part that gives exactly what a known slip gives, on every probe, that slip."""
    runner = Apart(path, {})
    try:
        named = {part: _slip(runner, part) for part in sorted(parts & set(SLIPS))}
    finally:
        runner.close()
    return {part: said for part, said in named.items() if said}


def _slip(runner: Runner, part: str) -> str | None:
    answers = []
    for problem in PROBES:
        arrays = {name: digits(shape) for name, shape in array_shapes(problem).items()}
        answer = runner.run(Call(part, problem, arrays))
        if answer.kind == "value" and isinstance(answer.value, np.ndarray):
            answers.append((problem, arrays, answer.value))
    if all(_equal(value, reference(part, problem, arrays)) for problem, arrays, value in answers):
        return None
    for said, slip in SLIPS[part].items():
        if all(_equal(value, _made(slip, arrays, problem.geometry)) for problem, arrays, value in answers):
            return said
    return None


def _made(slip: Slip, arrays: Arrays, geometry: Geometry) -> np.ndarray | None:
    try:
        return slip(arrays, geometry)
    except ValueError:  # with these numbers the slip makes no convolution at all
        return None


def _equal(value: np.ndarray, due: np.ndarray | None) -> bool:
    return due is not None and np.array_equal(value, due)
