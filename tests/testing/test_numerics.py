"""The derived bound: kept by every right kernel, broken by the fault that it is for."""

from itertools import product

import numpy as np
import pytest
from half_sums import half_sums_of_single_taps

import npconv
from npconv.problem import Problem
from npconv.testing import check
from npconv.testing.bounds import bounds
from npconv.testing.families import FAMILIES, unit
from npconv.testing.formats import named
from npconv.testing.numerics import LINES, problem_for
from npconv.testing.parts import reference

SINGLE = (named("float32"),) * 3


def conv(input, weight, bias, **p):
    return npconv.conv(input, weight, bias, **p)


def cut(x, bits):
    fraction, exponent = np.frexp(x)
    return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits).astype(x.dtype)


def test_the_bound_of_a_single_product_is_two_roundings():
    # One product in float32, one rounding of it and one to the output: 2u|xw|, plus terms in u^2.
    arrays = {"input": np.array([[[3.0]]]), "weight": np.array([[[5.0]]])}
    y = np.array([[[15.0]]])
    worst = bounds("forward", Problem.parse("i1_k1"), arrays, y, SINGLE).worst[0, 0, 0]
    assert 2 * 2.0**-24 * 15 <= worst <= 2.001 * 2.0**-24 * 15


def test_the_worst_order_of_summation_keeps_to_the_bound():
    # A running float32 sum of positive numbers loses most when it grows from large to small.
    n = 2000
    problem = Problem.parse(f"i{n}_k{n}")
    x = np.sort(unit("worst", (n,)).astype(np.float32))[::-1].astype(np.float64)
    arrays = {"input": x.reshape(1, 1, n), "weight": np.ones((1, 1, n))}
    total = np.float32(0)
    for value in x.astype(np.float32):
        total = np.float32(total + value)
    y = reference("forward", problem, arrays)
    assert abs(float(total) - y) <= bounds("forward", problem, arrays, y, SINGLE).worst


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_fixed_floats(family):
    a, b = (FAMILIES[family]("name", (3, 4)) for _ in range(2))
    assert np.array_equal(a, b) and np.isfinite(a).all() and (a != 0).all()


@pytest.mark.parametrize("bits, told", [(11, "11 bits (TF32, rounded)"), (8, "8 bits (bfloat16, rounded)")])
def test_rounded_inputs_are_named(bits, told):
    report = check(lambda x, w, b, **p: conv(cut(x, bits), cut(w, bits), b, **p), layers=False)
    assert report.verdict == "WRONG" and report.why == "breaks at 'numerics'" and told in report.faults[0]


def test_rounded_inputs_are_right_where_they_are_declared():
    kernel = lambda x, w, b, **p: conv(cut(x, 11), cut(w, 11), b, **p)  # noqa: E731
    assert check(kernel, layers=False, input="tf32").verdict == "PASS"


def test_a_float32_fourier_transform_is_odd_and_not_broken_in_structure():
    def fourier(x, w, b, *, stride, padding, dilation, groups):
        if groups > 1 or max(stride) > 1 or max(dilation) > 1 or any(e for pair in padding for e in pair):
            raise NotImplementedError("plain only")
        size = x.shape[2:]
        spectra = [np.fft.rfft2(a, size).astype(np.complex64) for a in (x, w)]
        spectrum = (spectra[0][:, None] * np.conj(spectra[1])[None]).sum(axis=2)
        y = np.fft.irfft2(spectrum, size)[..., : size[0] - w.shape[2] + 1, : size[1] - w.shape[3] + 1]
        return (y if b is None else y + b[:, None, None]).astype(np.float32)

    report = check(fourier, layers=False)
    status = {rung.name: rung.status for rung in report.rungs}
    assert status["index maps"] == "odd" and status["exact, every triple"] == "odd"
    assert report.verdict in ("SUSPICIOUS", "WRONG") and "as by an FFT" in report.passport["locality"]


def whole(x):
    return not (x % 1 > 0).any()  # infinities and NaN are no fractions


def test_a_bias_toward_one_side_is_suspicious():
    def low(x, w, b, **p):
        y = conv(x.astype(np.float64), w.astype(np.float64), b, **p)
        n = w[0].size
        return (y if whole(x) else y - 0.3 * n * 2.0**-24 * conv(abs(x), abs(w), None, **p)).astype(
            np.float32
        )

    report = check(low, layers=False)
    assert report.verdict == "SUSPICIOUS" and "elements above the sqrt(n) line" in report.why


def one_element(y):
    y = y.copy()
    y.flat[7] += 1
    return y


