"""Mistakes that other convolutions were reported to make, and the numbers that are right.

tests/data/reports.json names each case, where it was reported, and the figures; here each becomes a
test of the same name.  What npconv cannot express as reported stands in `PARTLY`.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from npconv import (
    conv,
    conv1d,
    conv2d,
    conv2d_backward,
    conv2d_double_backward,
    conv2d_weight,
    conv3d,
    conv_backward,
    conv_bias,
    conv_general_dilated,
    conv_input,
    conv_transpose,
    conv_weight,
    pad,
    pad_adjoint,
    vjp,
)
from npconv.geometry import convolution

CASES: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "reports.json").read_text())
TESTS: dict[str, Callable[[dict[str, Any]], None]] = {}

# What of a report is not tested as it was reported, and why; all else is.
PARTLY = {
    "ascontiguousarray-keeps-negative-stride": "it is NumPy's; tested: npconv takes such an array, and what "
    "it returns has no such stride, which torch.from_numpy would refuse",
    "conv-transpose-without-flip": "2 and 3 channels for 256; image, stride and taps as reported",
    "im2col-int32-index": "only the sizes: the layer's input alone has 1 GB",
    "keras-transposed-same-one-pixel-shift": "channels first: the transposed functions have one layout",
    "noncontiguous-sliced-weight": "fewer channels and a smaller image, for 145 MB of columns",
    "tf32-identity-conv": "npconv has no TF32; float16 has the same significand; 16 channels for 1152",
    "uint8-wraps": "npconv has no mode 'symmetric'; for a border of one cell it is 'replicate'",
}


def report(name: str) -> Callable[[Callable[[dict[str, Any]], None]], Callable[[dict[str, Any]], None]]:
    def register(test: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
        TESTS[name] = test
        return test

    return register


def array(spec: Any) -> np.ndarray:
    """An array of integers (floats, where it says inf) from how the file writes it."""
    if isinstance(spec, dict) and "arange" in spec:
        return spec["from"] + np.arange(math.prod(spec["arange"])).reshape(spec["arange"])
    if isinstance(spec, dict):
        return np.ones(spec["ones"], np.int64)
    return np.array(spec, float) if "inf" in json.dumps(spec) else np.array(spec)


def integers(shape: Any, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, shape)


def equal(result: np.ndarray, expected: Any) -> None:
    np.testing.assert_array_equal(result, array(expected))
    assert result.shape == array(expected).shape


# ---------------------------------------------------------------- the input's gradient


@report("dgrad-drops-3-tail-inputs")
def _(case: dict[str, Any]) -> None:
    stride, w = case["stride"], array(case["w"])
    equal(conv_input(case["x_shape"], w, array(case["g"]), stride), case["dx"])
    long = case["long"]
    assert convolution(long["x_shape"], w.shape, stride).remainder == (case["remainder"],)
    gradient = conv_input(long["x_shape"], w, np.ones((1, 1, long["o"]), int), stride)
    assert gradient.shape == tuple(long["x_shape"])
    assert gradient[0, 0].tolist() == w[0, 0].tolist() * long["o"] + [0] * case["remainder"]


@report("dgrad-transposed-conv-missing-output-padding-dilated")
def _(case: dict[str, Any]) -> None:
    x, w, g = (array(case[name]) for name in "xwg")
    assert convolution(x.shape, w.shape, **case["parameters"]).remainder == (case["remainder"],)
    equal(conv1d(x, w, **case["parameters"]), case["y"])
    equal(conv_input(x.shape, w, g, **case["parameters"]), case["dx"])


@report("dgrad-padding-larger-than-kernel")
def _(case: dict[str, Any]) -> None:
    """Every input lies under every tap: with ones for g, its gradient is the sum of its channel's weights."""
    x, w = np.zeros(case["x_shape"], int), integers(case["w_shape"])
    padding = [(case["padding"],) * 2] * 2
    names = ("NHWC", "OHWI", "NHWC")
    y, pullback = vjp(
        conv_general_dilated, x, w, window_strides=(1, 1), padding=padding, dimension_numbers=names
    )
    assert y.shape == tuple(case["g_shape"])
    gradient, _ = pullback(np.ones(y.shape, int))
    equal(gradient, np.broadcast_to(w.sum(axis=(0, 1, 2)), case["x_shape"]).tolist())
    geometry = convolution((1, 1, 11, 14), (1, 1, 3, 3), padding=case["padding"])
    assert geometry.input_gradient_padding == (tuple(case["gradient_padding"]),) * 2
    nine = np.arange(1, 10).reshape(1, 1, 3, 3)
    single = conv_input((1, 1, 11, 14), nine, np.ones((1, 1, 17, 20), int), padding=case["padding"])
    assert np.unique(single).tolist() == [case["single"]]


