"""The assertion for test suites, on results of torch and on spoilt ones."""

import ml_dtypes
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
    assert "consistent with: every element is multiplied by 1.000001; explains all 192 wrong" in str(
        failure.value
    )


def test_inputs_that_are_wider_than_the_result_are_told():
    x, w, _ = arrays(np.float64)
    single = torch.nn.functional.conv2d(*(torch.tensor(a.astype(np.float32)) for a in (x, w)), **P).numpy()
    hint = (
        "\n  inputs are float64 and the result float32: sums are expected in float64; pass float32 inputs, or "
        'accumulate="float32" where sums are carried in that'
    )
    with pytest.raises(AssertionError) as failure:
        assert_conv_close(single, input=x, weight=w, **P)
    assert str(failure.value).endswith(hint)
    assert_conv_close(single, input=x.astype(np.float32), weight=w.astype(np.float32), **P)
    assert_conv_close(single, input=x, weight=w, accumulate="float32", **P)
    for bad in (dict(input=x, weight=w), dict(input=x.astype(np.float32), weight=w.astype(np.float32))):
        with pytest.raises(AssertionError) as failure:
            accumulate = "float32" if bad["input"].dtype == np.float64 else ""
            assert_conv_close(single + 1, **bad, accumulate=accumulate, **P)
        assert "inputs are" not in str(failure.value)


def test_integers_are_compared_by_equality():
    x, w = np.arange(6).reshape(1, 1, 6), np.array([[[1, 2]]])
    assert_conv_close(np.array([[[2, 5, 8, 11, 14]]]), input=x, weight=w)
    with pytest.raises(AssertionError, match=r"worst at \(0, 0, 4\): got 15, due 14(\n|$)"):
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


# ---------------------------------------------------------------- what is no right result at all

CASE = cases("forward", dtype="float64")[0]  # exact integers, as floats
X, W = np.arange(6.0).reshape(1, 1, 6), np.array([[[1.0, 2.0]]])
Y = np.array([[[2.0, 5.0, 8.0, 11.0, 14.0]]])

NO_RESULTS = {
    "imaginary parts": (lambda y: y + 3j, "dtype complex128, but real numbers are due; pass actual.real"),
    "no imaginary parts": (lambda y: y + 0j, "dtype complex128, but real numbers are due"),
    "bool": (lambda y: y != 0, "dtype bool, but sums are due"),
    "objects": (lambda y: y.astype(object), "actual: ndarray of dtype object holds no numbers; pass floats"),
    "None": (lambda y: None, "actual: NoneType of dtype object holds no numbers"),
    "text": (lambda y: y.astype(str), "holds no numbers; pass floats, integers or complex numbers"),
    "one text": (lambda y: "PASS", "actual: str of dtype <U4 holds no numbers"),
    "dates": (lambda y: y.astype("M8[s]"), "dtype datetime64\\[s\\] holds no numbers"),
    "records": (lambda y: y.astype([("a", float)]), "holds no numbers"),
    "ragged rows": (lambda y: [[1, 2], [3]], "its rows differ in length"),
    "a mask": (lambda y: np.ma.array(y, mask=y > 5), "a masked array: what is masked has no value"),
    "a mask of nothing": (np.ma.array, "a masked array"),
    "long double": (lambda y: y.astype(np.longdouble), "is wider than float64, in which results are compared; pass"),
    "an eighth of a double": (lambda y: y.astype(ml_dtypes.float8_e5m2), "dtype float8_e5m2 is no format that npconv"),
    "large unsigned": (
        lambda y: y.astype(np.int64).astype(np.uint64) - np.uint64(2**63),
        "but integers are compared in int64, up to 9223372036854775807",
    ),
    "no batch axis": (lambda y: y[0], r"actual: shape \(.*\), due \(.*\)"),
    "one axis more": (lambda y: y[None], r"actual: shape \(1, .*\), due \(.*\)"),
    "flat": (np.ravel, r"actual: shape \(\d+,\), due \(.*\)"),
    "a number": (np.sum, r"actual: shape \(\), due \(.*\)"),
    "nothing": (lambda y: [], r"actual: shape \(0,\), due \(.*\)"),
}  # fmt: skip


