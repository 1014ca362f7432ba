"""What a kernel supports is found, whatever it refuses; what it supports is tested."""

import npconv
import numpy as np
import pytest
from npconv.testing import check
from npconv.testing.candidate import adapted
from npconv.testing.climb import Climb, Rung
from npconv.testing.exact_rungs import pairs
from npconv.testing.problems import ENDS, FACTORS, full
from npconv.testing.running import Inside
from npconv.testing.support import shapes


def same(values):
    return len(set(values)) == 1


# What each kernel accepts: (input, weight, bias, stride, padding, dilation, groups).
KERNELS = {
    "everything": lambda x, w, b, s, p, d, g: True,
    "nothing": lambda x, w, b, s, p, d, g: False,
    "squares": lambda x, w, b, s, p, d, g: same(x.shape[2:]),
    "vectors of 8 inputs": lambda x, w, b, s, p, d, g: x.shape[1] % 8 == 0,
    "vectors of 16": lambda x, w, b, s, p, d, g: x.shape[1] % 16 == 0 and len(w) % 16 == 0,
    "one number for both axes": lambda x, w, b, s, p, d, g: (
        same(w.shape[2:]) and same(s) and same(d) and same(sum(p, ()))
    ),
    "squares of whole vectors, one sample, no bias": lambda x, w, b, s, p, d, g: (
        same(x.shape[2:]) and x.shape[1] % 8 == 0 and len(w) % 8 == 0 and b is None and len(x) == 1
    ),
    "3x3 with padding 1 only": lambda x, w, b, s, p, d, g: (
        w.shape[2:] == (3, 3) and p == ((1, 1), (1, 1)) and s == d == (1, 1) and g == 1
    ),
    "5x5 only": lambda x, w, b, s, p, d, g: w.shape[2:] == (5, 5),
    "no stride": lambda x, w, b, s, p, d, g: s == (1, 1),
    "even padding": lambda x, w, b, s, p, d, g: all(lo == hi for lo, hi in p),
}


def refusing(name, spoilt=False):
    def kernel(input, weight, bias, *, stride, padding, dilation, groups):
        if not KERNELS[name](input, weight, bias, stride, padding, dilation, groups):
            raise NotImplementedError("not this")
        result = npconv.conv(input, weight, bias, stride, padding, dilation, groups)
        if spoilt and result.size > 1:
            result.reshape(-1)[-1] += 1
        return result

    return kernel


def searched(name):
    climb = Climb(Inside(adapted(refusing(name))))
    shapes(climb, Rung("shapes"))
    return climb.domains.get("forward"), climb.unsupported.get("forward", [])


def test_all_is_found_where_all_is_supported():
    assert searched("everything") == (full(), [])


def test_nothing_is_found_where_all_is_refused():
    assert searched("nothing") == (None, ["everything (NotImplementedError: not this)"])


@pytest.mark.parametrize(
    "name, told",
    [
        ("squares", ["sides that differ"]),
        ("vectors of 8 inputs", ["channels that 8 does not divide"]),
        ("vectors of 16", ["channels that 16 does not divide"]),
        ("one number for both axes",
         ["uneven padding", "padding that differs between the axes", "taps 3x2, 2x3", "stride 2x3, 3x1", "dilation 2x1, 1x3"]),
        ("squares of whole vectors, one sample, no bias",
         ["sides that differ", "channels that 8 does not divide", "batch 2", "bias True"]),
        ("no stride", ["stride 2x3, 3x1, 2x2, 3x3"]),
        ("even padding", ["uneven padding"]),
    ],
)  # fmt: skip
def test_what_is_refused_is_told_in_one_line(name, told):
    _, (line,) = searched(name)
    assert line == "; ".join(told) + " (NotImplementedError: not this)"


def test_the_domain_holds_what_is_accepted():
    assert searched("squares")[0].square and not searched("everything")[0].square
    assert searched("vectors of 8 inputs")[0].factors["channels"] == ((8, 8), (16, 8), (8, 16))
    domain, _ = searched("one number for both axes")
    assert domain.ends == ("top",) and not domain.uneven
    assert domain.factors["stride"] == ((1, 1), (2, 2), (3, 3)) and domain.factors["taps"] == ((1, 1), (3, 3))
    assert searched("even padding")[0].ends == ("top", "left")
    domain, _ = searched("3x3 with padding 1 only")
    assert all(domain.factors[end] == (1,) for end in ENDS) and domain.factors["taps"] == ((3, 3),)
    domain, _ = searched("5x5 only")
    assert domain.factors["taps"] == ((5, 5),) and domain.factors["stride"] == FACTORS["stride"]


@pytest.mark.parametrize("name", [name for name in KERNELS if name not in ("everything", "nothing")])
def test_what_is_supported_is_tested(name):
    for spoilt in (False, True):
        climb, rung = Climb(Inside(adapted(refusing(name, spoilt)))), Rung("exact, every pair")
        shapes(climb, Rung("shapes"))
        pairs(climb, rung)
        assert rung.cases > 5 and bool(rung.failed) == spoilt


def test_a_kernel_of_squares_of_whole_vectors_passes_with_few_lines_of_what_it_refuses():
    report = check(refusing("squares of whole vectors, one sample, no bias"), layers=False)
    assert report.verdict == "PASS" and len(report.unsupported["forward"]) <= 3


def test_a_kernel_whose_values_are_all_wrong_has_shapes_that_were_looked_at():
    report = check(lambda x, w, b, **p: 1 + npconv.conv(x, w, b, **p).astype(np.float64), layers=False)
    rung = report.rungs[0]
    assert (rung.name, rung.status) == ("shapes", "passed") and rung.cases > 10
