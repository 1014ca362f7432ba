"""The table of named geometries holds what its names say, and the random ones repeat from a seed."""

from math import gcd

import pytest
from geometries import MODES, NAMED, TRANSPOSED, case, random_cases, random_transposed, transposed


def test_sizes_are_those_worked_out_by_hand():
    made = case("x", (6, 7), 3, s=2, p=(1, (0, 1)), N=2, C=4, O=8, G=2)
    assert (made.sizes, made.remainder) == ((3, 3), (1, 1))
    assert (made.input_shape, made.weight_shape) == ((2, 4, 6, 7), (8, 2, 3, 3))
    assert made.output_shape == (2, 8, 3, 3)


def test_transposed_sizes_are_those_worked_out_by_hand():
    made = transposed("x", (4,), 3, s=2, p=(1,), op=1, C=2, O=3)
    assert (made.sizes, made.weight_shape, made.output_shape) == ((8,), (2, 3, 3), (2, 3, 8))


def test_every_name_is_there_once():
    names = [case.name for case in (*NAMED, *TRANSPOSED)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("case", [*NAMED, *TRANSPOSED], ids=str)
def test_every_named_geometry_has_an_output(case):
    assert min(case.sizes) >= 1


@pytest.mark.parametrize("s", [2, 3, 4])
@pytest.mark.parametrize("axis", [0, 1])
def test_every_remainder_stands_on_each_axis_apart(s, axis):
    alone = {
        case.remainder[axis] for case in NAMED if case.stride == (s, s) and case.remainder[1 - axis] == 0
    }
    assert alone >= set(range(s))


def _some_axis(condition):
    return [
        case.name
        for case in NAMED
        for axis in zip(case.i, case.k, case.extent, case.stride, case.dilation, case.padding)
        if condition(*axis)
    ]


@pytest.mark.parametrize(
    "condition",
    [
        lambda i, k, K, s, d, p: p[0] > K - 1,
        lambda i, k, K, s, d, p: p[1] > K - 1,
        lambda i, k, K, s, d, p: s > K > 1,
        lambda i, k, K, s, d, p: k == 1 < s,
        lambda i, k, K, s, d, p: k > i,
        lambda i, k, K, s, d, p: gcd(s, d) > 1 and k > 1,
        lambda i, k, K, s, d, p: p[0] != p[1],
        lambda i, k, K, s, d, p: p[0] < -i,
        lambda i, k, K, s, d, p: p[1] < -i,
        lambda i, k, K, s, d, p: p[0] < 0 and s > 1 and k > 1,
    ],
    ids=[
        "start padded beyond K-1", "end padded beyond K-1", "stride beyond K", "1x1 strided",
        "kernel larger than input", "gcd above 1", "asymmetric", "start cropped beyond the array",
        "end cropped beyond the array", "crop and stride",
    ],
)  # fmt: skip
def test_the_table_holds_every_trap_on_an_axis(condition):
    assert len(_some_axis(condition)) >= 2


@pytest.mark.parametrize(
    "condition",
    [
        lambda c: c.G > 1 and c.C > c.G and c.O > c.G,
        lambda c: c.G > 1 and c.G == c.C == c.O,
        lambda c: c.G > 1 and c.G == c.C < c.O,
        lambda c: c.N == 0,
        lambda c: c.C == 0,
        lambda c: c.O == 0,
        lambda c: c.rank == 1,
        lambda c: c.rank == 3,
        *(lambda c, mode=mode: c.padding_mode == mode for mode in MODES),
    ],
)
def test_the_table_holds_every_trap_of_the_whole(condition):
    assert any(map(condition, NAMED))


@pytest.mark.parametrize("make", [random_cases, random_transposed])
def test_random_cases_repeat_from_their_seed(make):
    first = [str(case) for case in make(7, 20, (1, 2, 3))]
    assert first == [str(case) for case in make(7, 20, (1, 2, 3))]
    assert first != [str(case) for case in make(8, 20, (1, 2, 3))]
    assert {case.rank for case in make(7, 20, (1, 2, 3))} == {1, 2, 3}


def test_random_cases_fall_into_the_traps_too():
    cases = list(random_cases(0, 1000))
    share = {
        "remainder": sum(any(c.remainder) for c in cases),
        "crop": sum(min(min(p) for p in c.padding) < 0 for c in cases),
        "padding beyond K-1": sum(max(c.padding[0]) > c.extent[0] - 1 for c in cases),
        "groups": sum(c.G > 1 for c in cases),
        "gcd above 1": sum(gcd(c.stride[0], c.dilation[0]) > 1 for c in cases),
    }
    assert min(share.values()) >= 100, share
    assert all(min(case.sizes) >= 1 for case in cases)
