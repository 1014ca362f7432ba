"""Floats that are hard on rounding, judged by the derived bound and not by a tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from npconv.problem import Problem
from npconv.testing.bounds import bounds
from npconv.testing.candidate import Call, Declared
from npconv.testing.families import FAMILIES, drawn
from npconv.testing.float_cases import in_python
from npconv.testing.formats import Format
from npconv.testing.misfit import BEYOND, FLOATS, looks_like, names, ratio
from npconv.testing.observation import comparable, without_array
from npconv.testing.parts import reference, result_shape
from npconv.testing.running import Runner

# A kernel has many paths, and each may work in another format.  The first is asked with every family.
LINES = {
    "C64O6_i12x13_k3_p1_bias": "many terms: what a narrow format loses adds up",
    "N2C16O8_i9x8_k3_s2_p1": "stride 2; channels in eights, as matrix units want them",
    "C16O8_i10x9_k3_p2_d2_bias": "dilation 2",
    "C24O8G2_i8x9_k3_p1_bias": "groups",
    "C24O24G24_i10x11_k3_p1_bias": "depthwise",
    "C64O16_i6x7_k1": "one tap: a plain product of matrices",
    "C3O8_i11x12_k5_s2_p2_bias": "few channels and large taps, as first layers have",
    "C16O8G2_i11x12_k3_s2_p2_d2": "all together",
}

LOSES_MORE = "the bound is that of plain sums of products; a transform, as this seems to be, loses more"


class Unmeasured(NamedTuple):
    """Why there is no measure: the kind of the answer, what is to be said of it, and the call for its data."""

    kind: str
    told: str
    data: str


@dataclass(frozen=True)
class Measured:
    """The largest error of one part on one family, as a fraction of the bound, and how many elements
    lie above the statistical line.  A few of thousands always do; a tenth of them do not by chance."""

    part: str
    family: str
    problem: Problem
    worst: float
    above: int
    elements: int
    at: tuple[int, ...]  # the worst element
    got: float
    due: float
    fits: str = ""  # narrower formats that would explain an error above the bound
    transform: bool = False  # integers come out near, and not equal: no plain sums of products

    @property
    def kind(self) -> str:
        if not self.worst <= 1:
            return "SUSPICIOUS" if self.transform and np.isfinite(self.worst) else "WRONG"
        return "SUSPICIOUS" if self.above * 10 > self.elements else "PASS"

    def __str__(self) -> str:
        told = [self.fits] if self.fits else []
        told += [LOSES_MORE] if self.transform and not self.worst <= 1 else []
        return "; ".join([f"{self.part}, {self.size}", *told])

    @property
    def size(self) -> str:
        return (
            f"{self.family}, on {self.problem}: error up to {self.worst:.3g} of the bound, "
            f"{self.above} of {self.elements} elements above the sqrt(n) line, "
            f"at {self.at} got {self.got:.9g}, due {self.due:.9g}"
        )


def questions(part: str) -> Iterator[tuple[str, str]]:
    """Families and lines of the table: the first line with every family, then each with numbers that
    cancel, where a narrow format shows best."""
    first, *others = LINES
    yield from ((family, first) for family in FAMILIES)
    if part != "grad_bias":  # a sum of grad_output, whatever the rest
        yield from (("cancelling", line) for line in others)


def measure(
    runner: Runner, part: str, family: str, problem: Problem, short: Format | None = None
) -> Measured | Unmeasured:
    """One part on one family, whose numbers may be shorter than declared."""
    declared = runner.declared
    given = drawn(problem, family, short or declared.formats[0])
    answer = runner.run(Call(part, problem, given))
    told = f"{part}, {family}: on {problem}"
    data = in_python(part, problem, family, declared)
    if kind := without_array(answer, declared):
        return Unmeasured(kind[0], f"{told}: {kind[2] or kind[0]}", data)
    got, due = comparable(answer.value), result_shape(part, problem)
    if got.shape != due:
        return Unmeasured("shape", f"{told}: shape {got.shape}, due {due}", data)
    return compared(part, family, problem, given, got, declared)


def compared(
    part: str,
    family: str,
    problem: Problem,
    arrays: Mapping[str, np.ndarray],
    got: np.ndarray,
    declared: Declared,
) -> Measured:
    """How a result stands to its bounds."""
    y = reference(part, problem, arrays)
    error = abs(got - y)
    limits = bounds(part, problem, arrays, y, declared.formats)
    fractions = ratio(error, limits.worst)
    at = tuple(map(int, np.unravel_index(int(np.argmax(fractions)), error.shape)))
    worst = float(fractions[at])
    above = int((ratio(error, limits.usual) > 1).sum())
    likeness = "" if worst <= 1 else looks_like(part, problem, arrays, y, got - y, declared)
    numbers = float(got[at]), float(y[at])
    return Measured(part, family, problem, worst, above, error.size, at, *numbers, fits=likeness)


def inputs_as_used(runner: Runner, m: Measured) -> str:
    """The format that inputs are rounded to, where numbers short enough for it come out right; or ''."""
    declared = runner.declared.formats[0]
    for narrow in (f for f in FLOATS if f.p < declared.p):
        again = measure(runner, m.part, m.family, m.problem, narrow)
        if isinstance(again, Measured) and again.worst <= 1:
            return (
                f"the inputs are rounded to {narrow.p} bits ({names(narrow)}), where {declared.name} is "
                f"declared: numbers as short as that come out right"
            )
    return ""


def agreed(measured: Sequence[Measured]) -> list[Measured]:
    """The measures of one part; a format that is too narrow accounts for all of them or for none."""
    if any(m.fits.startswith(BEYOND) for m in measured):
        return [m if m.fits.startswith(BEYOND) else replace(m, fits=m.fits and BEYOND) for m in measured]
    return list(measured)


def problem_for(part: str, rank: int, line: str, plain: bool = False) -> Problem:
    """A problem of the table for a part; `plain` leaves out bias and padding for a candidate without them."""
    problem = Problem.parse(f"transposed_{line}" if part == "transposed" else line)
    deeper: dict[str, Any] = {"output_padding": 0}
    for name in ("i", "k", "stride", "padding", "dilation"):
        values = getattr(problem, name)
        deeper[name] = (_third(name, values), *values)[-rank:]
    problem = replace(problem, **deeper)
    return (replace(problem, padding=0, bias=False) if plain else problem).canonical()


def _third(name: str, values: tuple[Any, ...]) -> Any:
    """The entry of a third axis, which is short."""
    return 4 if name == "i" else min(2, values[0]) if name == "k" else values[0]
