"""Sums of two progressions and the gaps between them, against sets that list every place."""

from __future__ import annotations

from itertools import islice, product

from npconv.geometry import Axis, convolution
from npconv.progressions import gaps, length, multiples, sums

SPACINGS = list(product((1, 2, 3, 4, 6), (0, 1, 2, 3, 7), (1, 2, 3, 4, 5), (1, 2, 3, 6)))  # s, o, d, k


def test_the_progressions_cover_every_sum_once():
    for s, o, d, k in SPACINGS:
        places = [place for each in sums(s, o, d, k) for place in each]
        assert sorted(places) == sorted({s * p + d * q for p in range(o) for q in range(k)}), (s, o, d, k)


def test_the_multiples_are_those_that_counting_finds_once():
    for (s, o, d, k), l, lo, i in product(SPACINGS, (1, 2, 3, 4), (-3, 0, 2), (0, 1, 8)):
        places = {s * p + d * q for p in range(o) for q in range(k)}
        found = [m for each in multiples(sums(s, o, d, k), l, lo, i) for m in each]
        assert sorted(found) == [m for m in range(i) if l * m + lo in places], (s, o, d, k, l, lo, i)


def test_the_gaps_are_the_runs_of_what_is_left_out():
    for (s, o, d, k), size in product(SPACINGS, (0, 1, 9, 40)):
        inside = {s * p + d * q for p in range(o) for q in range(k)}
        runs = list(gaps(multiples(sums(s, o, d, k), 1, 0, size), size))
        assert [m for run in runs for m in run] == [m for m in range(size) if m not in inside]
        assert all(before.stop < after.start for before, after in zip(runs, runs[1:]))


def test_the_progressions_are_few_however_large_the_sizes():
    large = 10**6
    for s, o, d, k in [(1, large, 1, 3), (1, 3, 1, large), (large, 999, large + 1, 999), (1, 1, 7, large)]:
        assert len(sums(s, o, d, k)) <= 10**3


def test_what_no_window_reads_of_a_large_axis_is_found_without_listing_the_others():
    (axis,) = convolution((1, 1, 30_000_000), (1, 1, 3), stride=7).axes
    # Windows at 0, 7, ...: 3 inputs are read, then 4 are not; 30000000 = 7 * 4285714 + 2.
    assert list(islice(gaps(axis.read, axis.i), 2)) == [range(3, 7), range(10, 14)]
    assert axis.i - sum(map(len, axis.read)) == 4 * 4285713 + 6 == 17142858
    assert Axis(i=10**15, k=10**15 - 1, o=1).unread == (10**15 - 1,)


def test_a_progression_is_as_long_as_its_list():
    for start, stop, step in product((-3, 0, 2), (-4, 0, 1, 9), (1, 2, 5)):
        assert length(range(start, stop, step)) == len(range(start, stop, step))


def test_sizes_may_be_beyond_every_machine_integer():
    """Windows of three taps, five apart: two of five inputs are not read, up to the very end."""
    axis = convolution((1, 1, 5 * 10**30), (1, 1, 3), stride=5).axes[0]
    assert list(islice(gaps(axis.read, axis.i), 2)) == [range(3, 5), range(8, 10)]
    assert sum(map(length, axis.read)) == 3 * 10**30
