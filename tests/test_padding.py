"""Padding modes, against NumPy's, PyTorch's, and each mode's own adjoint."""

import random
import tracemalloc

import numpy as np
import oracle
import pytest
import torch

import npconv
from npconv import conv1d, jvp, pad, pad_adjoint, vjp
from npconv.padding import SOURCES

NUMPY_NAMES = {"zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
MODES = list(NUMPY_NAMES)


def integers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, shape)


def random_paddings(
    mode: str, count: int, low: int, high: int
) -> list[tuple[tuple[int, ...], list[tuple[int, int]]]]:
    """Input shapes and pairs that leave something of every axis to pad."""
    rng = random.Random(mode)
    found = []
    while len(found) < count:
        rank = rng.choice((1, 2, 3))
        sizes = [rng.randint(2 if mode == "reflect" else 1, 5) for _ in range(rank)]
        pairs = [(rng.randint(low, high), rng.randint(low, high)) for _ in range(rank)]
        if min(i + lo + hi for i, (lo, hi) in zip(sizes, pairs)) >= 0:
            found.append(((2, 3, *sizes), pairs))
    return found


@pytest.mark.parametrize("mode", MODES)
def test_numpys_pad_gives_the_same(mode: str) -> None:
    """Also where the border is longer than the axis; NumPy 1.26 reflects only once, so there not further."""
    for shape, pairs in random_paddings(mode, 60, low=0, high=13):
        if mode == "reflect":
            pairs = [(min(lo, i - 1), min(hi, i - 1)) for i, (lo, hi) in zip(shape[2:], pairs)]
        x = integers(shape)
        expected = np.pad(x, [(0, 0), (0, 0), *pairs], NUMPY_NAMES[mode])
        np.testing.assert_array_equal(pad(x, pairs, mode), expected)


@pytest.mark.parametrize("mode", MODES)
def test_a_negative_end_moves_the_window_on_the_same_line(mode: str) -> None:
    """Cell p of the line, inside or out, is what the definition by loops says."""
    for shape, pairs in random_paddings(mode, 60, low=-7, high=8):
        x = integers(shape)
        expected = np.zeros([*shape[:2], *(i + lo + hi for i, (lo, hi) in zip(shape[2:], pairs))], int)
        for cell in np.ndindex(*expected.shape[2:]):
            found = [oracle.source(p - lo, i, mode) for p, i, (lo, _) in zip(cell, shape[2:], pairs)]
            if None not in found:
                expected[(..., *cell)] = x[(..., *found)]
        np.testing.assert_array_equal(pad(x, pairs, mode), expected)


@pytest.mark.parametrize("mode", MODES)
def test_torchs_pad_and_its_gradient_are_the_same(mode: str) -> None:
    for rank in (1, 2, 3):
        sizes, pairs = (5, 4, 3)[:rank], [(2, 1), (0, 3), (2, 0)][:rank]
        x = integers((2, 3, *sizes)).astype(float)
        tensor = torch.tensor(x, requires_grad=True)
        theirs = torch.nn.functional.pad(
            tensor, [end for pair in reversed(pairs) for end in pair], mode.replace("zeros", "constant")
        )
        np.testing.assert_array_equal(pad(x, pairs, mode), theirs.detach())
        g = integers(tuple(theirs.shape), 1).astype(float)
        theirs.backward(torch.tensor(g))
        np.testing.assert_array_equal(pad_adjoint(g, pairs, mode), tensor.grad)


@pytest.mark.parametrize("mode", MODES)
def test_the_adjoint_is_one_exactly(mode: str) -> None:
    """<pad(x), y> = <x, pad_adjoint(y)> for all x and y, also where ends are negative."""
    for seed, (shape, pairs) in enumerate(random_paddings(mode, 60, low=-7, high=8)):
        x = integers(shape, seed)
        padded = pad(x, pairs, mode)
        y = integers(padded.shape, seed + 1)
        assert oracle.inner(padded, y) == oracle.inner(x, pad_adjoint(y, pairs, mode))


@pytest.mark.parametrize("mode", MODES)
def test_each_is_the_others_derivative(mode: str) -> None:
    x, y = integers((2, 3, 4)), integers((2, 3, 9), 1)
    output, pullback = vjp(pad, x, padding=[(2, 3)], mode=mode)
    np.testing.assert_array_equal(output, pad(x, [(2, 3)], mode))
    np.testing.assert_array_equal(pullback(y)[0], pad_adjoint(y, [(2, 3)], mode))
    output, pullback = vjp(pad_adjoint, y, padding=[(2, 3)], mode=mode)
    np.testing.assert_array_equal(output, pad_adjoint(y, [(2, 3)], mode))
    np.testing.assert_array_equal(pullback(x)[0], pad(x, [(2, 3)], mode))


