"""How a forward is cut into pieces, so that it is fast and its scratch stays bounded.

A problem with at most SMALL column elements stays whole, where the budget allows it.  For the others,
four rules:

    phases   an input dilated by l splits by the residue of the output index: no inserted zero is read
    sharing  in a product with few rows neighbouring outputs share one window, so that less is copied
    tiles    until the columns fit TILE: they stay in the cache between copy and product.  Groups and
             samples are cut first, as it costs nothing; then rows, but to no less than LONG columns
    parts    the sum itself is cut where the long side of the columns is in it, as in a weight gradient,
             whose window is all of grad_output; and wherever the scratch budget needs it
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

from npconv.arguments import Pair, Shape
from npconv.phases import Axis, Line, phases
from npconv.sharing import below, shared


LARGEST = 2**40  # bytes of a result or a padded input: no machine holds more, and the tiles would not end
SPREAD = 64  # a small problem's padded and dilated input may be so much larger than its columns
SMALL = 2**17  # column elements: below, a cut costs more than it saves
TILE = 2**23  # bytes of columns: a few megabytes; 2 to 16 of them measured the same
LONG = 512  # columns: from here on BLAS is at its full speed


class Tile(NamedTuple):
    """Some outputs, and what of the input they read: its samples and channels, padded or cropped to a window."""

    input: tuple[slice, ...]
    padding: tuple[Pair, ...]
    output: tuple[Any, ...]


class Part(NamedTuple):
    """A part of every sum: some groups, channels and taps; the first one is written, others are added."""

    weight: tuple[slice, ...]
    groups: int
    first: bool
    tiles: tuple[Tile, ...]


class Phase(NamedTuple):
    """Outputs that meet the same taps, or share windows: a convolution of its own."""

    lines: tuple[Line, ...]
    parts: tuple[Part, ...]

    @property
    def widths(self) -> Shape:
        """How many outputs share a window, for each axis."""
        return tuple(line.width for line in self.lines)

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
    axes = list(map(Axis, i, k, stride, dilation, input_dilation, ends[0], o))
    lines = list(map(phases, axes))
    sizes = N, groups, channels, O // groups, itemsize, budget - budget // 64  # for the plan itself
    if share:
        wide = [_phase(line, *sizes) for line in product(*shared(axes, lines, O // groups))]
        if not any(_cuts_a_shared_window(phase) for phase in wide):
            return Plan((N, O, *o), tuple(wide))
    return Plan((N, O, *o), tuple(_phase(line, *sizes) for line in product(*lines)))


def _cuts_a_shared_window(phase: Phase) -> bool:
    """Whether the budget cuts the taps of a shared window, of which no part is a window of all its outputs."""
    taps = phase.parts[0].weight[2:]
    return any(x.width > 1 and q != slice(0, x.k) for x, q in zip(phase.lines, taps))


G, N, C = 0, 1, 2  # the places of groups, samples and channels in a list of sizes; taps and outputs follow


def _phase(
    lines: tuple[Line, ...], samples: int, groups: int, channels: int, rows: int, itemsize: int, budget: int
) -> Phase:
    """The phase with its parts and tiles."""
    rank = len(lines)
    whole = [groups, samples, channels, *(x.k for x in lines), *(x.o for x in lines)]
    size = _cut(whole, lines, rows * prod(x.width for x in lines), itemsize, budget)
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
        between = lines[-1].s == 1 and below(lines)  # runs hold what stands between rows, too
        beyond = lines[-1].d * (lines[-1].k - 1) if between else 0
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
    for axis in [G, *long]:
        while columns() > TILE and size[axis] > 1 and (axis == G or length() >= 2 * LONG):
            size[axis] = -(-size[axis] // 2)
    while scratch() > budget and max(size) > 1:
        # What helps most: with a large dilation a tile reads far more rows than it has.
        axis = min((axis for axis in range(len(size)) if size[axis] > 1), key=halved)
        size[axis] = -(-size[axis] // 2)
    return size
