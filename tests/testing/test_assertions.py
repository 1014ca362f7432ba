"""The assertion for test suites, on results of torch and on spoilt ones."""

import numpy as np
import pytest
import torch
from npconv.testing import assert_conv_close, cases

RNG = np.random.default_rng(5)


def arrays(kind=np.float32):
    x = RNG.normal(size=(2, 4, 7, 6)).astype(kind)
    w = RNG.normal(size=(6, 2, 3, 2)).astype(kind)
    b = RNG.normal(size=6).astype(kind)
    return x, w, b


P = dict(stride=2, padding=1, dilation=1, groups=2)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_torch_is_close(kind):
    x, w, b = arrays(kind)
    tx, tw, tb = (torch.tensor(a, requires_grad=True) for a in (x, w, b))
    y = torch.nn.functional.conv2d(tx, tw, tb, **P)
    g = RNG.normal(size=y.shape).astype(kind)
    gx, gw, gb = (t.numpy() for t in torch.autograd.grad(y, (tx, tw, tb), torch.tensor(g)))
    assert_conv_close(y.detach().numpy(), input=x, weight=w, bias=b, **P)
    assert_conv_close(gx, part="grad_input", grad_output=g, weight=w, input_size=x.shape, **P)
    assert_conv_close(gw, part="grad_weight", grad_output=g, input=x, weight_size=w.shape, **P)
    assert_conv_close(gb, part="grad_bias", grad_output=g)


def test_torch_transposed_is_close():
    x, w, b = RNG.normal(size=(2, 4, 5, 6)), RNG.normal(size=(4, 3, 3, 2)), RNG.normal(size=6)
    p = dict(stride=3, padding=1, output_padding=2, groups=2)
    y = torch.nn.functional.conv_transpose2d(*map(torch.tensor, (x, w, b)), **p).numpy()
    assert_conv_close(y, part="transposed", input=x, weight=w, bias=b, **p)


def test_float16_may_err_as_much_as_it_must():
    x, w, b = arrays(np.float16)
    exact = torch.nn.functional.conv2d(*(torch.tensor(a.astype(np.float64)) for a in (x, w, b)), **P).numpy()
    assert_conv_close(exact.astype(np.float16), input=x, weight=w, bias=b, **P)
    with pytest.raises(AssertionError, match="more than rounding can explain"):
        assert_conv_close((exact * 1.01).astype(np.float16), input=x, weight=w, bias=b, **P)


def test_one_part_in_a_million_is_too_much_for_float64():
    x, w, b = arrays(np.float64)
    y = torch.nn.functional.conv2d(*map(torch.tensor, (x, w, b)), **P).numpy()
    with pytest.raises(AssertionError, match="192 of 192 elements") as failure:
        assert_conv_close(y * (1 + 1e-6), input=x, weight=w, bias=b, **P)
    assert "explains" not in str(failure.value)  # no fault of the table does that


def test_integers_are_compared_by_equality():
    x, w = np.arange(6).reshape(1, 1, 6), np.array([[[1, 2]]])
    assert_conv_close(np.array([[[2, 5, 8, 11, 14]]]), input=x, weight=w)
    with pytest.raises(AssertionError, match=r"worst at \(0, 0, 4\): got 15, due 14, bound 0"):
        assert_conv_close(np.array([[[2, 5, 8, 11, 15]]]), input=x, weight=w)


def test_the_message_names_element_descriptor_and_fault():
    x, w, b = (np.rint(10 * a) for a in arrays(np.float64))
    y = torch.nn.functional.conv2d(*map(torch.tensor, (x, w)), None, **P).numpy()
    with pytest.raises(AssertionError) as failure:
        assert_conv_close(y, input=x, weight=w, bias=b, **P)
    lines = str(failure.value).splitlines()
    assert lines[0].startswith("forward of N2C4O6G2_i7x6_k3x2_s2_p1_bias: ")
    assert lines[1].startswith("  worst at (") and "the bias is missing" in lines[2]


def test_nan_is_never_close():
    x, w = np.ones((1, 1, 3)), np.ones((1, 1, 1))
    with pytest.raises(AssertionError, match="1 of 3"):
        assert_conv_close(np.array([[[1, np.nan, 1]]]), input=x, weight=w)


