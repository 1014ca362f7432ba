"""One geometry, one trilinear form, three maps: how every public function is evaluated.

A `Rule` says which maps of which arrays a function adds up.  A `Form` knows the geometry and what users
put around it (a missing batch axis, a padding mode, another layout).  From a rule and the arrays' shapes
and dtypes it makes recipes, once; carrying them out for the arrays only walks them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from npconv import dtypes
from npconv.geometry import Geometry, Shape
from npconv.trilinear import Rule, Sum, Term

# Which two roles each map takes; the third is what it gives.
TAKES = {"output": ("input", "weight"), "input": ("weight", "output"), "weight": ("input", "output")}

Map = Callable[[np.ndarray, np.ndarray, Geometry], np.ndarray]


class View(NamedTuple):
    """A linear change of an array on its way in, and its adjoint on the way out."""

    inward: Callable[[np.ndarray], np.ndarray]
    outward: Callable[[np.ndarray], np.ndarray]


NO_BATCH = View(lambda x: x[None], lambda y: y[0])


Kind = tuple[Shape, np.dtype]  # what of an array decides how it is computed with
Way = tuple[Callable[[np.ndarray], np.ndarray], ...]  # moves, one after the other


class Step(NamedTuple):
    """A term carried out: each array takes its way in, `apply` makes one of them, which takes the way out."""

    takes: tuple[tuple[int, Way], ...]  # which of the arrays, and its way
    apply: Callable[..., np.ndarray]
    out: Way


class Recipe(NamedTuple):
    """How a sum is carried out for arrays of these shapes and dtypes."""

    steps: tuple[Step, ...]  # of the terms whose arrays are there, and that are no empty sums
    shape: Shape
    result: np.dtype
    real: bool  # only the real part is asked for


@dataclass(frozen=True)
class Form:
    """T(x, w, g) for one geometry: the three maps, and the way in and out of them for each role."""

    geometry: Geometry
    maps: Mapping[str, Map]
    shapes: Mapping[str, Shape]
    views: Mapping[str, tuple[View, ...]] = field(default_factory=dict)
    _recipes: dict[tuple[Rule, tuple[Kind | None, ...]], tuple[Recipe | None, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def evaluate(self, rule: Rule, *arrays: Any) -> Any:
        """The rule's result for these arrays; None stands for an array that is not there."""
        there = [array if array is None else np.asarray(array) for array in arrays]
        kinds = tuple([array if array is None else (array.shape, array.dtype) for array in there])
        recipes = self._recipes.get((rule, kinds)) or self._prepare(rule, kinds)
        results = [recipe and self._sum(recipe, there) for recipe in recipes]
        if rule.result is not None:
            return rule.result(*results)
        return tuple(results) if len(results) > 1 else results[0]

    def _prepare(self, rule: Rule, kinds: tuple[Kind | None, ...]) -> tuple[Recipe | None, ...]:
        """All that shapes and dtypes decide, once: whether the arrays fit, and a recipe for each sum."""
        named = {name: kind for name, kind in zip(rule.arrays, kinds) if kind is not None}
        for name in rule.arrays:
            if name not in named and name not in rule.optional:
                raise TypeError(f"{name}: it is None; it must be an array")
        shapes = {name: shape for name, (shape, _) in named.items()}
        self._check(rule, shapes)
        dtype_of = {name: dtype for name, (_, dtype) in named.items()}
        recipes = tuple(self._recipe(s, rule.arrays, shapes, dtype_of) for s in rule.sums)
        self._recipes[rule, kinds] = recipes
        return recipes

    def _check(self, rule: Rule, shapes: Mapping[str, Shape]) -> None:
        for name, shape in shapes.items():
            role = rule.role(name) or name  # an array that no term takes must fit all the same
            if role in self.shapes and shape != self.shapes[role]:
                others = (
                    f"{other} {self.shapes[other]}" for other in ("input", "weight") if other in self.shapes
                )
                raise ValueError(
                    f"{name}: its shape is {shape}, but it must be {self.shapes[role]}, to go with "
                    f"{' and '.join(others)} and the parameters given"
                )

    def _recipe(
        self,
        s: Sum,
        arrays: tuple[str, ...],
        shapes: Mapping[str, Shape],
        dtype_of: Mapping[str, np.dtype],
    ) -> Recipe | None:
        if s.belongs_to and s.belongs_to not in shapes:
            return None
        terms = [term for term in s.terms if term.names <= shapes.keys()]
        used = [name for term in terms for _, name in term.takes]
        used = used or ([s.name] if s.belongs_to else list(shapes))
        result = dtypes.result_type((name, dtype_of[name]) for name in used)
        working = dtypes.working_type(result)
        if len(terms) == 1 and terms[0].moves:
            result = dtype_of[used[0]]  # nothing is added, so no integer needs int64
        shape = self.shapes[s.terms[0].gives] if s.terms else shapes[s.name]
        steps = tuple(
            self._step(term, arrays, dtype_of, working) for term in terms if not self._is_empty(term, shapes)
        )
        real = s.belongs_to is not None and dtype_of[s.belongs_to].kind != "c" and result.kind == "c"
        return Recipe(steps, shape, dtypes.real_type(result) if real else result, real)

    def _is_empty(self, term: Term, shapes: Mapping[str, Shape]) -> bool:
        """Whether a term is an empty sum, which is zero, or has no elements at all."""
        return 0 in self.shapes[term.gives] or any(0 in shapes[name] for name in term.names)

    def _step(
        self, term: Term, arrays: tuple[str, ...], dtype_of: Mapping[str, np.dtype], working: np.dtype
    ) -> Step:
        names = dict(term.takes)
        place = {role: arrays.index(name) for role, name in names.items()}
        way = {role: self._way_in(role, dtype_of[name], working) for role, name in names.items()}
        if term.gives == "bias":
            (role,) = names
            return Step(((place[role], way[role]),), dtypes.sum_over_positions, ())
        out = tuple(view.outward for view in self.views.get(term.gives, ())[::-1])
        if len(names) == 1:  # a bias on its way to the output, or an array that is only padded
            (role,) = names
            return Step(((place[role], way[role]),), _own, out)
        first, second = TAKES[term.gives]
        if term.gives != "output" and working.kind == "c":
            # L is real: its gradient is dL/dRe + i*dL/dIm, which conjugates what the map was linear in.
            way[first if second == "output" else second] += (np.conj,)
        takes = tuple((place[role], way[role]) for role in (first, second))
        return Step(takes, lambda a, b: self.maps[term.gives](a, b, self.geometry), out)

    def _way_in(self, role: str, dtype: np.dtype, working: np.dtype) -> Way:
        cast = dtype != working and not dtypes.is_integer(working)
        way: Way = (lambda array: array.astype(working),) if cast else ()
        if role == "bias":
            return (*way, lambda array: array.reshape(1, -1, *(1 for _ in self.geometry.axes)))
        return (*way, *(view.inward for view in self.views.get(role, ())))

    def _sum(self, recipe: Recipe, arrays: Sequence[np.ndarray | None]) -> np.ndarray:
        steps, shape, result, real = recipe
        if not steps:
            return np.zeros(shape, result)
        summed = dtypes.total([_carried_out(step, arrays) for step in steps])
        if real:
            summed = summed.real
        if summed.shape != shape:
            summed = np.broadcast_to(summed, shape).copy()
        if summed.dtype is result and summed.flags.c_contiguous:
            return summed
        if result == dtypes.INT64:
            return np.ascontiguousarray(dtypes.to_int64(summed))
        return summed.astype(result, order="C", copy=False)


def _carried_out(step: Step, arrays: Sequence[Any]) -> np.ndarray:
    taken = [_through(way, arrays[place]) for place, way in step.takes]
    return _through(step.out, step.apply(*taken))


def _through(way: Way, array: np.ndarray) -> np.ndarray:
    for move in way:
        array = move(array)
    return array


def _own(array: np.ndarray) -> np.ndarray:
    """A copy: never the caller's own array."""
    return array.copy()
