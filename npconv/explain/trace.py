"""What ran, array by array, and where every cell of every array came from.

The arrays are the recorded ones.  The origin of a cell is found by sending labels (1, 2, 3, ...) in
place of numbers through the same move: a cell that comes out as 0 is a zero that the move put in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from npconv import transforms
from npconv.conv import im2col
from npconv.record import Step, recording

MOVES: dict[str, Callable[..., np.ndarray]] = {
    name: getattr(transforms, name)
    for name in ("pad", "dilate", "subsample", "flip", "swap", "groups_to_channels", "groups_to_batch")
}


@dataclass(frozen=True, eq=False)
class Stage:
    """One array: a given one, or what a step made of the earlier ones in `parents`.

    Cells are numbered flat, in C order.
    sources: for each parent, for each cell, the cells of the parent that it was made of: one, -1 for
    a zero that was put in, or where a slide summed products, one a product, shape (cells, products).
    roots: for each cell, the cell that it carries of the array where its chain of moves began.
    names: the given arrays that went into it.
    """

    name: str
    array: np.ndarray
    step: Step | None
    parents: tuple[int, ...]
    sources: tuple[np.ndarray, ...]
    roots: np.ndarray
    names: frozenset[str]

    @property
    def moved(self) -> bool:
        """Whether its cells are an earlier array's, in other places."""
        return len(self.parents) == 1

    @property
    def summed(self) -> bool:
        """Whether its cells are sums of products of two arrays' cells."""
        return self.name == "slide"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What the recorded step was called with; nothing for an array that no step made."""
        return () if self.step is None else self.step.arguments

    @property
    def put_in(self) -> np.ndarray:
        """Which of its cells are zeros that stand for no element; the array's shape."""
        return (self.roots < 0).reshape(self.array.shape)

    @property
    def idle(self) -> bool:
        """Whether the move changed nothing: the same cells in the same places."""
        return self.moved and self.arguments[0].shape == self.array.shape and _in_order(self.sources[0])


@dataclass(frozen=True, eq=False)
class Trace:
    """One evaluation: its given arrays first, then every array in the order in which it was made."""

    stages: tuple[Stage, ...]

    @property
    def slide(self) -> int:
        """The number of the stage at which products were summed."""
        return next(number for number, stage in enumerate(self.stages) if stage.summed)

    @property
    def result(self) -> np.ndarray:
        return self.stages[-1].array

    @property
    def padding(self) -> tuple[tuple[int, int], ...]:
        """What was put around the array under the window, as it was applied."""
        return tuple(next(stage.arguments[1] for stage in self.stages if stage.name == "pad"))

    @property
    def after(self) -> list[int]:
        """The slide and what was made of it up to the result; moves that changed nothing are left out."""
        return [number for number in range(self.slide, len(self.stages)) if not self.stages[number].idle]

    def chain(self, number: int) -> list[int]:
        """The stages that lead to this one by moves alone; those that changed nothing are left out."""
        stage = self.stages[number]
        before = self.chain(stage.parents[0]) if stage.moved else []
        return before if stage.idle else [*before, number]

    def part(self, *names: str) -> Trace:
        """Only the sum of products that was made of these given arrays, and what leads to it and from it."""
        slide = next(n for n, stage in enumerate(self.stages) if stage.summed and stage.names == set(names))
        kept = self._leading_to(slide)
        for number in range(slide + 1, len(self.stages)):
            made_of = self._leading_to(number)
            kept |= made_of if slide in made_of else set()
        numbers = {old: new for new, old in enumerate(sorted(kept))}
        return Trace(
            tuple(
                replace(
                    self.stages[old], parents=tuple(numbers[parent] for parent in self.stages[old].parents)
                )
                for old in numbers
            )
        )

    def _leading_to(self, number: int) -> set[int]:
        return {number}.union(*map(self._leading_to, self.stages[number].parents))

    def feeding(self, number: int, cells: np.ndarray) -> dict[int, np.ndarray]:
        """All cells, in each earlier stage, of which these cells of a stage were made.

        Of a product with a zero that was put in, only the zero counts: it shows where the window lay.
        `cells` and the values are boolean, one entry a cell.
        """
        fed = {number: cells}
        for at in range(number, -1, -1):
            if at not in fed:
                continue
            stage = self.stages[at]
            for parent, sources in zip(stage.parents, self._counting(stage)):
                chosen = sources[fed[at]].reshape(-1)
                mask = fed.setdefault(parent, np.zeros(self.stages[parent].array.size, bool))
                mask[chosen[chosen >= 0]] = True
        return fed

    def _counting(self, stage: Stage) -> tuple[np.ndarray, ...]:
        """Its sources, without the window's cells that only met a zero that was put in."""
        if not stage.summed:
            return stage.sources
        under, window = stage.sources
        return under, np.where(self.stages[stage.parents[0]].roots[under] < 0, -1, window)


