"""Floats that are hard on rounding, judged by the derived bound and not by a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from npconv.problem import Problem
from npconv.testing.bounds import bounds
from npconv.testing.candidate import Call, Declared
from npconv.testing.data import raw
from npconv.testing.formats import FORMATS, Format, named, rounded
from npconv.testing.parts import array_shapes, reference, terms
from npconv.testing.running import Runner

LINE = "C64O6_i12x13_k3_p1_bias"
TRANSPOSED_LINE = "transposed_C64O6_i12x13_k3_p1_bias"

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


@dataclass(frozen=True)
class Measured:
    """The largest error of one part on one family, as a fraction of the bound, and how many elements
    lie above the statistical line.  A few of thousands always do; a tenth of them do not by chance."""

    part: str
    family: str
    worst: float
    above: int
    elements: int
    fits: str = ""  # narrower formats that would explain an error above the bound

    @property
    def kind(self) -> str:
        return "WRONG" if not self.worst <= 1 else "SUSPICIOUS" if self.above * 10 > self.elements else "PASS"

    def __str__(self) -> str:
        line = (
            f"{self.part}, {self.family}: error up to {self.worst:.3g} of the bound, "
            f"{self.above} of {self.elements} elements above the sqrt(n) line"
        )
        return line + (f"; {self.fits}" if self.fits else "")


def measure(runner: Runner, part: str, family: str, problem: Problem) -> Measured | str:
    """One part on one family; a string tells why there is no measure."""
    declared = runner.declared
    name = f"{problem} {family}"
    given = {
        array: rounded(FAMILIES[family](f"{name} {array}", shape), declared.formats[0]).astype(np.float64)
        for array, shape in array_shapes(problem).items()
    }
    answer = runner.run(Call(part, problem, given))
    if answer.kind != "value" or not isinstance(answer.value, np.ndarray):
        return f"{part}, {family}: {answer.kind} {answer.message}".rstrip()
    return compared(part, family, problem, given, answer.value.astype(np.float64), declared)


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
    fits = "" if worst <= 1 else _narrower(part, problem, arrays, y, got - y, declared)
    return Measured(part, family, worst, above, error.size, fits)


def _ratio(error: np.ndarray, limit: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(error == 0, 0.0, error / limit)
    return np.where(np.isnan(ratio), np.inf, ratio)


def _narrower(
    part: str,
    problem: Problem,
    arrays: Mapping[str, np.ndarray],
    y: np.ndarray,
    moved: np.ndarray,
    declared: Declared,
) -> str:
    """The least change of a declared format under which the errors would be legal and usual: most
    elements err, by amounts that scatter, and these lie below the sqrt(n) line of that format."""
    error = abs(moved)
    usual = bounds(part, problem, arrays, y, declared.formats).usual
    if np.mean(_ratio(error, usual) > 1) <= MOST or not _scatters(moved, terms(part, problem)):
        return BEYOND
    input, accumulate, output = declared.formats
    formats = sorted((f for f in FORMATS.values() if not f.is_integer), key=lambda f: -f.p)
    for narrow in (f for f in formats if f.p < max(input.p, accumulate.p)):
        for changed, told in (
            ((narrow, accumulate, output), f"as if the inputs were rounded to {narrow.p} bits"),
            ((input, narrow, output), f"as if sums were carried in {narrow.p} bits"),
            ((input, accumulate, narrow), f"as if the result were rounded to {narrow.p} bits"),
        ):
            limits = bounds(part, problem, arrays, y, changed, rounded_inputs=changed[0] == input)
            if (error <= limits.worst).all() and np.mean(error <= limits.usual) >= USUAL:
                names = " or ".join(f.name for f in formats if f.p == narrow.p)
                return f"{told} or fewer ({names}), where {_declared(changed, declared)} is declared"
    return BEYOND


def _scatters(moved: np.ndarray, n: int) -> bool:
    """Whether errors differ as roundings do.  Even where each of n roundings goes down, by 0 to 1 step,
    the sum has mean n/2 and deviation sqrt(n/12): a ratio of 1/sqrt(3n), of which half is asked."""
    return bool(2 * np.sqrt(3 * n) * np.std(moved) >= abs(np.mean(moved)))


def agreed(measured: Sequence[Measured]) -> list[Measured]:
    """The measures of one part; a format that is too narrow accounts for all of them or for none."""
    if any(m.fits == BEYOND for m in measured):
        return [replace(m, fits=BEYOND if m.fits else "") for m in measured]
    return list(measured)


def _declared(changed: tuple[Format, Format, Format], declared: Declared) -> str:
    return next(d.name for c, d in zip(changed, declared.formats) if c != d)


def problem_for(part: str, rank: int, plain: bool) -> Problem:
    """The numerics problem of a part; `plain` leaves out bias and padding for a candidate without them."""
    problem = Problem.parse(TRANSPOSED_LINE if part == "transposed" else LINE)
    problem = replace(
        problem, i=(4, *problem.i)[-rank:], k=(2, *problem.k)[-rank:],
        stride=1, padding=1, dilation=1, output_padding=0,
    )  # fmt: skip
    return (replace(problem, padding=0, bias=False) if plain else problem).canonical()


__all__ = ["FAMILIES", "Measured", "compared", "measure", "named", "problem_for"]
