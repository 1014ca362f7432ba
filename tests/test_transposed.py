"""Transposed convolutions, against plain loops, PyTorch, and the convolution that they transpose."""

import itertools
import random

import numpy as np
import oracle
import pytest
import torch
import torch_oracle
from geometries import TRANSPOSED, Case, random_transposed, small_integers, transposed

import npconv
from npconv import conv, conv_input, conv_transpose, conv_transpose_backward, vjp
from npconv.functional import conv_form
from npconv.transposed import conv_transpose_form

FUNCTIONS = {rank: getattr(npconv, f"conv_transpose{rank}d") for rank in (1, 2, 3)}
BACKWARD = {rank: getattr(npconv, f"conv_transpose{rank}d_backward") for rank in (1, 2, 3)}
EMPTY = [
    transposed("empty batch", (3, 2), 2, s=2, op=1, N=0, C=2, O=3),
    transposed("zero input channels", (3, 2), 2, s=2, C=0, O=2),
    transposed("zero output channels", (3, 2), 2, s=2, C=2, O=0),
]


def integers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, shape)


def grad_gradients(case: Case, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [small_integers(rng, shape) for shape in (case.input_shape, case.weight_shape, (case.O,))]


def assert_equals_torch(case: Case, seed: int) -> None:
    """Output, all gradients and all second gradients, exactly: the data are small integers."""
    x, w, bias, g = arrays = case.arrays(seed)
    into = grad_gradients(case, seed + 1)
    expected = torch_oracle.answers(case, arrays, into)
    np.testing.assert_array_equal(FUNCTIONS[case.rank](x, w, bias, **case.parameters), expected.output)
    gradients, pullback = vjp(BACKWARD[case.rank], g, x, w, **case.parameters)
    for ours, theirs in zip(gradients + pullback(*into), expected.gradients + expected.second, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("case", [*TRANSPOSED, *EMPTY], ids=str)
def test_the_output_is_what_painting_cell_by_cell_gives(case: Case) -> None:
    x, w, bias, _ = case.arrays(seed=1)
    painted = oracle.transposed_output(x, w, bias, **case.parameters)
    np.testing.assert_array_equal(conv_transpose(x, w, bias, **case.parameters), painted.astype(float))


@pytest.mark.parametrize("case", [*TRANSPOSED, EMPTY[0]], ids=str)
def test_output_and_gradients_of_both_orders_equal_torch(case: Case) -> None:
    assert_equals_torch(case, seed=2)


@pytest.mark.parametrize("case", EMPTY[1:], ids=str)
def test_without_channels_gradients_are_empty_or_zero(case: Case) -> None:
    """torch refuses these."""
    x, w, _, g = case.arrays(seed=3)
    gradients = conv_transpose_backward(g, x, w, **case.parameters)
    assert [a.shape for a in gradients] == [x.shape, w.shape, (case.O,)]
    assert not gradients.input.any() and not gradients.weight.any()
    assert gradients.bias.tolist() == g.sum(axis=(0, 2, 3)).tolist()


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_random_geometries_equal_torch(rank: int) -> None:
    """The padding differs by end and crops at times; the dilation is often larger than the stride."""
    for seed, case in enumerate(random_transposed(seed=100 + rank, count=200, ranks=(rank,))):
        assert_equals_torch(case, seed)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_torch_reads_padding_and_output_padding_in_the_same_way(rank: int) -> None:
    """Here torch's own arguments are used, with every output_padding that is legal."""
    function = torch_oracle.CONV_TRANSPOSE[rank]
    x, w, bias = (small_integers(np.random.default_rng(n), s) for n, s in enumerate([
        (2, 4, *(3, 2, 4)[:rank]), (4, 3, *(2, 3, 1)[:rank]), (6,),
    ]))  # fmt: skip
    for s, d in [(1, 1), (3, 1), (2, 4), (1, 3), (2, 2)]:
        for extra, p in itertools.product(range(max(s, d)), (0, 1)):
            theirs = function(*map(torch.tensor, (x, w, bias)), s, p, extra, 2, d)
            np.testing.assert_array_equal(FUNCTIONS[rank](x, w, bias, s, p, extra, 2, d), theirs)


def test_cells_of_the_output_padding_are_computed() -> None:
    """Stride 1, dilation 3: the first extra cell is one that the padding had cut, and holds 1 * 2."""
    x, w = np.array([[[1]]]), np.array([[[5, 2]]])
    assert conv_transpose(x, w, dilation=3, padding=1)[0, 0].tolist() == [0, 0]
    assert conv_transpose(x, w, dilation=3, padding=1, output_padding=1)[0, 0].tolist() == [0, 0, 2]
    assert conv_transpose(x, w, dilation=3, padding=1, output_padding=2)[0, 0].tolist() == [0, 0, 2, 0]


@pytest.mark.parametrize("padding", ["same", "same_lower"])
def test_same_is_the_adjoint_of_the_same_convolution(padding: str) -> None:
    """<conv_transpose(a, w), b> = <a, conv(b, w)> with the one word on both sides."""
    rng = random.Random(3)
    for seed in range(150):
        rank = rng.choice((1, 2))
        N, G = rng.choice((1, 2)), rng.choice((1, 2))
        stride, taps, dilation, sizes = ([rng.randint(1, most) for _ in range(rank)] for most in (5, 4, 3, 4))
        a, w = integers((N, 2 * G, *sizes), seed), integers((2 * G, 3, *taps), seed + 1)
        parameters = dict(stride=stride, padding=padding, dilation=dilation, groups=G)
        y = conv_transpose(a, w, **parameters)
        assert y.shape == (N, 3 * G, *(s * i for s, i in zip(stride, sizes)))
        b = integers(y.shape, seed + 2)
        assert oracle.inner(y, b) == oracle.inner(a, conv(b, w, **parameters))


@pytest.mark.parametrize("padding", ["same", "same_lower"])
@pytest.mark.parametrize("stride, taps, dilation", [(2, 3, 1), (4, 2, 1), (3, 5, 2), (5, 1, 1)])
def test_same_with_an_output_size_is_the_adjoint_at_that_size(padding, stride, taps, dilation) -> None:
    """ceil(size / stride) = 3 for `stride` sizes; each has its own "same" convolution."""
    w = integers((2, 1, taps))
    for size in range(2 * stride + 1, 3 * stride + 1):
        parameters = dict(stride=stride, padding=padding, dilation=dilation)
        a, b = integers((1, 2, 3), 1), integers((1, 1, size), 2)
        y = conv_transpose(a, w, output_size=size, **parameters)
        assert y.shape == b.shape
        assert oracle.inner(y, b) == oracle.inner(a, conv(b, w, **parameters))


def test_valid_is_no_padding() -> None:
    x, w = integers((1, 2, 3)), integers((2, 1, 2))
    np.testing.assert_array_equal(conv_transpose(x, w, padding="valid"), conv_transpose(x, w))


@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
def test_it_is_the_input_gradient_read_forwards(case: Case) -> None:
    """Where output_padding is below the stride, a convolution of the output's size has this gradient."""
    x, w, _, _ = case.arrays(seed=4)
    if all(extra < s for extra, s in zip(case.output_padding, case.stride)):
        parameters = {k: v for k, v in case.parameters.items() if k != "output_padding"}
        expected = conv_input(case.output_shape, w, x, **parameters)
    else:  # more was added than any convolution leaves unread: those cells lie behind the others
        fitted = {**case.parameters, "output_padding": 0, "padding": [
            (lo, hi - extra) for (lo, hi), extra in zip(case.padding, case.output_padding)
        ]}  # fmt: skip
        expected = conv_transpose(x, w, **fitted)
    np.testing.assert_array_equal(conv_transpose(x, w, **case.parameters), expected)


@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
def test_one_number_three_ways(case: Case) -> None:
    x, w, _, g = case.arrays(seed=5)
    y = conv_transpose(x, w, **case.parameters)
    gradients = conv_transpose_backward(g, x, w, **case.parameters)
    number = oracle.inner(y, g)
    assert number == oracle.inner(x, gradients.input) == oracle.inner(w, gradients.weight)


@pytest.mark.parametrize(
    "shape_of", [lambda c: c.sizes, lambda c: c.output_shape], ids=["sizes", "whole shape"]
)
@pytest.mark.parametrize("case", TRANSPOSED, ids=str)
def test_output_size_stands_for_the_output_padding_that_gives_it(case: Case, shape_of) -> None:
    x, w, bias, g = case.arrays(seed=6)
    by_size = {k: v for k, v in case.parameters.items() if k != "output_padding"} | {
        "output_size": shape_of(case)
    }
    expected = conv_transpose(x, w, bias, **case.parameters)
    np.testing.assert_array_equal(conv_transpose(x, w, bias, **by_size), expected)
    for ours, theirs in zip(
        conv_transpose_backward(g, x, w, **by_size), conv_transpose_backward(g, x, w, **case.parameters)
    ):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("sizes", list(itertools.product((5, 6), (9, 10, 11))))
def test_output_size_is_that_of_torchs_module(sizes: tuple[int, int]) -> None:
    module = torch.nn.ConvTranspose2d(4, 6, (3, 2), stride=(2, 3), padding=1, groups=2, dtype=torch.float64)
    w, bias = small_integers(np.random.default_rng(7), (4, 3, 3, 2)), np.arange(6.0)
    with torch.no_grad():
        module.weight.copy_(torch.tensor(w))
        module.bias.copy_(torch.tensor(bias))
    x = small_integers(np.random.default_rng(8), (2, 4, 3, 4))
    theirs = module(torch.tensor(x), output_size=sizes).detach().numpy()
    ours = npconv.conv_transpose2d(x, w, bias, (2, 3), 1, groups=2, output_size=sizes)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "extra", [{}, {"output_size": 8}, {"output_size": (1, 8)}, {"padding": "same"}], ids=str
)
def test_without_a_batch_axis_it_is_the_only_sample(extra: dict) -> None:
    parameters = {"stride": 2, "padding": 1, **extra}
    x, w, bias = integers((2, 4)), integers((2, 1, 3)), integers((1,))
    batched = {**parameters}
    if parameters.get("output_size") == (1, 8):
        batched["output_size"] = (1, 1, 8)
    y = conv_transpose(x[None], w, bias, **batched)
    g = integers(y.shape, 9)
    np.testing.assert_array_equal(conv_transpose(x, w, bias, **parameters), y[0])
    alone = conv_transpose_backward(g[0], x, w, **parameters)
    together = conv_transpose_backward(g, x[None], w, **batched)
    np.testing.assert_array_equal(alone.input, together.input[0])
    np.testing.assert_array_equal(alone.weight, together.weight)
    np.testing.assert_array_equal(alone.bias, together.bias)


ERRORS = [
    (
        dict(stride=2, output_padding=2),
        ValueError,
        "output_padding: on spatial axis 0 it is 2, but it must be "
        "smaller than the larger of stride and dilation, 2",
    ),
    (dict(output_padding=-1), ValueError, "output_padding: it is -1, but it must be 0 or more"),
    (dict(output_padding=1.0), TypeError, "output_padding: it is 1.0, a float"),
    (dict(padding=3), ValueError, "padding: on spatial axis 0 the output would have size 0; pad less"),
    (dict(stride=0), ValueError, "stride: it is 0, but it must be 1 or more"),
    (dict(dilation=0), ValueError, "dilation: it is 0, but it must be 1 or more"),
    (dict(groups=3), ValueError, "groups: 3 must divide the input's 2 channels"),
    (
        dict(stride=2, output_size=12),
        ValueError,
        "output_size: on spatial axis 0 it is 12, but this stride, "
        "padding and dilation reach only sizes 9 to 10",
    ),
    (dict(stride=2, output_size=8), ValueError, "reach only sizes 9 to 10"),
    (dict(output_size=(6, 6)), ValueError, "output_size: 2 values for 1 spatial axes"),
    (
        dict(output_size=6, output_padding=1, dilation=2),
        ValueError,
        "output_padding: 1 cannot be given together with output_size",
    ),
    (
        dict(padding="same", output_padding=1, stride=2),
        ValueError,
        "output_padding: 1 cannot be given together",
    ),
    (dict(padding="circular"), ValueError, "padding: 'circular' is not one of 'valid', 'same', 'same_lower'"),
]


@pytest.mark.parametrize("parameters, kind, message", ERRORS, ids=lambda v: str(v)[:50])
def test_errors_say_the_rule_and_the_numbers(parameters: dict, kind: type, message: str) -> None:
    x, w = integers((1, 2, 4)), integers((2, 1, 3))
    for function in (
        lambda: conv_transpose(x, w, **parameters),
        lambda: conv_transpose_backward(np.ones((1, 1, 6)), x, w, **parameters),
        lambda: vjp(conv_transpose, x, w, **parameters),
    ):
        with pytest.raises(kind) as raised:
            function()
        assert message in str(raised.value)
        assert "called with input (1, 2, 4), weight (2, 1, 3)" in str(raised.value)


def test_weight_bias_and_grad_output_must_fit() -> None:
    x, w = integers((1, 2, 4)), integers((2, 1, 3))
    with pytest.raises(ValueError, match=r"weight: its axis 0 has size 3, but input has 2 channels"):
        conv_transpose(x, integers((3, 1, 3)))
    with pytest.raises(ValueError, match=r"bias: its shape is \(2,\), but .* must be \(1,\)"):
        conv_transpose(x, w, integers((2,)))
    with pytest.raises(ValueError, match=r"grad_output: its shape is \(1, 1, 5\), but .* \(1, 1, 6\)"):
        conv_transpose_backward(integers((1, 1, 5)), x, w)
    with pytest.raises(ValueError, match=r"weight: it has 3 axes, but with 2 spatial axes it must have 4"):
        npconv.conv_transpose2d(x, w)
    with pytest.raises(ValueError, match=r"input: it has 1 axes"):
        conv_transpose(x[0, 0], w)


# ---------------------------------------------------------------- what is kept between calls


@pytest.mark.parametrize(
    "form, x, w", [(conv_form, (1, 2, 7), (4, 2, 3)), (conv_transpose_form, (1, 4, 3), (4, 2, 3))]
)
def test_the_form_of_equal_arguments_is_made_once(form, x, w) -> None:
    assert form(x, w, 2) is form(x, w, 2)
    assert form(x, w, 2) is not form(x, w, 1)


@pytest.mark.parametrize("function", [conv, conv_transpose])
@pytest.mark.parametrize("equal", [True, 1.0])
def test_what_equals_a_stride_is_not_one(function, equal) -> None:
    x, w = integers((1, 1, 4)), integers((1, 1, 3))
    function(x, w, stride=1)
    for stride in (equal, (equal,)):
        with pytest.raises(TypeError, match="stride.*it must be an integer"):
            function(x, w, stride=stride)
