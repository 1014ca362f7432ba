"""Facts about a kernel's arithmetic, apart from right or wrong."""

from __future__ import annotations

from itertools import permutations

import numpy as np

import npconv
from npconv.problem import Problem
from npconv.testing.candidate import Call
from npconv.testing.data import integers
from npconv.testing.families import cancelling
from npconv.testing.observation import comparable, without_array
from npconv.testing.parts import output_shape
from npconv.testing.running import Runner

NAMES = (
    "result dtype", "input significand", "weight significand", "accumulator", "sum of 4096 ones", "products",
    "subnormals", "locality",
)  # fmt: skip
REPEATS = 4  # equal calls, before it is said what changes a result
STALLS = ": a running sum of ones stalls there"


def passport(runner: Runner, rank: int = 2) -> dict[str, str]:
    """What the arithmetic of a candidate's forward is like, fact by fact."""
    if "forward" not in runner.parts or runner.declared.formats[0].is_integer:
        return {}
    ask = _Asker(runner, rank)
    facts = {"result dtype": ask.dtype(), "subnormals": subnormals(ask), "locality": locality(ask)}
    if copies := exact_line(ask):
        facts["input significand"] = significand(ask, weight=False)
        facts["weight significand"] = significand(ask, weight=True)
    total = ones(ask)
    if copies and total and exact_plane(ask):
        facts["accumulator"] = accumulator(ask)
        facts["sum of 4096 ones"] = total
        facts["products"] = products(ask)
    facts = {name: facts.get(name, "") for name in NAMES}
    return {name: fact for name, fact in facts.items() if fact}


class _Asker:
    """Small forward problems without padding: 1x1 taps along one line of positions, or a plane."""

    def __init__(self, runner: Runner, rank: int):
        self.runner, self.rank = runner, rank
        self.input = runner.declared.formats[0]

    def line(self, x: np.ndarray, w: np.ndarray) -> np.ndarray | None:
        """x (C, positions), w (O, C) -> (O, positions), as float64."""
        ones = (1,) * (self.rank - 1)
        problem = Problem(i=(*ones, x.shape[1]), k=(1,) * self.rank, C=len(x), O=len(w)).canonical()
        y = self._run(problem, x.reshape(problem.input_shape), w.reshape(problem.weight_shape))
        return None if y is None else y.reshape(len(w), -1)

    def plane(self, x: np.ndarray, w: np.ndarray) -> np.ndarray | None:
        """One channel, as many axes at the end as the arrays have."""
        ones = (1,) * (self.rank - x.ndim)
        problem = Problem(i=(*ones, *x.shape), k=(*ones, *w.shape)).canonical()
        y = self._run(problem, x.reshape(problem.input_shape), w.reshape(problem.weight_shape))
        return None if y is None else y.reshape(y.shape[-x.ndim :])

    def same_plane(self, x: np.ndarray, w: np.ndarray) -> np.ndarray | None:
        """The plane, if it is the same again and again."""
        results = [self.plane(x, w) for _ in range(REPEATS)]
        first = results[0]
        same = all(first is not None and y is not None and np.array_equal(first, y) for y in results)
        return first if same else None

    def _run(self, problem: Problem, x: np.ndarray, w: np.ndarray) -> np.ndarray | None:
        answer = self.runner.run(Call("forward", problem, {"input": x, "weight": w}))
        if without_array(answer, self.runner.declared) or answer.value.shape != output_shape(problem):
            return None
        return comparable(answer.value).astype(np.float64)

    def dtype(self) -> str:
        problem = Problem(i=(1,) * self.rank, k=(1,) * self.rank).canonical()
        one = np.ones(problem.input_shape)
        value = self.runner.run(Call("forward", problem, {"input": one, "weight": one})).value
        return str(getattr(value, "dtype", ""))


def exact_line(ask: _Asker) -> bool:
    """Whether small integers, and zeros beside them, come out of one tap as they are; a transform of the
    whole line spreads rounding over it."""
    x, w = integers("line input", (3, 60), 3), integers("line weight", (2, 3), 3)
    x[:, 30:] = 0
    y = ask.line(x, w)
    return y is not None and np.array_equal(y, npconv.conv(x[None], w[:, :, None])[0])


def exact_plane(ask: _Asker) -> bool:
    """The same of 3 taps an axis.  Where it is not so, no products are summed as they are, and facts about
    such sums would be false."""
    axes = min(ask.rank, 2)
    x, w = integers("plane input", (24,) * axes, 3), integers("plane weight", (3,) * axes, 3)
    x[12:] = 0
    y = ask.plane(x, w)
    return y is None or np.array_equal(y, npconv.conv(x[None, None], w[None, None])[0, 0])


