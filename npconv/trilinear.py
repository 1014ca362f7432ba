"""What a function computes, written down: a sum of terms, each a map applied to two named arrays.

Derivatives need nothing else.  In <c, map(a, b)> the result's cotangent c, a and b stand on an equal
footing, so the derivative by a is the map that gives a's role, applied to c and b: `Rule.transposed`
exchanges the two names and is done.  It works on what it makes, so there is no highest order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Term:
    """One map applied to named arrays: `takes` says which array plays which role."""

    gives: str
    takes: tuple[tuple[str, str], ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """The arrays that it takes."""
        return frozenset(name for _, name in self.takes)

    @property
    def moves(self) -> bool:
        """Whether it only puts an array's elements elsewhere, and adds none up."""
        return self.gives == "output" and [role for role, _ in self.takes] == ["input"]

    def replaced(self, old: str, new: str) -> Term:
        """The same term with another array in old's role."""
        return Term(self.gives, tuple((role, new if name == old else name) for role, name in self.takes))

    def transposed(self, array: str, cotangent: str) -> Term:
        """The derivative by one of its arrays: that array's role and the result's trade places."""
        role = next(role for role, name in self.takes if name == array)
        others = tuple((other, name) for other, name in self.takes if name != array)
        return Term(role, (*others, (self.gives, cotangent)))


@dataclass(frozen=True)
class Sum:
    """One result of a rule: the sum of its terms, real where its array is real, None where that is None."""

    name: str
    terms: tuple[Term, ...]
    belongs_to: str | None = None


@dataclass(frozen=True)
class Rule:
    """What a function computes from its named arrays: one sum a result."""

    arrays: tuple[str, ...]
    sums: tuple[Sum, ...]
    result: Callable[..., Any] | None = field(default=None, compare=False)
    optional: tuple[str, ...] = field(default=(), compare=False)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.arrays, self.sums))

    def role(self, array: str) -> str | None:
        """The role that an array plays, the same in every term; None where it plays in no term."""
        return self._roles.get(array)

    @cached_property
    def _roles(self) -> dict[str, str]:
        return {name: role for s in self.sums for term in s.terms for role, name in term.takes}

    def transposed(self, by: tuple[str, ...]) -> Rule:
        """The rule of the pullback: cotangents first, then all arrays; one result for each name in `by`."""
        cotangents = self._fresh("grad_" + s.name for s in self.sums)
        sums = tuple(
            Sum(
                array,
                tuple(
                    term.transposed(array, cotangent)
                    for s, cotangent in zip(self.sums, cotangents)
                    for term in s.terms
                    if any(name == array for _, name in term.takes)
                ),
                belongs_to=array,
            )
            for array in by
        )
        return Rule(cotangents + self.arrays, sums, lambda *gradients: gradients, cotangents + self.optional)

    def tangent(self) -> Rule:
        """The rule of the directional derivative: all arrays, then one tangent for each."""
        moving = self._fresh("tangent_" + array for array in self.arrays)
        tangents = dict(zip(self.arrays, moving))
        sums = tuple(
            Sum(
                s.name,
                tuple(term.replaced(name, tangents[name]) for term in s.terms for _, name in term.takes),
                s.belongs_to,
            )
            for s in self.sums
        )
        return Rule(self.arrays + moving, sums, self.result, self.optional + moving)

    def _fresh(self, wished: Iterable[str]) -> tuple[str, ...]:
        """Names for new arrays: those wished for, with more grad_ in front until each is the only one."""
        names: list[str] = []
        for name in wished:
            while name in self.arrays or name in names:
                name = "grad_" + name
            names.append(name)
        return tuple(names)
