"""The main job: reference gradients for a user's own arrays, with the evidence for them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from npconv.job import files
from npconv.job.evidence import Evidence
from npconv.job.report import report
from npconv.job.layer import RESULTS
from npconv.job.request import ARRAYS, NAMES, read

__all__ = ["NAMES", "run"]

AGREE, DISAGREE = 0, 1


def run(file: str | None, destination: str | None, flags: Mapping[str, Any]) -> int:
    """Read a layer, compute its results, write them where wanted, print the report.

    `flags`: paths of .npy files and values of parameters, which go before what the file holds.  Where
    the results go into that same file, so does what the flags put in its members' place; but nothing
    does while a result that the file brought disagrees, which would be lost.
    Returns 0, or 1 where a result that the user brought disagrees or is suspicious.  Errors: OSError,
    ValueError, TypeError, OverflowError or MemoryError, and then nothing is written.
    """
    if destination is not None:
        _check_not_an_input(destination, flags)
        files.check_destination(destination)
    itself = file is not None and destination is not None and _same(file, destination)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the report says what is not finite
        request = read(file, flags)
        if itself:
            _check_all_is_compared(destination, request.unused)
        results = request.layer.results()
        evidence = Evidence(request.layer, results)
        identity, comparisons = evidence.identity(), evidence.compare(request.expected)
        text = report(request.layer, results, identity, comparisons, request.notes, request.unused)
    missed = [comparison.name for comparison in comparisons if comparison.wrong or comparison.suspicious]
    if destination is not None:
        # Written before it is printed: a reader of the text that goes away costs no file.
        shown = destination if destination.isprintable() else repr(destination)
        if itself and (lost := [name for name in missed if name not in flags]):
            text += f"\n\nnot written: {', '.join(lost)} would be lost; give -o another name than\n  {shown}"
        else:
            written = {**results, **request.replaced} if itself else results
            files.write_npz(destination, written, keep=file if itself else None)
            text += f"\n\nwritten to {shown}:\n  {', '.join(written)}"
    print(text)
    return AGREE if identity.holds and not missed else DISAGREE


def _same(path: str, other: str) -> bool:
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def _check_not_an_input(destination: str, flags: Mapping[str, Any]) -> None:
    for name, path in flags.items():
        if name in (*ARRAYS, *RESULTS) and _same(path, destination):
            raise OSError(f"{destination}: it cannot be written: it is the file of {_flag(name)}")


def _check_all_is_compared(destination: str | None, unused: Sequence[str]) -> None:
    """OSError where a result that the file brought is not even looked at, since a flag brings another."""
    for name in RESULTS:
        if name in unused:
            raise OSError(
                f"{destination}: it cannot be written: its own {name} would be lost, and {_flag(name)} keeps it "
                f"from being compared; leave {_flag(name)} out, or give -o another name"
            )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
