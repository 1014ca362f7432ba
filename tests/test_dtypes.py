"""Number kinds: what each gives, that integers are exact, and that narrow floats round once."""

from fractions import Fraction
from functools import reduce

import ml_dtypes
import numpy as np
import oracle
import pytest
import torch
import torch_oracle

import npconv
from npconv import (
    conv,
    conv_backward,
    conv_bias,
    conv_double_backward,
    conv_transpose,
    conv_weight,
    dtypes,
    pad_adjoint,
    vjp,
)

PLAIN = dict(stride=(2,), padding=((1, 2),), dilation=(1,), groups=2)


def integers(shape: tuple[int, ...], seed: int = 0, most: int = 9) -> np.ndarray:
    return np.random.default_rng(seed).integers(-most, most + 1, shape)


def problem(kind, seed: int = 0, most: int = 9) -> tuple[np.ndarray, ...]:
    """Input, weight, bias and grad_output of a small grouped convolution; with PLAIN, o = 3 of i = 5."""
    shapes = ((2, 4, 5), (6, 2, 3), (6,), (2, 6, 3))
    return tuple(integers(shape, seed + n, most).astype(kind) for n, shape in enumerate(shapes))


# ---------------------------------------------------------------- which kind comes out

BFLOAT16, FLOAT8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn
RESULTS = [
    (np.float32, np.float32, np.float32),
    (np.float64, np.float64, np.float64),
    (np.float16, np.float16, np.float16),
    (np.longdouble, np.longdouble, np.longdouble),
    (np.complex64, np.complex64, np.complex64),
    (np.complex128, np.complex128, np.complex128),
    (BFLOAT16, BFLOAT16, BFLOAT16),
    (FLOAT8, FLOAT8, FLOAT8),
    (bool, bool, np.int64),
    (np.uint8, np.int8, np.int64),
    (np.int64, np.uint64, np.int64),
    (np.uint64, np.uint64, np.int64),
    (bool, np.uint16, np.int64),
    (ml_dtypes.int4, np.uint8, np.int64),
    (np.float32, np.float64, np.float64),
    (np.float16, np.float32, np.float32),
    (np.float32, np.int8, np.float32),
    (np.float32, np.int32, np.float64),
    (np.float16, bool, np.float16),
    (np.float32, np.complex64, np.complex64),
    (np.float64, np.complex64, np.complex128),
    (np.int64, np.complex64, np.complex128),
    (BFLOAT16, np.int8, BFLOAT16),
    (BFLOAT16, np.float32, np.float32),
    (">f4", ">f4", np.float32),
    (">f8", "<f4", np.float64),
    (">i2", ">u4", np.int64),
    (">c8", ">f4", np.complex64),
]


@pytest.mark.parametrize(
    "of_input, of_weight, expected", RESULTS, ids=lambda kind: np.dtype(kind).str + str(kind)[-11:-2]
)
def test_kinds_follow_numpys_promotion_and_integers_give_int64(of_input, of_weight, expected) -> None:
    x, _, _, _ = problem(of_input, most=1)
    _, w, _, _ = problem(of_weight, most=1)
    if np.dtype(of_input).kind == "u" or np.dtype(of_weight).kind == "u":
        x, w = (np.where(a.astype(np.int64) == 1, 1, 0).astype(a.dtype) for a in (x, w))
    y = conv(x, w, **PLAIN)
    assert y.dtype == np.dtype(expected) and y.dtype.isnative
    np.testing.assert_array_equal(
        y.astype(complex), oracle.output(x.astype(complex), w.astype(complex), **PLAIN)
    )
    back = conv_backward(y, x, w, **PLAIN)
    real = np.zeros(0, expected).real.dtype if np.dtype(expected).kind == "c" else np.dtype(expected)
    kinds = [np.dtype(expected) if np.dtype(k).kind == "c" else real for k in (of_input, of_weight, expected)]
    assert [a.dtype for a in back] == kinds and all(a.dtype.isnative for a in back)


