"""Kernels that are wrong at some values only: the cases meet each, and the trigger tells it.

A predicate stands for a kernel that damages its result where the predicate holds.
"""

from types import SimpleNamespace

import npconv
import pytest
from npconv.problem import Problem
from npconv.testing import check
from npconv.testing.further import further
from npconv.testing.problems import covering, full
from npconv.testing.trigger import trigger


def ends(p):
    return [end for pair in p.padding for end in pair]


def out(p):
    return p.output_shape[2:]


def height(p):
    return out(p)[0]


def width(p):
    return out(p)[1]


def extents(p):
    return tuple(d * (k - 1) + 1 for d, k in zip(p.dilation, p.k))


def same(values):
    return len(set(values)) == 1


# The sentence that is due, and the values at which the kernel is wrong.
WHEN = {
    "stride = 2 on every axis": lambda p: p.stride == (2, 2),
    "stride 1x2": lambda p: p.stride == (1, 2),
    "stride = 3 on every axis": lambda p: p.stride == (3, 3),
    "stride = 2": lambda p: 2 in p.stride,
    "stride > 2": lambda p: max(p.stride) >= 3,
    "stride > 3": lambda p: max(p.stride) >= 4,
    "stride > 4": lambda p: max(p.stride) >= 5,
    "dilation = 2 on every axis": lambda p: p.dilation == (2, 2),
    "dilation 1x2": lambda p: p.dilation == (1, 2),
    "dilation > 2": lambda p: max(p.dilation) >= 3,
    "dilation > 3": lambda p: max(p.dilation) >= 4,
    "dilation > 4": lambda p: max(p.dilation) >= 5,
    "taps = 2 on every axis": lambda p: p.k == (2, 2),
    "taps = 4 on every axis": lambda p: p.k == (4, 4),
    "taps = 5 on every axis": lambda p: p.k == (5, 5),
    "taps = 7 on every axis": lambda p: p.k == (7, 7),
    "taps 1x3": lambda p: p.k == (1, 3),
    "taps 3x1": lambda p: p.k == (3, 1),
    "an even number of taps on every axis": lambda p: all(k % 2 == 0 for k in p.k),
    "taps > 3": lambda p: max(p.k) > 3,
    "taps > 4": lambda p: max(p.k) > 4,
    "taps > 6": lambda p: max(p.k) > 6,
    "batch > 2": lambda p: p.N >= 3,
    "batch > 3": lambda p: p.N >= 4,
    "batch > 7": lambda p: p.N >= 8,
    "batch = 3": lambda p: p.N == 3,
    "batch = 4": lambda p: p.N == 4,
    "batch = 8": lambda p: p.N == 8,
    "padding < -1": lambda p: min(ends(p)) <= -2,
    "padding > 3": lambda p: max(ends(p)) >= 4,
    "lo > 3": lambda p: max(lo for lo, _ in p.padding) >= 4,
    "hi > 3": lambda p: max(hi for _, hi in p.padding) >= 4,
    "lo < -1": lambda p: min(lo for lo, _ in p.padding) <= -2,
    "hi < -1": lambda p: min(hi for _, hi in p.padding) <= -2,
    "output width = 1": lambda p: width(p) == 1,
    "output height = 1": lambda p: height(p) == 1,
    "output width > 32": lambda p: width(p) > 32,
    "output width > 64": lambda p: width(p) > 64,
    "output height > 32": lambda p: height(p) > 32,
    "output height > 64": lambda p: height(p) > 64,
    "output width = 8": lambda p: width(p) == 8,
    "output channels > 32": lambda p: p.O > 32,
    "output channels > 64": lambda p: p.O > 64,
    "input channels > 32": lambda p: p.C > 32,
    "input channels > 64": lambda p: p.C > 64,
    "input channels a group > 32": lambda p: p.C // p.G > 32,
    "output channels a group > 16": lambda p: p.O // p.G > 16,
    "input channels divisible by 8": lambda p: p.C % 8 == 0,
    "input channels divisible by 4": lambda p: p.C % 4 == 0,
    "output channels divisible by 8": lambda p: p.O % 8 == 0,
    "output channels divisible by 4": lambda p: p.O % 4 == 0,
    "input channels a group divisible by 4": lambda p: p.C // p.G % 4 == 0,
    "input channels = 1": lambda p: p.C == 1,
    "groups > 2": lambda p: p.G >= 3,
    "groups > 3": lambda p: p.G >= 4,
    "groups > 7": lambda p: p.G >= 8,
    "groups = 4": lambda p: p.G == 4,
    "depthwise (G = C = O)": lambda p: p.G == p.C == p.O and p.G > 1,
    "depthwise with several outputs a channel": lambda p: p.G == p.C and p.O > p.G > 1,
    "one input channel a group": lambda p: p.G == p.C and p.G > 1,
    "a square input": lambda p: same(p.i),
    "a square output": lambda p: same(out(p)),
    "height and width alike in everything": lambda p: (
        same(p.i) and same(p.k) and same(p.stride) and same(p.dilation) and same(p.padding) and same(out(p))
        and same(p.output_padding)
    ),
    "stride = taps": lambda p: p.stride == p.k and min(p.k) > 1,
    "stride = dilation": lambda p: p.stride == p.dilation and min(p.stride) > 1,
    "groups > 1 and stride = 2 on every axis": lambda p: p.G > 1 and p.stride == (2, 2),
    "an even number of taps on every axis and stride = 2 on every axis": lambda p: (
        all(k % 2 == 0 for k in p.k) and p.stride == (2, 2)
    ),
    "stride > 1 and depthwise (G = C = O)": lambda p: p.G == p.C == p.O and p.G > 1 and max(p.stride) > 1,
}  # fmt: skip
CONVOLUTIONS_ONLY = {
    "a window as large as the input": lambda p: p.i == extents(p) and not any(ends(p)),
}