@pytest.mark.parametrize("spoil, told", NO_RESULTS.values(), ids=NO_RESULTS)
def test_what_is_no_result_is_an_assertion_error_in_words(spoil, told):
    for of, due, check in (
        (f"forward of {CASE}: actual: ", CASE.due.astype(float), CASE.check),
        ("forward of i6_k2: actual: ", Y, lambda y: assert_conv_close(y, input=X, weight=W)),
    ):
        check(due)
        with pytest.raises(AssertionError, match=told) as failure:
            check(spoil(due))
        assert str(failure.value).startswith(of) and "\n" not in str(failure.value)


def test_a_missing_batch_axis_is_named():
    with pytest.raises(
        AssertionError, match="shape \\(1, 5\\), due \\(1, 1, 5\\); its batch axis is missing"
    ):
        assert_conv_close(Y[0], input=X, weight=W)


def test_a_fraction_beside_integers_that_are_due_is_wrong():
    with pytest.raises(AssertionError, match="1 of .* elements are not the integers due"):
        near = CASE.due.astype(float)
        near[0, 0, 0, 0] = np.nextafter(near[0, 0, 0, 0], np.inf)
        CASE.check(near)


def test_lists_and_narrow_integers_are_results():
    assert_conv_close(Y.tolist(), input=X.tolist(), weight=W.tolist())
    assert_conv_close(Y.astype("u1"), input=X.astype(bool) * X.astype("u1"), weight=W.astype("i1"))


def test_bool_arguments_are_ones_and_zeros():
    x = np.array([[[True, False, True]]])
    assert_conv_close(np.array([[[1.0, 1.0]]]), input=x, weight=np.array([[[1.0, 1.0]]]))
    assert_conv_close(np.array([[[1, 1]]]), input=x, weight=np.array([[[True, True]]]))


@pytest.mark.parametrize("bad", [X.astype(object), np.ma.array(X), X.astype(np.longdouble), "x"])
def test_arguments_that_hold_no_numbers_are_type_errors(bad):
    for name in ("input", "weight", "bias"):
        with pytest.raises(TypeError, match=f"^{name}: (it is a masked|[a-z]+ of dtype )"):
            assert_conv_close(Y, **{**dict(input=X, weight=W, bias=np.zeros(1)), name: bad})


@pytest.mark.parametrize(
    "arrays, told",
    [
        (dict(input=np.ones(6), weight=W), r"input: shape \(6,\) has 1 axes; beside a weight of 3 axes"),
        (dict(input=X, weight=np.ones((1, 2))), "a weight of 2 axes"),
        (dict(input=X, weight=np.ones((1, 2, 3))), r"weight: shape \(1, 2, 3\), but i6_k3 has one of shape"),
        (
            dict(input=X, weight=W, bias=np.ones(2)),
            r"bias: shape \(2,\), but i6_k2_bias has one of shape \(1,\)",
        ),
        (dict(input=X, weight=W, stride=0), "stride"),
    ],
)
def test_shapes_that_do_not_fit_are_value_errors(arrays, told):
    with pytest.raises(ValueError, match=told):
        assert_conv_close(Y, **arrays)


def test_sizes_that_do_not_fit_are_value_errors():
    g = np.ones((1, 1, 5))
    with pytest.raises(
        ValueError, match=r"weight: shape \(1, 4, 2\), but i6_k2 has one of shape \(1, 1, 2\)"
    ):
        assert_conv_close(W, part="grad_weight", input=X, grad_output=g, weight_size=(1, 4, 2))
    with pytest.raises(ValueError, match="grad_output: shape .* but i8_k2 has one of shape"):
        assert_conv_close(X, part="grad_input", weight=W, grad_output=g, input_size=(1, 1, 8))
    with pytest.raises(ValueError, match="one has a batch axis and one has none; give both or neither"):
        assert_conv_close(X, part="grad_input", weight=W, grad_output=g[0], input_size=(1, 1, 6))


def test_unbatched_arrays_have_unbatched_results():
    x, w, b = arrays(np.float64)
    x = x[0]
    tx, tw, tb = (torch.tensor(a, requires_grad=True) for a in (x, w, b))
    y = torch.nn.functional.conv2d(tx, tw, tb, **P)
    g = RNG.normal(size=y.shape)
    gx, gw, gb = (t.numpy() for t in torch.autograd.grad(y, (tx, tw, tb), torch.tensor(g)))
    assert_conv_close(y.detach().numpy(), input=x, weight=w, bias=b, **P)
    assert_conv_close(gx, part="grad_input", grad_output=g, weight=w, input_size=x.shape, **P)
    assert_conv_close(gw, part="grad_weight", grad_output=g, input=x, weight_size=w.shape, **P)
    assert_conv_close(gb, part="grad_bias", grad_output=g, weight_size=w.shape)
    with pytest.raises(AssertionError, match=r"shape \(1, 6, 4, 4\), due \(6, 4, 4\)"):
        assert_conv_close(y.detach().numpy()[None], input=x, weight=w, bias=b, **P)