def test_a_float_input_with_an_integer_weight_and_bias_is_float() -> None:
    x, w, bias, _ = problem(np.float64)
    y = conv(x / 8, w.astype(np.int64), bias.astype(np.int64), **PLAIN)
    np.testing.assert_array_equal(y, oracle.output(x / 8, w, bias, **PLAIN).astype(float))
    assert conv(x.astype(int), w.astype(int), bias / 2, **PLAIN).dtype == np.float64


@pytest.mark.parametrize("kind", ["U1", "S1", "M8[s]", "m8[s]", object, "V4", [("a", "i4")]], ids=str)
def test_what_holds_no_numbers_is_a_type_error(kind) -> None:
    x, w = np.zeros((1, 1, 3), kind), np.zeros((1, 1, 2))
    for call in (
        lambda: conv(x, w),
        lambda: conv(w, x[..., :1]),
        lambda: conv_backward(x[..., :2], np.zeros((1, 1, 3)), w),
        lambda: conv_bias(x),
        lambda: pad_adjoint(x, 1),
    ):
        with pytest.raises(
            TypeError, match="its dtype is .*; it must hold integers, floats or complex numbers"
        ):
            call()


def test_kinds_without_a_common_one_are_a_type_error() -> None:
    with pytest.raises(
        TypeError, match="dtype: NumPy has no common kind for bfloat16, float16; cast the arrays"
    ):
        conv(np.zeros((1, 1, 3), BFLOAT16), np.zeros((1, 1, 2), np.float16))


@pytest.mark.parametrize(
    "kind", [np.float32, np.float64, np.complex64, np.float16, np.int32], ids=lambda k: k.__name__
)
def test_the_same_call_gives_the_same_bits_twice(kind) -> None:
    rng = np.random.default_rng(0)
    x, w, bias = (
        (9 * rng.standard_normal(shape)).astype(kind) for shape in ((2, 8, 20, 21), (8, 4, 3, 3), (8,))
    )
    parameters = dict(stride=2, padding=1, groups=2)
    first, second = (conv(x, w, bias, **parameters) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    g = rng.standard_normal(first.shape).astype(kind)
    backs = [conv_backward(g, x, w, **parameters) for _ in range(2)]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(*backs))


# ---------------------------------------------------------------- narrow floats

NARROW = [np.float16, BFLOAT16, FLOAT8, ml_dtypes.float8_e5m2]


@pytest.mark.parametrize("kind", NARROW, ids=lambda kind: kind.__name__)
def test_every_map_carries_its_sums_in_float32_and_rounds_once(kind) -> None:
    """The data are small integers, so the sums are exact until the one rounding."""
    most = {np.float16: 60, BFLOAT16: 15}.get(kind, 3)
    x, w, bias, g = problem(kind, most=most)
    a, b, c, _ = problem(kind, seed=10, most=most)
    wide = [array.astype(np.float64) for array in (x, w, bias, g, a, b, c)]
    exact = (
        conv(*wide[:3], **PLAIN),
        *conv_backward(wide[3], wide[0], wide[1], **PLAIN),
        *conv_double_backward(*wide[4:], wide[3], wide[0], wide[1], **PLAIN),
    )
    narrow = (
        conv(x, w, bias, **PLAIN),
        *conv_backward(g, x, w, **PLAIN),
        *conv_double_backward(a, b, c, g, x, w, **PLAIN),
    )
    rounded = [array.astype(np.float32).astype(kind) for array in exact]
    assert any((r.astype(float) != e).any() for r, e in zip(rounded, exact))
    for ours, expected in zip(narrow, rounded, strict=True):
        assert ours.dtype == kind
        np.testing.assert_array_equal(ours.astype(float), expected.astype(float))


def test_float16_adds_the_bias_before_it_rounds() -> None:
    """2049 + 1 = 2050, which float16 holds; rounded on its own, 2049 would be 2048 and then stay so."""
    x = np.ones((1, 2049, 1), np.float16)
    w, bias = np.ones((1, 2049, 1), np.float16), np.ones(1, np.float16)
    assert conv(x, w).tolist() == [[[2048]]]
    assert conv(x, w, bias).tolist() == [[[2050]]]
    assert np.float16(2048) + np.float16(1) == 2048


