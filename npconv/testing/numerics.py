"""Floats that are hard on rounding, judged by the derived bound and not by a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from npconv.problem import Problem
from npconv.testing.bounds import bounds
from npconv.testing.candidate import Call, Declared
from npconv.testing.data import raw
from npconv.testing.formats import FORMATS, Format, named, rounded
from npconv.testing.parts import array_shapes, reference
from npconv.testing.running import Runner

LINE = "C64O6_i12x13_k3_p1_bias"
TRANSPOSED_LINE = "transposed_C64O6_i12x13_k3_p1_bias"


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
    fits = "" if worst <= 1 else _narrower(part, problem, arrays, y, error, declared)
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
    error: np.ndarray,
    declared: Declared,
) -> str:
    """The least change of a declared format under which the error would be legal."""
    input, accumulate, output = declared.formats
    formats = sorted((f for f in FORMATS.values() if not f.is_integer), key=lambda f: -f.p)
    for narrow in (f for f in formats if f.p < max(input.p, accumulate.p)):
        for changed, told in (
            ((narrow, accumulate, output), f"as if the inputs were rounded to {narrow.p} bits"),
            ((input, narrow, output), f"as if sums were carried in {narrow.p} bits"),
            ((input, accumulate, narrow), f"as if the result were rounded to {narrow.p} bits"),
        ):
            limit = bounds(part, problem, arrays, y, changed, rounded_inputs=changed[0] == input).worst
            if (error <= limit).all():
                names = " or ".join(f.name for f in formats if f.p == narrow.p)
                return f"{told} or fewer ({names}), where {_declared(changed, declared)} is declared"
    return "no narrower format accounts for it"


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
