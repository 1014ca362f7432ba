"""How a forward is cut into pieces, so that it is fast and its scratch stays bounded.

A problem with at most SMALL column elements stays whole.  For the others, four rules:

    phases   an input dilated by l splits by the residue of the output index: no inserted zero is read
    widths   a product with few rows wastes BLAS, and its columns cost more to copy than to multiply: then
             neighbouring outputs share one window, as further rows of a weight stretched to meet it
    tiles    until the columns fit TILE: they stay in the cache between copy and product.  Groups and
             samples are cut first, as it costs nothing; then rows, but to no less than LONG columns
    parts    the sum itself is cut where the long side of the columns is in it, as in a weight gradient,
             whose window is all of grad_output; and wherever the scratch budget needs it
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import product
from math import gcd, isqrt, prod
from typing import Any, NamedTuple

from npconv.arguments import Pair, Shape

LARGEST = 2**40  # bytes of a result or a padded input: no machine holds more, and the tiles would not end
SPREAD = 64  # a small problem's padded and dilated input may be so much larger than its columns
TINY = 2**13
SMALL = 2**17  # column elements: below, a cut costs more than it saves
TILE = 2**23  # bytes of columns: a few megabytes; 2 to 16 of them measured the same
LONG = 512  # columns: from here on BLAS is at its full speed
FEW = 64  # rows: up to so many, BLAS is up to twice as fast at the transposed product
ROWS = 16  # rows: with fewer, copying the columns costs more than multiplying them

_budget: ContextVar[int] = ContextVar("npconv_scratch_budget", default=64 * 2**20)


def budget() -> int:
    """The scratch budget in bytes."""
    return _budget.get()


@contextmanager
def scratch_budget(bytes: int) -> Iterator[None]:
    """Inside the ``with`` block, keep what is allocated beside arguments and results below so many bytes.

    The default is 64 MiB.  It is kept as far as one output's sum over one tap, at least, fits into it.
    Not counted is what stands whole: floats narrower than float32, widened; integers of a convolution
    with one tap, as floats; complex arrays, conjugated; an input with the border of a padding mode;
    several groups' weight in the order of the input gradient; what a sum over positions adds up.
    Errors: ValueError where it is not positive.

    >>> import numpy as np
    >>> from npconv import conv1d
    >>> with scratch_budget(2**20):
    ...     conv1d(np.ones((1, 1, 5)), np.ones((1, 1, 2)))
    array([[[2., 2., 2., 2.]]])
    """
    if bytes < 1:
        raise ValueError(f"bytes: the scratch budget is {bytes}, but it must be 1 or more")
    token = _budget.set(bytes)
    try:
        yield
    finally:
        _budget.reset(token)


class Tile(NamedTuple):
    """Some outputs, and the window on the padded input that they read."""

    input: tuple[slice, ...]
    padding: tuple[Pair, ...]
    output: tuple[Any, ...]


class Part(NamedTuple):
    """A part of every sum: some groups, channels and taps."""

    weight: tuple[slice, ...]
    groups: int
    first: bool
    tiles: tuple[Tile, ...]


class Line(NamedTuple):
    """One axis of a phase; on it, `width` neighbouring outputs may share each window.

    places: for the first outputs of a window, the taps that each meets, and where in the window they stand;
    the next ones meet the same taps `move` places further, and so on.
    """

    outputs: slice
    width: int
    places: tuple[tuple[slice, slice], ...]
    move: int
    i: int
    k: int
    o: int
    s: int
    d: int
    lo: int


class Phase(NamedTuple):
    """Outputs that meet the same taps, or share windows: a convolution of its own."""

    lines: tuple[Line, ...]
    parts: tuple[Part, ...]

    @property
    def widths(self) -> Shape:
        """How many outputs share a window, for each axis."""
        return tuple(line.width for line in self.lines)

    @property
    def below(self) -> bool:
        """Whether those outputs stand one below the other, and the windows of a row close together."""
        return below(self.lines)

    @property
    def shared(self) -> bool:
        """Whether any outputs share a window."""
        return prod(self.widths) > 1


class Plan(NamedTuple):
    """The output's shape, and the phases: none where the problem stays whole."""

    output: Shape
    phases: tuple[Phase, ...]


