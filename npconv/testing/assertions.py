"""For test suites: one assertion with a derived bound, and the cases to run it on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from npconv.geometry import IntOrInts, Padding
from npconv.problem import Problem
from npconv.testing.bounds import agrees, bounds
from npconv.testing.candidate import Declared
from npconv.testing.diagnose import diagnose
from npconv.testing.observation import Case, Observation, comparable, exact_case
from npconv.testing.parts import TAKES, array_shapes, reference, result_shape, taken
from npconv.testing.problems import covering, full


def assert_conv_close(
    actual: ArrayLike,
    *,
    part: str = "forward",
    input: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    grad_output: ArrayLike | None = None,
    input_size: Sequence[int] | None = None,
    weight_size: Sequence[int] | None = None,
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    output_padding: IntOrInts = 0,
    accumulate: str = "",
) -> None:
    """Assert that a result of a convolution is right, to within what rounding can do and no more.

    part: "forward", "grad_input", "grad_weight", "grad_bias" or "transposed"; each needs its arrays
    (grad_input: grad_output, weight, input_size; grad_weight: grad_output, input, weight_size;
    grad_bias: grad_output, weight_size).  The formats are those of the arrays; accumulate names the
    accumulator's where it is another than npconv assumes (float32 for float16, else the input's).

    AssertionError: the worst element, its bound, the problem's descriptor, and the fault if it has
    a name.  TypeError where an array is missing.

    >>> import npconv
    >>> x, w = np.arange(6.0).reshape(1, 1, 6), np.array([[[1.0, 2.0, 4.0]]])
    >>> assert_conv_close(npconv.conv(x, w, stride=2), input=x, weight=w, stride=2)
    >>> assert_conv_close(npconv.conv(x, w[..., ::-1], stride=2), input=x, weight=w, stride=2)
    Traceback (most recent call last):
    AssertionError: forward of i6_k3_s2: 2 of 2 elements are off by more than rounding can explain
      worst at (0, 0, 0): got 4.0, due 10.0, bound 8.9e-15
      the weight is flipped; explains 2 of 2 wrong elements
    """
    given = dict(input=input, weight=weight, bias=bias, grad_output=grad_output)
    arrays = {name: np.asarray(array) for name, array in given.items() if array is not None}
    problem = _problem(
        part, arrays, input_size, weight_size, stride, padding, dilation, groups, output_padding
    )
    compare(np.asarray(actual), part, problem, arrays, accumulate)


def compare(
    actual: np.ndarray, part: str, problem: Problem, arrays: dict[str, np.ndarray], accumulate: str = ""
) -> None:
    """The assertion for a problem that is already known."""
    due_shape = result_shape(part, problem)
    if actual.shape != due_shape:
        raise AssertionError(f"{part} of {problem}: shape {actual.shape}, due {due_shape}")
    exact = {name: comparable(array) for name, array in arrays.items()}
    first = arrays[TAKES[part][0]].dtype
    formats = Declared(input=first.name, accumulate=accumulate, output=actual.dtype.name).formats
    with np.errstate(all="ignore"):  # the arrays may hold infinities and NaN
        y = reference(part, problem, exact)
        limit = bounds(part, problem, exact, y.astype(np.float64), formats).worst
    got = comparable(actual)
    if all(array.dtype.kind in "biu" for array in (actual, *arrays.values())):
        limit = np.zeros(y.shape)
    wrong = ~agrees(got, y, limit, formats[2])
    if wrong.any():
        raise AssertionError(_message(part, problem, exact, got, y, limit, wrong))


def _message(
    part: str, problem: Problem, arrays: dict[str, np.ndarray], got: np.ndarray, y: np.ndarray,
    limit: np.ndarray, wrong: np.ndarray,
) -> str:  # fmt: skip
    with np.errstate(all="ignore"):
        excess = np.where(wrong, np.nan_to_num(abs(got - y) - limit, nan=np.inf), -1)
    at = tuple(map(int, np.unravel_index(int(np.argmax(excess)), y.shape)))
    lines = [
        f"{part} of {problem}: {int(wrong.sum())} of {y.size} elements are off by more than "
        f"rounding can explain",
        f"  worst at {at}: got {got[at]}, due {y[at]}, bound {limit[at]:.2g}",
    ]
    if not np.isfinite(y).all():  # the table of faults predicts finite sums
        return "\n".join(lines)
    named = diagnose([Observation(Case(part, problem, arrays, y), "wrong", got, limit=limit)])
    if named and named[0].complete and named[0].wrong:
        lines.append("  " + str(named[0]).split(": ", 1)[1])
    return "\n".join(lines)


def _problem(
    part: str,
    arrays: dict[str, np.ndarray],
    input_size: Sequence[int] | None,
    weight_size: Sequence[int] | None,
    stride: IntOrInts,
    padding: Padding,
    dilation: IntOrInts,
    groups: int,
    output_padding: IntOrInts,
) -> Problem:
    """The problem that the arrays and sizes belong to."""
    if part not in TAKES:
        raise ValueError(f"part: {part!r} is not one of {', '.join(TAKES)}")
    needed = [name for name in TAKES[part] if name != "bias"]
    if missing := [name for name in needed if name not in arrays]:
        raise TypeError(f"{part}: it needs {', '.join(needed)}; {', '.join(missing)} missing")
    if part == "grad_bias":
        g = arrays["grad_output"]
        return Problem(i=g.shape[2:], k=(1,) * (g.ndim - 2), N=g.shape[0], O=g.shape[1], C=1).canonical()
    x = arrays["input"].shape if "input" in arrays else input_size
    w = arrays["weight"].shape if "weight" in arrays else weight_size
    if x is None or w is None:
        raise TypeError(f"{part}: it needs {'input_size' if x is None else 'weight_size'}")
    N, C, *i = x
    first, second, *k = w
    transposed = part == "transposed"
    return Problem(
        i=tuple(i), k=tuple(k), N=N, C=C, O=second * groups if transposed else first, G=groups,
        stride=stride, padding=padding, dilation=dilation,  # type: ignore[arg-type]
        output_padding=output_padding if transposed else 0,  # type: ignore[arg-type]
        bias="bias" in arrays and part in ("forward", "transposed"), transposed=transposed,
    ).canonical()  # fmt: skip


def cases(
    part: str = "forward", *, strength: int = 2, rank: int = 2, dtype: str = "float32", output: str = ""
) -> list[TestCase]:
    """The exact cases of one part: every pair (strength 2) or triple (3) of parameter values.

    Each case has .arguments (all keywords of the protocol: a kernel is called as kernel(**case.arguments)),
    .arrays (by name, in `dtype`), .parameters (strides and the like), .due (the exact result, int64),
    .problem and .check(result); its str, the descriptor, serves as a test id.

    >>> case = cases()[1]
    >>> list(case.arguments)
    ['input', 'weight', 'bias', 'stride', 'padding', 'dilation', 'groups']
    >>> case.arguments["bias"] is None, cases("grad_input")[1].arguments["input_size"]
    (True, (1, 2, 7, 9))
    >>> str(case), case.parameters["groups"], sorted(case.arrays)
    ('C2O4G2_i7x9_k3x2_s2x3_p1:2x2:1_d2x1', 2, ['input', 'weight'])
    """
    declared = Declared(input=dtype, output=output)
    made = (
        exact_case(part, problem, declared)
        for problem in covering(full(rank, transposed=part == "transposed"), strength)
    )
    return [TestCase(case, declared) for case in made]


class TestCase:
    """One exact case, ready for a kernel."""

    __test__ = False  # the name is for its users; pytest is not to collect it

    def __init__(self, case: Case, declared: Declared):
        given, _, output = (f.dtype for f in declared.formats)
        kinds = {"bias": output} if given.kind in "iu" else {}  # as `check` hands out the bias of integers
        self.problem, self.part, self.due = case.problem, case.part, case.due
        self._exact = dict(case.arrays)
        self.arrays = {
            name: case.arrays[name].astype(kinds.get(name, given))
            for name in TAKES[case.part]
            if name in array_shapes(case.problem)
        }

    @property
    def parameters(self) -> dict[str, object]:
        """Keywords as the protocol has them: tuples with one entry an axis, padding as pairs."""
        p = self.problem
        shared = dict(stride=p.stride, padding=p.padding, dilation=p.dilation, groups=p.G)
        return {**shared, "output_padding": p.output_padding} if p.transposed else shared

    @property
    def arguments(self) -> dict[str, object]:
        """All that a function of the protocol takes: arrays (a bias that is not there is None), the size
        of the result of a gradient, and the parameters; a bias gradient takes grad_output alone."""
        arrays: dict[str, object] = dict(taken(self.part, self.arrays))
        if self.part == "grad_bias":
            return arrays
        size = {"grad_input": "input_size", "grad_weight": "weight_size"}.get(self.part)
        sizes = {size: result_shape(self.part, self.problem)} if size else {}
        return {**arrays, **sizes, **self.parameters}

    def check(self, actual: ArrayLike) -> None:
        """Assert equality; the message names the fault."""
        got = np.asarray(actual)
        compare(comparable(got), self.part, self.problem, {name: self._exact[name] for name in self.arrays})

    def __str__(self) -> str:
        return str(self.problem)

    __repr__ = __str__


__all__ = ["TestCase", "assert_conv_close", "cases", "compare"]
