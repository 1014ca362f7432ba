"""A result beside what is due: equal, or as near as rounding allows; else an AssertionError that says why."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from npconv.geometry import Shape
from npconv.problem import Problem
from npconv.testing.bounds import agrees, bounds
from npconv.testing.candidate import Declared
from npconv.testing.diagnose import diagnose
from npconv.testing.formats import FORMATS, Format
from npconv.testing.observation import Case, Observation, comparable
from npconv.testing.parts import TAKES, reference

# dtypes that are no number formats of their own: what a value of theirs, or each half of it, is made of.
MADE_OF = {"bool": "uint8", "complex64": "float32", "complex128": "float64"}
NUMBERS = (*(name for name in FORMATS if name != "tf32"), *MADE_OF)  # tf32 comes as float32


def numbers(name: str, given: ArrayLike) -> np.ndarray:
    """The array of an argument; TypeError where it holds anything but numbers that can be compared.

    >>> numbers("actual", [None, 1])
    Traceback (most recent call last):
    TypeError: actual: list of dtype object holds no numbers; pass floats, integers or complex numbers
    """
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name}: it is a masked array: what is masked has no value; pass {name}.filled(...)")
    try:
        array = np.asarray(given)
    except ValueError:
        raise TypeError(f"{name}: its rows differ in length; pass an array") from None
    if array.dtype.name not in NUMBERS:
        told = f"{name}: {type(given).__name__} of dtype {array.dtype} {_not_known(array.dtype)}"
        raise TypeError(f"{told}; pass floats, integers or complex numbers")
    if array.dtype == np.uint64 and array.max(initial=0) > np.iinfo(np.int64).max:
        raise TypeError(
            f"{name}: it holds {array.max()}, but integers are compared in int64, up to "
            f"{np.iinfo(np.int64).max}; pass it as int64 or float64"
        )
    return array


def _not_known(dtype: np.dtype) -> str:
    if not any(word in dtype.name for word in ("float", "double", "complex", "int")):
        return "holds no numbers"
    if dtype.itemsize > 8:
        return "is wider than float64, in which results are compared"
    return "is no format that npconv knows"


def result(actual: ArrayLike, told: str, shape: Shape, due: np.dtype) -> np.ndarray:
    """The result as an array; AssertionError where its kind or shape is not that of a right one.

    told: what it is the result of.  due: the dtype of the numbers that are due.
    """
    try:
        array = numbers("actual", actual)
    except TypeError as error:
        raise AssertionError(f"{told}: {error}") from None
    if array.dtype.kind == "b":
        raise AssertionError(f"{told}: actual: it is of dtype bool, but sums are due; pass them as numbers")
    if array.dtype.kind == "c" and due.kind != "c":
        raise AssertionError(
            f"{told}: actual: it is of dtype {array.dtype}, but real numbers are due; pass actual.real where "
            f"the imaginary part is meant to be left out"
        )
    if array.shape != shape:
        unbatched = "; its batch axis is missing" if array.shape == shape[1:] and len(shape) > 2 else ""
        raise AssertionError(f"{told}: actual: shape {array.shape}, due {shape}{unbatched}")
    return array


def exact(array: np.ndarray) -> np.ndarray:
    """The same values as int64, float64 or complex128."""
    return array.astype(np.complex128) if array.dtype.kind == "c" else comparable(array)


def assert_equal(actual: np.ndarray, case: Case) -> None:
    """Assert that a result of integers is the one that is due."""
    got = comparable(actual)
    wrong = got != case.due
    if wrong.any():
        raise AssertionError(_message(case, got, np.zeros(got.shape), wrong, "are not the integers due"))


def assert_near(
    actual: np.ndarray, part: str, problem: Problem, arrays: Mapping[str, np.ndarray], accumulate: str = ""
) -> None:
    """Assert that a result is as near to the right one as rounding in its formats allows; integers are equal."""
    values = {name: exact(array) for name, array in arrays.items()}
    with np.errstate(all="ignore"):  # the arrays may hold infinities and NaN
        y = reference(part, problem, values)
        case = Case(part, problem, values, y)
        if all(array.dtype.kind in "biu" for array in (actual, *arrays.values())):
            return assert_equal(actual, case)
    formats = _formats(arrays[TAKES[part][0]].dtype, actual.dtype, accumulate)
    assert_within(actual, case, formats, "" if accumulate else _wider_inputs(formats))


def assert_within(
    actual: np.ndarray, case: Case, formats: tuple[Format, Format, Format], hint: str = ""
) -> None:
    """Assert the bound of a case in these formats; the hint ends the message."""
    with np.errstate(all="ignore"):
        limit = bounds(case.part, case.problem, case.arrays, case.due, formats).worst
    got = exact(actual)
    wrong = ~agrees(got, case.due, limit, formats[2])
    if wrong.any():
        told = _message(case, got, limit, wrong, "are off by more than rounding can explain")
        raise AssertionError(told + hint)


def _formats(input: np.dtype, output: np.dtype, accumulate: str) -> tuple[Format, Format, Format]:
    first, last = (MADE_OF.get(kind.name, kind.name) for kind in (input, output))
    return Declared(input=first, accumulate=accumulate, output=last).formats


def _wider_inputs(formats: tuple[Format, Format, Format]) -> str:
    """A line where the inputs are wider than the result: then they may not be what the kernel took."""
    input, sums, output = formats
    if input.is_integer or input.p <= output.p:
        return ""
    return (
        f"\n  inputs are {input.name} and the result {output.name}: sums are expected in {sums.name}; pass "
        f'{output.name} inputs, or accumulate="{output.name}" where sums are carried in that'
    )


def _message(case: Case, got: np.ndarray, limit: np.ndarray, wrong: np.ndarray, rule: str) -> str:
    y = case.due
    with np.errstate(all="ignore"):
        excess = np.where(wrong, np.nan_to_num(abs(got - y) - limit, nan=np.inf), -1)
    at = tuple(map(int, np.unravel_index(int(np.argmax(excess)), y.shape)))
    lines = [
        f"{case}: {int(wrong.sum())} of {y.size} elements {rule}",
        f"  worst at {at}: got {got[at]}, {_due(y[at], limit[at])}",
    ]
    if np.iscomplexobj(y) or not np.isfinite(y).all():  # the table of faults predicts finite real sums
        return "\n".join(lines)
    named = diagnose([Observation(case, "wrong", got, limit=limit)])
    if named and named[0].complete and named[0].wrong:
        lines.append("  " + str(named[0]).split(": ", 1)[1])
    return "\n".join(lines)


def _due(y: np.number, limit: np.floating) -> str:
    """What is due of one element: a number within a bound; or, in words, what no bound can be for."""
    if np.isnan(y):
        return "due NaN: a NaN, or infinities of both signs, or 0 times infinity, enter this sum"
    if np.isinf(y):
        return f"due {y}: infinite terms enter this sum, and only the same infinity is right"
    return f"due {y}, bound {limit:.2g}" if limit else f"due {y}"
