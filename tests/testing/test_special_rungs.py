"""Infinities and NaN: the certain against loops that multiply what the formula names, and kernels that
lose, spread or skip them."""

from itertools import product

import npconv
import numpy as np
import pytest
from npconv.problem import Problem
from npconv.testing import check
from npconv.testing.candidate import Declared
from npconv.testing.observation import exact_case
from npconv.testing.specials import VALUES, factors, judged, may_meet, place


def conv(input, weight, bias, **p):
    return npconv.conv(input, weight, bias, **p)


class Every:
    forward = staticmethod(conv)

    @staticmethod
    def backward(grad_output, input, weight, **p):
        return tuple(npconv.conv2d_backward(grad_output, input, weight, **p))

    @staticmethod
    def transposed(input, weight, bias, **p):
        return npconv.conv_transpose2d(input, weight, bias, **p)


CASES = ["N2C2O3_i5x6_k3_p1", "C2O2_i7x6_k3x2_s2x1_p1x0", "C2O1_i8x7_k3x2_d2", "i9x8_k2_s2_d3_p1:2"]


def by_loops(problem, x, w, g, skip):
    """Forward, input gradient and weight gradient, term by term; `skip` leaves the zeros of the padding
    out, else each is a term of the forward."""
    geometry = problem.geometry
    (N, C, *i), (O, _, *k), o = problem.input_shape, problem.weight_shape, g.shape[2:]
    y, dx, dw = np.zeros(g.shape), np.zeros(x.shape), np.zeros(w.shape)
    for n, oc, c, p, q in product(range(N), range(O), range(C), np.ndindex(*o), np.ndindex(*k)):
        m = tuple(a.s * b + a.d * t - a.lo for a, b, t in zip(geometry.axes, p, q))
        inside = all(0 <= e < size for e, size in zip(m, i))
        if inside:
            y[(n, oc, *p)] += x[(n, c, *m)] * w[(oc, c, *q)]
            dx[(n, c, *m)] += g[(n, oc, *p)] * w[(oc, c, *q)]
            dw[(oc, c, *q)] += g[(n, oc, *p)] * x[(n, c, *m)]
        elif not skip:
            y[(n, oc, *p)] += 0 * w[(oc, c, *q)]
            dw[(oc, c, *q)] += g[(n, oc, *p)] * 0
    return {"forward": y, "grad_input": dx, "grad_weight": dw}


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("line", CASES)
def test_loops_over_the_formula_are_never_wrong(line, value, skip):
    problem = Problem.parse(line)
    for part, arrays in (
        ("forward", ("input", "weight")),
        ("grad_input", ("grad_output", "weight")),
        ("grad_weight", ("grad_output", "input")),
    ):
        case = exact_case(part, problem, Declared())
        for array in arrays:
            given = {name: a.astype(float) for name, a in case.arrays.items()}
            given[array][place(case, array)] = VALUES[value]
            with np.errstate(all="ignore"):
                result = by_loops(problem, given["input"], given["weight"], given["grad_output"], skip)[part]
            seen = judged(case, result, array, value)
            assert not seen.wrong and not seen.spread
            reads = factors(case, array) != 0
            assert np.array_equal(np.isfinite(result) | may_meet(case, array), np.ones(result.shape, bool))
            assert not np.isfinite(result[reads]).any()


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "bfloat16", "tf32"])
def test_npconv_itself_puts_them_where_they_must_come_out(kind):
    report = check(Every, layers=False, input=kind)
    assert report.verdict == "PASS", str(report)
    assert report.passport["sums beyond the largest number"] == "inf"


@pytest.mark.parametrize("rank", [1, 3])
def test_other_ranks_have_special_values_too(rank):
    report = check(conv, rank=rank, layers=False)
    rung = next(rung for rung in report.rungs if rung.name == "special values")
    assert rung.status == "passed" and rung.cases > 10


