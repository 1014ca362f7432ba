"""The rounding bound holds for every order of summation, and is 0 where nothing can be rounded."""

import math
from fractions import Fraction
from itertools import permutations

import ml_dtypes
import numpy as np
import pytest

from npconv.bound import (
    BFLOAT16,
    FAILURE,
    deviations,
    format_of,
    growth,
    rounded_once,
    rounding_bound,
    usual_bound,
    usual_growth,
)

FLOAT16 = format_of(np.dtype(np.float16))


def sums_in_all_orders(products):
    """What each order of adding, one after the other in their own dtype, gives."""
    for order in permutations(products):
        total = order[0]
        for product in order[1:]:
            total = total + product
        yield total


def pairs(seed, n, dtype, low, high):
    random = np.random.default_rng(seed)
    exponents = random.integers(low, high, (2, n))
    return (random.uniform(-2, 2, (2, n)) * 2.0**exponents).astype(dtype)


def exact(a, b):
    return [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b)]


@pytest.mark.parametrize("low, high", [(-3, 3), (-12, -4)], ids=["normal", "products below the normal range"])
def test_no_order_of_summation_passes_the_bound(low, high):
    for seed in range(40):
        a, b = pairs(seed, 5, np.float16, low, high)
        products = exact(a, b)
        bound = rounding_bound(np.array(float(sum(map(abs, products)))), 5, FLOAT16)
        for total in sums_in_all_orders(a * b):
            assert abs(Fraction(float(total)) - sum(products)) <= Fraction(float(bound))


def test_a_single_product_comes_close_to_the_bound():
    """A bound much wider than needed would reject little."""
    values = np.array([1 + 2**-10 * n for n in range(1, 60)], np.float16)
    products = [
        (Fraction(float(a)), Fraction(float(b)), Fraction(float(a * b))) for a in values for b in values
    ]
    worst = max(abs(rounded - a * b) / (a * b) for a, b, rounded in products)
    assert Fraction(9, 10) * Fraction(growth(1, FLOAT16.u)) < worst <= Fraction(growth(1, FLOAT16.u))


def test_products_below_the_range_of_float64_stay_within_it():
    """By hand: 1e-200 * 1e-200 = 1e-400, of which nothing is left, and half of 2^-1074 is what can be lost."""
    float64 = format_of(np.dtype(np.float64))
    bound = rounding_bound(np.array([1e-200 * 1e-200]), 1, float64)[0]
    assert Fraction(10) ** -400 < Fraction(*bound.as_integer_ratio())
    assert Fraction(*bound.as_integer_ratio()) == pytest.approx(Fraction(2) ** -1075, rel=1e-9)


def test_the_ends_of_longdouble_are_its_own():
    info, format = np.finfo(np.longdouble), format_of(np.dtype(np.longdouble))
    assert (format.smallest, format.largest) == (info.smallest_subnormal, info.max)
    assert 0 < format.smallest and np.isfinite(format.largest)


def test_complex_products_stay_within_it():
    complex64 = format_of(np.dtype(np.complex64))
    for seed in range(200):
        (a, b), (c, d) = pairs(seed, 6, np.float32, -2, 2), pairs(seed + 1000, 6, np.float32, -2, 2)
        x, y = (a + 1j * b).astype(np.complex64), (c + 1j * d).astype(np.complex64)
        real = sum(exact(a, c)) - sum(exact(b, d))
        imaginary = sum(exact(a, d)) + sum(exact(b, c))
        total = x[0] * y[0]
        for p, q in zip(x[1:], y[1:]):
            total = total + p * q
        error = abs(complex(Fraction(float(total.real)) - real, Fraction(float(total.imag)) - imaginary))
        assert error <= rounding_bound(np.sum(np.abs(x.astype(complex) * y)), 6, complex64)


def test_a_complex_product_rounds_more_than_a_real_one():
    """Each part rounds two products and a sum: more than u in all, which the bound of one real product is."""
    complex64 = format_of(np.dtype(np.complex64))
    random = np.random.default_rng(1)
    x, y = (random.uniform(1, 2, (4000, 2)).astype(np.float32).view(np.complex64)[:, 0] for _ in range(2))
    true = x.astype(np.clongdouble) * y  # 24 bits times 24 bits: exact to 64
    relative = np.abs(x * y - true) / np.abs(true)
    assert growth(1, complex64.u) < relative.max() <= rounding_bound(np.array(1.0), 1, complex64)