def test_all_but_zeros_conserve_the_total() -> None:
    g = integers((1, 1, 30))
    totals = {mode: int(pad_adjoint(g, [(11, 14)], mode).sum()) for mode in MODES}
    inside = int(g[..., 11:16].sum())
    assert totals == {"zeros": inside, "reflect": g.sum(), "replicate": g.sum(), "circular": g.sum()}


@pytest.mark.parametrize("padding", [2, (2,), [(2, 2)], [2], np.array([2]), np.int64(2)], ids=repr)
def test_the_forms_of_a_padding(padding) -> None:
    np.testing.assert_array_equal(
        pad(np.array([[[1, 2, 3]]]), padding, "circular"), [[[2, 3, 1, 2, 3, 1, 2]]]
    )


def test_a_sequence_names_the_last_axes_and_an_int_all_but_the_first_two() -> None:
    x = np.arange(4).reshape(2, 2)
    assert pad(x, [(0, 1)], "replicate").tolist() == [[0, 1, 1], [2, 3, 3]]
    assert pad(x, [(1, 0), (0, 0)]).tolist() == [[0, 0], [0, 1], [2, 3]]
    assert pad(np.ones((1, 1, 1, 2)), 1).shape == (1, 1, 3, 4)


KINDS = [np.uint8, np.int64, bool, np.float16, np.float64, np.complex64, object, "U3", "S2", ">f4", "M8[s]"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_any_kind_of_array_keeps_its_kind(kind, mode: str) -> None:
    x = np.array([[[1, 0, 2]]]).astype(kind)
    y = pad(x, [(1, 2)], mode)
    expected = np.pad(x, [(0, 0), (0, 0), (1, 2)], NUMPY_NAMES[mode])
    if mode == "zeros":  # NumPy's zero of text is "0"; npconv's is the kind's own empty value
        expected[..., :1] = expected[..., 4:] = np.zeros((), x.dtype)
    assert y.dtype == x.dtype and y.tolist() == expected.tolist()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["?", "i1", "u2", ">i4", "i8", "u8", "f2", ">f4", "f8", "c8"])
def test_its_derivatives_keep_the_kind_where_nothing_is_added(kind, mode: str) -> None:
    """Values and tangents are padded arrays; a pullback adds, and integers then are int64."""
    x = np.array([[[1, 0, 3]]]).astype(kind)
    if kind == "u8":
        x[..., 0] = 2**64 - 1  # which int64 does not hold
    due = pad(x, [(1, 2)], mode)
    value, pullback = vjp(pad, x, padding=[(1, 2)], mode=mode)
    again, tangent = jvp(pad, (x,), (x,), padding=[(1, 2)], mode=mode)
    padded = [value, again, tangent]
    if kind != "u8":
        gradient, second = vjp(pullback, due)
        padded += second((x,))
        assert gradient[0].dtype == pad_adjoint(due, [(1, 2)], mode).dtype
    for found in padded:
        assert found.dtype == due.dtype and np.array_equal(found, due)


@pytest.mark.parametrize(
    "function", [pad, pad_adjoint, lambda x, p, mode: vjp(pad, x, padding=p, mode=mode)[0]]
)
@pytest.mark.parametrize("mode", MODES)
def test_the_result_is_never_the_input_itself(function, mode: str) -> None:
    x = np.ones((1, 1, 3), np.int64)
    assert not np.shares_memory(function(x, 0, mode), x)


def test_a_float16_sum_of_many_copies_rounds_once() -> None:
    """4097 ones go back to the one cell; a running float16 sum would stick at 2048."""
    assert pad_adjoint(np.ones((1, 1, 4097), np.float16), [(0, 4096)], "replicate").tolist() == [[[4096]]]


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_a_float32_sum_of_many_copies_does_not_stick_at_2_to_the_24(kind) -> None:
    g = np.ones((1, 1, 2**24 + 4), kind)
    assert pad_adjoint(g, [(0, 2**24 + 3)], "replicate").tolist() == [[[2**24 + 4]]]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_a_float32_sum_rounds_once(mode: str) -> None:
    """Sums of so few float32 numbers of one size are exact in float64; those of integers are in any kind."""
    whole = np.random.default_rng(8).integers(2**23, 2**24, (1, 2, 400))
    found = pad_adjoint(whole.astype(np.float32), [(190, 203)], mode)
    assert np.array_equal(found, pad_adjoint(whole, [(190, 203)], mode).astype(np.float32))