PATHS = {
    "stride > 1": lambda p, w: max(p["stride"]) > 1,
    "dilation > 1": lambda p, w: max(p["dilation"]) > 1,
    "groups > 1": lambda p, w: p["groups"] > 1,
    "depthwise": lambda p, w: p["groups"] > 1 and w.shape[1] == 1,
    "one tap": lambda p, w: w.shape[2:] == (1, 1),
    "large taps": lambda p, w: max(w.shape[2:]) > 3,
    "channels in eights": lambda p, w: w.shape[0] % 8 == 0 and w.shape[1] % 8 == 0,
}


@pytest.mark.parametrize("bits", [8, 11])
@pytest.mark.parametrize("path", PATHS)
def test_a_low_precision_path_is_found_and_named(path, bits):
    def kernel(x, w, b, **p):
        return conv(cut(x, bits), cut(w, bits), b, **p) if PATHS[path](p, w) else conv(x, w, b, **p)

    report = check(kernel, layers=False)
    assert report.verdict == "WRONG" and report.why == "breaks at 'numerics'"
    assert f"the inputs are rounded to {bits} bits" in report.faults[0]
    assert " of 10 measures; the worst: " in report.faults[0]
    assert report.trigger == {"stride > 1": path, "groups > 1": path}.get(path, "")  # others are too few