@report("dgrad-1x1-stride-2")
def _(case: dict[str, Any]) -> None:
    mini = case["mini"]
    equal(conv_input(mini["x_shape"], array(mini["w"]), array(mini["g"]), case["stride"]), mini["dx"])
    w, g = integers(case["w_shape"]), integers((256, 64, 1, 1), 1)
    gradient = conv_input(case["x_shape"], w, g, case["stride"])
    equal(gradient[:, :, 0, 0], (g[:, :, 0, 0] @ w[:, :, 0, 0]).tolist())
    gradient[:, :, 0, 0] = 0
    assert not gradient.any()


# ---------------------------------------------------------------- the weight's gradient


@report("wgrad-groups-nn-grad")
def _(case: dict[str, Any]) -> None:
    equal(
        conv2d_weight(array(case["x"]), case["w_shape"], array(case["g"]), **case["parameters"]), case["dw"]
    )


@report("wgrad-depthwise-stride2")
def _(case: dict[str, Any]) -> None:
    back = conv2d_backward(array(case["g"]), array(case["x"]), array(case["w"]), **case["parameters"])
    equal(back.weight, case["dw"])
    equal(back.input[0, 0], case["dx_first"])


@report("wgrad-stride-dilation-swap")
def _(case: dict[str, Any]) -> None:
    x, w, g = (array(case[name]) for name in "xwg")
    equal(conv(x, w, **case["parameters"]), case["y"])
    back = conv_backward(g, x, w, **case["parameters"])
    equal(back.weight, case["dw"])
    equal(back.input, case["dx"])
    # With stride and dilation kept, not traded, only the input is spread out.
    once = conv_transpose(x.sum(axis=0, keepdims=True), np.ones((1, 1, 1), int), stride=2, dilation=2)
    equal(once[0, 0], case["not_traded"])


@report("wgrad-one-column-too-many")
def _(case: dict[str, Any]) -> None:
    x, g = array(case["x"]), array(case["g"])
    stride = case["parameters"]["stride"]
    equal(conv_general_dilated(x, g, (1,), "VALID", rhs_dilation=(stride,))[0, 0], case["uncropped"])
    equal(conv_weight(x, case["w_shape"], g, stride), case["dw"])
    (axis,) = convolution(x.shape, case["w_shape"], stride).axes
    assert len(case["uncropped"]) - axis.k == axis.remainder // axis.d


@report("wgrad-divided-by-batch")
def _(case: dict[str, Any]) -> None:
    gradient = conv2d_weight(array(case["x"]), case["w_shape"], array(case["g"]))
    assert np.unique(gradient).tolist() == [case["each"]]


# ---------------------------------------------------------------- bias, second order


@report("bias-grad-bf16-stuck-at-256")
def _(case: dict[str, Any]) -> None:
    for kind in (ml_dtypes.bfloat16, np.float16):
        g = array(case["g"]).astype(kind)
        back = conv2d_backward(g, np.ones((1, 1, 80, 80), kind), np.ones((2, 1, 3, 3), kind), 2, 1)
        assert conv_bias(g).tolist() == back.bias.tolist() == case["db"]
        stuck = np.full((), case["sticks_at"][np.dtype(kind).name], kind)
        assert stuck + np.ones((), kind) == stuck


def pairing(g: np.ndarray, x: np.ndarray, w: np.ndarray, into: tuple, parameters: dict[str, Any]) -> int:
    """<dx, ggx> + <dw, ggw>: what the double backward pass differentiates."""
    back = conv2d_backward(g, x, w, **parameters)
    return int((back.input * into[0]).sum() + (back.weight * into[1]).sum())


