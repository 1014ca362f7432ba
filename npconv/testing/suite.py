"""For test suites: the exact cases as parameters of a test."""

from __future__ import annotations

from numpy.typing import ArrayLike

from npconv.testing.candidate import Declared
from npconv.testing.comparison import assert_equal, result
from npconv.testing.formats import named
from npconv.testing.further import every
from npconv.testing.observation import Case, could_show, exact_case
from npconv.testing.parts import TAKES, array_shapes, keywords, result_shape, taken
from npconv.testing.problems import full


def cases(
    part: str = "forward", *, strength: int = 2, rank: int = 2, dtype: str = "float32", output: str = ""
) -> list[TestCase]:
    """The exact cases of one part: every pair (strength 2) or triple (3) of the common parameter values,
    and many further values, each alone and amid others.

    Each case has .arguments (all keywords of the protocol: a kernel is called as kernel(**case.arguments)),
    .arrays (by name, in `dtype`), .parameters (strides and the like), .due (the exact result, int64),
    .problem and .check(result); its str, the descriptor, serves as a test id.

    ValueError for a part, dtype or rank that does not exist.

    >>> case = cases()[1]
    >>> list(case.arguments)
    ['input', 'weight', 'bias', 'stride', 'padding', 'dilation', 'groups']
    >>> case.arguments["bias"] is None, cases("grad_input")[1].arguments["input_size"]
    (True, (1, 2, 7, 9))
    >>> str(case), case.parameters["groups"], sorted(case.arrays)
    ('C2O4G2_i7x9_k3x2_s2x3_p1:2x2:1_d2x1', 2, ['input', 'weight'])
    """
    if part not in TAKES:
        raise ValueError(f"part: {part!r} is not one of {', '.join(TAKES)}")
    if strength not in (2, 3):
        raise ValueError(f"strength: {strength} values in every combination; give 2 or 3")
    if rank not in (1, 2, 3):
        raise ValueError(f"rank: {rank} spatial axes; give 1, 2 or 3")
    declared = Declared(input=named(dtype).name, output=output)
    problems = every(full(rank, transposed=part == "transposed"), strength)
    shown = [problem for problem in problems if could_show(part, problem, declared)]
    return [TestCase(exact_case(part, problem, declared), declared) for problem in shown]


class TestCase:
    """One exact case, ready for a kernel."""

    __test__ = False  # the name is for its users; pytest is not to collect it

    def __init__(self, case: Case, declared: Declared):
        given, _, output = (f.dtype for f in declared.formats)
        kinds = {"bias": output} if given.kind in "iu" else {}  # as `check` hands out the bias of integers
        self.problem, self.part, self.due = case.problem, case.part, case.due
        self._case = case
        self.arrays = {
            name: case.arrays[name].astype(kinds.get(name, given))
            for name in TAKES[case.part]
            if name in array_shapes(case.problem)
        }

    @property
    def parameters(self) -> dict[str, object]:
        """Keywords as the protocol has them: tuples with one entry an axis, padding as pairs."""
        return keywords(self.problem)

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
        assert_equal(result(actual, str(self._case), self.due.shape, self.due.dtype), self._case)

    def __str__(self) -> str:
        return str(self.problem)

    __repr__ = __str__


__all__ = ["TestCase", "cases"]
