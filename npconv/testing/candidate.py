"""A candidate: somebody's kernel, whatever its form, called in one way.

It offers any of these, on NumPy arrays; parameters are keywords, tuples with one entry an axis, the
padding as (lo, hi) pairs; the bias may be None.

    forward(input, weight, bias, *, stride, padding, dilation, groups)
    grad_input(grad_output, weight, input_size, *, stride, padding, dilation, groups)
    grad_weight(grad_output, input, weight_size, *, stride, padding, dilation, groups)
    grad_bias(grad_output)
    backward(grad_output, input, weight, *, stride, padding, dilation, groups), in place of these three
    transposed(input, weight, bias, *, stride, padding, output_padding, dilation, groups)
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from npconv.geometry import Shape
from npconv.problem import Problem
from npconv.testing.formats import Format, named
from npconv.testing.memory import MEMORY
from npconv.testing.parts import PARTS, TAKES, parts_of, result_shape

PROTOCOL = (*PARTS, "backward")
FROM_BACKWARD = ("grad_input", "grad_weight", "grad_bias")
TAKEN_BY_BACKWARD = ("grad_output", "input", "weight")


@dataclass(frozen=True)
class Declared:
    """What a candidate says of itself: number formats and layouts.

    input, accumulate, output: names of formats; the output defaults to the input's, the accumulator to
    float32 for formats narrower than that, to the output's for integers, else to the input's.
    layout: where batch N, channels C and the spatial axes stand.  weight_layout: the same for O and I; a
    transposed convolution's weight is that of the convolution it turns round, so its own input is O.
    """

    input: str = "float32"
    accumulate: str = ""
    output: str = ""
    layout: str = "NCHW"
    weight_layout: str = "OIHW"

    def __post_init__(self) -> None:
        for declared in fields(self):
            if not isinstance(given := getattr(self, declared.name), str):
                raise TypeError(
                    f"{declared.name}: it is {given!r}, a {type(given).__name__}; it must be text"
                )
        for argument in ("input", "accumulate", "output"):
            if (name := getattr(self, argument)) or argument == "input":
                named(name, argument)
        for name, letters in (("layout", "NC"), ("weight_layout", "OI")):
            value = getattr(self, name)
            if len(set(value)) != len(value) or not set(letters) <= set(value) <= set(letters + "DHW"):
                raise ValueError(
                    f"{name}: {value!r} must have each of {letters} and of its spatial axes once"
                )

    @property
    def formats(self) -> tuple[Format, Format, Format]:
        """(input, accumulate, output)"""
        given = named(self.input)
        output = named(self.output or ("int32" if given.is_integer else self.input))
        if self.accumulate:
            return given, named(self.accumulate), output
        if given.is_integer:
            return given, output, output
        return given, given if given.p >= 24 else named("float32"), output

    @property
    def capacity(self) -> int:
        """All integers up to this one are exact in each of the three formats."""
        _, accumulate, output = self.formats
        return min(accumulate.capacity, output.capacity)

    def order(self, array: str, ndim: int) -> tuple[int, ...] | None:
        """The axes of the layout, as positions among npconv's; None for an array without a layout."""
        if ndim < 3:
            return None
        spatial = "DHW"[-(ndim - 2) :]
        if array in ("weight", "grad_weight"):
            letters, layout = "OI" + spatial, self.weight_layout
        else:
            letters, layout = "NC" + spatial, self.layout
        kept = [letter for letter in layout if letter in letters]
        missing = [letter for letter in spatial if letter not in kept]
        at = min((kept.index(letter) for letter in kept if letter in spatial), default=len(kept))
        return tuple(letters.index(letter) for letter in (*kept[:at], *missing, *kept[at:]))


@dataclass(frozen=True)
class Call:
    """One question to a candidate, in npconv's layout; `memory` names how the arrays lie in memory."""

    part: str
    problem: Problem
    arrays: Mapping[str, np.ndarray] = field(repr=False, default_factory=dict)
    memory: str = "plain"
    array: str = ""  # the one array that lies so; all of them without a name
    out: float | None = None  # what the output holds before the call, where the candidate takes one
    before: Mapping[str, np.ndarray] | None = None  # numbers of a call made first, in the same memory
    after: Mapping[str, np.ndarray] | None = None  # numbers of a call made before the result is read
    size: int = 0  # elements of the right result


