"""What a part refuses, told in few lines: one a reason, and in it the values of each parameter."""

from __future__ import annotations

from typing import Any

# The words for factors that are not called as in a call.
WORDS = {
    "channels": "C/G and O/G",
    "outputs": "output of",
    **{end: f"padding at the {end}" for end in ("top", "bottom", "left", "right")},
}


class Refusals:
    """Values that were refused, by the reasons that were given.

    >>> refusals = Refusals()
    >>> refusals.add("not yet", "stride", (2, 3))
    >>> refusals.add("never", "batch", 3)
    >>> refusals.add("not yet", "stride", (4, 4))
    >>> refusals.add("not yet", "uneven padding")
    >>> refusals.lines()
    ['stride 2x3, 4x4; uneven padding (not yet)', 'batch 3 (never)']
    """

    def __init__(self) -> None:
        self.reasons: dict[str, dict[str, list[str]]] = {}

    def add(self, reason: str, what: str, *value: Any) -> None:
        """A value of a factor, or a property that has no value."""
        values = self.reasons.setdefault(reason, {}).setdefault(WORDS.get(what, what), [])
        values += ["x".join(map(str, v)) if isinstance(v, tuple) else str(v) for v in value]

    def lines(self) -> list[str]:
        """One line a reason."""
        return [
            "; ".join(f"{name} {', '.join(values)}".rstrip() for name, values in names.items())
            + f" ({reason})"
            for reason, names in self.reasons.items()
        ]
