"""Derivatives of every function here, of any order.

A function is a rule evaluated on a form.  Its pullback is the transposed rule on the same form, and
is a function like any other: to differentiate again, give it to `vjp` again.  No tape is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from npconv import functional, rules
from npconv.form import Form
from npconv.functional import bias_form, conv_form
from npconv.general import conv_general_dilated, general_form
from npconv.padding import pad, pad_adjoint, pad_adjoint_form, pad_form
from npconv.transposed import (
    conv_transpose,
    conv_transpose_backward,
    conv_transpose_form,
)
from npconv.trilinear import Rule


def vjp(function: Callable[..., Any], *arrays: ArrayLike | None, **parameters: Any) -> tuple[Any, Pullback]:
    """A function's value, and the pullback that takes a gradient of its result to those of its arrays.

    `function` is any public map of this package, or a pullback.  `arrays` are its array arguments in
    their order, without sizes and options; those are `parameters`, by keyword.  A bias may be left
    out or be None.

    The pullback takes one array for each result of the function and returns a tuple with one gradient
    for each of `arrays`, None where there was no array.  For a second derivative, differentiate the
    pullback: ``vjp(pullback, g)`` by g alone, ``vjp(pullback, g, x, w)`` by the arrays as well.

    dtypes: as the function has them; complex gradients are dL/dRe + i*dL/dIm, and those of a real
    array are real.  Errors: TypeError for a function that has no derivative here; otherwise as the
    function itself.

    >>> from npconv import conv1d
    >>> x, w, g = np.array([[[1, 2, 3]]]), np.array([[[1, 10]]]), np.array([[[1, 100]]])
    >>> y, pullback = vjp(conv1d, x, w)
    >>> y, pullback(g)
    (array([[[21, 32]]]), (array([[[   1,  110, 1000]]]), array([[[201, 302]]])))
    >>> _, second = vjp(pullback, g, x, w)
    >>> second((x, w))
    (array([[[42, 64]]]), array([[[   1,  110, 1000]]]), array([[[201, 302]]]))

    Formula: Re<g, df> = sum over the arrays a of Re<gradient of a, da>, as in jax.vjp.
    """
    rule, form, given = _problem(function, arrays, parameters)
    kept = tuple(None if array is None else np.asarray(array) for array in given)
    return form.evaluate(rule, *kept), Pullback(rule.transposed(rule.arrays[: len(arrays)]), form, kept)


def jvp(
    function: Callable[..., Any],
    arrays: Sequence[ArrayLike | None],
    tangents: Sequence[ArrayLike | None],
    **parameters: Any,
) -> tuple[Any, Any]:
    """A function's value, and how it changes where its arrays move along `tangents`.

    `function` and `parameters` as for `vjp`; `tangents` has one array for each of `arrays`, or None
    where that one stands still.

    >>> from npconv import conv1d
    >>> x, w = np.array([[[1, 2, 3]]]), np.array([[[1, 10]]])
    >>> jvp(conv1d, (x, w), (np.array([[[0, 1, 0]]]), None))
    (array([[[21, 32]]]), array([[[10,  1]]]))

    Formula: the derivative at t = 0 of function(arrays + t * tangents), as in jax.jvp.
    """
    arrays, tangents = tuple(arrays), tuple(tangents)
    if len(tangents) != len(arrays):
        raise ValueError(
            f"tangents: {len(tangents)} of them for {len(arrays)} arrays; give one each, or None"
        )
    rule, form, given = _problem(function, arrays, parameters)
    for name, array, tangent in zip(rule.arrays, arrays, tangents):
        if array is None and tangent is not None:
            raise ValueError(f"tangents: one is given for {name}, which is not there; give None")
    moving = tuple(tangents) + (None,) * (len(given) - len(arrays))
    return form.evaluate(rule, *given), form.evaluate(rule.tangent(), *given, *moving)


@dataclass(frozen=True, repr=False, eq=False)
class Pullback:
    """From the gradients of a function's results to the gradients of its arrays."""

    rule: Rule
    form: Form
    arrays: tuple[np.ndarray | None, ...]

    def __repr__(self) -> str:
        roles = {name: self.rule.role(name) for name in self.rule.arrays[: self.cotangents]}
        takes = ", ".join(f"{name} {self.form.shapes[role]}" for name, role in roles.items() if role)
        gives = ", ".join(s.name for s in self.rule.sums)
        return f"<pullback: takes {takes}; gives gradients by {gives}>"

    @property
    def cotangents(self) -> int:
        """How many gradients it takes: one for each result of the function that it came from."""
        return len(self.rule.arrays) - len(self.arrays)

    def __call__(self, *cotangents: ArrayLike | tuple[ArrayLike | None, ...] | None) -> tuple[Any, ...]:
        """One gradient for each array; the cotangents one by one, or as one tuple."""
        if len(cotangents) == 1 and isinstance(cotangents[0], tuple):
            cotangents = cotangents[0]
        if len(cotangents) != self.cotangents:
            raise TypeError(
                f"pullback: it takes {self.cotangents} gradient(s), one for each result, "
                f"not {len(cotangents)}"
            )
        return self.form.evaluate(self.rule, *cotangents, *self.arrays)


