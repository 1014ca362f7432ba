"""What a candidate supports: each value of each parameter is asked for alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from npconv.testing.climb import Climb, Rung
from npconv.testing.observation import REFUSED, Observation
from npconv.testing.problems import ENDS, FACTORS, Domain, base, full
from npconv.testing.refusals import Refusals

# Asked for where a kernel refuses all but the plainest of the covering sets' values: many take one
# stride for both axes, or whole vectors of channels only.
FRIENDLIER: dict[str, tuple[Any, ...]] = {
    "taps": ((5, 5), (7, 7), (4, 4), (2, 2)),
    "stride": ((2, 2), (3, 3)),
    "dilation": ((2, 2), (3, 3)),
    "groups": (4, 8),
}
DIVISORS = (8, 16, 32)


def shapes(climb: Climb, rung: Rung) -> None:
    """Shape and type of the result, for each value of each parameter alone."""
    for part in climb.runner.parts:
        Search(climb, rung, part).run()


class Search:
    """The search for the domain of one part; what is refused is left out from then on."""

    def __init__(self, climb: Climb, rung: Rung, part: str):
        self.climb, self.rung, self.part = climb, rung, part
        self.domain = full(climb.rank, transposed=part == "transposed")
        self.refusals = Refusals()

    def run(self) -> None:
        if not self.plainest():
            return
        self.padding()
        for name in ("taps", "stride", "dilation", "groups", "channels", "batch", "bias"):
            self.factor(name)
        self.remainders()
        self.climb.domains[self.part] = self.domain
        if refused := self.refusals.lines():
            self.climb.unsupported[self.part] = refused

    def plainest(self) -> bool:
        """The plainest problem that is accepted; its values come first in the domain from then on."""
        first = ""
        for given_up, domain in _offers(self.domain):
            o = self.climb.ask(self.part, base(domain))
            if o.kind != REFUSED:
                self.note(o)
                self.domain = domain
                for what in given_up:
                    self.refusals.add(first, what)
                return True
            first = first or o.detail
        self.climb.unsupported[self.part] = [f"everything ({first})"]
        return False

    def accepts(self, what: str, *value: Any, **chosen: Any) -> bool:
        """Whether the plainest problem with some other values is not refused; `what` is told if it is."""
        if self.part in self.climb.stopped:
            return True
        o = self.climb.ask(self.part, base(self.domain, **chosen))
        if o.kind == REFUSED:
            self.refusals.add(o.detail, what, *value)
            self.climb.observations.remove(o)  # told by its value: no riddle for the trigger
            return False
        self.note(o)
        return True

    def note(self, o: Observation) -> None:
        if o.kind == "wrong":  # its shape and type are right; values are a matter for higher rungs
            self.rung.cases += 1
        else:
            self.climb.take(self.rung, o)

    def factor(self, name: str) -> None:
        """The values of one factor."""
        plain, *others = self.domain.factors[name]
        keep = [value for value in others if self.accepts(name, value, **{name: value})]
        if not keep:
            more = (value for value in FRIENDLIER.get(name, ()) if value != plain)
            keep = [value for value in more if self.accepts(name, value, **{name: value})]
        self.domain = self.domain.without(name, [plain, *keep])

    def padding(self) -> None:
        """Another padding at all, another at each end or at least on each axis, and a negative one."""
        plain = self.domain.factors["top"][0]
        if not self.accepts("padding", 1 - plain, **dict.fromkeys(ENDS, 1 - plain)):
            self.keep_ends((plain,))
            return
        if not self.accepts("uneven padding", top=1, bottom=2, left=2, right=0):
            apart = self.accepts("padding that differs between the axes", top=1, bottom=1, left=2, right=2)
            self.domain = replace(self.domain, ends=("top", "left") if apart else ("top",))
        if not self.accepts("negative padding", **dict.fromkeys(ENDS, -1)):
            self.keep_ends((0, 1, 2, 3))

    def keep_ends(self, keep: tuple[int, ...]) -> None:
        """Leave out all other values of the padding's ends."""
        for end in ENDS:
            values = self.domain.factors[end]
            self.domain = self.domain.without(end, [value for value in values if value in keep])

    def remainders(self) -> None:
        """What the last window leaves over, or a transposed convolution adds, at the first stride above 1."""
        steps = [stride for stride in self.domain.factors["stride"] if max(stride) > 1]
        if steps:
            told = "output_padding" if self.part == "transposed" else "remainder"
            plain, *others = FACTORS["remainder"]
            keep = [r for r in others if self.accepts(told, r, stride=steps[0], remainder=r)]
            self.domain = self.domain.without("remainder", [plain, *keep])


def _offers(domain: Domain) -> Iterator[tuple[list[str], Domain]]:
    """Domains, the widest first, each with the plainest values of some kernel in the first place; with
    what is not supported where nothing wider was accepted."""
    vectors = {f"channels that {n} does not divide": ((n, n), (2 * n, n), (n, 2 * n)) for n in DIVISORS}
    for square in (False, True):
        for undivided, channels in {"": FACTORS["channels"], **vectors}.items():
            offered = replace(domain.without("channels", channels), square=square)
            given_up = [what for what in ("sides that differ" if square else "", undivided) if what]
            for first in _firsts():
                yield given_up, _beginning(offered, first)


def _firsts() -> Iterator[dict[str, Any]]:
    """The values that the plainest problem may have."""
    every = (FACTORS["taps"] + FRIENDLIER["taps"], (0, 1), FACTORS["bias"], FACTORS["batch"])
    for taps, padding, bias, batch in product(*every):
        yield {"taps": taps, "bias": bias, "batch": batch, **dict.fromkeys(ENDS, padding)}


def _beginning(domain: Domain, first: dict[str, Any]) -> Domain:
    """The domain with these values in the first place."""
    for name, value in first.items():
        others = [other for other in FACTORS[name] if other != value]
        domain = domain.without(name, [value, *others])
    return domain