def test_an_integer_sum_is_exact_or_an_error() -> None:
    g = np.array([[[2**62, 2**62 - 1, 1]]])
    assert pad_adjoint(g[..., :2], [(0, 1)], "replicate").tolist() == [[[2**63 - 1]]]
    with pytest.raises(OverflowError, match=f"a sum is {2**63}"):
        pad_adjoint(g, [(0, 2)], "replicate")
    assert pad_adjoint(-2 * g[..., :1], 0).tolist() == [[[-(2**63)]]]


@pytest.mark.parametrize("mode", ["replicate", "circular"])
def test_one_element_is_copied_everywhere(mode: str) -> None:
    assert pad(np.array([[[7]]]), [(2, 3)], mode).tolist() == [[[7] * 6]]


def test_empty_arrays() -> None:
    for mode in MODES:
        assert pad(np.ones((0, 2, 3)), 1, mode).shape == (0, 2, 5)
        assert pad_adjoint(np.ones((0, 2, 5)), 1, mode).shape == (0, 2, 3)
        assert pad(np.ones((1, 2, 0)), 0, mode).shape == (1, 2, 0)
        assert pad(np.ones((1, 2, 3)), [(-1, -2)], mode).shape == (1, 2, 0)
        assert pad_adjoint(np.ones((1, 2, 0)), [(-1, -2)], mode).tolist() == [[[0] * 3] * 2]
    assert pad(np.ones((1, 1, 0)), 1).tolist() == [[[0, 0]]]


ERRORS = [
    (
        ((1, 1, 1), 1, "reflect"),
        ValueError,
        "padding_mode: 'reflect' on spatial axis 0 of size 1 has nothing to copy; it needs size 2 or more",
    ),
    (((1, 1, 3, 0), [(0, 0), (0, 1)], "replicate"), ValueError, "'replicate' on spatial axis 1 of size 0"),
    (((1, 1, 0), 1, "circular"), ValueError, "'circular' on spatial axis 0 of size 0"),
    (
        ((1, 1, 3), 1, "edge"),
        ValueError,
        "padding_mode: 'edge' is not one of 'zeros', 'reflect', 'replicate', 'circular'",
    ),
    (((1, 1, 3), [(-2, -2)], "zeros"), ValueError, "padding: on spatial axis 0 it crops 4 of 3 elements"),
    (((1, 1, 3), [(-2, -2)], "reflect"), ValueError, "padding: on spatial axis 0 it crops 4 of 3 elements"),
    (((1, 1, 3), "same", "zeros"), TypeError, "padding: it is 'same'; without a weight it must be integers"),
    (((1, 1, 3), 1.5, "zeros"), TypeError, "padding: it is 1.5, a float"),
    (((1, 1, 3), [(1, 2, 3)], "zeros"), ValueError, "a pair has two numbers"),
    (((3,), [1, 1], "zeros"), ValueError, "padding: it names 2 spatial axes of an array with 1 axes"),
    (((3, 3), 1, "zeros"), ValueError, "padding: it names 0 spatial axes of an array with 2 axes"),
]


@pytest.mark.parametrize("arguments, kind, message", ERRORS, ids=lambda v: str(v)[:50])
def test_errors_say_the_rule_and_the_numbers(arguments, kind, message) -> None:
    shape, padding, mode = arguments
    with pytest.raises(kind) as raised:
        pad(np.ones(shape), padding, mode)
    assert message in str(raised.value)


def test_a_result_smaller_than_its_border_cannot_have_been_padded() -> None:
    with pytest.raises(ValueError, match=r"padding: .* cannot have given a result of shape \(1, 1, 3\)"):
        pad_adjoint(np.ones((1, 1, 3)), 2)
    with pytest.raises(TypeError, match="grad_output: its dtype is <U1; it must hold integers"):
        pad_adjoint(np.array([[["a", "b"]]]), 0)


def test_the_table_of_sources_is_the_table_of_the_loops() -> None:
    for mode, of in SOURCES.items():
        for i in range(2, 6):
            line = range(-13, 14)
            assert of(np.array(line), i).tolist() == [oracle.source(p, i, mode) for p in line]


# ---------------------------------------------------------------- on the convolutions


