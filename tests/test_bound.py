"""The rounding bound holds for every order of summation, and is 0 where nothing can be rounded."""

from fractions import Fraction
from itertools import permutations

import ml_dtypes
import numpy as np
import pytest

from npconv.bound import BFLOAT16, format_of, growth, rounding_bound

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


def test_it_is_zero_where_all_products_are():
    assert rounding_bound(np.array([0.0, 1.0]), 9, FLOAT16)[0] == 0


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