def winograd():
    """F(4x4, 3x3) where it fits, in the arithmetic of what the arrays are; elsewhere plain sums."""
    rows = [[1, 0, 0], [1, 1, 1], [1, -1, 1], [1, 2, 4], [1, -2, 4], [0, 0, 1]]
    weight_side = np.array(rows) / np.array([4, -6, -6, 24, 24, 1])[:, None]
    input_side = np.array(
        [
            [4, 0, -5, 0, 1, 0],
            [0, -4, -4, 1, 1, 0],
            [0, 4, -4, -1, 1, 0],
            [0, -2, -1, 2, 1, 0],
            [0, 2, -1, -2, 1, 0],
            [0, 4, 0, -5, 0, 1],
        ]
    )
    output_side = np.array(
        [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]
    )
    G, B, A = (m.astype(np.float32) for m in (weight_side, input_side, output_side))

    def kernel(x, w, b, *, stride, padding, dilation, groups):
        if w.shape[2:] != (3, 3) or max(stride) > 1 or max(dilation) > 1:
            return conv(x, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups)
        x = npconv.pad(x, padding)
        (N, C, H, W), O = (x.shape, len(w))
        high, wide = -(-(H - 2) // 4), -(-(W - 2) // 4)
        x = np.pad(x, ((0, 0), (0, 0), (0, 4 * high + 2 - H), (0, 4 * wide + 2 - W)))
        y = np.zeros((N, O, 4 * high, 4 * wide), np.float32)
        U = (G @ w @ G.T).reshape(groups, O // groups, C // groups, 6, 6)
        for i in range(0, 4 * high, 4):
            for j in range(0, 4 * wide, 4):
                V = (B @ x[:, :, i : i + 6, j : j + 6] @ B.T).reshape(N, groups, C // groups, 6, 6)
                M = np.einsum("gocij,ngcij->ngoij", U, V).reshape(N, O, 6, 6)
                y[:, :, i : i + 4, j : j + 4] = A @ M @ A.T
        y = y[:, :, : H - 2, : W - 2]
        return np.ascontiguousarray(y if b is None else y + b[:, None, None])

    return kernel


def test_a_transform_beyond_the_bound_is_odd_and_told_why():
    report = check(winograd())
    status = {rung.name: rung.status for rung in report.rungs}
    (line,) = [line for rung in report.rungs if rung.name == "numerics" for line in rung.odd]
    assert report.verdict == "SUSPICIOUS" and "broken" not in status.values()
    assert status["real layers"] == "odd" and report.faults == []
    assert "C24O24G24" in line and "error up to 3" in line
    assert "the bound is that of plain sums of products; a transform, as this seems to be, loses more" in line


def test_plain_sums_beside_a_transform_are_held_to_the_bound():
    def kernel(x, w, b, **p):
        return winograd()(x, w, b, **p) if max(p["stride"]) == 1 else conv(cut(x, 8), cut(w, 8), b, **p)

    report = check(kernel, layers=False)
    assert report.verdict == "WRONG" and "the inputs are rounded to 8 bits" in report.faults[0]
    assert " in 3 of 10 measures" in report.faults[0] and report.trigger == "stride > 1"


def test_a_transform_that_gives_no_finite_numbers_is_wrong():
    def kernel(x, w, b, **p):
        y = winograd()(x, w, b, **p)
        return y if (x == np.rint(x)).all() or p["groups"] == 1 else y * np.float32("inf")

    assert "beyond the bound" in check(kernel, layers=False).faults[0]


def test_one_measure_of_ten_says_nothing_of_conditions():
    def kernel(x, w, b, **p):
        y = conv(x, w, b, **p)
        return y * np.float32(1.001) if p["groups"] > 1 and w.shape[1] == 1 and not whole(x) else y

    report = check(kernel, layers=False)
    assert " in 1 of 10 measures" in report.faults[0] and report.trigger == ""


@pytest.mark.parametrize("part", ["grad_input", "grad_weight", "transposed"])
def test_a_low_precision_path_of_every_part_is_found(part):
    def low(p, *arrays):
        return [cut(a, 11) if max(p["stride"]) > 1 else a for a in arrays]

    class Kernel:
        pass

    kernels = {
        "grad_input": lambda g, w, size, **p: npconv.conv2d_input(size, *reversed(low(p, g, w)), **p),
        "grad_weight": lambda g, x, size, **p: npconv.conv2d_weight(low(p, x)[0], size, low(p, g)[0], **p),
        "transposed": lambda x, w, b, **p: npconv.conv_transpose2d(*low(p, x, w), b, **p),
    }
    setattr(Kernel, part, staticmethod(kernels[part]))
    report = check(Kernel, layers=False)
    assert f"{part}: the inputs are rounded to 11 bits" in report.faults[0]
    assert report.trigger == "stride > 1"


def test_half_sums_in_one_path_are_found_where_single_ones_are_declared():
    report = check(half_sums_of_single_taps, layers=False, input="float16")
    assert report.verdict == "WRONG" and "beyond the bound, in 1 of 10 measures" in report.faults[0]


def inexact(kernel):
    """A kernel that is changed on fractions only: exact cases do not see it."""
    return lambda x, w, b, **p: conv(x, w, b, **p) if whole(x) else kernel(x, w, b, **p)


@pytest.mark.parametrize("factor", [1.0001, 1.001, 0.999, 2])
def test_a_factor_is_told_as_one_and_not_as_a_format(factor):
    report = check(inexact(lambda x, w, b, **p: conv(x, w, b, **p) * np.float32(factor)), layers=False)
    assert f"beyond the bound: the result is {factor:g} times what is due" in report.faults[0]
    assert "as if" not in report.faults[0]


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda y: y[..., :-1], "shape (1, 6, 12, 12), due (1, 6, 12, 13)"),
        (lambda y: y.astype(np.float16), "the result has dtype float16"),
        (lambda y: y.tolist(), "the result is a list"),
        (lambda y: y + 1j, "holds no real numbers"),
        (lambda y: y + np.zeros((2, 3)), "raises|could not be broadcast"),
    ],
)
def test_floats_that_bring_no_comparable_result_are_wrong(change, told):
    report = check(inexact(lambda x, w, b, **p: change(conv(x, w, b, **p))), layers=False)
    assert report.verdict == "WRONG" and report.why == "breaks at 'numerics'"
    assert any(part in report.faults[0] for part in told.split("|"))
    assert '; its data: npconv.testing.float_case("forward", "' in report.faults[0]


def test_a_format_that_is_narrow_for_some_calls_is_not_repeatable():
    calls = []

    def kernel(x, w, b, **p):
        calls.append(0)
        return conv(x, w, b, **p) if len(calls) % 2 else conv(cut(x, 11), cut(w, 11), b, **p)

    report = check(inexact(kernel), layers=False)
    assert report.verdict == "WRONG" and "not repeatable" in report.faults[0]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("line", LINES)
def test_every_line_of_the_table_is_a_problem_of_every_rank(line, rank):
    for part, plain in product(("forward", "transposed"), (False, True)):
        problem = problem_for(part, rank, line, plain)
        assert problem.rank == rank and min(problem.output_shape) > 0


@pytest.mark.parametrize("change", [one_element, lambda y: y + 0.4, lambda y: y[:, :, ::-1]])
def test_a_gross_error_is_not_put_down_to_a_narrower_format(change):
    def kernel(x, w, b, **p):
        y = conv(x, w, b, **p)
        return y if (y == np.rint(y)).all() else change(y).astype(np.float32)

    report = check(kernel, layers=False)
    assert report.verdict == "WRONG" and "beyond the bound" in report.faults[0]
    assert not any("as if" in fault for fault in report.faults)