def pool(transposed, strengths):
    domain = full(transposed=transposed)
    sets = [covering(domain, strength) for strength in strengths]
    return list(dict.fromkeys([*(problem for problems in sets for problem in problems), *further(domain)]))


# What has been asked when the further values break, and when the pairs do.
ASKED = {(t, s): pool(t, s) for t in (False, True) for s in ((2, 3), (2,))}
QUESTIONS = [(told, t) for t in (False, True) for told in (WHEN if t else {**WHEN, **CONVOLUTIONS_ONLY})]


@pytest.mark.parametrize("told, transposed", QUESTIONS)
def test_the_cases_meet_the_values_and_the_trigger_tells_them(told, transposed):
    wrong = {**WHEN, **CONVOLUTIONS_ONLY}[told]
    for strengths in ((2, 3), (2,)):
        problems = ASKED[transposed, strengths]
        failing = [p for p in problems if wrong(p)]
        passing = [p for p in problems if not wrong(p)]
        assert failing and passing
        assert trigger(failing, passing) == told


RIGHT = {
    "forward": npconv.conv,
    "grad_input": lambda g, w, size, **p: npconv.conv_input(size, w, g, **p),
    "grad_weight": lambda g, x, size, **p: npconv.conv_weight(x, size, g, **p),
    "transposed": npconv.conv_transpose,
}


def problem_of(part, arrays, p):
    """The problem that a call is about."""
    if part in ("forward", "transposed"):
        x, w = arrays[0].shape, arrays[1].shape
    elif part == "grad_input":
        x, w = arrays[2], arrays[1].shape
    else:
        x, w = arrays[1].shape, arrays[2]
    p = dict(p)
    G = p.pop("groups")
    O = w[1] * G if part == "transposed" else w[0]
    return Problem(
        i=tuple(x[2:]), k=tuple(w[2:]), N=x[0], C=x[1], O=O, G=G, transposed=part == "transposed",
        **{"output_padding": (0,) * (len(x) - 2), **p},
    )  # fmt: skip


def damaged(part, wrong):
    """A right kernel, but for one element where the predicate holds."""

    def kernel(*arrays, **p):
        result = RIGHT[part](*arrays, **p)
        if result.size and wrong(problem_of(part, arrays, p)):
            result.reshape(-1)[result.size // 2] += 1
        return result

    return SimpleNamespace(**{part: kernel})


@pytest.mark.parametrize(
    "part, told",
    [
        ("forward", "stride > 3"),
        ("grad_weight", "taps = 4 on every axis"),
        ("grad_input", "depthwise (G = C = O)"),
        ("transposed", "stride = taps"),
    ],
)
def test_such_a_kernel_is_wrong_and_its_trigger_is_told(part, told):
    report = check(damaged(part, WHEN[told]), layers=False)
    assert report.verdict == "WRONG" and report.trigger == told


def test_a_fault_that_pairs_show_has_the_further_values_as_evidence():
    report = check(damaged("forward", WHEN["groups > 2"]), layers=False)
    assert report.why == "breaks at 'exact, every pair'" and report.trigger == "groups > 2"
