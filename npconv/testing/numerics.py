"""Floats that are hard on rounding, judged by the derived bound and not by a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from npconv.problem import Problem
from npconv.testing.bounds import bounds, magnitude
from npconv.testing.candidate import Call, Declared
from npconv.testing.data import raw
from npconv.testing.formats import FORMATS, Format, rounded
from npconv.testing.observation import comparable, without_array
from npconv.testing.parts import array_shapes, reference, result_shape, terms
from npconv.testing.running import Runner

# A kernel has many paths, and each may work in another format.  The first is asked with every family.
LINES = {
    "C64O6_i12x13_k3_p1_bias": "many terms: what a narrow format loses adds up",
    "N2C16O8_i9x8_k3_s2_p1": "stride 2; channels in eights, as matrix units want them",
    "C16O8_i10x9_k3_p2_d2": "dilation 2",
    "C24O8G2_i8x9_k3_p1_bias": "groups",
    "C24O24G24_i10x11_k3_p1_bias": "depthwise",
    "C64O16_i6x7_k1": "one tap: a plain product of matrices",
    "C3O8_i11x12_k5_s2_p2_bias": "few channels and large taps, as first layers have",
    "C16O8G2_i11x12_k3_s2_p2_d2": "all together",
}

FLOATS = sorted((f for f in FORMATS.values() if not f.is_integer), key=lambda f: -f.p)

MOST = 0.5  # of the elements err by more than is usual where a format is too narrow
USUAL = 0.9  # of the errors lie below the statistical line of the format that made them
BEYOND = "beyond the bound"


def unit(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Fixed floats in (0, 1] for a name."""
    return (1 + (raw(name, int(np.prod(shape))) >> np.uint64(11)).reshape(shape)) * 2.0**-53


