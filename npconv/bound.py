"""How far rounding can carry a sum of products, whatever the order in which it is added.

A computed sum of n products differs from the true one by at most  n*u / (1 - n*u)  times the sum of
the products' absolute values, u being the unit roundoff (N. J. Higham, Accuracy and Stability of
Numerical Algorithms, section 3.1).  For a convolution that second sum is the same convolution of
absolute values.  A method that does not add products, as Winograd's or one by Fourier transforms,
need not keep to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Format:
    """What rounding depends on: the unit roundoff and the ends of the range."""

    name: str
    u: float
    smallest: float
    largest: float
    complex: bool = False


# NumPy has no dtype for it: one sign, eight exponent and seven fraction bits.
BFLOAT16 = Format("bfloat16", u=2.0**-8, smallest=2.0**-133, largest=(2 - 2.0**-7) * 2.0**127)


def format_of(dtype: np.dtype) -> Format:
    """The format of a NumPy float or complex dtype.

    >>> format_of(np.dtype(np.float32)).u == 2**-24, format_of(np.dtype(np.complex64)).complex
    (True, True)
    """
    info = np.finfo(dtype)
    return Format(
        np.dtype(dtype).name,
        u=float(info.eps) / 2,
        smallest=float(info.smallest_subnormal),
        largest=float(info.max),
        complex=np.dtype(dtype).kind == "c",
    )


def growth(terms: int, u: float) -> float:
    """n*u / (1 - n*u); where n*u reaches 1 that is no bound, and n*u itself is one for every n.

    >>> growth(1, 0.5), growth(3, 0.5)
    (1.0, 1.5)

    The second: C.-P. Jeannerod and S. M. Rump, Improved error bounds for inner products in
    floating-point arithmetic, SIAM J. Matrix Anal. Appl. 34 (2013).
    """
    return terms * u / (1 - terms * u) if terms * u < 1 else terms * u


def rounding_bound(magnitude: np.ndarray, terms: int, format: Format) -> np.ndarray:
    """The largest error of sums of `terms` products carried in this format, element by element.

    Shapes: magnitude, the same sums of absolute values, float64 -> the same shape, float64.  A
    product that falls below the normal range loses up to half the smallest number besides.  It is 0
    where the magnitude is 0: there every product is exactly 0.

    >>> rounding_bound(np.array([0.0, 1.0]), 1, format_of(np.dtype(np.float32))) * 2**24
    array([0.        , 1.00000006])

    A complex product is two real ones in each part, which gives 2n terms in each of two parts.
    """
    parts = 2 if format.complex else 1
    relative = growth(parts * terms, format.u)
    underflow = parts * terms * (1 + relative) * format.smallest / 2
    return np.where(magnitude == 0, 0.0, math.sqrt(parts) * (relative * magnitude + underflow))