@dataclass(frozen=True)
class Candidate:
    """The functions that a candidate offers, and what it declares."""

    functions: Mapping[str, Callable[..., Any]]
    declared: Declared = Declared()

    @property
    def parts(self) -> tuple[str, ...]:
        offered = set(self.functions) | (set(FROM_BACKWARD) if "backward" in self.functions else set())
        return tuple(part for part in PARTS if part in offered)

    def takes_out(self, part: str) -> bool:
        """Whether the part's function has an argument `out` to write into."""
        function = self.functions.get(part)
        try:
            return function is not None and "out" in inspect.signature(function).parameters
        except (TypeError, ValueError):
            return False

    def answer(self, call: Call) -> tuple[Any, str, str]:
        """The candidate's result in npconv's layout, the names of inputs that it wrote into, and of
        those whose memory the result shares."""
        given = self._given(call, call.arrays if call.before is None else call.before)
        if call.before is not None:
            self._result(call, given)
            for name, array in self._given(call, call.arrays).items():
                given[name][...] = array
        kept = {name: array.copy() for name, array in given.items()}
        result = self._result(call, given)
        if call.after is not None:
            self._result(call, self._given(call, call.after))
        written = [name for name, before in kept.items() if before.tobytes() != given[name].tobytes()]
        shared = [name for name, array in given.items() if _shares(result, array)]
        return self._outward(call.part, call.problem, result), ", ".join(written), ", ".join(shared)

    def _given(self, call: Call, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The arrays that the function takes, as it wants them; a bias that is not there is left out."""
        names = TAKES[call.part] if call.part in self.functions else TAKEN_BY_BACKWARD
        return {name: self._inward(name, arrays[name], call) for name in names if name in arrays}

    def _result(self, call: Call, given: Mapping[str, np.ndarray]) -> Any:
        problem, part = call.problem, call.part
        p: dict[str, Any] = dict(
            stride=problem.stride, padding=problem.padding, dilation=problem.dilation, groups=problem.G
        )
        if part not in self.functions:
            return self.functions["backward"](*given.values(), **p)[FROM_BACKWARD.index(part)]
        arrays = [given.get(name) for name in TAKES[part]]
        if part == "grad_bias":
            return self.functions[part](*arrays)
        if part == "transposed":
            p["output_padding"] = problem.output_padding
        sizes = {"grad_input": ("input",), "grad_weight": ("weight",)}.get(part, ())
        shapes = [self._laid_out(name, result_shape(part, problem)) for name in sizes]
        if call.out is not None:
            shape = self._laid_out(part, result_shape(part, problem))
            p["out"] = np.full(shape, call.out, self.declared.formats[2].dtype)
        return self.functions[part](*arrays, *shapes, **p)

    def _laid_out(self, array: str, shape: Shape) -> Shape:
        order = self.declared.order(array, len(shape))
        return shape if order is None else tuple(shape[axis] for axis in order)

    def _inward(self, name: str, array: np.ndarray, call: Call) -> np.ndarray:
        input, _, output = self.declared.formats
        kind = input if name != "bias" or not input.is_integer else output
        order = self.declared.order(name, array.ndim)
        array = np.asarray(array)
        laid = array if order is None else array.transpose(order)
        way = MEMORY[call.memory if call.array in ("", name) else "plain"]
        return way(np.array(laid, kind.dtype, order="C"))

    def _outward(self, part: str, problem: Problem, result: Any) -> Any:
        if not isinstance(result, np.ndarray):
            return result
        order = self.declared.order(part, result.ndim)
        same_rank = result.ndim == problem.rank + 2
        return result if order is None or not same_rank else result.transpose(np.argsort(order))


def _shares(result: Any, array: np.ndarray) -> bool:
    return isinstance(result, np.ndarray) and np.may_share_memory(result, array)


def adapted(candidate: Any, declared: Declared = Declared()) -> Candidate:
    """A callable is a forward; of an object or module, all functions that the protocol names."""
    if isinstance(candidate, Candidate):
        return candidate
    if inspect.isclass(candidate) and (method := _wants_an_instance(candidate)):
        name = candidate.__name__
        raise TypeError(f"candidate: {name} is a class; give an instance: its {method} takes self")
    offered = {name: getattr(candidate, name, None) for name in PROTOCOL}
    functions = {name: function for name, function in offered.items() if callable(function)}
    if not functions and callable(candidate) and not inspect.isclass(candidate):
        functions = {"forward": candidate}
    if not functions:
        what = "a class" if inspect.isclass(candidate) else "not callable"
        raise TypeError(
            f"candidate: it is {candidate!r}, which is {what} and has none of {', '.join(PROTOCOL)}"
        )
    return Candidate(functions, declared)


def _wants_an_instance(candidate: type) -> str:
    """The first method by which the instances of a class are candidates, and not the class itself."""
    methods = {name: inspect.getattr_static(candidate, name, None) for name in (*PROTOCOL, "__call__")}
    return next((name for name, method in methods.items() if _takes_self(method)), "")


def _takes_self(method: Any) -> bool:
    return inspect.isfunction(method) and next(iter(inspect.signature(method).parameters), "") == "self"


def loaded(spec: str) -> Any:
    """What FILE.py, FILE.py:NAME, module or module:NAME names."""
    place, _, name = spec.partition(":")
    if place.endswith(".py"):
        path = Path(place)
        if not path.is_file():
            raise ValueError(f"candidate: there is no file {place}")
        described = importlib.util.spec_from_file_location(path.stem, path)
        assert described is not None and described.loader is not None
        module = importlib.util.module_from_spec(described)
        sys.modules.setdefault(path.stem, module)
        described.loader.exec_module(module)
    else:
        try:
            module = importlib.import_module(place)
        except ModuleNotFoundError as error:
            raise ValueError(f"candidate: {spec!r}: {error}") from None
    if not name:
        return module
    if not hasattr(module, name):
        raise ValueError(f"candidate: {place} has no {name}")
    return getattr(module, name)


def declared_by(candidate: Any, options: Mapping[str, Any]) -> Declared:
    """The options given, else what the candidate itself declares in attributes of the same names."""
    own = getattr(candidate, "declared", {})
    if not isinstance(own, Mapping):
        raise TypeError(f"declared: the candidate's own is {own!r}; it must be a dict of options")
    names = {f.name for f in fields(Declared)}
    if unknown := {*options, *own} - names:
        raise TypeError(
            f"options: {', '.join(sorted(map(str, unknown)))} unknown; there are {', '.join(sorted(names))}"
        )
    return Declared(**{**own, **{name: value for name, value in options.items() if value is not None}})


__all__ = ["Call", "Candidate", "Declared", "adapted", "declared_by", "loaded", "parts_of"]