def trace(function: Callable[..., Any], arrays: Mapping[str, np.ndarray]) -> Trace:
    """Run a function on named arrays and keep every array that it made.

    A bias, where there is one, is the last: the function's result is what it was added to.

    >>> from npconv import conv1d
    >>> arrays = {"input": np.array([[[1, 2, 3]]]), "weight": np.array([[[1, 10]]])}
    >>> made = trace(lambda x, w: conv1d(x, w, padding=[(1, 0)]), arrays)
    >>> [(stage.name, stage.array.tolist()) for stage in made.stages[2:]]
    [('dilate', [[[1, 2, 3]]]), ('pad', [[[0, 1, 2, 3]]]), ('slide', [[[[10, 21, 32]]]])]
    >>> made.stages[3].sources
    (array([-1,  0,  1,  2]),)
    """
    with recording() as steps:
        result = function(*arrays.values())
    stages: list[Stage] = []
    for name, array in arrays.items():
        stages.append(Stage(name, array, None, (), (), np.arange(array.size), frozenset({name})))
    for step in steps:
        stages.append(_summed(step, stages) if step.name == "slide" else _moved(step, stages))
    if "bias" in arrays:
        stages.append(_with_bias(result, list(arrays).index("bias"), stages))
    return Trace(tuple(stages))


def labels(array: np.ndarray) -> np.ndarray:
    """An array of the same shape in which every cell carries its number, from 1.

    >>> labels(np.zeros((1, 3))).tolist()
    [[1, 2, 3]]
    """
    return np.arange(1, array.size + 1).reshape(array.shape)


def _moved(step: Step, stages: list[Stage]) -> Stage:
    array, *rest = step.arguments
    parent = _find(array, stages)
    origins = MOVES[step.name](labels(array), *rest).reshape(-1) - 1
    before = stages[parent]
    roots = np.where(origins < 0, -1, before.roots[origins])
    return Stage(step.name, step.result, step, (parent,), (origins,), roots, before.names)


def _summed(step: Step, stages: list[Stage]) -> Stage:
    parents = tuple(_find(array, stages) for array in step.arguments[:2])
    names = frozenset().union(*(stages[parent].names for parent in parents))
    return Stage("slide", step.result, step, parents, _products(step), np.arange(step.result.size), names)


def _products(step: Step) -> tuple[np.ndarray, np.ndarray]:
    """The cells that were multiplied, pair by pair: labels through the kernel's own windows."""
    x, weight, stride, dilation, groups = step.arguments
    N, _, _, _ = x.shape
    O, channels, KH, KW = weight.shape
    windows = im2col(labels(x), (KH, KW), stride, dilation)
    _, _, _, _, OH, OW = windows.shape
    # (N, C, KH, KW, OH, OW) -> (N, G, 1, C/G*KH*KW, OH*OW); (O, C/G, KH, KW) -> (1, G, O/G, C/G*KH*KW, 1)
    columns = windows.reshape(N, groups, 1, channels * KH * KW, OH * OW)
    rows = labels(weight).reshape(1, groups, O // groups, channels * KH * KW, 1)
    shape = (N, groups, O // groups, channels * KH * KW, OH * OW)
    # (N, G, O/G, products, OH*OW) -> (N*O*OH*OW, products)
    first, second = (
        np.broadcast_to(cells, shape).swapaxes(3, 4).reshape(-1, channels * KH * KW) - 1
        for cells in (columns, rows)
    )
    return first, second


def _with_bias(result: np.ndarray, bias: int, stages: list[Stage]) -> Stage:
    channels = labels(stages[bias].array).reshape(1, -1, *(1 for _ in result.shape[2:]))
    sources = (np.arange(result.size), np.broadcast_to(channels, result.shape).reshape(-1) - 1)
    names = stages[-1].names | stages[bias].names
    return Stage("plus bias", result, None, (len(stages) - 1, bias), sources, np.arange(result.size), names)


def _find(array: np.ndarray, stages: list[Stage]) -> int:
    """The stage that made this array: itself, the same memory, or the same numbers; the latest one.

    Between one move and the next npconv may put in or take out axes of size 1, or copy.
    """
    for same in (_is, _same_memory, _same_numbers):
        for number in reversed(range(len(stages))):
            if same(stages[number].array, array):
                return number
    raise ValueError(
        f"problem: no recorded move made an array of shape {array.shape}; pictures show one or two "
        f"spatial axes, padded with zeros"
    )


def _is(made: np.ndarray, array: np.ndarray) -> bool:
    return made is array


def _same_memory(made: np.ndarray, array: np.ndarray) -> bool:
    return _layout(made) == _layout(array)


def _same_numbers(made: np.ndarray, array: np.ndarray) -> bool:
    return np.array_equal(made.squeeze(), array.squeeze())


def _layout(array: np.ndarray) -> tuple[Any, ...]:
    start = array.__array_interface__["data"][0]
    return start, tuple((size, step) for size, step in zip(array.shape, array.strides) if size != 1)


def _in_order(origins: np.ndarray) -> bool:
    return bool((origins == np.arange(origins.size)).all())