@report("ddgrad-stride2-remainder-crash")
def _(case: dict[str, Any]) -> None:
    """The pairing is linear in g, and each half of it in x or w; so each gradient gives it back."""
    parameters = case["parameters"]
    x, w, ggx, ggw = (integers(case[n], seed) for seed, n in enumerate(["x_shape", "w_shape"] * 2))
    assert convolution(x.shape, w.shape, **parameters).remainder == (case["remainder"],) * 2
    g = integers((32, 20, 16, 16), 4)
    second = conv2d_double_backward(ggx, ggw, None, g, x, w, **parameters)
    back = conv2d_backward(g, x, w, **parameters)
    assert (second.grad_output * g).sum() == pairing(g, x, w, (ggx, ggw), parameters)
    assert (second.input * x).sum() == (back.weight * ggw).sum()
    assert (second.weight * w).sum() == (back.input * ggx).sum()
    equal(second.grad_output, (conv(ggx, w, **parameters) + conv(x, ggw, **parameters)).tolist())
    equal(second.input, conv_input(x.shape, ggw, g, **parameters).tolist())
    equal(second.weight, conv_weight(ggx, w.shape, g, **parameters).tolist())


@report("ddgrad-groups-size-mismatch")
def _(case: dict[str, Any]) -> None:
    """A unit change in any entry of g, x or w changes the pairing by that entry of the gradient."""
    x, w, ggx, ggw = (integers(case[n], seed) for seed, n in enumerate(["x_shape", "w_shape"] * 2))
    arrays = [integers((2, 4, 4, 4), 4), x, w]
    second = conv2d_double_backward(ggx, ggw, None, *arrays, **case["parameters"])
    before = pairing(*arrays, (ggx, ggw), case["parameters"])
    for moved, gradient in zip(arrays, second):
        for index in np.ndindex(moved.shape):
            moved[index] += 1
            assert pairing(*arrays, (ggx, ggw), case["parameters"]) - before == gradient[index]
            moved[index] -= 1


# ---------------------------------------------------------------- sizes and errors


@report("geometry-truncating-division")
def _(case: dict[str, Any]) -> None:
    x, w = np.ones(case["x_shape"]), np.ones(case["w_shape"])
    for stride in (1, 2, 3, 4):
        with pytest.raises(ValueError, match=r"the padded input has size 4 .* covers 5 .* give 0 outputs"):
            conv2d(x, w, None, stride, 0, case["dilation"])
        dilation = (case["dilation"],) * 2
        y = conv_general_dilated(x, w, (stride, stride), "VALID", rhs_dilation=dilation)
        assert y.shape == tuple(case["empty"])


@report("kernel-larger-than-input")
def _(case: dict[str, Any]) -> None:
    """conv2d refuses, with the three numbers; conv_general_dilated gives the empty array that JAX gives."""
    x, w = np.ones(case["x_shape"]), np.ones(case["w_shape"])
    with pytest.raises(ValueError, match=r"axis 0 the padded input has size 2 .* covers 3 .* give 0 outputs"):
        conv2d(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), padding="valid")
    y = conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    assert y.shape == tuple(case["empty"])


@report("dilation-zero-accepted")
def _(case: dict[str, Any]) -> None:
    x, w = np.ones(case["x_shape"]), np.ones(case["w_shape"])
    for name in ("dilation", "stride", "groups"):
        with pytest.raises(ValueError, match=f"{name}: it is 0, but it must be 1 or more"):
            conv2d(x, w, **{name: 0})
    with pytest.raises(ValueError, match="dilation of spatial axis 1: it is 0"):
        conv2d(x, w, dilation=(1, 0))


# ---------------------------------------------------------------- transposed


@report("convtranspose-dilated-gradcheck-passes")
def _(case: dict[str, Any]) -> None:
    equal(conv_transpose(array(case["x"]), array(case["w"]), **case["parameters"]), case["y"])


@report("keras-transposed-same-one-pixel-shift")
def _(case: dict[str, Any]) -> None:
    x, w, stride = array(case["x"]), array(case["w"]), case["stride"]
    equal(conv_transpose(x, w, stride=stride, padding="same"), case["same"])
    equal(
        conv_transpose(x, w, stride=stride, padding=[(0, 1)], output_padding=0),
        case["same"][:0] or case["same"],
    )
    equal(conv_transpose(x, w, stride=stride, padding=1, output_padding=1), case["symmetric"])
    a, w = integers(case["x_shape"]), integers(case["w_shape"], 1)
    y = conv_transpose(a, w, stride=stride, padding="same")
    b = integers(y.shape, 2)
    assert y.shape == (4, 32, 32, 32)
    assert (y * b).sum() == (a * conv(b, w, None, stride, "same")).sum()


