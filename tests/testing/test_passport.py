"""The passport of kernels whose arithmetic is known."""

import npconv
import numpy as np
import pytest
from npconv.testing.candidate import Declared, adapted
from npconv.testing.passport import passport
from npconv.testing.running import Inside


def conv(input, weight, bias, **p):
    return npconv.conv(input, weight, bias, **p)


def facts(kernel, **declared):
    return passport(Inside(adapted(kernel, Declared(**declared))))


def cut(x, bits, rounding=np.rint):
    fraction, exponent = np.frexp(x)
    return np.ldexp(rounding(np.ldexp(fraction, bits)), exponent - bits).astype(x.dtype)


def test_float32_as_declared():
    found = facts(conv)
    assert found["input significand"] == found["weight significand"] == "24 bits, as declared"
    assert found["accumulator"] == "24 bits" and found["sum of 4096 ones"] == "4096"
    assert found["subnormals"] == "kept" and found["locality"] == "outputs depend only on what they read"


def test_float64_as_declared():
    found = facts(conv, input="float64")
    assert found["input significand"] == "53 bits, as declared" and found["accumulator"] == "53 bits"


def test_tf32_inputs_are_told():
    def kernel(x, w, b, **p):
        return conv(cut(x, 11), cut(w, 11), b, **p)

    assert facts(kernel)["input significand"] == "11 bits (TF32, rounded), declared 24"


def test_float16_inputs_are_told_by_their_range():
    def kernel(x, w, b, **p):
        return conv(x.astype(np.float16).astype(np.float32), w, b, **p)

    found = facts(kernel)
    assert found["input significand"] == "11 bits (float16, rounded), declared 24"
    assert found["weight significand"] == "24 bits, as declared"


def test_truncated_bfloat16_is_told():
    def kernel(x, w, b, **p):
        return conv(cut(x, 8, np.trunc), cut(w, 8, np.trunc), b, **p)

    assert facts(kernel)["input significand"] == "8 bits (bfloat16, truncated), declared 24"


def test_a_wider_accumulator_is_told():
    def kernel(x, w, b, **p):
        return conv(x.astype(np.float64), w.astype(np.float64), b, **p).astype(np.float32)

    found = facts(kernel)
    assert found["accumulator"] == "53 bits" and found["products"].startswith("not rounded")


def test_a_sum_of_ones_that_stalls_is_told():
    def kernel(x, w, b, **p):
        if x.shape[1] == 1:
            return conv(x, w, b, **p)
        total = np.zeros((x.shape[0], w.shape[0], *x.shape[2:]), np.float16)
        for c in range(x.shape[1]):
            total += (x[:, c, None] * w[None, :, c]).astype(np.float16)
        return total.astype(np.float32)

    found = facts(kernel)
    assert found["sum of 4096 ones"] == "2048: a running sum of ones stalls there"
    assert found["accumulator"] == "11 bits"


def test_flushed_subnormals_are_told():
    def kernel(x, w, b, **p):
        y = conv(x, w, b, **p)
        return np.where(abs(y) < np.finfo(np.float32).tiny, np.float32(0), y)

    assert facts(kernel)["subnormals"] == "flushed to zero"


def test_an_fft_is_told():
    def kernel(x, w, b, *, stride, padding, dilation, groups):
        if w.shape[2:] != (3, 3):
            return conv(x, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups)
        H, W = x.shape[2:]
        spectra = [np.fft.rfft2(a, (H, W)).astype(np.complex64) for a in (x, w)]
        return np.fft.irfft2(spectra[0] * np.conj(spectra[1]), (H, W))[..., : H - 2, : W - 2].astype(
            np.float32
        )

    assert "as by an FFT" in facts(kernel)["locality"]


def test_winograd_tiles_are_told():
    # F(4x4, 3x3), with the points 0, 1, -1, 2, -2.
    BT = np.array(
        [[4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0],
         [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1]], np.float32,
    )  # fmt: skip
    G = np.array(
        [[6, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]], np.float32
    ) / np.float32(24)
    AT = np.array(
        [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]], np.float32
    )

    def kernel(x, w, b, **p):
        if w.shape[2:] != (3, 3):
            return conv(x, w, b, **p)
        U = G @ w[0, 0] @ G.T
        x = np.pad(x[0, 0], ((0, 2), (0, 2)))
        y = np.zeros((24, 24), np.float32)
        for i in range(0, 24, 4):
            for j in range(0, 24, 4):
                V = BT @ x[i : i + 6, j : j + 6] @ BT.T
                y[i : i + 4, j : j + 4] = AT @ (U * V) @ AT.T
        return y[None, None, :22, :22]

    assert "as by Winograd tiles" in facts(kernel)["locality"]


SUMS = {"accumulator", "sum of 4096 ones", "products"}


def fourier(kind):
    def kernel(x, w, b, **p):
        size = x.shape[2:]
        X, W = (np.fft.rfftn(a.astype(kind), size, axes=range(2, x.ndim)) for a in (x, w))
        y = np.fft.irfftn(np.einsum("nc...,oc...->no...", X, np.conj(W)), size, axes=range(2, x.ndim))
        inside = tuple(slice(n - k + 1) for n, k in zip(size, w.shape[2:]))
        return y[(..., *inside)].astype(x.dtype)

    return kernel


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_an_fft_has_no_sums_of_products_to_tell_of(kind, rank):
    found = passport(Inside(adapted(fourier(kind))), rank)
    assert found["result dtype"] == "float32" and not SUMS & set(found)
    assert not any("declared 24" in fact for fact in found.values())


def test_facts_about_sums_are_those_of_sums_with_more_than_one_tap():
    def kernel(x, w, b, **p):
        y = conv(x, w, b, **p)
        return y if w.shape[2:] == (1, 1) else y + np.float32(1e-6) * (y != 0)

    found = facts(kernel)
    assert not SUMS & set(found) and found["input significand"] == "24 bits, as declared"


def test_a_kernel_of_single_taps_has_its_facts():
    def kernel(x, w, b, **p):
        if w.shape[2:] != (1, 1):
            raise NotImplementedError("one tap only")
        return conv(x, w, b, **p)

    assert SUMS <= set(facts(kernel)) and "locality" not in facts(kernel)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_every_rank_has_facts_about_sums(rank):
    assert SUMS <= set(passport(Inside(adapted(conv)), rank))


def test_where_equal_calls_differ_nothing_is_said_of_locality():
    order = np.random.default_rng(0)

    def kernel(x, w, b, **p):
        taps = order.permutation(w[0, 0].size)
        total = 0
        for tap in taps:
            one = np.where(np.arange(w[0, 0].size).reshape(w.shape[2:]) == tap, w, np.float32(0))
            total = total + conv(x, one, None, **p)
        return total

    found = facts(kernel)
    assert "locality" not in found and found["accumulator"] == "24 bits"


def test_integers_have_no_passport():
    assert facts(conv, input="int8") == {}
