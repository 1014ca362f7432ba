"""Arrays as files that other languages read and write: .npy, plain float32, .safetensors."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from npconv.geometry import Shape

MAGIC = b"\x93NUMPY"  # how an .npy file begins
DATA_AT = 128  # where the numbers of an .npy file begin, as written here
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
          "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1"}  # fmt: skip


class Unreadable(ValueError):
    """A file that holds no array: bad input, and no verdict on a kernel."""


class WrongSize(ValueError):
    """A plain file that holds more or fewer numbers than it should: the fault of who wrote it."""


def write_npy(path: Path, array: np.ndarray) -> None:
    """Version 1.0 with a header of 128 bytes, so that a C program can skip it."""
    described = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {array.shape}, }}"
    header = described.ljust(DATA_AT - 11) + "\n"
    with path.open("wb") as file:
        file.write(MAGIC + b"\x01\x00" + struct.pack("<H", DATA_AT - 10) + header.encode() + array.tobytes())


def read_npy(path: Path) -> np.ndarray:
    """The array of a file; Unreadable where it is broken."""
    try:
        with path.open("rb") as file:
            _refuse_other_beginnings(file.read(len(MAGIC)))
            file.seek(0)
            array: np.ndarray = np.load(file, allow_pickle=False)
            if rest := len(file.read()):
                raise ValueError(f"{rest} bytes follow its array of shape {array.shape}")
    except (ValueError, EOFError, SyntaxError, RecursionError, OverflowError, MemoryError) as error:
        raise Unreadable(f"{path.name}: it is no .npy file that can be read: {_plainly(error)}") from None
    return array


def _plainly(error: Exception) -> str:
    """What NumPy says, without its advice to trust the file."""
    if "max_header_size" in str(error):
        return "its header is longer than that of an array of numbers"
    return "it holds Python objects; write numbers" if "allow_pickle" in str(error) else str(error)


def _refuse_other_beginnings(first: bytes) -> None:
    """ValueError unless a file begins as an .npy file does; NumPy would take any other for a pickle."""
    if first.startswith(b"PK"):
        raise ValueError("it is an archive (.npz); write one array a file")
    if first != MAGIC:
        raise ValueError(f"it begins with {first!r}, due {MAGIC!r}" if first else "it is empty")


def read_plain(path: Path, shape: Shape) -> np.ndarray:
    """float32 numbers in C order and nothing else; WrongSize unless they fill the shape."""
    data, due = path.read_bytes(), 4 * prod(shape)
    if len(data) != due:
        raise WrongSize(f"{path.name} holds {len(data)} bytes, due {due}: {prod(shape)} float32 as {shape}")
    return np.frombuffer(data, "<f4").reshape(shape)


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
    """All arrays of a file; Unreadable where it is broken."""
    content = path.read_bytes()
    try:
        (size,) = struct.unpack_from("<Q", content)
        if size > len(content) - 8:
            raise ValueError(f"its header takes {size} bytes, but {len(content) - 8} are there")
        header = json.loads(content[8 : 8 + size])
        if not isinstance(header, dict):
            raise ValueError(f"its header is a {type(header).__name__}, due an object of names")
        header.pop("__metadata__", None)
        numbers = content[8 + size :]
        arrays = {name: _tensor(name, numbers, entry) for name, entry in header.items()}
        used = sum(stop - start for start, stop in (entry["data_offsets"] for entry in header.values()))
        if used != len(numbers):
            raise ValueError(f"its tensors take {used} bytes, but {len(numbers)} are there")
        return arrays
    except (struct.error, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        told = f"{error} is missing" if isinstance(error, KeyError) else error
        raise Unreadable(f"{path.name}: it is no safetensors file that can be read: {told}") from None


def _tensor(name: str, numbers: bytes, entry: Mapping[str, Any]) -> np.ndarray:
    """The array that one entry of a header describes."""
    start, stop = entry["data_offsets"]
    data, kind, shape = numbers[start:stop], entry["dtype"], tuple(entry["shape"])
    if kind == "BF16":
        bits = np.frombuffer(data, "<u2").astype("<u4") << np.uint32(16)
        return bits.view("<f4").reshape(shape)
    if kind not in DTYPES:
        raise ValueError(f"{name} has dtype {kind}, which is not one of BF16, {', '.join(DTYPES)}")
    return np.frombuffer(data, DTYPES[kind]).reshape(shape)
