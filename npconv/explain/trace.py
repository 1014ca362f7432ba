"""What ran, array by array, and where every cell of every array came from.

The arrays are the recorded ones.  The origin of a cell is found by sending labels (1, 2, 3, ...) in
place of numbers through the same move: a cell that comes out as 0 is a zero that the move put in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    """One array: a given one, or what a move made of an earlier one.

    origins: for each cell (flat, in C order) its cell in the parent; -1 for a zero that was put in.
    roots: the same, followed back to the array `given` that the user knows by name.
    """

    name: str
    array: np.ndarray
    step: Step | None
    parents: tuple[int, ...]
    origins: np.ndarray
    roots: np.ndarray
    given: int

    @property
    def idle(self) -> bool:
        """Whether the move changed nothing: the same cells in the same places."""
        return self.moved and self.step.arguments[0].shape == self.array.shape and _in_order(self.origins)

    @property
    def moved(self) -> bool:
        """Whether a move made it from one other array."""
        return self.step is not None and len(self.parents) == 1

    @property
    def summed(self) -> bool:
        """Whether sliding made it: its cells are sums of products."""
        return len(self.parents) == 2


@dataclass(frozen=True, eq=False)
class Trace:
    """One evaluation: its given arrays first, then every array in the order in which it was made."""

    stages: tuple[Stage, ...]
    result: np.ndarray

    @property
    def slide(self) -> Stage:
        """The stage at which numbers were multiplied and summed."""
        return next(stage for stage in self.stages if stage.summed)

    def chain(self, number: int) -> list[Stage]:
        """The stages that lead to this one, from the given array on; those that changed nothing left out."""
        stage = self.stages[number]
        before = self.chain(stage.parents[0]) if stage.moved else []
        return before if stage.idle else [*before, stage]

    def move(self, name: str) -> Step:
        """The recorded step with this name that came first."""
        return next(s.step for s in self.stages if s.step is not None and s.step.name == name)

    def padding(self) -> tuple[tuple[int, int], ...]:
        """What was put around the array under the window, as it was applied."""
        return tuple(self.move("pad").arguments[1])


def trace(function: Callable[..., np.ndarray], arrays: Mapping[str, np.ndarray], **parameters: Any) -> Trace:
    """Run a public function on named arrays and keep every array that it made.

    Shapes and dtypes are the function's; the errors are too.

    >>> from npconv import conv1d
    >>> x, w = np.array([[[1, 2, 3]]]), np.array([[[1, 10]]])
    >>> [(s.name, s.array.tolist()) for s in trace(conv1d, {"input": x, "weight": w}, padding=1).stages]
    [('input', [[[1, 2, 3]]]), ('weight', [[[1, 10]]]), ('dilate', [[[1, 2, 3]]]), \
('pad', [[[0, 1, 2, 3, 0]]]), ('slide', [[[[10, 21, 32, 3]]]])]
    """
    with recording() as steps:
        result = function(*arrays.values(), **parameters)
    stages: list[Stage] = []
    for name, array in arrays.items():
        cells = np.arange(array.size)
        stages.append(Stage(name, array, None, (), cells, cells, len(stages)))
    for step in steps:
        stages.append(_summed(step, stages) if step.name == "slide" else _moved(step, stages))
    return Trace(tuple(stages), result)


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
    return Stage(step.name, step.result, step, (parent,), origins, roots, before.given)


def _summed(step: Step, stages: list[Stage]) -> Stage:
    x, weight = step.arguments[:2]
    cells = np.arange(step.result.size)
    return Stage("slide", step.result, step, (_find(x, stages), _find(weight, stages)), cells, cells, len(stages))


def _find(array: np.ndarray, stages: list[Stage]) -> int:
    """The stage that made this array, or a view of it with axes of size 1 put in or taken out."""
    for same in (lambda made: made is array, lambda made: _squeezed(made) == _squeezed(array)):
        for number in reversed(range(len(stages))):
            if same(stages[number].array):
                return number
    raise ValueError(f"explain: an array of shape {array.shape} was made by no recorded move; "
                     f"pictures show one or two spatial axes with zeros as padding")  # fmt: skip


def _squeezed(array: np.ndarray) -> tuple[Any, ...]:
    """Where its cells lie in memory, without regard to axes of size 1."""
    interface = array.__array_interface__
    axes = [(size, step) for size, step in zip(array.shape, array.strides) if size != 1]
    return interface["data"][0], tuple(axes)


def _in_order(origins: np.ndarray) -> bool:
    return bool((origins == np.arange(origins.size)).all())


def products(stage: Stage) -> tuple[np.ndarray, np.ndarray]:
    """For each cell of what a slide made, the cells that were multiplied, pair by pair.

    Two arrays of shape (cells, products): flat numbers of cells in the first parent and in the second.

    >>> from npconv import conv1d
    >>> made = trace(conv1d, {"input": np.array([[[1, 2, 3]]]), "weight": np.array([[[1, 10]]])})
    >>> [pairs.tolist() for pairs in products(made.slide)]
    [[[0, 1], [1, 2]], [[0, 1], [0, 1]]]
    """
    x, weight, stride, dilation, groups = stage.step.arguments
    N, C, _, _ = x.shape
    O, channels, KH, KW = weight.shape
    _, _, OH, OW = stage.array.shape
    windows = im2col(labels(x), (KH, KW), stride, dilation)
    # (N, C, KH, KW, OH, OW) -> (N, G, 1, C/G*KH*KW, OH*OW); (O, C/G, KH, KW) -> (1, G, O/G, C/G*KH*KW, 1)
    columns = windows.reshape(N, groups, 1, channels * KH * KW, OH * OW)
    rows = labels(weight).reshape(1, groups, O // groups, channels * KH * KW, 1)
    shape = (N, groups, O // groups, channels * KH * KW, OH * OW)
    # (N, G, O/G, products, OH*OW) -> (N*O*OH*OW, products)
    return tuple(
        np.broadcast_to(cells, shape).swapaxes(3, 4).reshape(stage.array.size, channels * KH * KW) - 1
        for cells in (columns, rows)
    )  # type: ignore[return-value]
