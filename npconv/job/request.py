"""From an .npz file, .npy files and flags to a layer, and what is to be compared with its results."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from npconv.dtypes import result_type
from npconv.job import files
from npconv.job.bfloat16 import is_bfloat16, narrowed
from npconv.job.layer import RESULTS, Layer, as_numbers, form

ARRAYS = ("input", "weight", "bias", "grad_output")
PARAMETERS = ("stride", "padding", "dilation", "groups", "output_padding", "transposed", "padding_mode")
NAMES = (*ARRAYS, *RESULTS, *PARAMETERS)


@dataclass(frozen=True)
class Request:
    """What a user asked for: a layer, results to compare with its own, and remarks on the reading.

    `unused`: names of what the file holds in vain.  `replaced`: arrays and parameters, by name, that
    flags put in the place of the file's.
    """

    layer: Layer
    expected: Mapping[str, np.ndarray]
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    replaced: Mapping[str, np.ndarray] = field(default_factory=dict)


def read(file: str | None, flags: Mapping[str, Any]) -> Request:
    """The request that a file and flags make; a flag goes before what the file holds by its name.

    `flags`: paths of .npy files for arrays, values for parameters.  Errors: OSError, ValueError or
    TypeError that names the file, the array or the parameter, before anything is computed.
    """
    wanted = [name for name in NAMES if name not in flags]
    found, unused = files.read_npz(file, wanted) if file is not None else ({}, [])
    given = [*found, *flags]
    _check_names(file, unused, given)
    for name in ("input", "weight"):
        if name not in given:
            raise ValueError(_missing(name, file, [*found, *unused]))
    arrays = {name: found[name] for name in (*ARRAYS, *RESULTS) if name in found}
    parameters = {name: found[name].tolist() for name in PARAMETERS if name in found}
    for name, value in flags.items():
        if name in PARAMETERS:
            parameters[name] = value
        else:
            arrays[name] = files.read_npy(value, name)
    replaced = {
        name: _as_array(value) if name in PARAMETERS else arrays[name]
        for name, value in flags.items()
        if name not in RESULTS
    }
    return replace(request(arrays, parameters), unused=tuple(unused), replaced=replaced)


def request(arrays: Mapping[str, np.ndarray], parameters: Mapping[str, Any]) -> Request:
    """The request that arrays and parameters make, each checked against the others."""
    for name, array in arrays.items():
        _check_kind(name, array)
    kwargs, transposed = _keywords(parameters)
    x, w, b = arrays["input"], arrays["weight"], arrays.get("bias")
    shapes = form(x.shape, w.shape, kwargs, transposed).shapes
    due = dict(zip((*ARRAYS, *RESULTS), (*_shapes(shapes), *_shapes(shapes, results=True))))
    for name, array in arrays.items():
        if array.shape != due[name]:
            raise ValueError(
                f"{name}: its shape is {array.shape}, but with the other arrays it must be {due[name]}"
                f"{'' if transposed else _hint(array, x, w, kwargs)}"
            )
    notes = []
    g = arrays.get("grad_output")
    if g is None:
        g = _ones(shapes["output"], [a for a in (x, w, b) if a is not None])
        notes.append("grad_output: none is given, so it is ones: the gradients are those of output.sum()")
    if any(map(is_bfloat16, arrays.values())):
        notes.append("raw 2-byte values are read as bfloat16, and bfloat16 results are written so")
    layer = Layer(x, w, b, g, kwargs, transposed)
    return Request(layer, {name: arrays[name] for name in RESULTS if name in arrays}, tuple(notes))


def _check_names(file: str | None, unused: Iterable[str], given: Collection[str]) -> None:
    """ValueError where the file seems to hold one of our names, which is not given, misspelt."""
    for name in unused:
        plain = name.lower().replace("-", "_").replace(" ", "_")
        close = get_close_matches(plain, [known for known in NAMES if known not in given], n=1, cutoff=0.75)
        if close and name not in NAMES:
            raise ValueError(
                f"{file}: it holds {name!r}; did you mean {close[0]!r}? Rename it, or take it out"
            )


def _missing(name: str, file: str | None, held: Sequence[str]) -> str:
    if file is None:
        return f"{name}: there is none; put it into the .npz file, or give --{name} X.npy"
    holds = f"it holds {', '.join(map(repr, held))}" if held else "it is empty"
    return (
        f"{name}: there is none in {file}, {holds}; save it by that name, as in "
        f"numpy.savez(file, input=x, weight=w), or give --{name} X.npy"
    )


def _as_array(value: Any) -> np.ndarray:
    """A parameter as an array; paddings of both kinds, as in (1, (0, 2)), as (lo, hi) pairs."""
    if isinstance(value, tuple) and any(isinstance(entry, tuple) for entry in value):
        value = [entry if isinstance(entry, tuple) else (entry, entry) for entry in value]
    return np.asarray(value)


def _hint(array: np.ndarray, x: np.ndarray, w: np.ndarray, kwargs: Mapping[str, Any]) -> str:
    """A remark where the shape is what the transposed convolution would have given."""
    try:
        shape = form(x.shape, w.shape, kwargs, transposed=True).shapes["output"]
    except (TypeError, ValueError):
        return ""
    return "; the transposed convolution's would be so: give --transposed" if array.shape == shape else ""


def _shapes(shapes: Mapping[str, tuple[int, ...]], results: bool = False) -> list[tuple[int, ...]]:
    order = ("output", "input", "weight", "bias") if results else ("input", "weight", "bias", "output")
    return [shapes[role] for role in order]


def _check_kind(name: str, array: np.ndarray) -> None:
    if array.dtype.kind not in "biufc" and not is_bfloat16(array):
        raise TypeError(
            f"{name}: its dtype is {array.dtype}; it must hold integers, floats or complex numbers"
        )


def _keywords(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The keyword arguments of `conv` or `conv_transpose`, and whether it is the second."""
    keywords = dict(parameters)
    for name in ("groups", "transposed", "padding_mode"):
        if name in keywords:
            keywords[name] = _single(keywords[name])
    transposed = keywords.pop("transposed", False)
    if not isinstance(transposed, int) or transposed not in (0, 1):
        raise TypeError(f"transposed: it is {transposed!r}; it must be true or false")
    if transposed and keywords.get("padding_mode", "zeros") != "zeros":
        raise ValueError(
            f"padding_mode: it is {keywords['padding_mode']!r}, but a transposed convolution has only 'zeros'"
        )
    if not transposed and np.any(keywords.get("output_padding", 0)):
        raise ValueError(
            f"output_padding: it is {keywords['output_padding']}, but only a transposed convolution has one; "
            f"give --transposed"
        )
    keywords.pop("padding_mode" if transposed else "output_padding", None)
    return keywords, bool(transposed)


def _single(value: Any) -> Any:
    """The one value of an array with one element; what is not a single value stays as it is."""
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    return value


def _ones(shape: tuple[int, ...], arrays: list[np.ndarray]) -> np.ndarray:
    dtype = result_type(("output", as_numbers(array).dtype) for array in arrays)
    if math.prod(shape) * dtype.itemsize > sys.maxsize:
        raise ValueError(
            f"output: its shape would be {shape}, which no memory can hold; "
            f"give a smaller padding, stride or dilation"
        )
    all_bfloat16 = all(is_bfloat16(array) for array in arrays if array.dtype.kind not in "biu")
    ones = np.ones(shape, dtype)
    return narrowed(ones) if all_bfloat16 and dtype == np.float32 else ones
