"""A failing case to take away: how to ask again, NumPy code that shows the mismatch, and C arrays.

All arrays lie as the kernel takes them: in its own layout and formats.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from npconv.problem import Problem
from npconv.testing.candidate import FROM_BACKWARD, TAKEN_BY_BACKWARD, Declared
from npconv.testing.observation import Observation
from npconv.testing.parts import TAKES, keywords

LARGEST = 200  # elements written out; a larger case is named by its descriptor alone
C_TYPES = {"float64": "double", **{f"{u}int{n}": f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)}}


def of_candidate(
    o: Observation, declared: Declared, offers: Collection[str], line: str, spec: str = ""
) -> str:
    """The case for a kernel that Python can call.

    offers: the names of its functions.  line: `in_shell` or `in_python`, which asks the kernel again.
    spec: where the kernel can be imported from, as FILE.py:NAME or module:NAME."""
    told = f": {o.detail}" if o.got is None else ""
    takes = TAKES[o.part] if o.part in offers else TAKEN_BY_BACKWARD
    return _together([f"# {o.case}{told}", line], _numpy(o, takes, declared, spec), _c(o, takes, declared))


def in_shell(spec: str, declared: Declared, problem: Problem) -> str:
    """The command that asks a candidate in a file or module once more, with all that was declared."""
    flags = "".join(f" --{key.replace('_', '-')} {value}" for key, value in _options(declared).items())
    return f'python -m npconv check {shlex.quote(spec)} --only "{problem}"{flags}'


def in_python(name: str, declared: Declared, problem: Problem) -> str:
    """The call that asks a candidate once more, with all that was declared."""
    given = "".join(f', {key}="{value}"' for key, value in _options(declared).items())
    return f'npconv.testing.check({name if name.isidentifier() else "kernel"}, only="{problem}"{given})'


def _options(declared: Declared) -> dict[str, str]:
    return {key: value for key, value in asdict(declared).items() if value != getattr(Declared(), key)}


def of_result(o: Observation, declared: Declared, number: int) -> str:
    """The case for a program that answered in files: which problem, which element, and its numbers in C."""
    names = [f"{number}.{name}.npy" for name in TAKES[o.part] if name in o.case.arrays]
    head = [f"# {o.case}, problem {number}: {o.detail}", f"# its arrays: {', '.join(names)}"]
    return _together(head, _c(o, TAKES[o.part], declared))


def _together(head: list[str], *blocks: Iterator[str]) -> str:
    """The head, and the blocks below it if the case is small enough to be read."""
    shown = [list(block) for block in blocks]
    return "\n\n".join("\n".join(lines) for lines in [head, *shown] if lines) + "\n"


def _arrays(o: Observation, takes: Sequence[str], declared: Declared) -> dict[str, tuple[np.ndarray, str]]:
    """What goes in and what is due, with the axes' letters; nothing where that is too much to read."""
    arrays = {name: o.case.arrays[name] for name in takes if name in o.case.arrays}
    if sum(array.size for array in (*arrays.values(), o.case.due)) > LARGEST:
        return {}
    named = {name: _laid_out(name, array, declared) for name, array in arrays.items()}
    return {**named, "due": _laid_out(o.part, o.case.due, declared)}


def _laid_out(name: str, array: np.ndarray, declared: Declared) -> tuple[np.ndarray, str]:
    """An array in the kernel's layout, and the letters of its axes."""
    order = declared.order(name, array.ndim)
    if order is None:
        return array, "O"
    letters = ("OI" if name in ("weight", "grad_weight") else "NC") + "DHW"[-(array.ndim - 2) :]
    return array.transpose(order), "".join(letters[axis] for axis in order)


def _kind(name: str, declared: Declared) -> np.dtype:
    """The dtype in which an array is handed out."""
    input, _, output = declared.formats
    return (output if name == "due" or name == "bias" and input.is_integer else input).dtype


def _numpy(o: Observation, takes: Sequence[str], declared: Declared, spec: str) -> Iterator[str]:
    """Code that fails while the kernel does; the kernel's function goes by its name in the protocol."""
    arrays = _arrays(o, takes, declared)
    if not arrays:
        return
    call = _call(o.part, takes, arrays)
    source = _import(spec, call.partition("(")[0])
    yield "import numpy as np"
    if source:
        yield source
    for name, (array, letters) in arrays.items():
        yield f"{name} = np.array({array.tolist()}, np.{_kind(name, declared).name})  # {letters}"
    if "**parameters" in call:
        parameters = ", ".join(f"{key}={value}" for key, value in keywords(o.problem).items())
        yield f"parameters = dict({parameters})"
    yield f"got = {call}" + ("" if source else "  # your function")
    if o.got is not None:
        got = _laid_out(o.part, o.got, declared)[0] if o.got.ndim == o.case.due.ndim else o.got
        yield f"# got {_plain(got)}"
    yield "np.testing.assert_array_equal(got, due)"


def _import(spec: str, function: str) -> str:
    """The line that imports a function of the protocol, beside the kernel's file; nothing where none can.

    >>> _import("my/kernel.py", "forward"), _import("kernels.fast:Fast", "forward")
    ('from kernel import forward', "from kernels.fast import Fast; forward = getattr(Fast, 'forward', Fast)")
    """
    where, _, name = spec.partition(":")
    module = Path(where).stem if where.endswith(".py") else where
    if not all(part.isidentifier() for part in module.split(".")) or not (name or "x").isidentifier():
        return ""
    if name in ("", function):
        return f"from {module} import {function}"
    return f"from {module} import {name}; {function} = getattr({name}, {function!r}, {name})"


def _call(part: str, takes: Sequence[str], arrays: Collection[str]) -> str:
    """The call of the part's function, or of the backward that gives the part with others."""
    given = [name if name in arrays else "None" for name in takes]
    if takes == TAKEN_BY_BACKWARD:
        return f"backward({', '.join(given)}, **parameters)[{FROM_BACKWARD.index(part)}]"
    if part == "grad_bias":
        return f"grad_bias({', '.join(given)})"
    size = ["due.shape"] if part in ("grad_input", "grad_weight") else []
    return f"{part}({', '.join([*given, *size])}, **parameters)"


def _plain(x: np.ndarray) -> object:
    whole = (abs(x) < 2.0**63).all() and (x == np.rint(x)).all()  # as int64 holds them
    return x.astype(np.int64).tolist() if whole else x.tolist()


def _c(o: Observation, takes: Sequence[str], declared: Declared) -> Iterator[str]:
    """The arrays as C writes them."""
    for name, (array, letters) in _arrays(o, takes, declared).items():
        kind = C_TYPES.get(_kind(name, declared).name, "float")
        values = ", ".join(map(str, array.reshape(-1).tolist()))
        sizes = " x ".join(map(str, array.shape))
        yield f"static const {kind} {name}[{array.size}] = {{{values}}};  /* {letters}: {sizes} */"