def test_growth_is_the_classical_quotient_and_goes_on_where_that_ends():
    assert Fraction(growth(3, 2**-4)) == pytest.approx(Fraction(3, 13), rel=1e-15)
    assert growth(2048, 2**-11) == 1.0
    assert growth(4096, 2**-11) == 2.0
    assert growth(0, 2**-24) == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_u_is_half_of_the_step_above_one(dtype):
    one = dtype(1)
    assert format_of(np.dtype(dtype)).u == float(np.nextafter(one, dtype(2)) - one) / 2


def test_the_constants_of_bfloat16_are_those_of_the_type():
    info = ml_dtypes.finfo(ml_dtypes.bfloat16)
    assert BFLOAT16.u == float(info.eps) / 2
    assert BFLOAT16.smallest == float(info.smallest_subnormal)
    assert BFLOAT16.largest == float(info.max)


def test_byte_order_does_not_matter():
    assert format_of(np.dtype(">f4")) == format_of(np.dtype("<f4"))


# ---------------------------------------------------------------- what rounding usually does


def test_the_usual_bound_is_missed_as_rarely_as_it_says():
    """The theorem's own figure, solved for lambda: sums * 2n exp(-lambda^2 (1-u)^2 / 2) = FAILURE."""
    for sums, terms, u in [(1, 1, 2**-24), (64, 25088, 2**-24), (10**6, 10**5, 2**-11), (3, 9, 2**-8)]:
        lam = deviations(sums, terms, u)
        assert sums * 2 * terms * math.exp(-((lam * (1 - u)) ** 2) / 2) == pytest.approx(FAILURE)


def test_usual_growth_is_that_of_the_theorem_and_never_passes_the_worst_case():
    """By hand for n = 10000, u = 2^-24: exp(100 lambda u + 10000 u^2/(1-u)) - 1."""
    u = 2**-24
    lam = math.sqrt(2 * math.log(2 * 10000 / FAILURE)) / (1 - u)
    due = math.exp(100 * lam * u + 10000 * u * u / (1 - u)) - 1
    assert usual_growth(1, 10000, u) == pytest.approx(due, rel=1e-9)
    for n in (0, 1, 10, 50, 60, 100, 10**4, 10**8, 10**12):
        for u in (2**-24, 2**-11, 2**-8):
            assert usual_growth(5, n, u) <= growth(n, u)
            assert usual_growth(5, n, u, equal=max(n, 1)) == growth(n, u)  # all equal: no better is known
    once, in_fours = (usual_growth(5, 10**4, 2**-24, equal=m) for m in (1, 4))
    assert in_fours == pytest.approx(2 * once, rel=1e-3)


@pytest.mark.parametrize("positive", [False, True])
def test_running_sums_of_random_numbers_stay_within_the_usual_bound(positive):
    """float16 sums one after the other, against float64: 2000 sums of 400 products."""
    random = np.random.default_rng(3)
    a, b = (random.uniform(0 if positive else -1, 1, (400, 2000)).astype(np.float16) for _ in range(2))
    total = np.zeros(2000, np.float16)
    for x, y in zip(a, b):
        total = total + x * y
    products = a.astype(float) * b
    error = np.abs(total - products.sum(0)).max()
    size = np.abs(products).sum(0)
    usual, worst = (f(size, 400, FLOAT16) for f in (usual_bound, rounding_bound))
    assert 0 < error <= usual.min() and (usual < worst / 2).all()


def test_equal_terms_pass_the_bound_of_terms_that_differ_and_keep_to_their_own():
    """0.1 in float32, 20000 times one after the other: every rounding near the end goes the same way."""
    tenth, float32 = np.float32(0.1), format_of(np.dtype(np.float32))
    total = np.float32(0)
    for _ in range(20000):
        total = total + tenth
    error, size = abs(float(total) - 20000 * float(tenth)), np.array(20000 * float(tenth))
    assert error > usual_bound(size, 20000, float32)
    assert error <= usual_bound(size, 20000, float32, equal=20000)


@pytest.mark.parametrize("format, dtype", [(FLOAT16, np.float16), (BFLOAT16, ml_dtypes.bfloat16)])
def test_rounding_once_keeps_to_half_a_step_and_reaches_it(format, dtype):
    random = np.random.default_rng(4)
    x = random.uniform(1, 2, 4000) * 2.0 ** random.integers(-30, 10, 4000)
    bound = rounded_once(x, format)
    assert (np.abs(x.astype(dtype).astype(float) - x) <= bound).all()
    tie = np.array([1 + format.u, format.smallest / 2])
    error = np.abs(tie.astype(dtype).astype(float) - tie)
    np.testing.assert_allclose(error, rounded_once(tie, format), rtol=1e-2)
    assert rounded_once(np.zeros(1), format)[0] == 0