LOST = {
    "input without NaN": lambda x, w, b, **p: conv(
        np.nan_to_num(x, posinf=np.inf, neginf=-np.inf), w, b, **p
    ),
    "weight without NaN": lambda x, w, b, **p: conv(
        x, np.nan_to_num(w, posinf=np.inf, neginf=-np.inf), b, **p
    ),
    "bias without NaN": lambda x, w, b, **p: conv(x, w, None if b is None else np.nan_to_num(b), **p),
    "result without NaN": lambda x, w, b, **p: np.fmax(conv(x, w, b, **p), np.float32(-1e38)),
    "inf of one sign": lambda x, w, b, **p: abs(y) if np.isinf(y := conv(x, w, b, **p)).any() else y,
    "largest in place of inf": lambda x, w, b, **p: np.nan_to_num(conv(x, w, b, **p), nan=np.nan),
}


@pytest.mark.parametrize("name", LOST)
def test_a_kernel_that_loses_them_is_wrong(name):
    report = check(LOST[name], layers=False)
    assert report.verdict == "WRONG" and report.why == "breaks at 'special values'"
    assert "due nan" in report.faults[0] or "due inf" in report.faults[0] or "due -inf" in report.faults[0]


def test_a_kernel_that_multiplies_what_it_should_not_read_by_zero_is_suspicious():
    def masked(x, w, b, **p):
        with np.errstate(all="ignore"):
            return (conv(x, w, b, **p) + 0 * (x / 8).sum()).astype(np.float32)

    report = check(masked, layers=False)
    assert report.verdict == "SUSPICIOUS" and "which does not read it" in report.why


def test_a_transform_spreads_them_and_is_not_wrong():
    def fourier(x, w, b, *, stride, padding, dilation, groups):
        if groups > 1 or (*stride, *dilation) != (1, 1, 1, 1):
            return npconv.conv(x, w, b, stride, padding, dilation, groups)
        x = npconv.pad(x, padding)
        size = x.shape[2:]
        X, W = (np.fft.rfft2(a.astype(np.float64), size) for a in (x, w))
        y = np.fft.irfft2((X[:, None] * np.conj(W)[None]).sum(axis=2), size)
        y = y[..., : size[0] - w.shape[2] + 1, : size[1] - w.shape[3] + 1].astype(np.float32)
        return (y if np.isnan(y).any() or (x % 1).any() else np.rint(y)) + (
            0 if b is None else b[:, None, None]
        )

    report = check(fourier, layers=False)
    assert report.verdict == "SUSPICIOUS" and "which does not read it" in report.why


def test_what_padded_zeros_do_is_a_fact():
    def skips(x, w, b, **p):
        y = conv(x, np.where(np.isfinite(w), w, 0), b, **p)
        if np.isfinite(w).all():
            return y
        reached = conv(np.ones_like(x), np.where(np.isfinite(w), 0, 1).astype(np.float32), None, **p) > 0
        return np.where(reached, conv(x, w, b, **p), y)

    assert check(conv, layers=False).passport["0 * inf in the padding"] == "NaN"
    report = check(skips, layers=False)
    assert report.verdict == "PASS" and report.passport["0 * inf in the padding"] == "skipped"


def test_a_sum_that_overflows_below_the_largest_number_is_wrong():
    report = check(lambda x, w, b, **p: conv(4 * x, w / 4, b, **p), layers=False)
    assert report.verdict == "WRONG" and "2^126 + 2^126 gives inf, due 2^127" in report.faults[0]


def test_stopping_at_the_largest_number_is_a_fact():
    def stops(x, w, b, **p):
        y = conv(x, w, b, **p)
        given = (x, w) if b is None else (x, w, b)
        return np.nan_to_num(y) if all(np.isfinite(a).all() for a in given) else y

    report = check(stops, layers=False)
    assert report.verdict == "PASS" and report.passport["sums beyond the largest number"] == "3.40282e+38"