def test_a_wrong_shape_is_told():
    with pytest.raises(AssertionError, match=r"shape \(1, 1, 2\), due \(1, 1, 3\)"):
        assert_conv_close(np.ones((1, 1, 2)), input=np.ones((1, 1, 3)), weight=np.ones((1, 1, 1)))


def test_a_missing_array_is_a_type_error():
    with pytest.raises(TypeError, match="grad_input: it needs grad_output, weight; grad_output missing"):
        assert_conv_close(np.ones(1), part="grad_input", weight=np.ones((1, 1, 1)))
    with pytest.raises(TypeError, match="it needs input_size"):
        assert_conv_close(
            np.ones(1), part="grad_input", weight=np.ones((1, 1, 1)), grad_output=np.ones((1, 1, 1))
        )


@pytest.mark.parametrize("case", cases("forward"), ids=str)
def test_cases_hold_for_torch(case):
    a, p = case.arrays, case.parameters
    pads = [end for pair in reversed(p["padding"]) for end in pair]
    x, w = torch.tensor(a["input"]), torch.tensor(a["weight"])
    b = torch.tensor(a["bias"]) if "bias" in a else None
    y = torch.nn.functional.conv2d(
        torch.nn.functional.pad(x, pads), w, b, p["stride"], 0, p["dilation"], p["groups"]
    )
    case.check(y.numpy())


def test_a_case_names_the_fault_of_a_wrong_kernel():
    case = next(c for c in cases() if "bias" in c.arrays)
    with pytest.raises(AssertionError, match="the bias is missing"):
        case.check(case.due - case.arrays["bias"][:, None, None].astype(int))


def test_every_part_has_cases_of_its_own_shape():
    for part in ("grad_input", "grad_weight", "grad_bias", "transposed"):
        for case in cases(part)[:5]:
            case.check(case.due)
            assert case.due.dtype == np.int64


INF, NAN = np.inf, np.nan


def test_an_infinity_is_due_where_the_sum_is_infinite():
    x, w = np.array([[[1.0, INF, 2.0, 3.0]]]), np.array([[[2.0]]])
    assert_conv_close(2 * x, input=x, weight=w)
    for bad in (0.0, -INF, NAN):
        y = np.array([[[2.0, bad, 4.0, 6.0]]])
        with pytest.raises(AssertionError, match="1 of 4 elements") as failure:
            assert_conv_close(y, input=x, weight=w)
        assert "explains" not in str(failure.value)
    with pytest.raises(AssertionError, match=r"worst at \(0, 0, 0\)"):
        assert_conv_close(np.array([[[INF, INF, 4.0, 6.0]]]), input=x, weight=w)


def test_nan_is_due_where_infinities_cancel():
    x, w = np.array([[[INF, -INF, 1.0]]]), np.array([[[1.0, 1.0]]])
    assert_conv_close(np.array([[[NAN, -INF]]]), input=x, weight=w)
    with pytest.raises(AssertionError, match="1 of 2"):
        assert_conv_close(np.array([[[INF, -INF]]]), input=x, weight=w)


def test_a_sum_beyond_float16_overflows_by_right():
    # 65504 is the largest float16; 65520 is the least number that rounds to infinity.
    x, w = np.array([[[300.0, -300.0, 100.0]]], np.float16), np.array([[[300.0]]], np.float16)
    assert_conv_close(np.array([[[INF, -INF, 30000]]], np.float16), input=x, weight=w)
    for bad in ([-INF, -INF, 30000], [65504, -INF, 30000], [INF, -INF, INF], [NAN, -INF, 30000]):
        with pytest.raises(AssertionError, match="1 of 3"):
            assert_conv_close(np.array([[bad]], np.float16), input=x, weight=w)


@pytest.mark.parametrize("dtype, output", [("uint8", ""), ("uint8", "uint32"), ("int8", "int64")])
def test_integer_cases_are_due_from_the_arrays_that_they_hand_out(dtype, output):
    for case in cases(dtype=dtype, output=output):
        a, p = case.arrays, case.parameters
        assert a["input"].dtype == a["weight"].dtype == dtype
        x, w, b = (
            torch.tensor(a[name].astype(np.float64)) if name in a else None
            for name in ("input", "weight", "bias")
        )
        x = torch.nn.functional.pad(x, [end for pair in reversed(p["padding"]) for end in pair])
        y = torch.nn.functional.conv2d(x, w, b, p["stride"], 0, p["dilation"], p["groups"]).numpy()
        assert np.array_equal(y, case.due)
        case.check(y)
