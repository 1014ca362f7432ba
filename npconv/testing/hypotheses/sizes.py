"""The sizes of the result."""

from __future__ import annotations

from npconv.geometry import output_size
from npconv.testing.fault import Axes, Fault

FORWARD = ("forward",)


def extra_taps(believed: Axes, true: Axes) -> list[int]:
    """The taps of a weight gradient from whose input no remainder was cropped."""
    return [a.k + a.remainder // a.d for a in true]


def natural_taps(believed: Axes, true: Axes) -> list[int]:
    """The taps that come of sliding grad_output with the believed numbers."""
    return [output_size(b.i + b.lo + b.hi, b.s * (b.o - 1) + 1, b.d) for b in believed]


SIZES = (
    Fault(
        "the output size is rounded up in place of down",
        FORWARD,
        size=lambda believed, true: [-((a.extent - a.i - a.lo - a.hi) // a.s) + 1 for a in true],
    ),
    Fault(
        "the output size counts the extent as dilation * taps",
        FORWARD,
        size=lambda believed, true: [output_size(a.i + a.lo + a.hi, a.d * a.k, a.s) for a in true],
    ),
    Fault("the output size has one too many", FORWARD, size=lambda believed, true: [a.o + 1 for a in true]),
    Fault("the output size has one too few", FORWARD, size=lambda believed, true: [a.o - 1 for a in true]),
)
