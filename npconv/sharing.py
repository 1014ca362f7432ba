"""Neighbouring outputs that share a window, as further rows of a weight stretched to meet it.

A product with few rows, as in a depthwise convolution, wastes BLAS, and its columns cost more to copy than
to multiply.  Outputs p and p + 1 meet nearly the same inputs: with the window of both for a column, and
their taps at different places of it for two rows, half as many columns are copied.  The weight's other
elements are zeros, and these are multiplied as well; so it pays for few rows only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import isqrt, prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from npconv.phases import Axis, Line, phases
from npconv.scratch import lend_zeros

ROWS = 16  # with more rows than these, and their zeros, multiplying costs more than copying
TAPS = 8  # with fewer, windows side by side are runs too short to copy


def shared(axes: Sequence[Axis], lines: list[list[Line]], rows: int) -> list[list[Line]]:
    """The phases of each axis as one, and several neighbouring outputs to a window, where that pays.

    `lines` are the axes' phases.  A phase that is the only one is a convolution of its own.
    """
    axes = [found[0].axis if len(found) == 1 else axis for axis, found in zip(axes, lines)]
    widths = [axis.P for axis in axes]
    if any(axis.k > axis.l for axis in axes):  # otherwise each output meets one tap, and no zero
        if rows > ROWS:
            return lines
        n, most = _along(axes, rows)
        widths[n] = _width(axes[n].o, axes[n].P, most)
    for w, axis, found in zip(widths, axes, lines):
        gaps = any(line.d > 1 or line.s > line.k for line in found)
        if w > 1 and (len(found) < axis.P or gaps):
            return lines
    return [found if w == 1 else _wide(w, axis, found) for w, axis, found in zip(widths, axes, lines)]


def _along(axes: Sequence[Axis], rows: int) -> tuple[int, int]:
    """The axis along which outputs share windows, and how many may.

    One below the other they leave rows of outputs whole, long runs to copy.  Side by side they pay between
    phases, or with many taps; but not where a row's taps are the longer run, as no column is copied there.
    There are never fewer windows than outputs in each, since the stretched weight is copied as well.
    """
    last, even = axes[-1], isqrt(prod(axis.o for axis in axes) // rows)
    # Measured.  One below the other: half of ROWS, or two where a row's outputs are no run to copy.
    high, beside = min((ROWS // 2 if last.s == 1 else 2) // rows, even), min(ROWS // rows, even)
    if all(axis.P == 1 for axis in axes):
        if taps_innermost(last.k, last.o, last.s, last.d):
            return -1, 1
        if len(axes) == 2 and axes[0].k >= 2 * axes[0].s and axes[0].o >= high > 1:
            return 0, high
        if last.k < 2 * last.s or prod(axis.k for axis in axes) < TAPS or ROWS < 8 * rows:
            return -1, 1
    return -1, beside if last.k > max(last.s, last.l) else 1


def taps_innermost(k: int, o: int, s: int, d: int) -> bool:
    """Whether a row's taps are a longer and denser run through the input than its outputs are."""
    return k * s > o * d


def below(lines: Sequence[Line]) -> bool:
    """Whether only outputs one below the other share a window."""
    return len(lines) == 2 and lines[0].width > 1 and lines[1].width == 1


def _width(size: int, least: int, most: int) -> int:
    """A multiple of `least` up to `most` into which the size goes evenly, or nearly so."""
    possible = range(least, min(most, size) + 1, least) or range(least, least + 1)
    even = max((w for w in possible if size % w == 0), default=0)
    if 2 * even >= possible[-1] and even > 1:
        return even
    windows = -(-size // possible[-1])
    return -(-size // (windows * least)) * least


def _wide(w: int, axis: Axis, found: list[Line]) -> list[Line]:
    """The outputs w*p' + a, with a < w, as one line, and the rest that fills no window as one window."""
    end = axis.o // w * w
    wide = [_wide_line(w, axis._replace(o=end), 0)]
    if end < axis.o:
        wide.append(_wide_line(axis.o - end, axis._replace(lo=axis.lo - axis.s * end, o=axis.o - end), end))
    return [_within(found[0], line) for line in wide] if len(found) == 1 else wide


def _wide_line(w: int, axis: Axis, start: int) -> Line:
    """All outputs, from `start` on, as one line: output a of a window meets its taps from its own place on."""
    i, _, s, _, l, lo, o = axis
    firsts = [phases(axis._replace(lo=lo - s * a, o=1))[0] for a in range(min(axis.P, w))]
    first, move = max(line.lo for line in firsts), s * axis.P // l
    places = tuple((line.places[0][0], slice(first - line.lo, first - line.lo + line.k)) for line in firsts)
    window = max(at.stop + (w - 1 - a) // axis.P * move for a, (_, at) in enumerate(places))
    outputs = slice(start, start + o)
    return Line(outputs, w, places, move, i, window, o // w, max(s * w // l, 1), 1, first)


def _within(phase: Line, line: Line) -> Line:
    """A line on a phase's outputs and taps as one on those of the whole axis."""
    a, P = phase.outputs.start, phase.outputs.step
    outputs = slice(a + P * line.outputs.start, a + P * line.outputs.stop, P)
    return line._replace(outputs=outputs, places=tuple((phase.places[0][0], at) for _, at in line.places))


def stretched(weight: np.ndarray, lines: Sequence[Line], taps: Sequence[slice]) -> np.ndarray:
    """(O, C/G, *k) -> (O*w, C/G, *window): each row once for every output of a window, where it meets its taps.

    On an axis without shared windows only these `taps` are taken.  The result is lent as "rows".
    """
    if below(lines):  # in memory the window's rows are innermost, as columns.py reads them
        return _stretched(weight.swapaxes(2, 3), lines[::-1], taps[::-1]).swapaxes(2, 3)
    return _stretched(weight, lines, taps)


def _stretched(weight: np.ndarray, lines: Sequence[Line], taps: Sequence[slice]) -> np.ndarray:
    (O, C), rank, every = weight.shape[:2], len(lines), slice(None)
    window = [q.stop - q.start for q in taps]
    wide = lend_zeros("rows", (O, *(x.width for x in lines), C, *window), weight.dtype)
    whole = [x.places if x.width > 1 else ((q, every),) for x, q in zip(lines, taps)]
    for chosen in product(*map(enumerate, whole)):
        outputs = [slice(first, None, len(places)) for (first, _), places in zip(chosen, whole)]
        met, at = zip(*(place for _, place in chosen))
        # (O, *w, C/G, *k): the taps of the first of these outputs; the next one's stand `move` further.
        y = wide[(every, *outputs, every, *at)]
        steps = [step + x.move * tap for x, step, tap in zip(lines, y.strides[1:], y.strides[-rank:])]
        y = as_strided(y, y.shape, (y.strides[0], *steps, *y.strides[1 + rank :]))
        y[...] = weight[(every, *(None for _ in lines), every, *met)]
    return wide.reshape(-1, C, *window)
