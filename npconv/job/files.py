"""Arrays from files and into files: nothing is unpickled, and no file is ever half written."""

from __future__ import annotations

import os
import secrets
import stat
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO

import numpy as np

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
NPY_MAGIC = b"\x93NUMPY"


def read_npz(path: str, names: Iterable[str]) -> tuple[dict[str, np.ndarray], list[str]]:
    """The arrays of an .npz file that have one of these names, and the names of its other members.

    The others are not read at all.  Errors: OSError where there is no file that can be opened;
    ValueError where it is not a whole .npz file or an array in it holds Python objects.
    """
    with _opened(path) as file:
        if file.read(len(NPY_MAGIC)).startswith(NPY_MAGIC):
            raise ValueError(f"{path}: it is one .npy array; give it by its name, as in --input {path}")
        file.seek(0)
        if not file.read(4).startswith(ZIP_MAGIC):
            raise ValueError(f"{path}: it is not an .npz file, which numpy.savez writes")
        file.seek(0)
        with _understood(path, "it"):
            archive = np.load(file, allow_pickle=False)
        with archive:
            found = {name: _member(archive, path, name) for name in names if name in archive.files}
        return found, [name for name in archive.files if name not in found]


def _member(archive: np.lib.npyio.NpzFile, path: str, name: str) -> np.ndarray:
    with _understood(path, name):
        member: np.ndarray | bytes = archive[name]
    if isinstance(member, bytes):
        raise ValueError(f"{path}: {name} is not an array; numpy.savez writes an .npz file")
    return member


def read_npy(path: str, name: str) -> np.ndarray:
    """The array of a .npy file; `name` says in an error what it was to be."""
    with _opened(path) as file:
        if file.read(len(NPY_MAGIC)) != NPY_MAGIC:
            raise ValueError(f"{path}: it is not a .npy file, which numpy.save writes for one array ({name})")
        file.seek(0)
        with _understood(path, name):
            array: np.ndarray = np.load(file, allow_pickle=False)
        return array


def _opened(path: str) -> BinaryIO:
    try:
        file = open(path, "rb")
    except OSError as error:
        raise OSError(f"{path}: it cannot be read: {error.strerror}") from None
    if not file.seekable():
        file.close()
        raise OSError(f"{path}: it cannot be read: it is a pipe, not a file; save it as a file first")
    return file


@contextmanager
def _understood(path: str, name: str) -> Iterator[None]:
    """Whatever a reader raises on a damaged file becomes one ValueError that names the file."""
    try:
        yield
    except MemoryError as error:
        raise MemoryError(f"{path}: {name}: {error}") from None
    except Exception as error:
        if "max_header_size" in str(error):  # this text of NumPy's speaks of allow_pickle as well
            raise ValueError(
                f"{path}: {name} has a header of more than 10000 bytes, which is not read; "
                f"save it as an array of numbers, without named fields"
            ) from None
        if "allow_pickle" in str(error):
            raise ValueError(
                f"{path}: {name} holds Python objects (a pickle), which are never loaded; "
                f"save it as an array of numbers"
            ) from None
        reason = str(error) or type(error).__name__
        raise ValueError(f"{path}: {name} cannot be read, the file is damaged ({reason})") from None


def check_destination(path: str) -> None:
    """OSError where no file can be written at this path: said before the work, not after it."""
    if path.lower().endswith(".npy"):
        raise OSError(
            f"{path}: it cannot be written: a .npy file holds one array, and the results are several; "
            f"name an .npz file"
        )
    target = os.path.realpath(path)
    directory = os.path.dirname(target)
    if not os.path.isdir(directory):
        raise OSError(f"{path}: it cannot be written: there is no directory {directory}")
    if os.path.isdir(target):
        raise OSError(f"{path}: it cannot be written: it is a directory; name a file in it")
    if not os.access(directory, os.W_OK):
        raise OSError(f"{path}: it cannot be written: the directory {directory} is read-only")
    if os.path.exists(target):
        mode = os.stat(target).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(f"{path}: it cannot be written: it is not a regular file")
        if not mode & 0o222 or not os.access(target, os.W_OK):
            raise OSError(f"{path}: it cannot be written: the file is read-only")


def write_npz(path: str, arrays: Mapping[str, np.ndarray], keep: str | None = None) -> None:
    """Write arrays as an .npz file: beside it first, then in its place, or not at all.

    `keep` names an .npz file whose other members are taken over as they are.  The same arrays give
    the same bytes.  Errors: OSError, and then the directory is as it was.
    """
    check_destination(path)
    target = os.path.realpath(path)
    beside = os.path.join(os.path.dirname(target), f".npconv-{secrets.token_hex(8)}.tmp")
    try:
        with open(beside, "xb") as file:
            _write_members(file, arrays, keep)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(beside, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(beside, target)
    except BaseException as error:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        if isinstance(error, OSError):
            raise OSError(f"{path}: it cannot be written: {error.strerror or error}") from None
        raise


def _write_members(file: BinaryIO, arrays: Mapping[str, np.ndarray], keep: str | None) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
        if keep is not None:
            with _understood(keep, "what is to be kept"), zipfile.ZipFile(keep) as old:
                for info in old.infolist():
                    if info.filename.removesuffix(".npy") not in arrays:
                        archive.writestr(info, old.read(info))
