"""Listen to the moves while they happen, so that they can be shown and never re-enacted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Step:
    """One move that ran: its name, what went in (array first), and the array that came out."""

    name: str
    arguments: tuple[Any, ...]
    result: Any


_listener: ContextVar[list[Step] | None] = ContextVar("npconv_steps", default=None)


@contextmanager
def recording() -> Iterator[list[Step]]:
    """Collect every recorded move that this thread makes inside the ``with`` block, in order.

    >>> import numpy as np
    >>> from npconv.transforms import flip
    >>> with recording() as steps:
    ...     backwards = flip(np.array([[[1, 2, 3]]]))
    >>> [(step.name, step.result.tolist()) for step in steps]
    [('flip', [[[3, 2, 1]]])]
    """
    steps: list[Step] = []
    token = _listener.set(steps)
    try:
        yield steps
    finally:
        _listener.reset(token)
        if (outer := _listener.get()) is not None:
            outer.extend(steps)


def listening() -> bool:
    """Whether somebody records what this thread makes."""
    return _listener.get() is not None


def recorded(function: F) -> F:
    """Let whoever is recording know of each call."""

    @wraps(function)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        result = function(*arguments, **options)
        steps = _listener.get()
        if steps is not None:
            steps.append(Step(function.__name__, arguments, result))
        return result

    return wrapper  # type: ignore[return-value]
