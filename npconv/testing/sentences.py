"""How a sentence says what the evidence for it is."""

from __future__ import annotations

from collections.abc import Sequence

from npconv.testing.observation import Observation


def explaining(part: str, told: str, explained: Sequence[Observation], wrong: Sequence[Observation]) -> str:
    """What is told of wrong cases, and how many of their elements it explains.

    One case proves nothing: what explains it is consistent with it, and no more is said."""
    elements, of_all = (sum(int(o.wrong.sum()) for o in cases) for cases in (explained, wrong))
    if len(wrong) == 1 and elements == of_all:
        return f"{part}: consistent with: {told}; explains all {elements} wrong elements"
    return f"{part}: {told}; explains {elements} of {of_all} wrong elements"
