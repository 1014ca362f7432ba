"""A handful of problems that stand for all: a plain one, then more and more of what a part supports."""

from __future__ import annotations

from typing import Any

from npconv.problem import Problem
from npconv.testing.problems import Domain, base


def typical(domain: Domain) -> list[Problem]:
    """A plain problem, then one with all that the domain holds."""
    least = {name: values[0] for name, values in domain.factors.items()}
    if not domain.uneven:
        pads = {end: max(domain.factors["top"]) and 1 for end in ("top", "bottom", "left", "right")}
    else:
        pads = dict(top=1, bottom=2, left=2, right=0) if len(domain.factors["top"]) > 1 else {}

    def pick(name: str, *wanted: Any) -> dict[str, Any]:
        return {name: next((v for v in wanted if v in domain.factors[name]), least[name])}

    some = {**least, **pick("channels", (1, 2)), **pick("bias", False), **pick("batch", 1)}
    more = {**some, **pads, **pick("bias", True), **pick("batch", 2)}
    strided = {**more, **pick("stride", (2, 3)), **pick("remainder", (1, 1))}
    dilated = {**some, **pick("dilation", (2, 1))}
    both = {
        **strided,
        **pick("dilation", (1, 3), (2, 1)),
        **pick("taps", (2, 3)),
        **pick("remainder", (0, 2)),
    }
    grouped = {**strided, **pick("groups", 2), **pick("channels", (1, 2))}
    return [base(domain, **chosen) for chosen in (some, strided, dilated, both, grouped)]
