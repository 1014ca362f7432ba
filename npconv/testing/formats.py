"""Number formats: how many bits a significand has, and what follows from that.

    format     significand   unit roundoff   exact integers up to
    float64    53            2^-53           2^53
    float32    24            2^-24           2^24
    float16    11            2^-11           2^11
    tf32       11            2^-11           2^11
    bfloat16    8            2^-8            2^8

Integer formats round nothing and hold what their width allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Format:
    """A number format: p bits of significand, exponents from e_min; or an integer of that width."""

    name: str
    p: int
    e_min: int = 0
    carrier: str = ""  # the NumPy dtype that holds its values

    @property
    def is_integer(self) -> bool:
        return self.dtype.kind in "iu"

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.carrier or self.name)

    @property
    def capacity(self) -> int:
        """All integers up to this one are exact."""
        return int(np.iinfo(self.dtype).max) if self.is_integer else 2**self.p

    @property
    def u(self) -> float:
        """Unit roundoff: the relative error of one rounding to nearest."""
        return 0.0 if self.is_integer else 2.0**-self.p

    @property
    def smallest_normal(self) -> float:
        return 0.0 if self.is_integer else 2.0**self.e_min

    @property
    def overflow(self) -> float:
        """The least number that rounds to infinity: half a step beyond the largest; integers have none."""
        return float("inf") if self.is_integer else (2 - self.u) * 2.0 ** (1 - self.e_min)


FORMATS = {
    f.name: f
    for f in (
        Format("float64", 53, -1022),
        Format("float32", 24, -126),
        Format("tf32", 11, -126, "float32"),
        Format("float16", 11, -14),
        Format("bfloat16", 8, -126, "float32"),
        *(Format(f"{sign}int{bits}", bits) for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
}


def named(name: str, argument: str = "dtype") -> Format:
    """The format of that name; ValueError with the argument's name and all formats where there is none.

    >>> named("bfloat16").capacity, named("float32").u == 2.0**-24, named("int8").capacity
    (256, True, 127)
    """
    if name not in FORMATS:
        raise ValueError(f"{argument}: {name!r} is not one of {', '.join(FORMATS)}")
    return FORMATS[name]


def rounded(x: np.ndarray, target: Format) -> np.ndarray:
    """The nearest values of the format, ties to even, in its carrier dtype.

    >>> rounded(np.array([1 + 2**-8, 1 + 3 * 2**-8]), named("bfloat16")).tolist()
    [1.0, 1.015625]
    """
    if target.is_integer or target.dtype.name == target.name:
        return np.asarray(x).astype(target.dtype)
    fraction, exponent = np.frexp(x)
    return np.ldexp(np.rint(np.ldexp(fraction, target.p)), exponent - target.p).astype(target.dtype)
