"""Which places windows reach, by arithmetic alone: sizes may be of any magnitude.

The places s*p + d*q fall into progressions that share no place, one for each residue or for each tap,
and there are never more of these than about the square root of the size that they cover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import gcd


def sums(s: int, o: int, d: int, k: int) -> list[range]:
    """All s*p + d*q with 0 <= p < o and 0 <= q < k, as progressions that share no place.

    >>> sums(2, 3, 1, 3), sums(5, 2, 1, 2)
    ([range(0, 7)], [range(0, 10, 5), range(1, 11, 5)])
    """
    if length(_starts(d, k, s, o)) < length(_starts(s, o, d, k)):
        s, o, d, k = d, k, s, o
    starts, cycle = _starts(s, o, d, k), s // gcd(s, d)
    # The taps q, q + cycle, ... are of one residue mod s; where few outputs leave gaps, each stands alone.
    last = (q if length(starts) == k else q + (k - 1 - q) // cycle * cycle for q in starts)
    return [range(d * q, d * end + s * o, s) for q, end in zip(starts, last)]


def _starts(s: int, o: int, d: int, k: int) -> range:
    """The taps with which a progression of step s begins."""
    divisor = gcd(s, d)
    return range(min(k, s // divisor) if o >= d // divisor else k)


def multiples(places: Sequence[range], l: int, lo: int, i: int) -> list[range]:
    """The m with 0 <= m < i for which l*m + lo is one of the places.

    >>> multiples([range(0, 8, 2)], 1, 1, 4), multiples([range(0, 8, 2)], 3, 0, 9)
    ([range(1, 4, 2)], [range(0, 3, 2)])
    """
    found = []
    for each in places:
        # Of any l neighbours in a progression at most one in every l / gcd(l, step) is a multiple.
        period = l // gcd(l, each.step)
        for part in (each[n::period] for n in range(period)):
            if part and (part[0] - lo) % l == 0:
                step = part.step // l
                first = (part[0] - lo) // l
                skipped = max(0, -(first // step))
                last = min((part[-1] - lo) // l, i - 1)
                found.append(range(first + skipped * step, last + 1, step))
    return [each for each in found if each]


def gaps(progressions: Sequence[range], size: int) -> Iterator[range]:
    """What is in none of them, below size: neighbours together, in rising order, one run at a time.

    >>> list(gaps([range(0, 10, 5), range(1, 11, 5)], 9)), next(gaps([range(1, 10**12)], 10**15))
    ([range(2, 5), range(7, 9)], range(0, 1))
    """

    def inside(m: int) -> int:
        """How many of 0 to m are in one of them."""
        return sum(length(range(each.start, min(each.stop, m + 1), each.step)) for each in progressions)

    end = outside = 0
    while end < size:
        start = _first(end, size, lambda m: m + 1 - inside(m) > outside)
        end = _first(start, size, lambda m: inside(m) > start - outside)
        outside += end - start
        if start < end:
            yield range(start, end)


def length(progression: range) -> int:
    """How many numbers it has, which `len` tells only up to 2**63.

    >>> length(range(3, 10, 4)), length(range(0, 10**30, 10)) == 10**29
    (2, True)
    """
    return max(0, -((progression.start - progression.stop) // progression.step))


def _first(start: int, end: int, holds: Callable[[int], bool]) -> int:
    """The first number from start on of which it holds, as of all after it; end, where it holds of none."""
    while start < end:
        middle = (start + end) // 2
        start, end = (start, middle) if holds(middle) else (middle + 1, end)
    return start
