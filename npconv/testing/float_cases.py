"""The float cases of a check, to be had again: the same numbers, what is due of them, and the same bound."""

from __future__ import annotations

from numpy.typing import ArrayLike

from npconv.problem import Problem
from npconv.testing.candidate import Declared
from npconv.testing.comparison import assert_within, result
from npconv.testing.families import FAMILIES, drawn
from npconv.testing.formats import named
from npconv.testing.observation import Case
from npconv.testing.parts import parts_of, reference
from npconv.testing.suite import TestCase


def float_case(
    part: str, descriptor: str, family: str, *, dtype: str = "float32", accumulate: str = "", output: str = ""
) -> FloatCase:
    """The case that a finding about floats names: one part of a problem, with numbers of one family.

    It has .arguments (all keywords of the protocol), .arrays (by name, in `dtype`), .due (float64) and
    .check(result), which asserts the derived bound.  dtype, accumulate, output: the formats as they were
    declared.  The sources of the bound are those of `npconv.testing.bounds`.

    ValueError for a part, descriptor, family or format that does not exist.

    >>> import npconv
    >>> case = float_case("forward", "C16O8_i10x9_k3_p2_d2", "cancelling")
    >>> case.check(npconv.conv(**case.arguments))
    >>> case.arrays["input"].dtype, case.arrays["input"].shape, case.due.shape
    (dtype('float32'), (1, 16, 10, 9), (1, 8, 10, 9))
    """
    problem = Problem.parse(descriptor).canonical()
    if part not in parts_of(problem):
        raise ValueError(f"part: {part!r} is not one of {', '.join(parts_of(problem))}, which {problem} has")
    if family not in FAMILIES:
        raise ValueError(f"family: {family!r} is not one of {', '.join(FAMILIES)}")
    declared = Declared(input=named(dtype).name, accumulate=accumulate, output=output)
    arrays = drawn(problem, family, declared.formats[0])
    return FloatCase(Case(part, problem, arrays, reference(part, problem, arrays)), declared)


class FloatCase(TestCase):
    """One case of floats, ready for a kernel."""

    def __init__(self, case: Case, declared: Declared):
        super().__init__(case, declared)
        self._formats = declared.formats

    def check(self, actual: ArrayLike) -> None:
        """Assert the bound; the message names the worst element."""
        assert_within(
            result(actual, str(self._case), self.due.shape, self.due.dtype), self._case, self._formats
        )


def in_python(part: str, problem: Problem, family: str, declared: Declared) -> str:
    """The call that gives a case again.

    >>> in_python("forward", Problem.parse("i4_k2"), "cancelling", Declared(input="float16"))
    'npconv.testing.float_case("forward", "i4_k2", "cancelling", dtype="float16")'
    """
    given = dict(dtype=declared.input, accumulate=declared.accumulate, output=declared.output)
    plain = Declared(input="float32")
    more = "".join(
        f', {name}="{value}"'
        for (name, value), default in zip(given.items(), (plain.input, plain.accumulate, plain.output))
        if value != default
    )
    return f'npconv.testing.float_case("{part}", "{problem}", "{family}"{more})'


__all__ = ["FloatCase", "float_case"]