# ---------------------------------------------------------------- complex numbers


def complex_arrays(kind):
    return [(a + 1j * RNG.normal(size=a.shape)).astype(kind) for a in arrays(np.float64)]


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_torch_is_close_on_complex_numbers(kind):
    x, w, b = complex_arrays(kind)
    tx, tw, tb = (torch.tensor(a, requires_grad=True) for a in (x, w, b))
    y = torch.nn.functional.conv2d(tx, tw, tb, **P)
    g = (RNG.normal(size=y.shape) + 1j * RNG.normal(size=y.shape)).astype(kind)
    gx, gw, gb = (t.resolve_conj().numpy() for t in torch.autograd.grad(y, (tx, tw, tb), torch.tensor(g)))
    sizes = dict(input_size=x.shape, weight_size=w.shape)
    y = y.detach().numpy()
    assert_conv_close(y, input=x, weight=w, bias=b, **P)
    assert_conv_close(gx, part="grad_input", grad_output=g, weight=w, **sizes, **P)
    assert_conv_close(gw, part="grad_weight", grad_output=g, input=x, **sizes, **P)
    assert_conv_close(gb, part="grad_bias", grad_output=g)
    with pytest.raises(AssertionError, match="288 of 288|192 of 192"):
        assert_conv_close(y.conj(), input=x, weight=w, bias=b, **P)
    with pytest.raises(AssertionError, match="elements are off by more than rounding"):
        assert_conv_close(gx.conj(), part="grad_input", grad_output=g, weight=w, **sizes, **P)


def test_each_part_of_a_complex_number_has_its_bound():
    # Two products a part: 2u/(1-2u) of |x||w| = 1, and u of the result, u = 2**-53.
    x, w = np.array([[[1.0]]]), np.array([[[1j]]])
    step = 2.0**-52
    assert_conv_close(np.array([[[1j * (1 + step)]]]), input=x, weight=w)
    for bad in (8 * step + 1j, 1j * (1 + 8 * step)):
        with pytest.raises(AssertionError, match="1 of 1 elements are off"):
            assert_conv_close(np.array([[[bad]]]), input=x, weight=w)


def test_a_real_result_has_no_imaginary_parts_that_are_due():
    with pytest.raises(AssertionError, match=r"got \(?0.*, due 1j"):
        assert_conv_close(np.zeros((1, 1, 1)), input=np.ones((1, 1, 1)), weight=np.array([[[1j]]]))


# ---------------------------------------------------------------- messages about infinities and NaN


def test_where_no_finite_number_is_due_the_message_says_so_in_words():
    x, w = np.array([[[1.0, INF, -INF, NAN, 3.0]]]), np.array([[[1.0, 1.0]]])
    due = np.array([[[INF, NAN, NAN, NAN]]])
    assert_conv_close(due, input=x, weight=w)
    for at, word in (
        (0, "due inf: infinite terms enter this sum"),
        (1, "due NaN: a NaN, or infinities of both"),
    ):
        bad = due.copy()
        bad[0, 0, at] = 7.0
        with pytest.raises(AssertionError) as failure:
            assert_conv_close(bad, input=x, weight=w)
        assert f"worst at (0, 0, {at}): got 7.0, {word}" in str(failure.value)
        assert "bound" not in str(failure.value)


@pytest.mark.parametrize(
    "wrong, told",
    [
        (dict(part="forwards"), "part: 'forwards' is not one of forward, grad_input"),
        (dict(strength=4), "strength: 4 values in every combination; give 2 or 3"),
        (dict(rank=4), "rank: 4 spatial axes; give 1, 2 or 3"),
        (dict(output="float7"), "output: 'float7' is not one of float64, float32"),
        (dict(dtype="longdouble"), "dtype: 'longdouble' is not one of float64, float32"),
    ],
)
def test_cases_that_do_not_exist_are_value_errors(wrong, told):
    with pytest.raises(ValueError, match=told):
        cases(**wrong)