def positive(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """All positive: sums only grow, and so does what each rounding may lose."""
    return unit(name, shape)


def cancelling(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Both signs: results much smaller than their terms."""
    values = unit(name, shape)
    signs = np.where(raw(name + " sign", values.size).reshape(shape) & np.uint64(1), 1.0, -1.0)
    return values * signs


def wide(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Terms of very different sizes."""
    exponents = (raw(name + " exponent", int(np.prod(shape))) % np.uint64(13)).reshape(shape).astype(int) - 6
    return np.ldexp(cancelling(name, shape), exponents)


FAMILIES: dict[str, Callable[[str, tuple[int, ...]], np.ndarray]] = {
    "all positive": positive,
    "cancelling": cancelling,
    "of very different sizes": wide,
}


class Unmeasured(NamedTuple):
    """Why there is no measure: the kind of the answer, and what is to be said of it."""

    kind: str
    told: str


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
    fits: str = ""  # narrower formats that would explain an error above the bound

    @property
    def kind(self) -> str:
        return "WRONG" if not self.worst <= 1 else "SUSPICIOUS" if self.above * 10 > self.elements else "PASS"

    def __str__(self) -> str:
        return f"{self.part}, {self.size}" + (f"; {self.fits}" if self.fits else "")

    @property
    def size(self) -> str:
        return (
            f"{self.family}, on {self.problem}: error up to {self.worst:.3g} of the bound, "
            f"{self.above} of {self.elements} elements above the sqrt(n) line"
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
    name = f"{problem} {family}"
    held = short or declared.formats[0]
    given = {
        array: rounded(FAMILIES[family](f"{name} {array}", shape), held).astype(np.float64)
        for array, shape in array_shapes(problem).items()
    }
    answer = runner.run(Call(part, problem, given))
    told = f"{part}, {family}: on {problem}"
    if kind := without_array(answer, declared):
        return Unmeasured(kind[0], f"{told}: {kind[2] or kind[0]}")
    got, due = comparable(answer.value), result_shape(part, problem)
    if got.shape != due:
        return Unmeasured("shape", f"{told}: shape {got.shape}, due {due}")
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
    worst = float(np.max(_ratio(error, limits.worst), initial=0.0))
    above = int((_ratio(error, limits.usual) > 1).sum())
    fits = "" if worst <= 1 else _fits(part, problem, arrays, y, got - y, declared)
    return Measured(part, family, problem, worst, above, error.size, fits)


def _ratio(error: np.ndarray, limit: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(error == 0, 0.0, error / limit)
    return np.where(np.isnan(ratio), np.inf, ratio)


def _fits(
    part: str,
    problem: Problem,
    arrays: Mapping[str, np.ndarray],
    y: np.ndarray,
    moved: np.ndarray,
    declared: Declared,
) -> str:
    """What the errors look like: a factor, or the least change of a declared format under which they would
    be legal and usual: most elements err, by amounts that scatter, and these lie below the sqrt(n) line
    of that format."""
    error = abs(moved)
    limits = bounds(part, problem, arrays, y, declared.formats)
    factor = _slope(moved, y)
    if (abs(moved - factor * y) <= limits.worst).all():
        return f"{BEYOND}: the result is {1 + factor:.6g} times what is due"
    summed = magnitude(part, problem, arrays) > 0  # with strides and dilations some elements have no terms
    erring = np.mean(_ratio(error, limits.usual)[summed] > 1)
    if erring <= MOST or not _scatters(moved[summed], y[summed], terms(part, problem)):
        return BEYOND
    input, accumulate, output = declared.formats
    for narrow in (f for f in FLOATS if f.p < max(input.p, accumulate.p)):
        for changed, told in (
            ((narrow, accumulate, output), f"as if the inputs were rounded to {narrow.p} bits"),
            ((input, narrow, output), f"as if sums were carried in {narrow.p} bits"),
            ((input, accumulate, narrow), f"as if the result were rounded to {narrow.p} bits"),
        ):
            limits = bounds(part, problem, arrays, y, changed, rounded_inputs=changed[0] == input)
            if (error <= limits.worst).all() and np.mean(error <= limits.usual) >= USUAL:
                return f"{told} or fewer ({_names(narrow)}), where {_declared(changed, declared)} is declared"
    return BEYOND


def inputs_as_used(runner: Runner, m: Measured) -> str:
    """The format that inputs are rounded to, where numbers short enough for it come out right; or ''."""
    declared = runner.declared.formats[0]
    for narrow in (f for f in FLOATS if f.p < declared.p):
        again = measure(runner, m.part, m.family, m.problem, narrow)
        if isinstance(again, Measured) and again.worst <= 1:
            return (
                f"the inputs are rounded to {narrow.p} bits ({_names(narrow)}), where {declared.name} is "
                f"declared: numbers as short as that come out right"
            )
    return ""


def _names(narrow: Format) -> str:
    return " or ".join(f.name for f in FLOATS if f.p == narrow.p)


def _slope(moved: np.ndarray, y: np.ndarray) -> float:
    """The factor that brings y nearest to the errors, in the sense of least squares."""
    with np.errstate(all="ignore"):
        slope = float((moved * y).sum() / (y * y).sum())
    return slope if np.isfinite(slope) else 0.0


def _scatters(moved: np.ndarray, y: np.ndarray, n: int) -> bool:
    """Whether errors differ as roundings do, and are neither all alike nor all one part of the result.
    Even where each of n roundings goes down, by 0 to 1 step, the sum has mean n/2 and deviation
    sqrt(n/12): a ratio of 1/sqrt(3n), of which half is asked."""
    with np.errstate(all="ignore"):
        alike = abs(np.mean(moved))
        part = abs(_slope(moved, y)) * np.sqrt(np.mean(y * y))
        least = 2 * np.sqrt(3 * n)
        return bool(least * np.std(moved) >= alike and least * np.std(moved - _slope(moved, y) * y) >= part)


def agreed(measured: Sequence[Measured]) -> list[Measured]:
    """The measures of one part; a format that is too narrow accounts for all of them or for none."""
    if any(m.fits.startswith(BEYOND) for m in measured):
        return [m if m.fits.startswith(BEYOND) else replace(m, fits=m.fits and BEYOND) for m in measured]
    return list(measured)


def _declared(changed: tuple[Format, Format, Format], declared: Declared) -> str:
    return next(d.name for c, d in zip(changed, declared.formats) if c != d)


def problem_for(part: str, rank: int, line: str, plain: bool = False) -> Problem:
    """A problem of the table for a part; `plain` leaves out bias and padding for a candidate without them."""
    problem = Problem.parse(f"transposed_{line}" if part == "transposed" else line)
    per_axis = {name: getattr(problem, name) for name in ("i", "k", "stride", "padding", "dilation")}
    deeper = {name: (_third(name, values), *values)[-rank:] for name, values in per_axis.items()}
    problem = replace(problem, **deeper, output_padding=0)
    return (replace(problem, padding=0, bias=False) if plain else problem).canonical()


def _third(name: str, values: tuple[Any, ...]) -> Any:
    """The entry of a third axis, which is short."""
    return 4 if name == "i" else min(2, values[0]) if name == "k" else values[0]


__all__ = [
    "FAMILIES",
    "LINES",
    "Measured",
    "Unmeasured",
    "compared",
    "inputs_as_used",
    "measure",
    "problem_for",
    "questions",
]