TRAPS = [(np.float16, 4096, 2048), (BFLOAT16, 1600, 256), (FLOAT8, 64, 16)]


@pytest.mark.parametrize("kind, count, stuck", TRAPS, ids=lambda v: str(getattr(v, "__name__", v)))
def test_a_bias_gradient_of_ones_does_not_stick_where_a_running_sum_does(kind, count, stuck) -> None:
    ones = np.ones((2, 3, count // 2), kind)
    running = reduce(lambda total, one: (total + one).astype(kind), ones[:, 0].ravel())
    assert float(running) == stuck
    assert conv_bias(ones).tolist() == [count] * 3
    assert (
        conv_backward(ones, np.ones((2, 1, count // 2), kind), np.ones((3, 1, 1), kind)).bias.tolist()
        == [count] * 3
    )
    assert conv_weight(np.ones((2, 1, count // 2), kind), (3, 1, 1), ones).tolist() == [[[count]]] * 3


def test_a_sum_over_samples_does_not_run_either() -> None:
    """2**24 and 2047 ones: a running float32 sum stays at 2**24; NumPy's pairwise one loses 15 at most."""
    g = np.ones((2048, 2, 1), np.float32)
    g[0] = 2**24
    assert (np.float32(2**24) + np.float32(1)) == 2**24
    assert (conv_bias(g) >= 2**24 + 2047 - 16).all()


# ---------------------------------------------------------------- integers

TIERS = {
    "float64": (2**24, 2**24),
    "int64": (2**31, 2**28),
    "Python ints": (2**40, 2**40),
}


def test_each_tier_is_the_fastest_kind_that_is_exact() -> None:
    bounds = [0, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**200]
    assert [dtypes.exact_type(bound).kind for bound in bounds] == ["f", "f", "i", "i", "O", "O"]
    assert dtypes.largest(np.array([-(2**63), 5])) == 2**63
    assert dtypes.largest(np.array([2**64 - 1], np.uint64)) == 2**64 - 1
    assert dtypes.largest(np.zeros((0, 3), int)) == 0
    assert dtypes.largest(np.array([False, True])) == 1


@pytest.mark.parametrize("tier", TIERS)
def test_every_map_is_exact_in_every_tier(tier: str) -> None:
    """Large and small terms alternate, so that one rounding anywhere would change the result."""
    of_input, of_weight = TIERS[tier]
    rng = np.random.default_rng(1)
    x = rng.choice([1, -1, of_input - 1, -of_input], (2, 4, 5))
    w = rng.choice([1, -1], (6, 2, 3)) * rng.choice([1, 3], (6, 2, 3))
    if tier != "Python ints":
        w = w * rng.choice([1, of_weight // 64], w.shape)
    else:  # both large, but so that nearly all cancels: 2**80 - 2**80
        x[:, 1::2], w[:, 1] = -x[:, ::2], w[:, 0]
        w = w * of_weight
    g = rng.choice([1, -1], (2, 6, 3))
    expected = oracle.output(x, w, **PLAIN)
    tiers = {dtypes.exact_type(6 * dtypes.largest(x) * dtypes.largest(w)).name}
    assert tiers == {{"Python ints": "object"}.get(tier, tier)}
    assert conv(x, w, **PLAIN).tolist() == expected.tolist()
    back = conv_backward(g, x, w, **PLAIN)
    assert back.input.tolist() == oracle.input_gradient(x.shape, w, g, **PLAIN).tolist()
    assert back.weight.tolist() == oracle.weight_gradient(x, w.shape, g, **PLAIN).tolist()
    assert conv_bias(x).tolist() == oracle.bias_gradient(x).tolist()


NEAR = [
    ([2**53 + 1], [1], 2**53 + 1),
    ([2**53, 1], [1, 1], 2**53 + 1),
    ([2**52, 1, 2**52], [1, 1, 1], 2**53 + 1),
    ([2**53, -1, 2**53, 1], [1, 1, 1, 1], 2**54),
    ([3**33], [3], 3**34),
    ([2**27 + 1], [2**27 - 1], 2**54 - 1),
    ([2**31 + 1], [2**31 + 1], 2**62 + 2**32 + 1),
    ([2**62, 2**62 - 1], [1, 1], 2**63 - 1),
    ([2**63 - 1], [1], 2**63 - 1),
    ([-(2**63)], [1], -(2**63)),
    ([2**62], [-2], -(2**63)),
    ([2**62, 2**62, -(2**62)], [2, 1, 2], 2**62),
    ([2**63 - 1, 2**63 - 1, 1], [2**63 - 1, -(2**63 - 1), 7], 7),
]


@pytest.mark.parametrize("x, w, expected", NEAR, ids=lambda v: str(v)[:40])
def test_sums_near_the_limits_of_float64_and_int64_are_exact(x: list, w: list, expected: int) -> None:
    """Each of the three maps makes the same sum from its own two arrays."""
    x, w = np.array([[x]]), np.array([[w]])
    one = np.array([[[expected]]])
    np.testing.assert_array_equal(conv(x, w), one)
    np.testing.assert_array_equal(conv_weight(x, (1, 1, 1), w), one)
    channels = x.reshape(1, -1, 1), w.reshape(-1, 1, 1)  # one channel a term
    np.testing.assert_array_equal(conv_transpose(*channels), one)
    np.testing.assert_array_equal(npconv.conv_input((1, 1, 1), channels[1], channels[0]), one)


UNSIGNED = [
    ([2**53 + 1], [1], 2**53 + 1),
    ([2**63 - 1], [-1], -(2**63 - 1)),
    ([2**63], [-1], -(2**63)),
    ([2**64 - 1, 2**64 - 1], [1, -1], 0),
    ([2**64 - 1, 2**64 - 3], [2**62, -(2**62)], 2**63),
    ([2**64 - 1], [0], 0),
]


@pytest.mark.parametrize("x, w, expected", UNSIGNED, ids=lambda v: str(v)[:40])
def test_uint64_is_exact_beside_int64_where_numpy_would_promote_to_float64(x, w, expected) -> None:
    x, w = np.array([[x]], np.uint64), np.array([[w]], np.int64)
    if expected < 2**63:
        assert conv(x, w).tolist() == conv_weight(x, (1, 1, 1), w).tolist() == [[[expected]]]
    else:
        with pytest.raises(
            OverflowError, match=f"a sum is {expected}, but int64 holds only {-(2**63)} to {2**63 - 1}"
        ):
            conv(x, w)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.int64)


HUGE = np.full((1, 1, 1), 2**63 + 5, np.uint64)
OVERFLOWS = {
    "conv": lambda: conv(HUGE, ones(1, 1, 1)),
    "conv, the bias": lambda: conv(ones(1, 1, 1), ones(1, 1, 1), HUGE[0, 0] - np.uint64(1)),
    "conv_transpose": lambda: conv_transpose(HUGE, ones(1, 1, 1)),
    "conv_input": lambda: npconv.conv_input((1, 1, 1), HUGE, ones(1, 1, 1)),
    "conv_weight": lambda: conv_weight(HUGE, (1, 1, 1), ones(1, 1, 1)),
    "conv_bias": lambda: conv_bias(HUGE),
    "conv_double_backward, only a bias": lambda: conv_double_backward(
        None, None, HUGE[0, 0], *[ones(1, 1, 1)] * 3
    ),
    "pullback of conv_bias": lambda: vjp(conv_bias, ones(1, 1, 1))[1](HUGE[0, 0]),
    "pad, differentiated": lambda: vjp(npconv.pad, ones(1, 1, 1), padding=0)[1](HUGE),
    "pad_adjoint": lambda: pad_adjoint(HUGE, 0),
    "pad_adjoint, replicate": lambda: pad_adjoint(HUGE, 0, "replicate"),
    "conv_general_dilated": lambda: npconv.conv_general_dilated(HUGE, ones(1, 1, 1), (1,), "SAME"),
    "conv_integer": lambda: npconv.conv_integer(HUGE, ones(1, 1, 1)),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_a_sum_beyond_int64_is_an_error_with_the_number(name: str) -> None:
    with pytest.raises(
        OverflowError, match=rf"a sum is {2**63 + 5}, but int64 holds only -{2**63} to {2**63 - 1}"
    ):
        OVERFLOWS[name]()


def test_the_other_end_of_int64_is_watched_as_well() -> None:
    with pytest.raises(OverflowError, match=f"a sum is {-(2**63) - 1}"):
        conv(np.array([[[-(2**63), -1]]]), ones(1, 1, 2))
    with pytest.raises(OverflowError, match=f"a sum is {-(2**63) - 1}"):
        conv_bias(np.array([[[-(2**63), -1]]]))
    with pytest.raises(OverflowError, match=f"a sum is {-(2**63) - 1}"):
        conv(np.array([[[-(2**63)]]]), ones(1, 1, 1), -ones(1))


def test_a_bias_gradient_of_large_integers_is_exact() -> None:
    assert conv_bias(np.full((3, 1, 1), 2**53 - 1)).tolist() == [3 * (2**53 - 1)]
    assert conv_bias(np.array([[[2**62, 2**62, -1]]])).tolist() == [2**63 - 1]


def test_narrow_integers_do_not_wrap() -> None:
    x = np.full((1, 8, 3), 255, np.uint8)
    w = np.full((1, 8, 3), -128, np.int8)
    assert conv(x, w).tolist() == [[[8 * 3 * 255 * -128]]]
    assert conv_bias(x).tolist() == [765] * 8
    assert conv(x, w, np.array([-(2**31)], np.int32)).tolist() == [[[8 * 3 * 255 * -128 - 2**31]]]


def test_bool_counts() -> None:
    x = np.array([[[True, False, True, True]]])
    assert conv(x, x[..., :2]).tolist() == [[[1, 0, 1]]]
    back = conv_backward(np.ones((1, 1, 3), bool), x, x[..., ::3], np.ones(1, bool).sum())
    assert [a.tolist() for a in back] == [[[[1, 2, 2, 1]]], [[[2, 2]]], [3]]


def test_the_small_helpers() -> None:
    assert dtypes.total([np.array([2**62]), np.array([2**62 - 1])]).tolist() == [2**63 - 1]
    too_large = dtypes.total([np.array([2**62]), np.array([2**62])])
    assert too_large.tolist() == [2**63]  # still exact: more may be added
    with pytest.raises(OverflowError, match=f"a sum is {2**63}"):
        dtypes.to_int64(too_large)
    assert dtypes.total([np.array([0.5]), np.array([1])]).tolist() == [1.5]
    assert dtypes.sum_over_positions(np.zeros((0, 2, 3))).tolist() == [0, 0]
    assert dtypes.sum_over_positions(np.zeros((3, 0, 3), int)).tolist() == []
    assert dtypes.difference(np.array([2**64 - 1], np.uint64), np.array(2**63, np.uint64)).tolist() == [
        2**63 - 1
    ]
    assert dtypes.difference(np.array([-(2**63)]), np.array(-1)).tolist() == [-(2**63) + 1]
    with pytest.raises(OverflowError, match=f"a sum is {-(2**63) - 1}"):
        dtypes.difference(np.array([-(2**63)]), np.array(1))
    for kind in (np.dtype("V8"), np.dtype("U2"), np.dtype(object)):
        assert not dtypes.is_integer(kind)
    assert dtypes.is_integer(np.dtype(ml_dtypes.int4)) and not dtypes.is_integer(np.dtype(BFLOAT16))


# ---------------------------------------------------------------- wide and complex


def test_longdouble_keeps_its_last_bit() -> None:
    eps = np.finfo(np.longdouble).eps
    x, w = np.array([[[1, eps, -1]]], np.longdouble), np.ones((1, 1, 2), np.longdouble)
    y = conv(x, w)
    assert y.dtype == np.longdouble
    assert y[0, 0, 0] == 1 + eps and y[0, 0, 0] != 1 and y[0, 0, 1] == eps - 1
    assert conv(x.astype(np.clongdouble), w).dtype == np.clongdouble
    assert conv_backward(y, x, w).bias[0] == 2 * eps


def test_float64_sums_are_not_carried_in_less() -> None:
    """1 + 2**-52 survives; the exact sum of these three is a float64, whatever the order."""
    x = np.array([[[1.0, 2.0**-52, 2.0**-51]]])
    assert Fraction(float(conv(x, np.ones((1, 1, 3)))[0, 0, 0])) == 1 + Fraction(3, 2**52)


def gaussian(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return integers(shape, seed, 4) + 1j * integers(shape, seed + 100, 4)


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_complex_gradients_of_both_orders_are_torchs(kind) -> None:
    """Gaussian integers, so that float32 holds every sum; dL/dRe + i dL/dIm is torch's convention as well."""
    x, w, bias, g = (gaussian(a.shape, n).astype(kind) for n, a in enumerate(problem(int)))
    into = [gaussian(a.shape, n + 7).astype(kind) for n, a in enumerate((x, w, bias))]
    expected = torch_oracle.differentiate(torch_oracle.conv, (x, w, bias), g, into, **PLAIN)
    ours = (
        conv(x, w, bias, **PLAIN),
        *conv_backward(g, x, w, **PLAIN),
        *conv_double_backward(*into, g, x, w, **PLAIN),
    )
    for a, b in zip(ours, (expected.output, *expected.gradients, *expected.second), strict=True):
        assert a.dtype == kind
        np.testing.assert_array_equal(a, b)


def test_complex_transposed_gradients_are_torchs() -> None:
    parameters = dict(stride=(2,), padding=((1, 0),), dilation=(3,), groups=2, output_padding=(2,))
    x, w, bias = gaussian((2, 4, 3), 1), gaussian((4, 3, 2), 2), gaussian((6,), 3)
    g = gaussian(conv_transpose(x, w, **parameters).shape, 4)
    into = [gaussian(a.shape, n + 7) for n, a in enumerate((x, w, bias))]
    expected = torch_oracle.differentiate(torch_oracle.conv_transpose, (x, w, bias), g, into, **parameters)
    gradients, pullback = vjp(npconv.conv_transpose_backward, g, x, w, **parameters)
    for ours, theirs in zip(gradients + pullback(*into), expected.gradients + expected.second, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("real", ["input", "weight", "bias"])
def test_a_real_array_among_complex_ones_has_a_real_gradient(real: str) -> None:
    """torch's convolution takes one kind; the cast to it, inside the graph, makes the gradient real."""
    arrays = {
        name: gaussian(a.shape, n)
        for n, (name, a) in enumerate(zip(("input", "weight", "bias"), problem(int)))
    }
    arrays[real] = arrays[real].real
    tensors = {name: torch.tensor(a, requires_grad=True) for name, a in arrays.items()}
    y = torch_oracle.conv(*(t.to(torch.complex128) for t in tensors.values()), **PLAIN)
    g = gaussian(tuple(y.shape), 9)
    y.backward(torch.tensor(g))
    output, pullback = vjp(conv, *arrays.values(), **PLAIN)
    np.testing.assert_array_equal(output, y.detach())
    for (name, ours), tensor in zip(zip(arrays, pullback(g)), tensors.values(), strict=True):
        assert (ours.dtype.kind == "f") == (name == real)
        np.testing.assert_array_equal(ours, tensor.grad)


# ---------------------------------------------------------------- what is not finite


def test_padded_zeros_are_ordinary_zeros_so_beside_an_infinite_weight_they_make_nan() -> None:
    x, w = np.ones((1, 1, 3)), np.array([[[np.inf, 1, 1]]])
    with np.errstate(invalid="ignore"):
        y = conv(x, w, padding=1)
        np.testing.assert_array_equal(y, conv(np.pad(x, ((0, 0), (0, 0), (1, 1))), w))
    np.testing.assert_array_equal(y, [[[np.nan, np.inf, np.inf]]])


def test_nan_and_infinity_in_the_input_reach_only_the_outputs_that_read_them() -> None:
    x = np.array([[[np.nan, 1, 2, 3, np.inf]]])
    np.testing.assert_array_equal(conv(x, np.ones((1, 1, 2))), [[[np.nan, 3, 5, np.inf]]])
