"""Which convolution is asked about: one line that names it, or its two shapes and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from npconv.arguments import integer, shape
from npconv.problem import Problem

PARAMETERS = ("stride", "padding", "dilation", "groups", "output_padding", "transposed", "bias")


def problem(descriptor: str | None, flags: Mapping[str, Any]) -> Problem:
    """The problem of a descriptor, or of the flags input, weight and `PARAMETERS`.

    ValueError where both are given, or neither, or they make no convolution.

    >>> str(problem(None, {"input": (1, 2, 5, 5), "weight": (4, 2, 3, 3), "stride": 2}))
    'C2O4_i5x5_k3_s2'
    """
    given = {name: value for name, value in flags.items() if value is not None}
    if descriptor is not None:
        if given:
            raise ValueError(
                f"{next(iter(given))}: {descriptor!r} says it all; give a descriptor or flags, not both"
            )
        return Problem.parse(descriptor)
    for name in ("input", "weight"):
        if name not in given:
            raise ValueError(
                f"{name}: it is missing; give a descriptor as in i5x5_k3_s2, or --input and --weight"
            )
    return _of_shapes(given)


def _of_shapes(given: dict[str, Any]) -> Problem:
    sizes = {name: shape(given.pop(name), name) for name in ("input", "weight")}
    for name, axes in sizes.items():
        if len(axes) < 3 or len(axes) != len(sizes["input"]):
            raise ValueError(
                f"{name}: its shape is {axes}; both shapes need two axes for channels (and batch), then the same "
                f"number of spatial axes"
            )
    G = integer(given.pop("groups", 1), "groups", at_least=1)
    N, C, *i = sizes["input"]
    first, second, *k = sizes["weight"]
    takes, makes = (first, second * G) if given.get("transposed") else (second * G, first)
    if takes != C:
        raise ValueError(
            f"weight: with {G} group(s) its shape {sizes['weight']} takes {takes} channels, not {C}"
        )
    return Problem(i=tuple(i), k=tuple(k), N=N, C=C, O=makes, G=G, **given).canonical()