@report("conv-transpose-without-flip")
def _(case: dict[str, Any]) -> None:
    x, w = array(case["x"]), array(case["w"])
    equal(conv_transpose(x, w), case["y"])
    equal(conv_general_dilated(x, w, (1,), [(2, 2)]), case["unflipped"])
    equal(conv_general_dilated(x, w[..., ::-1], (1,), [(2, 2)]), case["y"])
    a, w, stride = integers(case["x_shape"]), integers(case["w_shape"], 1), case["stride"]
    y = conv_transpose(a, w, stride=stride, padding="valid")
    b = integers(y.shape, 2)
    assert (y * b).sum() == (a * conv(b, w, None, stride, "valid")).sum()


# ---------------------------------------------------------------- padding


@report("tf-same-stride2-vs-symmetric")
def _(case: dict[str, Any]) -> None:
    x, w, stride = array(case["x"]), array(case["w"]), case["stride"]
    equal(conv2d(x, w, None, stride, "same")[0, 0], case["same"])
    equal(conv2d(x, w, None, stride, [(0, 1), (0, 1)])[0, 0], case["same"])
    equal(conv2d(x, w, None, stride, 1)[0, 0], case["symmetric"])
    larger = case["larger"]
    geometry = convolution((1, 1, larger["i"]), (1, 1, larger["k"]), larger["s"], "same")
    assert geometry.padding == (tuple(larger["padding"]),)


