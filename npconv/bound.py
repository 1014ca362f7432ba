"""How far rounding can carry a sum of products, and how far it usually does, in any order of adding.

The most it can do.  A computed sum of n products differs from the true one by at most
n*u / (1 - n*u)  times the sum of the products' absolute values, u being the unit roundoff
(N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).  For a convolution that
second sum is the same convolution of absolute values.  A method that does not add products, as
Winograd's or one by Fourier transforms, need not keep to it.

What it usually does.  Roundings go up and down.  Were each independent of the others and 0 on average,
then  exp(lambda*sqrt(n)*u + n*u^2/(1-u)) - 1  in place of  n*u / (1 - n*u)  would hold but with probability
2n*exp(-lambda^2 (1-u)^2 / 2)  for one sum (N. J. Higham and T. Mary, A New Approach to Probabilistic
Rounding Error Analysis, SIAM J. Sci. Comput. 41 (2019), section 3).  It is the sharper one where
n > lambda^2, so from about 60 terms on.

Equal terms, added one after the other, all round the same way: the gradient of a mean brings many.  Blocks
of m_1, m_2, ... equal terms take the place of the single roundings, and sqrt(m_1^2 + m_2^2 + ...) that of
sqrt(n) (by Azuma's inequality, as I. C. F. Ipsen and H. Zhou use it in Probabilistic Error Analysis for
Inner Products, SIAM J. Matrix Anal. Appl. 41 (2020)).  It is sqrt(n*m) where m is how many equals the
mean term has, itself among them.  All this is a model; what it says is rare can happen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

# How often a correct array may lie beyond the usual bound, were its roundings independent.
FAILURE = 1e-6


@dataclass(frozen=True)
class Format:
    """What rounding depends on: the unit roundoff and the ends of the range."""

    name: str
    u: float
    smallest: float | np.longdouble
    largest: float | np.longdouble
    complex: bool = False


# NumPy has no dtype for it: one sign, eight exponent and seven fraction bits.
BFLOAT16 = Format("bfloat16", u=2.0**-8, smallest=2.0**-133, largest=(2 - 2.0**-7) * 2.0**127)


def format_of(dtype: np.dtype) -> Format:
    """The format of a NumPy float or complex dtype.

    >>> format_of(np.dtype(np.float32)).u == 2**-24, format_of(np.dtype(np.complex64)).complex
    (True, True)
    """
    info = np.finfo(dtype)
    # Half of float64's smallest number is not a float64, and longdouble's range is wider still.
    end = np.longdouble if info.bits >= 64 else float
    return Format(
        np.dtype(dtype).name,
        u=float(info.eps) / 2,
        smallest=end(info.smallest_subnormal),
        largest=end(info.max),
        complex=np.dtype(dtype).kind == "c",
    )


def growth(terms: float, u: float) -> float:
    """n*u / (1 - n*u); where n*u reaches 1 that is no bound, and n*u itself is one for every n.

    >>> growth(1, 0.5), growth(3, 0.5)
    (1.0, 1.5)

    The second: C.-P. Jeannerod and S. M. Rump, Improved error bounds for inner products in
    floating-point arithmetic, SIAM J. Matrix Anal. Appl. 34 (2013).
    """
    return terms * u / (1 - terms * u) if terms * u < 1 else terms * u


def rounding_bound(magnitude: np.ndarray, terms: int, format: Format) -> np.ndarray:
    """The largest error of sums of `terms` products carried in this format, element by element.

    Shapes: magnitude, the same sums of absolute values, float64 or longdouble -> the same shape, and
    longdouble where the format is float64 or wider.  A product that falls below the normal range loses
    up to half the smallest number besides.  So it is not 0 where the magnitude is 0, which may have
    fallen below its own range: whether there is a product at all, only the factors tell.

    >>> rounding_bound(np.array([1.0]), 1, format_of(np.dtype(np.float32))) * 2**24
    array([1.00000006])

    A complex product is two real ones in each part, which gives 2n terms in each of two parts.
    """
    parts = 2 if format.complex else 1
    return _bound(magnitude, parts * terms, growth(parts * terms, format.u), format)


def _bound(magnitude: np.ndarray, terms: int, relative: float, format: Format) -> np.ndarray:
    underflow = np.asarray(terms * (1 + relative) * format.smallest / 2)
    parts = 2 if format.complex else 1
    size = np.asarray(magnitude)
    size = size.astype(np.result_type(size.dtype, underflow.dtype))
    return np.asarray(math.sqrt(parts) * (relative * size + underflow))


def deviations(sums: int, terms: int, u: float) -> float:
    """lambda for that many sums of `terms` products: all of them within the bound, but for FAILURE.

    >>> round(deviations(1, 1, 2**-24), 2), round(deviations(1000, 25088, 2**-24), 2)
    (5.39, 7.94)

    It solves  sums * 2n*exp(-lambda^2 (1-u)^2 / 2) = FAILURE  (see above).
    """
    return math.sqrt(2 * math.log(2 * max(sums, 1) * max(terms, 1) / FAILURE)) / (1 - u)


def usual_growth(sums: int, terms: int, u: float, equal: int = 1) -> float:
    """exp(lambda*sqrt(n*m)*u + n*u^2/(1-u)) - 1, or the worst case's growth where that is smaller.

    >>> usual_growth(1, 9, 2**-24) == growth(9, 2**-24)
    True
    >>> round(usual_growth(1000, 25088, 2**-24) / growth(25088, 2**-24), 3)
    0.05
    """
    exponent = deviations(sums, terms, u) * math.sqrt(terms * equal) * u + terms * u * u / (1 - u)
    worst = growth(terms, u)
    return min(math.expm1(exponent), worst) if exponent < 700 else worst  # e^700 is near the last float64


def usual_bound(magnitude: np.ndarray, terms: int, format: Format, equal: int = 1) -> np.ndarray:
    """What the error of sums of `terms` products, each among `equal` equal ones, is usually below.

    Shapes and underflow as for `rounding_bound`, which it never passes.

    >>> one, float32 = np.array([1.0]), format_of(np.dtype(np.float32))
    >>> np.round(usual_bound(one, 10000, float32) / rounding_bound(one, 10000, float32), 3)
    array([0.069])
    """
    parts = 2 if format.complex else 1
    relative = usual_growth(parts * magnitude.size, parts * terms, format.u, equal)
    return _bound(magnitude, parts * terms, relative, format)


def rounded_once(magnitude: np.ndarray, format: Format) -> np.ndarray:
    """The largest error of rounding numbers of these absolute values to this format.

    Shapes: any, float64 -> the same, float64.

    >>> rounded_once(np.array([0.0, 1.0]), BFLOAT16) * 2**8
    array([0., 1.])

    It is half a step of the format: Higham (2002), theorem 2.2, and below the normal range half the
    smallest number.
    """
    parts = 2 if format.complex else 1
    below = math.sqrt(parts) * format.smallest / 2
    return np.where(magnitude == 0, 0.0, np.maximum(format.u * magnitude, below))
