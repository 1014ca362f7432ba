"""What a candidate supports: each value of each parameter is asked for alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from npconv.testing.climb import Climb, Rung
from npconv.testing.observation import REFUSED, Observation
from npconv.testing.problems import FACTORS, Domain, base, full


def shapes(climb: Climb, rung: Rung) -> None:
    """Shape and type of the result, for each value of each parameter alone."""
    for part in climb.runner.parts:
        find_domain(climb, part, rung)


def find_domain(climb: Climb, part: str, rung: Rung) -> None:
    """Ask for each value of each factor alone; what is refused is left out from then on."""
    domain = full(climb.rank, transposed=part == "transposed")
    refused: list[str] = []
    plain: dict[str, Any] = {}

    def accepts(told: str, **chosen: Any) -> bool:
        if part in climb.stopped:
            return True
        o = climb.ask(part, base(domain, **{**plain, **chosen}))
        if o.kind == REFUSED:
            refused.append(f"{told} ({o.detail})")
            return False
        note(o)
        return True

    def note(o: Observation) -> None:
        if o.kind != "wrong":  # a matter for higher rungs, where more is seen
            climb.take(rung, o)

    for plain in _plainest():
        o = climb.ask(part, base(domain, **plain))
        if o.kind != REFUSED:
            note(o)
            break
    else:
        climb.unsupported[part] = [f"everything ({o.detail})"]
        return
    domain = _even_or_not(domain, accepts)
    for name, told in (("taps", "taps"), ("stride", "stride"), ("dilation", "dilation"), ("groups", "groups"),
                       ("channels", "C/G, O/G ="), ("batch", "batch"), ("bias", "bias")):  # fmt: skip
        keep = [
            v
            for v in FACTORS[name]
            if v == plain.get(name, FACTORS[name][0]) or accepts(f"{told} {v}", **{name: v})
        ]
        domain = domain.without(name, keep)
    if steps := [s for s in domain.factors["stride"] if s == (2, 3)]:
        told = "output_padding" if part == "transposed" else "a remainder"
        keep = [
            r
            for r in FACTORS["remainder"]
            if r == (0, 0) or accepts(f"{told} {r}", stride=steps[0], remainder=r)
        ]
        domain = domain.without("remainder", keep)
    climb.domains[part] = domain
    if refused:
        climb.unsupported[part] = refused


def _plainest() -> Iterator[dict[str, Any]]:
    """The plainest problems, until one is accepted."""
    for taps in FACTORS["taps"]:
        for bias in FACTORS["bias"]:
            for batch in FACTORS["batch"]:
                yield {"taps": taps, "bias": bias, "batch": batch}


def _even_or_not(domain: Domain, accepts: Callable[..., bool]) -> Domain:
    """Padding at all, more of it, uneven, negative."""
    ends = ("top", "bottom", "left", "right")
    if not accepts("padding", **dict.fromkeys(ends, 1)):
        for end in ends:
            domain = domain.without(end, [0])
        return domain
    uneven = accepts("uneven padding", top=1, bottom=2, left=2, right=0)
    negative = accepts("negative padding", **dict.fromkeys(ends, -1))
    for end in ends:
        domain = domain.without(end, [v for v in FACTORS[end] if v >= 0 or negative])
    return replace(domain, ends=domain.ends if uneven else ("top", "left"))
