"""A page or picture into a file, whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_text(path: str, text: str) -> None:
    """Write beside the file, then put it in its place; OSError that names it where that cannot be done.

    >>> write_text("/no/such/place.txt", "")
    Traceback (most recent call last):
    OSError: /no/such/place.txt: it cannot be written: No such file or directory
    """
    beside = Path(f"{path}.{secrets.token_hex(4)}.part")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise OSError(f"{path}: it cannot be written: {error.strerror}") from None
