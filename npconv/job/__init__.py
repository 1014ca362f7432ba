"""The main job: reference gradients for a user's own arrays, with the evidence for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from npconv.job import files
from npconv.job.evidence import Evidence
from npconv.job.report import report
from npconv.job.request import ARRAYS, NAMES, read

__all__ = ["NAMES", "run"]

AGREE, DISAGREE = 0, 1


def run(file: str | None, destination: str | None, flags: Mapping[str, Any]) -> int:
    """Read a layer, compute its results, write them where wanted, print the report.

    `flags`: paths of .npy files and values of parameters, which go before what the file holds.
    Returns 0, or 1 where a result that the user brought disagrees.  Errors: OSError, ValueError,
    TypeError, OverflowError or MemoryError, and then nothing is written.
    """
    if destination is not None:
        files.check_destination(destination)
        _check_not_an_input(destination, flags)
    request = read(file, flags)
    with np.errstate(all="ignore"):  # the report says what is not finite
        results = request.layer.results()
        evidence = Evidence(request.layer, results)
        identity, comparisons = evidence.identity(), evidence.compare(request.expected)
    text = report(request.layer, results, identity, comparisons, request.notes)
    if destination is not None:
        # Written before it is printed: a reader of the text that goes away costs no file.
        same = file is not None and os.path.exists(destination) and os.path.samefile(file, destination)
        files.write_npz(destination, results, keep=file if same else None)
        text += f"\n\nwritten to {destination}:\n  {', '.join(results)}"
    print(text)
    return AGREE if identity.holds and not any(c.wrong for c in comparisons) else DISAGREE


def _check_not_an_input(destination: str, flags: Mapping[str, Any]) -> None:
    for name, path in flags.items():
        is_array = name in ARRAYS and os.path.exists(path) and os.path.exists(destination)
        if is_array and os.path.samefile(path, destination):
            raise OSError(
                f"{destination}: it cannot be written: it is the file of --{name.replace('_', '-')}"
            )
