"""One case: a problem, a part of it, its arrays, what is due, and what came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from npconv.problem import Problem
from npconv.testing.bounds import bounds
from npconv.testing.candidate import Call, Declared
from npconv.testing.data import LARGEST, exact_arrays, exact_parts
from npconv.testing.parts import reference, result_shape
from npconv.testing.running import Answer, Runner, type_name

# The kinds of an observation. "inexact": every element within the rounding bound, but not equal.
RIGHT, REFUSED, INEXACT = "right", "refused", "inexact"
FAILED = ("wrong", "shape", "type", "size", "raised", "hung", "crashed", "wrote", "shares", "missing")


@dataclass(frozen=True)
class Case:
    """A part of a problem, with exact arrays; the descriptor is its identity and its seed."""

    part: str
    problem: Problem
    arrays: Mapping[str, np.ndarray] = field(repr=False, compare=False, default_factory=dict)
    due: np.ndarray = field(repr=False, compare=False, default_factory=lambda: np.zeros(0))

    def __str__(self) -> str:
        return f"{self.part} of {self.problem}"


@lru_cache(maxsize=4096)
def exact_case(part: str, problem: Problem, declared: Declared, capacity: int = 0) -> Case:
    """The case whose integers suit the declared formats (or an accumulator of the given capacity).

    Several rungs ask for it, and every candidate, so it is kept; nobody may write into its arrays."""
    capacity = min(capacity or declared.capacity, declared.capacity)
    input, _, output = declared.formats
    unsigned = ["input", "weight", "grad_output"] if input.name.startswith("uint") else []
    unsigned += ["bias"] if output.name.startswith("uint") else []
    largest = input.capacity if input.is_integer else LARGEST
    arrays = exact_arrays(problem, capacity, unsigned, largest)
    due = reference(part, problem, arrays)
    for array in (*arrays.values(), due):
        array.setflags(write=False)
    return Case(part, problem, arrays, due)


def could_show(part: str, problem: Problem, declared: Declared) -> bool:
    """Whether the part's sums are short enough for exact data in the declared formats."""
    return part in exact_parts(problem, declared.capacity)


@dataclass(frozen=True, eq=False)
class Observation:
    """What a candidate made of a case: `kind`, the array if there is one, and a line of detail."""

    case: Case
    kind: str
    got: np.ndarray | None = field(default=None, repr=False)
    detail: str = ""
    limit: np.ndarray | float = field(default=0.0, repr=False)  # what rounding may do; exact data: nothing
    wider: str = ""  # the dtype of the result, where it is wider than what is due

    @property
    def part(self) -> str:
        return self.case.part

    @property
    def problem(self) -> Problem:
        return self.case.problem

    @property
    def failed(self) -> bool:
        return self.kind in FAILED

    @cached_property
    def wrong(self) -> np.ndarray:
        """Which elements differ by more than the limit; all of them where the shape is wrong."""
        assert self.got is not None
        if self.got.shape != self.case.due.shape:
            return np.ones(self.got.shape, bool)
        return ~((self.got == self.case.due) | (abs(self.got - self.case.due) <= self.limit))


def observe(runner: Runner, case: Case, **how: Any) -> Observation:
    """Put a case to a candidate, in the way that further fields of a `Call` say, and judge what comes."""
    call = Call(case.part, case.problem, case.arrays, size=case.due.size, **how)
    return judged(case, runner.run(call), runner.declared)


def judged(case: Case, answer: Answer, declared: Declared) -> Observation:
    """The judgement of an answer on exact data: equality, and the right shape and type."""
    if kind := without_array(answer, declared):
        return Observation(case, *kind)
    got = comparable(answer.value)
    due = result_shape(case.part, case.problem)
    if got.shape != due:
        return Observation(case, "shape", got, f"shape {got.shape}, due {due}")
    wider = wider_dtype(answer.value, declared)
    if np.array_equal(got, case.due):
        return Observation(case, RIGHT, got, wider=wider)
    if _only_rounded(case, got, declared):
        told = "not equal, but near: this is no plain sum of products"
        return Observation(case, INEXACT, got, told, wider=wider)
    return Observation(case, "wrong", got, _first_difference(case, got), wider=wider)


def without_array(answer: Answer, declared: Declared) -> tuple[str, None, str] | None:
    """The kind of an answer that brought nothing to compare, and what is to be said of it."""
    if answer.kind == "wrote":
        return "wrote", None, f"it writes into its input {answer.message}"
    if answer.kind == "shares":
        return "shares", None, f"the result shares the memory of {answer.message}"
    if answer.kind != "value":
        return answer.kind, None, answer.message
    if fault := _type_fault(answer.value, declared):
        return "type", None, fault
    return None


def comparable(value: np.ndarray) -> np.ndarray:
    """float64 for any format, int64 for integers: what is compared with the reference."""
    return np.asarray(value).astype(np.int64 if value.dtype.kind in "biu" else np.float64)


def _type_fault(value: Any, declared: Declared) -> str:
    """What is wrong with the type of a result: it must hold every number of the output's format."""
    if not isinstance(value, np.ndarray):
        return f"the result is a {type_name(value)}, not an array"
    if value.dtype.kind not in "biuf" and value.dtype.name != "bfloat16":
        return f"the result has dtype {value.dtype}, which holds no real numbers"
    due = declared.formats[2]
    if value.dtype.name in (due.dtype.name, due.name):
        return ""
    holds = np.can_cast(due.dtype, value.dtype)
    if declared.output and not (holds and (value.dtype.kind in "iu") == due.is_integer):
        return f"the result has dtype {value.dtype}, declared {declared.output}"
    if not holds:
        return (
            f"the result has dtype {value.dtype}, which does not hold all of {due.name}, due for "
            f"{declared.input} inputs; if it is meant so, declare the output"
        )
    return ""


def wider_dtype(value: np.ndarray, declared: Declared) -> str:
    """The dtype of a result, where it is wider than the output's format."""
    due = declared.formats[2]
    return "" if value.dtype.name in (due.dtype.name, due.name) else value.dtype.name


def _only_rounded(case: Case, got: np.ndarray, declared: Declared) -> bool:
    """Off by rounding alone: fractions where integers are due, each within the bound or nearest to the
    integer that is due."""
    if got.dtype.kind != "f" or not np.isfinite(got).all() or (got == np.rint(got)).all():
        return False
    if (np.rint(got) == case.due).all():
        return True
    limit = bounds(case.part, case.problem, case.arrays, case.due.astype(np.float64), declared.formats)
    return bool((abs(got - case.due) <= limit.worst).all())


def _first_difference(case: Case, got: np.ndarray) -> str:
    wrong = np.argwhere(~(got == case.due))
    where = tuple(map(int, wrong[0]))
    told = f"got {number(got[where])}, due {case.due[where]}"
    return f"{len(wrong)} of {got.size} elements, first at {where}: {told}"


def number(value: Any) -> str:
    """An integer where it is one."""
    value = float(value)
    return str(int(value)) if np.isfinite(value) and value == int(value) else f"{value:g}"


def of_part(observations: Sequence[Observation], part: str) -> list[Observation]:
    return [observation for observation in observations if observation.part == part]
