"""Which number kind a result has, and which one its sums are carried in.

    arrays                           result                sums carried in
    all integer or bool              int64, exact          float64, int64 or Python ints, whichever is exact
    float16, bfloat16 (< 4 bytes)    the same              float32, rounded once at the end
    float32, float64, longdouble,
    complex                          the same              the same
    mixed                            NumPy's promotion     as above, for the promoted kind
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

INT64 = np.dtype(np.int64)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
OBJECT = np.dtype(object)


def is_integer(dtype: np.dtype) -> bool:
    """Whether values of this dtype are integers; a kind of the user's own counts by what it casts to.

    >>> is_integer(np.dtype(np.uint8)), is_integer(np.dtype(bool)), is_integer(np.dtype(np.float16))
    (True, True, False)
    """
    return dtype.kind in "biu" or (dtype.kind == "V" and np.can_cast(dtype, INT64))


def result_type(named: Iterable[tuple[str, np.dtype]]) -> np.dtype:
    """The dtype of a result computed from named arrays of these dtypes; TypeError where one holds no numbers.

    >>> half, byte = np.dtype(np.float16), np.dtype(np.int8)
    >>> result_type([("input", half), ("weight", byte)]), result_type([("weight", byte)])
    (dtype('float16'), dtype('int64'))
    """
    named = list(named)
    for name, dtype in named:
        if dtype.kind not in "biufc" and not np.can_cast(dtype, INT64) and not np.can_cast(dtype, FLOAT32):
            raise TypeError(f"{name}: its dtype is {dtype}; it must hold integers, floats or complex numbers")
    dtypes = [dtype for _, dtype in named]
    if all(map(is_integer, dtypes)):
        return INT64
    try:
        common = np.result_type(*dtypes)
    except TypeError:
        kinds = ", ".join(map(str, dtypes))
        raise TypeError(f"dtype: NumPy has no common kind for {kinds}; cast the arrays to one") from None
    return common if common.isnative else common.newbyteorder("=")


def working_type(result: np.dtype) -> np.dtype:
    """The dtype in which a result's sums are carried.

    >>> working_type(np.dtype(np.float16)), working_type(np.dtype(np.complex64))
    (dtype('float32'), dtype('complex64'))
    """
    narrow = result.itemsize < FLOAT32.itemsize and np.can_cast(result, FLOAT32)
    return FLOAT32 if narrow else result


def largest(x: np.ndarray) -> int:
    """The largest absolute value in an integer array, as a Python int."""
    return max(abs(int(x.min())), abs(int(x.max()))) if x.size else 0


def exact_type(bound: int) -> np.dtype:
    """The fastest dtype in which integer sums no larger than bound are exact at every step.

    >>> exact_type(2**53), exact_type(2**53 + 1), exact_type(2**63)
    (dtype('float64'), dtype('int64'), dtype('O'))
    """
    if bound <= 2**53:
        return FLOAT64
    return INT64 if bound < 2**63 else OBJECT


def to_int64(x: np.ndarray) -> np.ndarray:
    """Exact sums as int64, or an OverflowError with the number that int64 cannot hold."""
    if x.dtype.kind in "Ou" and x.size:  # no other kind reaches past int64
        for extreme in (int(x.max()), int(x.min())):
            if not -(2**63) <= extreme < 2**63:
                raise OverflowError(
                    f"a sum is {extreme}, but int64 holds only {-(2**63)} to {2**63 - 1}; "
                    f"scale the integers down, or pass floats and accept rounding"
                )
    return x.astype(INT64, copy=False)


def settled(x: np.ndarray) -> np.ndarray:
    """Exact sums as int64; as Python ints still where those carried them, since more may be added.

    >>> settled(np.array([3.0])), settled(np.array([2**64], object))
    (array([3]), array([18446744073709551616], dtype=object))
    """
    return x if x.dtype == OBJECT else x.astype(INT64, copy=False)


def total(terms: list[np.ndarray]) -> np.ndarray:
    """The sum of arrays that broadcast against each other; exact, and `settled`, where they are integers.

    The first array is written onto where it can hold the sum.

    >>> total([np.array([1, 2]), np.array([10])])
    array([11, 12])
    """
    if len(terms) == 1:
        return terms[0]
    if not all(is_integer(term.dtype) or term.dtype == OBJECT for term in terms):
        first, *others = terms
        for term in others:
            # Onto the first where it has the sum's shape: a bias needs no second array.
            onto = first if first.shape == np.broadcast_shapes(first.shape, term.shape) else None
            first = np.add(first, term, out=onto)
        return first
    dtype = exact_type(sum(map(largest, terms)))
    return settled(sum((term.astype(dtype) for term in terms[1:]), terms[0].astype(dtype)))


def sum_over_positions(x: np.ndarray) -> np.ndarray:
    """(N, C, *spatial) -> (C,): one sum a channel; exact where x holds integers.

    >>> sum_over_positions(np.ones((2, 3, 4, 5), bool))
    array([40, 40, 40])
    """
    N, C = x.shape[:2]
    rows = x.reshape(N, C, -1) if x.size else np.zeros((1, C, 1), x.dtype)
    if not is_integer(x.dtype):
        # NumPy sums pairwise along memory only; elsewhere its running sum of float32 ones sticks at 2**24.
        sums = np.stack([np.ascontiguousarray(sample).sum(axis=1) for sample in rows], axis=1)  # (C, N)
        return sums.sum(axis=1)
    dtype = exact_type(largest(x) * (x.size // C if C else 0))
    return settled(rows.astype(dtype).sum(axis=2).sum(axis=0))


def real_type(dtype: np.dtype) -> np.dtype:
    """The dtype of the real part.

    >>> real_type(np.dtype(np.complex64))
    dtype('float32')
    """
    return np.zeros(0, dtype).real.dtype


def difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x - y for integers of any width, exact, as int64.

    >>> difference(np.array([3], np.uint8), np.array(5, np.uint8))
    array([-2])
    """
    dtype = OBJECT if exact_type(largest(x) + largest(y)) == OBJECT else INT64
    return to_int64(np.asarray(x.astype(dtype) - y.astype(dtype), dtype))