def significand(ask: _Asker, weight: bool) -> str:
    """One tap with weight 1 must copy bits: 1 + 2^-(p-1) comes back for as many p as are kept."""
    widths = np.arange(2, ask.input.p + 1)
    values = np.concatenate([1 + 2.0 ** (1 - widths), [2.0**17 if ask.input.e_min < -14 else 1.0]])
    one = np.ones((1, 1))
    y = ask.line(one, values[:, None]) if weight else ask.line(values[None], one)
    if y is None:
        return ""
    copied = y.reshape(-1) == values
    kept = int(widths[: np.argmin(copied[:-1])][-1]) if not copied[:-1].all() and copied[0] else ask.input.p
    if kept == ask.input.p:
        return f"{kept} bits, as declared"
    between = np.array([[1 + 0.75 * 2.0 ** (1 - kept)]])
    rounding = ask.line(one, between) if weight else ask.line(between, one)
    how = "truncated" if rounding is not None and rounding[0, 0] == 1 else "rounded"
    kind = {8: "bfloat16", 11: "TF32" if copied[-1] else "float16"}.get(kept, "unknown format")
    return f"{kept} bits ({kind}, {how}), declared {ask.input.p}"


def accumulator(ask: _Asker) -> str:
    """2^p, 1 and -2^p in every order: 1 remains as long as the accumulator has p+1 bits."""
    largest = 15 if ask.input.e_min == -14 else 62
    powers = range(1, largest)
    columns = [order for p in powers for order in permutations((2.0**p, 1.0, -(2.0**p)))]
    y = ask.line(np.array(columns).T, np.ones((1, 3)))
    if y is None:
        return ""
    kept = (y.reshape(-1, 6) == 1).all(axis=1)
    if kept.all():
        return f"{largest} bits or more"
    return f"{int(np.argmin(kept)) + 1} bits"


def ones(ask: _Asker) -> str:
    """A running sum of ones stalls at 2^p, where 2^p + 1 rounds back; "" where no whole number comes out."""
    y = ask.line(np.ones((4096, 1)), np.ones((1, 4096)))
    if y is None:
        return ""
    total = float(y[0, 0])
    if not total.is_integer():
        return ""
    return "4096" if total == 4096 else f"{total:g}{STALLS}"


def products(ask: _Asker) -> str:
    """a*a - (1 + 2e) with a = 1 + e is e^2 if the product is not rounded before it is added."""
    if ask.input.p < 20:
        return ""
    e = 2.0 ** -(ask.input.p // 2)
    x, w = np.array([[1 + e], [1.0]]), np.array([[1 + e, -(1 + 2 * e)]])
    sums = [ask.line(x, w), ask.line(x[::-1], w[:, ::-1])]  # in both orders
    exact = [float(y[0, 0]) == e * e for y in sums if y is not None]
    if not exact:
        return ""
    if all(exact):
        return "not rounded before they are added (fused, or a wider accumulator)"
    return "fused into the sum in one order" if any(exact) else "rounded before they are added"


def subnormals(ask: _Asker) -> str:
    tiny = ask.input.smallest_normal / 4
    if tiny == 0:
        return ""
    y = ask.line(np.array([[tiny]]), np.ones((1, 1)))
    if y is None:
        return ""
    return "kept" if float(y[0, 0]) == tiny else "flushed to zero"


def locality(ask: _Asker) -> str:
    """A large element must not disturb outputs that do not read it; Winograd and FFT do.  Nothing is said
    where equal calls differ."""
    if ask.rank < 2:
        return ""
    x = cancelling("locality input", (24, 24))
    w = cancelling("locality weight", (3, 3))
    loud = x.copy()
    loud[11, 11] = 2.0 ** (10 if ask.input.p < 24 else 20)
    quiet, disturbed = ask.same_plane(x, w), ask.same_plane(loud, w)
    if quiet is None or disturbed is None:
        return ""
    changed = quiet != disturbed
    changed[9:12, 9:12] = False  # these read it
    if not changed.any():
        return "outputs depend only on what they read"
    rows, columns = np.nonzero(changed)
    high, wide = int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1
    if high * wide > changed.size // 2:
        return "every output is disturbed by a large element elsewhere, as by an FFT"
    return f"outputs within {high}x{wide} are disturbed by a large element nearby, as by Winograd tiles"
