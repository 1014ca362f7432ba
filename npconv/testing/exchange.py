"""Problems and results as files, for kernels that no Python can call.

`emit` writes a folder; the author's program reads it, computes, and writes its results beside; `judge`
reads those and reports as `check` does.  The integers are so small that they are exact in bfloat16,
sums included: the same float32 files serve a kernel of any format.

    manifest.txt            one line a question, numbers separated by blanks (below)
    <number>.<array>.npy    float32, C order; the numbers begin at byte 128
    problems.safetensors    the same arrays, named <number>.<array>
    <number>.<part>.npy     what the author's program writes: .npy, or
    <number>.<part>.f32     plain float32, C order, nothing else, or
    results.safetensors     all results, named <number>.<part>
    <number>.<part>.refused an empty file in place of a result: the program does not support this

A result that is missing without being refused is a fault: the program may have ended before its time.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from npconv.problem import Problem
from npconv.testing.candidate import Call, Declared
from npconv.testing.data import exact_arrays, exact_parts
from npconv.testing.formats import named
from npconv.testing.parts import PARTS, output_shape, parts_of, result_shape
from npconv.testing.problems import covering, full
from npconv.testing.running import Answer

CAPACITY = named("bfloat16").capacity
COLUMNS = "number part N C H W O KH KW G SH SW top bottom left right DH DW OPH OPW OH OW bias descriptor"
DATA_AT = 128  # where the numbers of an .npy file begin, as written here
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1"}


def questions(parts: Sequence[str] = PARTS, strength: int = 2) -> Iterator[tuple[int, str, Problem]]:
    """(number, part, problem): all exact cases of these parts; a number stands for a problem."""
    domains = [full(), full(transposed=True)]
    problems = [problem for domain in domains for problem in covering(domain, strength)]
    for number, problem in enumerate(problems):
        for part in parts_of(problem):
            if part in parts and part in exact_parts(problem, CAPACITY):
                yield number, part, problem


def emit(folder: str | Path, parts: Sequence[str] = PARTS, strength: int = 2) -> int:
    """Write the problems of these parts into a folder, and return how many questions they make."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    asked = list(questions(parts, strength))
    arrays: dict[str, np.ndarray] = {}
    for number, problem in dict((number, problem) for number, _, problem in asked).items():
        for name, array in exact_arrays(problem, CAPACITY).items():
            arrays[f"{number}.{name}"] = array.astype("<f4")
    for name, array in arrays.items():
        _write_npy(folder / f"{name}.npy", array)
    write_safetensors(folder / "problems.safetensors", arrays)
    lines = ["# " + COLUMNS, *(_line(number, part, problem) for number, part, problem in asked)]
    (folder / "manifest.txt").write_text("\n".join(lines) + "\n")
    return len(asked)


def _line(number: int, part: str, problem: Problem) -> str:
    pads = [end for pair in problem.padding for end in pair]  # type: ignore[union-attr]
    entries = (
        number, part, problem.N, problem.C, *problem.i, problem.O, *problem.k, problem.G,
        *problem.stride, *pads, *problem.dilation, *problem.output_padding,  # type: ignore[misc]
        *output_shape(problem)[2:], int(problem.bias), problem,
    )  # fmt: skip
    return " ".join(map(str, entries))


def read_manifest(folder: Path) -> list[tuple[int, str, Problem]]:
    """The questions of a folder, from its manifest."""
    path = folder / "manifest.txt"
    if not path.is_file():
        raise ValueError(f"folder: {folder} has no manifest.txt; write one with `npconv emit {folder}`")
    asked = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            words = line.split()
            if len(words) != len(COLUMNS.split()) or words[1] not in PARTS or not words[0].isdigit():
                raise ValueError(f"manifest: the line {line!r} does not have the columns {COLUMNS}")
            asked.append((int(words[0]), words[1], Problem.parse(words[-1])))
    return asked


class Unreadable(ValueError):
    """A file of results that holds no array: bad input, and no verdict on a kernel."""


class Answered:
    """A candidate that has already answered, in files."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.asked = read_manifest(self.folder)
        self.declared = Declared(accumulate="bfloat16")
        self.parts = tuple(part for part in PARTS if any(part == p for _, p, _ in self.asked))
        self._number = {(part, problem): number for number, part, problem in self.asked}
        together = self.folder / "results.safetensors"
        self._results = read_safetensors(together) if together.is_file() else {}

    def takes_out(self, part: str) -> bool:
        return False

    def run(self, call: Call) -> Answer:
        name = f"{self._number[call.part, call.problem]}.{call.part}"
        try:
            result = self._read(name, call)
        except Unreadable:
            raise
        except ValueError as error:
            return Answer("raised", message=str(error))
        if result is not None:
            return Answer("value", result)
        if (self.folder / f"{name}.refused").is_file():
            return Answer("refused", message=f"{name}.refused")
        return Answer("missing", message="no result file")

    def close(self) -> None:
        """Nothing to end."""

    def _read(self, name: str, call: Call) -> np.ndarray | None:
        if name in self._results:
            return self._results[name]
        npy, plain = self.folder / f"{name}.npy", self.folder / f"{name}.f32"
        if npy.is_file():
            return read_npy(npy)
        if not plain.is_file():
            return None
        numbers = np.fromfile(plain, "<f4")
        shape = result_shape(call.part, call.problem)
        if numbers.size != np.prod(shape):
            raise ValueError(
                f"{plain.name} holds {numbers.size} numbers, due {int(np.prod(shape))} as {shape}"
            )
        return numbers.reshape(shape)


# ---------------------------------------------------------------- file formats


def _write_npy(path: Path, array: np.ndarray) -> None:
    """Version 1.0 with a header of 128 bytes, so that a C program can skip it."""
    described = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}"
    header = described.ljust(DATA_AT - 11) + "\n"
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", DATA_AT - 10) + header.encode() + array.tobytes())


def read_npy(path: Path) -> np.ndarray:
    """The array of a file; Unreadable where it is broken."""
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, RecursionError, OverflowError, zipfile.BadZipFile) as error:
        raise Unreadable(f"{path.name}: it is no .npy file that can be read: {error}") from None
    if not isinstance(array, np.ndarray):
        raise Unreadable(f"{path.name}: it is no .npy file but an archive; write one array a file")
    return array


def write_safetensors(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """A length, a JSON header, then the numbers."""
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(array.astype("<f4").tobytes())


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file; ValueError where it is broken."""
    data = path.read_bytes()
    try:
        (size,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + size])
        if not isinstance(header, dict):
            raise ValueError(f"its header is a {type(header).__name__}, due an object of names")
        return {
            name: _tensor(data[8 + size :], entry) for name, entry in header.items() if name != "__metadata__"
        }
    except (struct.error, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Unreadable(f"{path.name}: it is no safetensors file that can be read: {error}") from None


def _tensor(data: bytes, entry: Mapping[str, object]) -> np.ndarray:
    start, stop = entry["data_offsets"]  # type: ignore[misc]
    if entry["dtype"] == "BF16":
        bits = np.frombuffer(data[start:stop], "<u2").astype("<u4") << np.uint32(16)
        return bits.view("<f4").reshape(entry["shape"])  # type: ignore[arg-type]
    kind = DTYPES[entry["dtype"]]  # type: ignore[index]
    return np.frombuffer(data[start:stop], kind).reshape(entry["shape"])  # type: ignore[arg-type]
