"""Numbers on the command line: one, one an axis as in 2,1, or lo:hi an axis as in 1:2,0:1."""

from __future__ import annotations

import argparse
import itertools
import os
import re
from collections.abc import Sequence

from npconv.commands.parsing import Misuse


def integers(text: str) -> int | tuple[int, ...]:
    """'2' or '2,1': one integer, or one an axis."""
    try:
        numbers = tuple(int(entry) for entry in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer, or one an axis as in 2,1") from None
    return numbers if "," in text else numbers[0]


def padding(text: str) -> int | str | tuple[int | tuple[int, ...], ...]:
    """'1', '1,2' (one an axis), '1:2,0:1' (lo:hi an axis), or a name."""
    if text in ("same", "same_lower", "valid"):
        return text
    try:
        ends = tuple(tuple(int(end) for end in entry.split(":")) for entry in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an integer, one an axis as in 1,2, lo:hi an axis as in 1:2,0:1, "
            f"'same', 'same_lower' or 'valid'"
        ) from None
    entries = tuple(entry if len(entry) > 1 else entry[0] for entry in ends)
    return entries if "," in text or ":" in text else entries[0]


def index(text: str) -> tuple[int, ...]:
    """'2,2': the index of an element."""
    numbers = integers(text)
    return (numbers,) if isinstance(numbers, int) else numbers


def check_one_word_a_value(argv: Sequence[str]) -> None:
    """Refuse `--stride 2 3`, of which argparse would take the 3 for a file."""
    for start, option in enumerate(argv):
        if option in AXIS_OPTIONS:
            values = list(itertools.takewhile(AXIS_VALUE.fullmatch, argv[start + 1 :]))
            if len(values) > 1 and not os.path.exists(values[1]):
                given, due = " ".join(values), ",".join(values)
                command = " ".join(["npconv", *argv[: min(start, 1)]])
                raise Misuse(command, f"{option} {given}: write {option} {due}")


AXIS_OPTIONS = ("--stride", "--padding", "--dilation", "--output-padding")
AXIS_VALUE = re.compile(r"-?\d+(:-?\d+)?")


def attach_negative_values(argv: Sequence[str]) -> list[str]:
    """`--padding -1,2` as `--padding=-1,2`: argparse would take -1,2 for an option."""
    attached: list[str] = []
    for word in argv:
        if attached and re.fullmatch("--[a-z-]+", attached[-1]) and re.match(r"-\d", word):
            attached[-1] += "=" + word
        else:
            attached.append(word)
    return attached