@lru_cache(maxsize=4096)
def plan(
    input_shape: Shape, weight_shape: Shape, stride: Shape, padding: tuple[Pair, ...], dilation: Shape,
    input_dilation: Shape, groups: int, itemsize: int, budget: int, share: bool = True,
) -> Plan:  # fmt: skip
    """How to convolve arrays of these shapes within a budget of so many bytes; windows are shared, or not."""
    (N, _, *i), (O, channels, *k) = input_shape, weight_shape
    ends = [lo for lo, _ in padding], [hi for _, hi in padding]
    o = [
        (l * (i - 1) + lo + hi - d * (k - 1)) // s + 1
        for i, k, s, d, l, lo, hi in zip(i, k, stride, dilation, input_dilation, *ends)
    ]
    padded = N * groups * channels * prod(i + max(lo, 0) + max(hi, 0) for i, lo, hi in zip(i, *ends))
    for name, elements in (("result", N * O * prod(o)), ("padded input", padded)):
        if elements * itemsize > LARGEST:
            raise MemoryError(f"the {name} would have {elements} elements; this is more than 2**40 bytes")
    spread = prod(l * (i - 1) + 1 + max(lo, 0) + max(hi, 0) for i, l, lo, hi in zip(i, input_dilation, *ends))
    columns = N * groups * channels * max(prod(k) * prod(o), spread // SPREAD)
    copied = columns + O * channels * prod(k) + N * groups * channels * spread
    if columns <= SMALL and copied * itemsize <= budget // 2:
        return Plan((N, O, *o), ())
    axes = list(zip(i, k, stride, dilation, input_dilation, ends[0], o))
    lines = [_lines(*axis) for axis in axes]
    sizes = N, groups, channels, O // groups, itemsize, budget
    wide = _widened(axes, lines, O // groups) if share else lines
    phases = [_phase(line, *sizes) for line in product(*wide)]
    if any(_cuts_a_shared_window(phase) for phase in phases):
        phases = [_phase(line, *sizes) for line in product(*lines)]
    return Plan((N, O, *o), tuple(phases))


# ---------------------------------------------------------------- phases and widths


def _lines(i: int, k: int, s: int, d: int, l: int, lo: int, o: int) -> list[Line]:
    """The phases of one axis.

    Output p meets tap q at input m where  s*p + d*q - lo = l*m.  With P = l/gcd(s, l) and
    Q = l/gcd(d, l), the taps b + Q*q' meet all outputs a + P*p', if there is such an a < P:

        (s*P/l) * p' + (d*Q/l) * q' - (lo - s*a - d*b)/l  =  m
    """
    common = gcd(s, l)
    P, Q = l // common, l // gcd(d, l)
    lines = []
    for b in range(min(Q, k)):
        a = (lo - d * b) // common * pow(s // common, -1, P) % P
        start, apart = divmod(lo - s * a - d * b, l)
        if a < o and not apart:
            outputs, taps = len(range(a, o, P)), len(range(b, k, Q))
            places = ((slice(b, k, Q), slice(0, taps)),)
            lines.append(Line(slice(a, o, P), 1, places, 0, i, taps, outputs, s * P // l, d * Q // l, start))
    return sorted(lines, key=lambda line: line.outputs.start)


def _widened(axes: list[Shape], lines: list[list[Line]], rows: int) -> list[list[Line]]:
    """The phases of an axis as one, and several neighbouring outputs to a window, where that pays."""
    axes = [_own(axis, found) for axis, found in zip(axes, lines)]
    phases = [l // gcd(s, l) for _, _, s, _, l, _, _ in axes]
    one_tap = all(k <= l for _, k, _, _, l, _, _ in axes)  # of each output: none is multiplied in vain
    if not one_tap and rows > ROWS:
        return lines
    widths = list(phases)
    if not one_tap:
        axis, most = _shared_axis(axes, phases, rows)
        widths[axis] = _width(axes[axis][-1], phases[axis], most)
    for w, P, own, found in zip(widths, phases, axes, lines):
        apart = any(line.d > 1 or line.s > line.k for line in found)  # a shared window would have gaps
        if w > 1 and (own[-1] < w or len(found) < P or apart):
            return lines
    return [_shared(w, own, found) if w > 1 else found for w, own, found in zip(widths, axes, lines)]


def _own(axis: Shape, phases: list[Line]) -> Shape:
    """The only phase of an axis as the convolution that it is; where there are more, all of them."""
    if len(phases) != 1:
        return axis
    (x,) = phases
    return x.i, x.k, x.s, x.d, 1, x.lo, x.o


def _shared(w: int, axis: Shape, phases: list[Line]) -> list[Line]:
    """The axis with w outputs to a window; those of a single phase are found again among all outputs."""
    wide = _wide_lines(w, *axis)
    if len(phases) != 1:
        return wide
    a, P = phases[0].outputs.start, phases[0].outputs.step
    ((taps, _),) = phases[0].places
    return [
        x._replace(
            outputs=slice(a + P * x.outputs.start, a + P * x.outputs.stop, P),
            places=tuple((taps, at) for _, at in x.places),
        )
        for x in wide
    ]


def _shared_axis(axes: list[Shape], phases: list[int], rows: int) -> tuple[int, int]:
    """Along which axis outputs share windows, and how many may.

    One below the other they leave whole rows of outputs, long runs to copy.  Side by side they pay where the
    rows' taps are the longer run, or where there are many; and never more than windows, as both are copied.
    """
    *_, (_, k, s, d, l, _, o) = axes
    taps, outputs = (prod(axis[n] for axis in axes) for n in (1, -1))
    even = isqrt(outputs // rows)
    below, beside = min(ROWS // (2 * rows), even), min(ROWS // rows, even)
    turned, alone = taps_innermost(k, o, s, d), max(phases) == 1
    if alone and not turned and len(axes) == 2 and axes[0][1] >= 2 * axes[0][2] and axes[0][-1] >= below > 1:
        return 0, below
    if turned or not alone or taps >= 8 and k >= 2 * s and 8 * rows <= ROWS:
        return -1, beside if k > max(s, l) else 1
    return -1, 1


def _width(size: int, least: int, most: int) -> int:
    """A multiple of `least` up to `most` into which the size goes evenly, or nearly so."""
    possible = range(least, min(most, size) + 1, least) or range(least, least + 1)
    even = max((w for w in possible if size % w == 0), default=0)
    if 2 * even >= possible[-1]:
        return even
    windows = -(-size // possible[-1])
    return -(-size // (windows * least)) * least


def _wide_lines(w: int, i: int, k: int, s: int, d: int, l: int, lo: int, o: int) -> list[Line]:
    """The outputs w*p' + a, with a < w, as one phase, and the rest that fills no window as one window."""
    end = o // w * w
    wide = [_wide_line(w, i, k, s, d, l, lo, end)]
    if end < o:
        rest = _wide_line(o - end, i, k, s, d, l, lo - s * end, o - end)
        wide.append(rest._replace(outputs=slice(end, o)))
    return wide


def _wide_line(w: int, i: int, k: int, s: int, d: int, l: int, lo: int, o: int) -> Line:
    """All outputs w*p' + a, with a < w, as one phase: output a meets its taps from its own place on."""
    P = l // gcd(s, l)
    phases = [_lines(i, k, s, d, l, lo - s * a, 1)[0] for a in range(min(P, w))]
    move = s * P // l
    first = max(line.lo for line in phases)
    places = tuple((line.places[0][0], slice(first - line.lo, first - line.lo + line.k)) for line in phases)
    window = max(place.stop + (w - 1 - a) // P * move for a, (_, place) in enumerate(places))
    return Line(slice(0, o), w, places, move, i, window, o // w, max(s * w // l, 1), 1, first)


def _cuts_a_shared_window(phase: Phase) -> bool:
    taps = phase.parts[0].weight[2:]
    return any(w > 1 and q != slice(0, k) for w, q, k in zip(phase.widths, taps, (x.k for x in phase.lines)))


# ---------------------------------------------------------------- tiles and parts

G, N, C = 0, 1, 2  # the places of groups, samples and channels in a list of sizes; taps and outputs follow


def _phase(
    lines: tuple[Line, ...], samples: int, groups: int, channels: int, rows: int, itemsize: int, budget: int
) -> Phase:
    """The phase with its parts and tiles."""
    rank = len(lines)
    whole = [groups, samples, channels, *(x.k for x in lines), *(x.o for x in lines)]
    rows_made = rows * prod(x.width for x in lines)
    size = _cut(whole, lines, rows_made, itemsize, budget)
    if size[C] < channels:
        size[G] = 1  # so that the channels of a part are neighbours
    cuts = [[slice(a, min(a + n, end)) for a in range(0, end, n)] for n, end in zip(size, whole)]
    parts = []
    for group, channel, *taps in product(cuts[G], cuts[C], *cuts[3 : 3 + rank]):
        g = slice(group.start * rows, group.stop * rows)
        c = slice(group.start * channels + channel.start, (group.stop - 1) * channels + channel.stop)
        tiles = []
        for sample, *outputs in product(cuts[N], *cuts[3 + rank :]):
            padding = tuple(
                (
                    x.lo - x.s * p.start - x.d * q.start,
                    x.s * (p.stop - 1) + x.d * (q.stop - 1) + 1 - x.lo - x.i,
                )
                for x, p, q in zip(lines, outputs, taps)
            )
            tiles.append(Tile((sample, c), padding, (sample, group, ..., *outputs)))
        first = channel.start == 0 and all(q.start == 0 for q in taps)
        parts.append(Part((g, channel, *taps), group.stop - group.start, first, tuple(tiles)))
    return Phase(lines, tuple(parts))


def below(lines: tuple[Line, ...]) -> bool:
    """Whether only outputs one below the other share a window, and the windows of a row close together."""
    return len(lines) == 2 and lines[1].width == lines[1].s == 1 < lines[0].width


def taps_innermost(k: int, o: int, s: int, d: int) -> bool:
    """Whether a row's taps are a longer and denser run through the input than its outputs are."""
    return k * s > o * d


def _cut(whole: list[int], lines: tuple[Line, ...], rows: int, itemsize: int, budget: int) -> list[int]:
    """How much of each size one tile takes: halved, one after the other, until all limits are kept."""
    rank = len(lines)
    size = list(whole)
    taps, outputs = range(3, 3 + rank), range(3 + rank, 3 + 2 * rank)
    padded = any(
        line.lo > 0 or line.s * (line.o - 1) + line.d * (line.k - 1) + 1 - line.lo > line.i for line in lines
    )
    pointwise = all(line.k == line.s == 1 for line in lines)
    in_sum = prod(x.k for x in lines) > prod(x.o for x in lines)
    long = [C, *taps] if in_sum else [N, *outputs]

    def length() -> int:
        return prod(size[axis] for axis in long)

    def columns() -> int:
        dense = size[long[0]] == 1 or not in_sum and length() >= LONG * size[N]
        if pointwise and dense and not padded:
            return 0
        beyond = lines[-1].d * (lines[-1].k - 1) if below(lines) else 0  # what runs hold between rows
        return itemsize * (prod(size) // size[-1]) * (size[-1] + beyond)

    def scratch() -> int:
        spans = [x.s * (size[p] - 1) + x.d * (size[q] - 1) + 1 for x, p, q in zip(lines, outputs, taps)]
        folded = [size[p] * size[q] for p, q in zip(outputs, taps)][: max(rank - 2, 0)] + spans[-2:]
        inside = size[G] * size[N] * size[C] * (padded * prod(spans) + (rank > 2) * prod(folded))
        weights = size[G] * rows * size[C] * prod(size[q] for q in taps)
        made = size[G] * size[N] * rows * prod(size[p] for p in outputs)
        return columns() + itemsize * (inside + weights + 2 * made)  # integers are made, then cast

    def halved(axis: int) -> int:
        """The scratch that would be needed with half of this axis."""
        before, size[axis] = size[axis], -(-size[axis] // 2)
        after, size[axis] = scratch(), before
        return after

    if not (in_sum and size[G] > 1):
        size[long[0]] = min(size[long[0]], -(-LONG * size[long[0]] // length()))
    for axis in [long[0], G, *long[1:]]:
        while columns() > TILE and size[axis] > 1 and (axis == G or length() >= 2 * LONG):
            size[axis] = -(-size[axis] // 2)
    while scratch() > budget and max(size) > 1:
        # What helps most: with a large dilation a tile reads far more rows than it has.
        axis = min((axis for axis in range(len(size)) if size[axis] > 1), key=halved)
        size[axis] = -(-size[axis] // 2)
    return size