@pytest.mark.filterwarnings(
    "ignore:Using padding='same' with even kernel:UserWarning"
)  # torch, of its own copy
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", [1, (2, 0), (3, 4), "same", "valid"], ids=str)
def test_torchs_conv2d_module_is_matched(mode: str, padding) -> None:
    """Output and gradients; "same" of an even extent pads the odd cell at the end in both."""
    stride = 1 if padding == "same" else (2, 1)
    module = torch.nn.Conv2d(
        4, 6, (2, 3), stride, padding, dilation=(3, 1), groups=2, padding_mode=mode, dtype=torch.float64
    )
    x, w, bias = (
        integers(shape, n).astype(float) for n, shape in enumerate([(2, 4, 5, 6), (6, 2, 2, 3), (6,)])
    )
    with torch.no_grad():
        module.weight.copy_(torch.tensor(w))
        module.bias.copy_(torch.tensor(bias))
    tensor = torch.tensor(x, requires_grad=True)
    theirs = module(tensor)
    g = integers(tuple(theirs.shape), 3).astype(float)
    theirs.backward(torch.tensor(g))
    parameters = dict(stride=stride, padding=padding, dilation=(3, 1), groups=2, padding_mode=mode)
    np.testing.assert_array_equal(npconv.conv2d(x, w, bias, **parameters), theirs.detach())
    expected = (tensor.grad, module.weight.grad, module.bias.grad)
    for ours, theirs in zip(npconv.conv2d_backward(g, x, w, **parameters), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "module, sizes", [(torch.nn.Conv1d, (7,)), (torch.nn.Conv3d, (4, 5, 3))], ids=["1-D", "3-D"]
)
@pytest.mark.parametrize("mode", MODES)
def test_torchs_other_modules_are_matched(mode: str, module, sizes) -> None:
    layer = module(2, 3, 3, stride=2, padding=2, padding_mode=mode, dtype=torch.float64)
    x, w, bias = (
        integers(s, n).astype(float) for n, s in enumerate([(1, 2, *sizes), (3, 2, *[3] * len(sizes)), (3,)])
    )
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(w))
        layer.bias.copy_(torch.tensor(bias))
        theirs = layer(torch.tensor(x))
    np.testing.assert_array_equal(npconv.conv(x, w, bias, 2, 2, padding_mode=mode), theirs)


@pytest.mark.parametrize("mode", MODES)
def test_a_padding_mode_is_pad_and_then_the_convolution(mode: str) -> None:
    """With every function that takes the mode, without a batch axis, and one order up."""
    x, w, bias = integers((2, 5)), integers((4, 1, 3)), integers((4,))
    pairs, rest = [(3, 4)], dict(stride=2, dilation=2, groups=2)
    padded = pad(x, pairs, mode)
    y = npconv.conv(x, w, bias, padding=pairs, padding_mode=mode, **rest)
    np.testing.assert_array_equal(y, npconv.conv(padded, w, bias, **rest))
    g, a, b, c = (integers(s, n) for n, s in enumerate([y.shape, x.shape, w.shape, bias.shape], start=4))
    inner = npconv.conv_backward(g, padded, w, **rest)
    expected = (pad_adjoint(inner.input, pairs, mode), inner.weight, inner.bias)
    parameters = dict(padding=pairs, padding_mode=mode, **rest)
    for ours, theirs in zip(npconv.conv_backward(g, x, w, **parameters), expected):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(vjp(npconv.conv, x, w, bias, **parameters)[1](g), expected):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(npconv.conv_input(x.shape, w, g, **parameters), expected[0])
    np.testing.assert_array_equal(npconv.conv_weight(x, w.shape, g, **parameters), expected[1])
    second = npconv.conv_double_backward(a, b, c, g, x, w, **parameters)
    inside = npconv.conv_double_backward(pad(a, pairs, mode), b, c, g, padded, w, **rest)
    np.testing.assert_array_equal(second.grad_output, inside.grad_output)
    np.testing.assert_array_equal(second.input, pad_adjoint(inside.input, pairs, mode))
    np.testing.assert_array_equal(second.weight, inside.weight)


def test_a_mode_without_meaning_is_an_error_of_the_convolution() -> None:
    with pytest.raises(ValueError, match="'reflect' on spatial axis 0 of size 1"):
        npconv.conv(np.ones((1, 1, 1)), np.ones((1, 1, 1)), padding=1, padding_mode="reflect")
    with pytest.raises(ValueError, match="padding_mode: 'wrap' is not one of"):
        npconv.conv_backward(np.ones((1, 1, 3)), np.ones((1, 1, 3)), np.ones((1, 1, 1)), padding_mode="wrap")


def test_a_form_that_is_kept_keeps_nothing_as_long_as_the_input():
    w = np.ones((1, 1, 3))
    conv1d(np.zeros((1, 1, 10**5)), w, padding=1, padding_mode="reflect")
    tracemalloc.start()
    try:
        for extra in range(20):
            conv1d(np.zeros((1, 1, 10**5 + extra)), w, padding=1, padding_mode="reflect")
        assert tracemalloc.get_traced_memory()[0] < 4 * 10**6  # the indices of all would take 16 * 10**6
    finally:
        tracemalloc.stop()