@report("negative-low-pad-reads-neighbour-row")
def _(case: dict[str, Any]) -> None:
    """Crop, then zero: each row becomes its element 5 and a zero."""
    x = integers(case["x_shape"])
    identity = np.eye(8, dtype=int).reshape(1, 1, 8, 8)
    for kind in (np.float32, np.int32, np.float64):
        y = conv_general_dilated(
            x.astype(kind),
            identity.astype(kind),
            (1, 1),
            case["padding"],
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        assert y.shape == tuple(case["y_shape"])
        equal(y[:, :, 0], x[:, :, 5].tolist())
        assert not y[:, :, 1].any()


@report("negative-pad-and-zero-stuffing-order")
def _(case: dict[str, Any]) -> None:
    x, w, step = array(case["x"]), array(case["w"]), (case["lhs_dilation"],)
    equal(conv_general_dilated(x, w, (1,), case["padding"], step), case["y"])
    equal(conv_general_dilated(pad(x, case["padding"]), w, (1,), "VALID"), [[[2, 3]]])
    cropped_first = conv_general_dilated(pad(x, case["padding"]), w, (1,), [(0, 0)], step)
    equal(cropped_first, case["the_other_order"])


@report("circular-pad-minus-zero-slice")
def _(case: dict[str, Any]) -> None:
    x = array(case["x"])
    y = pad(x, case["padding"], "circular")
    assert y.shape == tuple(case["y_shape"])
    equal(y, np.pad(x, [(0, 0), (0, 0), *case["padding"]], "wrap").tolist())


@report("replicate-forward-zero-backward")
def _(case: dict[str, Any]) -> None:
    w, g, padding = array(case["w"]), array(case["g"]), case["padding"]
    equal(conv_input((1, 1, 5), w, g)[0, 0], case["padded"])
    for mode, expected in case["dx"].items():
        equal(conv_input(case["x_shape"], w, g, padding=padding, padding_mode=mode)[0, 0], expected)
        equal(pad_adjoint(array([[case["padded"]]]), padding, mode)[0, 0], expected)
    totals = {mode: sum(expected) for mode, expected in case["dx"].items()}
    assert totals == {"zeros": 232, "replicate": 333, "reflect": 333, "circular": 333}


# ---------------------------------------------------------------- layout in memory


@report("noncontiguous-sliced-weight")
def _(case: dict[str, Any]) -> None:
    x = np.random.default_rng(0).standard_normal(case["x_shape"]).astype(np.float32)
    view = np.random.default_rng(1).standard_normal(case["w5_shape"]).astype(np.float32)[:, :, 1]
    assert not view.flags.c_contiguous
    assert conv2d(x, view).tobytes() == conv2d(x, np.ascontiguousarray(view)).tobytes()
    mini = case["mini"]
    w = integers(mini["w4_shape"])[:, :, ::2, ::2]
    equal(conv2d(array(mini["x"]), w)[:, :, 0, 0], [w.sum(axis=(1, 2, 3)).tolist()] * 3)


@report("grad-with-transposed-kernel")
def _(case: dict[str, Any]) -> None:
    x, w = array(case["x"]), array(case["w"]).swapaxes(0, 1)
    y, pullback = vjp(conv2d, x, w)
    equal(y, case["y"])
    assert (y**2).sum() == case["loss"]
    by_x, by_w = pullback(2 * y)
    equal(by_x, case["dx"])
    equal(by_w, vjp(conv2d, x, w.copy())[1](2 * y)[1].tolist())


@report("ascontiguousarray-keeps-negative-stride")
def _(case: dict[str, Any]) -> None:
    x = integers(case["x_shape"]).astype(float)[::-1]
    assert x.strides == tuple(case["strides"]) == np.ascontiguousarray(x).strides and x.flags.c_contiguous
    w = np.ones((3, 10, 1))  # one tap, so flipping it leaves such a stride as well
    y, pullback = vjp(conv, x, w)
    equal(y, conv(x.copy(), w).tolist())
    by_x, by_w = pullback(y)
    equal(by_x, conv_input(x.shape, w.copy(), y).tolist())
    results = [
        y,
        by_x,
        by_w,
        conv_bias(y),
        conv_transpose(x, np.ones((10, 1, 1))[..., ::-1]),
        pad(x, 1),
        pad(x, 0),
    ]
    for result in results:
        assert torch.from_numpy(result).shape == result.shape


# ---------------------------------------------------------------- number kinds and precision


@report("uint8-wraps")
def _(case: dict[str, Any]) -> None:
    x, w = array(case["x"]).astype(np.uint8), array(case["w"])
    y = conv1d(x, w, padding=1, padding_mode="replicate")
    equal(y, case["y"])
    equal(y.astype(np.uint8), case["wrapped"])
    equal(np.pad(x[0, 0], 1, "symmetric"), pad(x, 1, "replicate")[0, 0].tolist())


@report("u8s8-saturation")
def _(case: dict[str, Any]) -> None:
    equal(conv1d(array(case["x"]).astype(np.uint8), array(case["w"]).astype(np.int8)), case["y"])
    a, b, pair = case["pair"]
    equal(conv1d(np.full((1, 2, 1), a, np.uint8), np.full((1, 2, 1), b, np.int8)), [[[pair]]])
    second = case["second"]
    y = conv2d(array(second["x"]).astype(np.uint8), array(second["w"]).astype(np.int8))
    assert np.unique(y).tolist() == [second["each"]]


@report("tf32-identity-conv")
def _(case: dict[str, Any]) -> None:
    """A copy is a copy, bit for bit; rounded first to p bits, its worst error is just below 2**-p."""
    x = np.random.default_rng(0).uniform(1, 2, case["x_shape"]).astype(np.float32)
    w = np.zeros(case["w_shape"], np.float32)
    w[:, :, 0, 0, 0] = np.eye(16)
    kept = x[:, :, :-1:2]
    assert conv3d(x, w, None, case["stride"]).tobytes() == kept.tobytes()
    for kind in (np.float16, ml_dtypes.bfloat16):
        bits = case["significand"][np.dtype(kind).name]
        rounded = conv3d(x.astype(kind), w.astype(kind), None, case["stride"]).astype(float)
        worst = np.abs(rounded / kept.astype(float) - 1).max()
        assert 2.0**-bits * 0.9 < worst <= 2.0**-bits


@report("relative-error-near-zero")
def _(case: dict[str, Any]) -> None:
    """Per element |error| <= gamma_n * (|x| conv |w|); against |y| the error has no bound."""
    rng = np.random.default_rng(0)
    x = (1 + rng.uniform(0, 1e-3, case["x_shape"])).astype(np.float32)
    w = rng.standard_normal(case["w_shape"]).astype(np.float32)
    w -= w.mean(axis=(0, 1, 2))  # outputs that cancel to almost nothing
    stride, names = (case["stride"],) * 2, ("NHWC", "HWIO", "NHWC")

    def general(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return conv_general_dilated(x, w, stride, "VALID", dimension_numbers=names)

    exact = general(x.astype(float), w.astype(float))
    error = np.abs(general(x, w) - exact)
    n, u = math.prod(case["w_shape"][:3]), 2.0**-24
    bound = n * u / (1 - n * u) * general(np.abs(x).astype(float), np.abs(w).astype(float))
    assert (error <= bound).all()
    assert (error / np.abs(exact)).max() > 100 * 2.0**-23


@report("inf-weight-at-zero-padding")
def _(case: dict[str, Any]) -> None:
    """Zeros are data: the padded convolution is the convolution of the padded array."""
    x, w = array(case["x"]), array(case["w"])
    with np.errstate(invalid="ignore"):
        equal(conv1d(x, w, padding=case["padding"]), case["y"])
        equal(conv1d(pad(x, case["padding"]), w), case["y"])


# ---------------------------------------------------------------- sizes of work, empty arrays


@report("im2col-int32-index")
def _(case: dict[str, Any]) -> None:
    x_shape, w_shape = (np.array(case[name], np.int32) for name in ("x_shape", "w_shape"))
    geometry = convolution(x_shape, w_shape, np.int32(1), case["padding"])
    sizes = (geometry.N, *geometry.weight_shape[1:], *geometry.output_shape[2:])
    assert {type(size) for size in sizes} == {int}
    assert math.prod(sizes) == case["columns"] > 2**31 - 1


@report("depthwise-loop-per-group")
def _(case: dict[str, Any]) -> None:
    x, w, groups = integers(case["x_shape"]), integers(case["w_shape"], 1), case["groups"]
    one_by_one = [conv2d(x[:, c : c + 1], w[2 * c : 2 * c + 2], padding=1) for c in range(groups)]
    y, pullback = vjp(conv2d, x, w, padding=1, groups=groups)
    equal(y, np.concatenate(one_by_one, axis=1).tolist())
    g = integers(y.shape, 2)
    by_x, by_w = pullback(g)
    for c in (0, 1, 77, groups - 1):
        pair = slice(2 * c, 2 * c + 2)
        alone = conv2d_backward(g[:, pair], x[:, c : c + 1], w[pair], padding=1)
        equal(by_x[:, c : c + 1], alone.input.tolist())
        equal(by_w[pair], alone.weight.tolist())


@report("zero-batch-weight-grad-junk")
def _(case: dict[str, Any]) -> None:
    x, w, g = (np.ones(case[name], np.float32) for name in ("x_shape", "w_shape", "g_shape"))
    assert conv2d(x, w).shape == g.shape
    back = conv2d_backward(g, x, w)
    assert [a.shape for a in back] == [x.shape, w.shape, (4,)]
    assert not back.weight.any() and not back.bias.any()


# ---------------------------------------------------------------- what learners ask


@report("scipy-flip-surprise")
def _(case: dict[str, Any]) -> None:
    x, w = array(case["x"]), array(case["w"])
    assert conv2d(x, w).tolist() == [[[[case["correlation"]]]]]
    assert conv2d(x, w[:, :, ::-1, ::-1]).tolist() == [[[[case["convolution"]]]]]


@report("col2im-is-not-inverse")
def _(case: dict[str, Any]) -> None:
    """im2col is a convolution with one-hot weights, one for each tap; its adjoint is the input gradient."""
    x, k = array(case["x"]), case["k"]
    one_hot = np.eye(k * k, dtype=int).reshape(k * k, 1, k, k)
    columns = conv2d(x, one_hot)
    equal(conv_input(x.shape, one_hot, columns)[0, 0], (x[0, 0] * array(case["counts"])).tolist())
    second = case["second"]
    ones = np.ones((1, 1, second["i"]), int)
    one_hot = np.eye(second["k"], dtype=int)[:, None]
    columns = conv1d(ones, one_hot, None, second["stride"])
    equal(conv_input(ones.shape, one_hot, columns, second["stride"])[0, 0], second["counts"])


@report("debug-with-structured-inputs")
def _(case: dict[str, Any]) -> None:
    """Each one-hot probe reads out one index formula: x[s*i - p + d*q]."""
    x, k = array(case["x"]), case["k"]
    for s, p, d in [(1, 0, 1), (2, 2, 1), (1, 3, 2), (3, 1, 2)]:
        padded = np.pad(x[0, 0], p)
        o = (len(padded) - d * (k - 1) - 1) // s + 1
        for i in range(o):
            g = np.eye(o, dtype=int)[i].reshape(1, 1, o)
            probe = conv_weight(x, (1, 1, k), g, s, p, d)[0, 0]
            assert probe.tolist() == padded[s * i :][: d * (k - 1) + 1 : d].tolist()
        for q in range(k):
            probe = conv1d(x, np.eye(k, dtype=int)[q].reshape(1, 1, k), None, s, p, d)[0, 0]
            assert probe.tolist() == padded[d * q :][: s * (o - 1) + 1 : s].tolist()


@pytest.mark.parametrize("name", CASES)
def test_the_reported_case_is_right(name: str) -> None:
    TESTS[name](CASES[name])


def test_every_case_has_its_test() -> None:
    assert set(TESTS) == set(CASES) and set(PARTLY) <= set(CASES)