# How each function's arrays and parameters make its rule and its form; one line each.
PROBLEMS: dict[Callable[..., Any], tuple[Rule, Callable[..., Form]]] = {
    functional.conv: (rules.FORWARD, lambda x, w, b, **p: conv_form(x, w, **p)),
    functional.conv_input: (rules.INPUT, lambda w, g, input_size, **p: conv_form(input_size, w, **p)),
    functional.conv_weight: (rules.WEIGHT, lambda x, g, weight_size, **p: conv_form(x, weight_size, **p)),
    functional.conv_bias: (rules.BIAS, lambda g, rank=None: bias_form(g, rank)),
    functional.conv_backward: (rules.BACKWARD, lambda g, x, w, **p: conv_form(x, w, **p)),
    functional.conv_double_backward: (
        rules.DOUBLE_BACKWARD,
        lambda a, b, c, g, x, w, **p: conv_form(x, w, **p),
    ),
    conv_transpose: (rules.FORWARD, lambda x, w, b, **p: conv_transpose_form(x, w, **p)),
    conv_transpose_backward: (rules.BACKWARD, lambda g, x, w, **p: conv_transpose_form(x, w, **p)),
    conv_general_dilated: (rules.GENERAL, lambda x, w, **p: general_form(x, w, **p)),
    pad: (rules.PAD, lambda x, **p: pad_form(x, **p)),
    pad_adjoint: (rules.PAD_ADJOINT, lambda y, **p: pad_adjoint_form(y, **p)),
}  # fmt: skip


def _problem(
    function: Callable[..., Any], arrays: Sequence[ArrayLike | None], parameters: dict[str, Any]
) -> tuple[Rule, Form, tuple[ArrayLike | None, ...]]:
    """The rule, the form, and all its arrays: those given, then what the function already holds."""
    if isinstance(function, Pullback):
        if parameters:
            raise TypeError(f"parameters: a pullback has its own; leave out {', '.join(parameters)}")
        _check_count(function.rule, arrays, at_least=function.cotangents)
        return function.rule, function.form, (*arrays, *function.arrays[len(arrays) - function.cotangents :])
    base, rank = functional.FIXED.get(function, (function, None)) if callable(function) else (None, None)
    if base not in PROBLEMS:
        raise TypeError(f"function: {function!r} is not one of npconv's maps, nor a pullback")
    rule, build = PROBLEMS[base]
    _check_count(rule, arrays, at_least=len(rule.arrays) - ("bias" in rule.arrays))
    given = tuple(arrays) + (None,) * (len(rule.arrays) - len(arrays))
    _check_parameters(function, dict(zip(rule.arrays, given)), parameters)
    if rank is not None:
        parameters = {**parameters, "rank": rank}
    shapes = (None if array is None else np.shape(array) for array in given)
    return rule, build(*shapes, **parameters), given


def _check_count(rule: Rule, arrays: Sequence[ArrayLike | None], at_least: int) -> None:
    if not at_least <= len(arrays) <= len(rule.arrays):
        raise TypeError(
            f"arrays: {len(arrays)} given, but the function takes {len(rule.arrays)}, "
            f"({', '.join(rule.arrays)}); give sizes and options by keyword"
        )


def _check_parameters(
    function: Callable[..., Any], named: dict[str, ArrayLike | None], parameters: dict[str, Any]
) -> None:
    """TypeError where the function itself would refuse these names, or where an array comes by keyword."""
    for name in named.keys() & parameters.keys():
        raise TypeError(f"{name}: it is an array; give it by position, among the others")
    try:
        signature(function).bind(**named, **parameters)
    except TypeError as error:
        raise TypeError(f"parameters: {function.__name__}: {error}") from None
