"""Derivatives of every function and every order: exact difference quotients, inner products, PyTorch.

Every map is linear in each of its arrays, so on integers the central difference with step 1 is the
derivative itself, not an approximation of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import oracle
import pytest
import torch
import torch_oracle

import npconv
from npconv import (
    conv1d,
    conv1d_backward,
    conv1d_double_backward,
    conv1d_input,
    conv2d,
    derivatives,
    jvp,
    rules,
    vjp,
)
from npconv.trilinear import Rule

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Sample:
    """One function with the shapes of its arrays and its parameters."""

    name: str
    function: Callable[..., Any]
    shapes: tuple[Shape, ...]
    parameters: dict[str, Any]

    @property
    def map(self) -> Callable[..., Any]:
        """The function of any rank, where this is the one of a fixed rank."""
        return getattr(self.function, "__wrapped__", self.function)

    @property
    def rule(self) -> Rule:
        return derivatives.PROBLEMS[self.map][0]

    def arrays(self, seed: int = 0) -> list[np.ndarray]:
        return [integers(shape, seed + n) for n, shape in enumerate(self.shapes)]

    def __str__(self) -> str:
        return self.name


def integers(shape: Shape, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, shape)


def gaussian(shape: Shape, seed: int = 0) -> np.ndarray:
    return integers(shape, seed) + 1j * integers(shape, seed + 1000)


X, W, B, G = (2, 4, 6), (6, 2, 3), (6,), (2, 6, 3)  # stride 2, padding (1, 0): o = 3, remainder 0
STRIDED = dict(stride=2, padding=[(1, 0)], groups=2)
X2, W2, G2 = (1, 2, 5, 6), (3, 2, 2, 3), (1, 3, 3, 2)  # stride (2, 3), padding 1: remainders 1 and 2
PLANE = dict(stride=(2, 3), padding=1)
XT, WT, BT, GT = (2, 4, 3), (4, 3, 2), (6,), (2, 6, 7)  # stride 2, dilation 3, output_padding 2 beyond s - 1
TRANSPOSED = dict(stride=2, padding=[(1, 2)], output_padding=2, groups=2, dilation=3)
GENERAL = dict(
    window_strides=(2,), padding=[(-1, 3)], lhs_dilation=(3,), rhs_dilation=(2,), batch_group_count=2
)
NAMES = dict(dimension_numbers=("NWC", "WIO", "CNW"))

SAMPLES = [
    Sample("conv", npconv.conv, (X, W, B), STRIDED),
    Sample("conv without bias", npconv.conv, (X, W), STRIDED),
    Sample(
        "conv, reflect, no batch axis", npconv.conv, (X[1:], W, B), {**STRIDED, "padding_mode": "reflect"}
    ),
    Sample("conv2d", conv2d, (X2, W2, (3,)), PLANE),
    Sample("conv2d, same", conv2d, (X2, W2), dict(stride=2, padding="same", dilation=2)),
    Sample(
        "conv3d",
        npconv.conv3d,
        ((1, 2, 3, 4, 5), (2, 1, 2, 2, 2), (2,)),
        dict(stride=(1, 2, 3), padding=1, groups=2),
    ),
    Sample("conv_input", npconv.conv_input, (W, G), {**STRIDED, "input_size": X}),
    Sample(
        "conv_input, circular",
        npconv.conv_input,
        (W, G),
        {**STRIDED, "input_size": X, "padding_mode": "circular"},
    ),
    Sample("conv2d_input", npconv.conv2d_input, (W2, G2), {**PLANE, "input_size": X2}),
    Sample("conv_weight", npconv.conv_weight, (X, G), {**STRIDED, "weight_size": W}),
    Sample("conv2d_weight", npconv.conv2d_weight, (X2, G2), {**PLANE, "weight_size": W2}),
    Sample("conv_bias", npconv.conv_bias, (G,), {}),
    Sample("conv1d_bias, no batch axis", npconv.conv1d_bias, (G[1:],), {}),
    Sample("conv_backward", npconv.conv_backward, (G, X, W), STRIDED),
    Sample(
        "conv_backward, replicate", npconv.conv_backward, (G, X, W), {**STRIDED, "padding_mode": "replicate"}
    ),
    Sample("conv2d_backward", npconv.conv2d_backward, (G2, X2, W2), PLANE),
    Sample("conv_double_backward", npconv.conv_double_backward, (X, W, B, G, X, W), STRIDED),
    Sample("conv_transpose", npconv.conv_transpose, (XT, WT, BT), TRANSPOSED),
    Sample(
        "conv_transpose1d, no batch axis, output_size",
        npconv.conv_transpose1d,
        ((2, 4), (2, 1, 3)),
        dict(stride=2, padding=1, output_size=8),
    ),
    Sample("conv_transpose_backward", npconv.conv_transpose_backward, (GT, XT, WT), TRANSPOSED),
    Sample("conv_general_dilated", npconv.conv_general_dilated, ((4, 2, 4), (6, 2, 2)), GENERAL),
    Sample(
        "conv_general_dilated, layout",
        npconv.conv_general_dilated,
        ((4, 4, 2), (2, 2, 6)),
        {**GENERAL, **NAMES},
    ),
    Sample("pad", npconv.pad, ((2, 1, 3, 4),), dict(padding=[(2, 1), (-1, 5)], mode="reflect")),
    Sample("pad with zeros", npconv.pad, ((2, 1, 3),), dict(padding=2)),
    Sample(
        "pad_adjoint", npconv.pad_adjoint, ((2, 1, 6, 8),), dict(padding=[(2, 1), (-1, 5)], mode="circular")
    ),
    Sample("pad_adjoint with zeros", npconv.pad_adjoint, ((2, 1, 6),), dict(padding=2)),
]

every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)


def as_tuple(results: Any) -> tuple[np.ndarray, ...]:
    return tuple(results) if isinstance(results, tuple) else (results,)


def assert_same(ours: Any, theirs: Any) -> None:
    for a, b in zip(as_tuple(ours), as_tuple(theirs), strict=True):
        np.testing.assert_array_equal(a, b)


def total_inner(first: Any, second: Any) -> Any:
    """The sum of the inner products of the arrays of two tuples, in Python numbers."""
    return sum(oracle.inner(a, b) for a, b in zip(as_tuple(first), as_tuple(second), strict=True))


def cotangents_of(results: Any, seed: int) -> tuple[np.ndarray, ...]:
    return tuple(integers(result.shape, seed + n) for n, result in enumerate(as_tuple(results)))


def test_every_public_map_has_a_sample() -> None:
    maps = {sample.map for sample in SAMPLES}
    assert maps == set(derivatives.PROBLEMS)
    public = {getattr(npconv, name) for name in npconv.__all__} - {vjp, jvp, npconv.conv_integer}
    assert {getattr(f, "__wrapped__", f) for f in public} == maps


@every_sample
def test_the_value_is_that_of_the_function(sample: Sample) -> None:
    arrays = sample.arrays()
    expected = sample.function(**dict(zip(sample.rule.arrays, arrays)), **sample.parameters)
    value, pullback = vjp(sample.function, *arrays, **sample.parameters)
    assert type(value) is type(expected)
    assert_same(value, expected)
    value, _ = jvp(sample.function, arrays, arrays, **sample.parameters)
    assert type(value) is type(expected)
    assert_same(value, expected)


def directional(sample: Sample, arrays: list[np.ndarray], number: int, direction: np.ndarray) -> Any:
    """f(a + t) - f(a - t) for one of the arrays; twice the derivative, as f is linear in it."""
    ahead, behind = (
        [a + sign * direction if n == number else a for n, a in enumerate(arrays)] for sign in (1, -1)
    )
    values = (as_tuple(vjp(sample.function, *moved, **sample.parameters)[0]) for moved in (ahead, behind))
    return tuple(plus - minus for plus, minus in zip(*values))


@every_sample
def test_jvp_is_the_central_difference_with_step_1(sample: Sample) -> None:
    arrays = sample.arrays()
    for number, shape in enumerate(sample.shapes):
        direction = integers(shape, 50 + number)
        tangents = [direction if n == number else None for n in range(len(arrays))]
        _, tangent = jvp(sample.function, arrays, tangents, **sample.parameters)
        twice = tuple(2 * t for t in as_tuple(tangent))
        assert_same(twice, directional(sample, arrays, number, direction))


@every_sample
def test_vjp_is_the_central_difference_with_step_1(sample: Sample) -> None:
    """Entry by entry for up to 12 entries of each array."""
    arrays = sample.arrays()
    value, pullback = vjp(sample.function, *arrays, **sample.parameters)
    cotangents = cotangents_of(value, 60)
    gradients = pullback(*cotangents)
    for number, gradient in enumerate(gradients):
        assert gradient.shape == arrays[number].shape
        for index in list(np.ndindex(gradient.shape))[:: max(1, gradient.size // 12)]:
            direction = np.zeros(gradient.shape, int)
            direction[index] = 1
            difference = directional(sample, arrays, number, direction)
            assert 2 * gradient[index] == total_inner(cotangents, difference)


@every_sample
def test_vjp_and_jvp_are_transposes_at_every_order(sample: Sample) -> None:
    """<c, jvp(t)> = <vjp(c), t> for the function, its pullback, and the pullback's pullback."""
    function, parameters, arrays = sample.function, sample.parameters, sample.arrays()
    for order in range(3):
        value, pullback = vjp(function, *arrays, **parameters)
        tangents = [integers(a.shape, 70 + order + n) for n, a in enumerate(arrays)]
        cotangents = cotangents_of(value, 80 + order)
        _, tangent = jvp(function, arrays, tangents, **parameters)
        assert total_inner(cotangents, tangent) == total_inner(pullback(*cotangents), tuple(tangents))
        function, parameters, arrays = pullback, {}, [*cotangents, *arrays]


@every_sample
def test_a_pullback_is_a_function_like_any_other(sample: Sample) -> None:
    """Its value under vjp and jvp is what calling it gives, a tuple; one tuple serves as its gradients."""
    arrays = sample.arrays()
    value, pullback = vjp(sample.function, *arrays, **sample.parameters)
    cotangents = cotangents_of(value, 1)
    called = pullback(*cotangents)
    for again in (
        pullback(tuple(cotangents)),
        vjp(pullback, *cotangents)[0],
        vjp(pullback, *cotangents, *arrays)[0],
        jvp(pullback, cotangents, cotangents)[0],
        jvp(pullback, cotangents, cotangents)[1],  # it is linear in them
    ):
        assert type(again) is tuple
        assert_same(again, called)


@every_sample
def test_complex_derivatives_are_of_the_real_part(sample: Sample) -> None:
    """Re<c, jvp(t)> = Re<vjp(c), t>, with all arrays complex and with each in turn real."""
    for real in [None, *range(len(sample.shapes))]:
        arrays = [gaussian(shape, n) for n, shape in enumerate(sample.shapes)]
        tangents = [gaussian(shape, 30 + n) for n, shape in enumerate(sample.shapes)]
        if real is not None:
            arrays[real], tangents[real] = arrays[real].real, tangents[real].real
        value, pullback = vjp(sample.function, *arrays, **sample.parameters)
        cotangents = [gaussian(v.shape, 40 + n) for n, v in enumerate(as_tuple(value))]
        cotangents = [c if v.dtype.kind == "c" else c.real for c, v in zip(cotangents, as_tuple(value))]
        _, tangent = jvp(sample.function, arrays, tangents, **sample.parameters)
        gradients = pullback(*cotangents)
        left = total_inner(tuple(map(np.conj, cotangents)), tangent)
        right = total_inner(tuple(map(np.conj, gradients)), tuple(tangents))
        assert complex(left).real == complex(right).real
        for number, gradient in enumerate(gradients):
            assert number != real or gradient.dtype.kind != "c"


# ---------------------------------------------------------------- against PyTorch, up to the fourth order

ORDERS = [
    (
        "conv, groups and remainder",
        torch_oracle.conv,
        npconv.conv,
        ((2, 4, 6), (6, 2, 2), (6,)),
        dict(stride=(3,), padding=((1, 0),), dilation=(2,), groups=2),
    ),
    (
        "conv, reflect",
        torch_oracle.conv,
        npconv.conv,
        ((1, 2, 4), (3, 2, 2), (3,)),
        dict(stride=(2,), padding=((3, 1),), dilation=(1,), groups=1, padding_mode="reflect"),
    ),
    (
        "conv2d",
        torch_oracle.conv,
        conv2d,
        ((1, 2, 5, 4), (2, 2, 2, 3), (2,)),
        dict(stride=(2, 1), padding=((-1, 2), (1, 1)), dilation=(1, 2), groups=1),
    ),
    (
        "conv3d",
        torch_oracle.conv,
        npconv.conv3d,
        ((1, 2, 3, 4, 3), (2, 1, 2, 2, 1), (2,)),
        dict(stride=(2, 1, 2), padding=((1, 0), (0, 0), (0, 1)), dilation=(1, 2, 1), groups=2),
    ),
    (
        "conv_transpose",
        torch_oracle.conv_transpose,
        npconv.conv_transpose,
        ((2, 4, 3), (4, 3, 2), (6,)),
        dict(stride=(2,), padding=((1, 0),), dilation=(3,), groups=2, output_padding=(2,)),
    ),
    (
        "conv_transpose2d",
        torch_oracle.conv_transpose,
        npconv.conv_transpose2d,
        ((1, 2, 2, 3), (2, 3, 2, 2), (3,)),
        dict(stride=(2, 3), padding=((0, 1), (1, 0)), dilation=(1, 1), groups=1, output_padding=(1, 2)),
    ),
]


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("name, theirs, ours, shapes, parameters", ORDERS, ids=[order[0] for order in ORDERS])
def test_four_orders_equal_torchs(name, theirs, ours, shapes, parameters, kind: str) -> None:
    """torch keeps a tape (create_graph); here vjp is given what vjp gave."""
    draw = integers if kind == "real" else gaussian
    dtype = float if kind == "real" else complex
    arrays = [draw(shape, n).astype(dtype) for n, shape in enumerate(shapes)]
    leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
    results: Any = (theirs(*leaves, **parameters),)
    function, given, options = ours, arrays, parameters
    for order in range(4):
        value, pullback = vjp(function, *given, **options)
        assert_same(value, tuple(r.detach().numpy() for r in results))
        cotangents = [draw(tuple(r.shape), 90 + 10 * order + n).astype(dtype) for n, r in enumerate(results)]
        moving = [torch.tensor(c, requires_grad=True) for c in cotangents]
        results = torch.autograd.grad(results, leaves, moving, create_graph=True, materialize_grads=True)
        function, given, options = pullback, [*cotangents, *given], {}
        leaves = [*moving, *leaves]
    assert_same(function(*given[: function.cotangents]), tuple(r.detach().numpy() for r in results))


def test_double_backward_is_the_pullback_of_backward_and_each_incoming_array_is_optional() -> None:
    g, x, w = (integers(shape, n) for n, shape in enumerate((G, X, W)))
    into = [integers(shape, 5 + n) for n, shape in enumerate((X, W, B))]
    _, pullback = vjp(npconv.conv_backward, g, x, w, **STRIDED)
    for mask in range(8):
        some = [array if mask >> n & 1 else None for n, array in enumerate(into)]
        zeros = [array if mask >> n & 1 else np.zeros_like(array) for n, array in enumerate(into)]
        ours = npconv.conv_double_backward(*some, g, x, w, **STRIDED)
        assert_same(ours, npconv.conv_double_backward(*zeros, g, x, w, **STRIDED))
        assert_same(ours, pullback(*some))
        if mask == 0:
            assert [a.shape for a in ours] == [G, X, W] and not any(a.any() for a in ours)


# ---------------------------------------------------------------- the rules as a table


def written(rule: Rule, renamed: dict[str, str]) -> dict[str, set[Any]]:
    """What a rule computes, one set of terms a result, whatever order they are written in."""
    return {
        s.name: {
            (t.gives, frozenset((role, renamed.get(name, name)) for role, name in t.takes)) for t in s.terms
        }
        for s in rule.sums
    }


def test_backward_is_the_forward_transposed() -> None:
    derived = rules.FORWARD.transposed(("input", "weight", "bias"))
    assert derived.arrays == ("grad_output", *rules.FORWARD.arrays)
    assert written(derived, {}) == written(rules.BACKWARD, {})


def test_double_backward_is_backward_transposed() -> None:
    derived = rules.BACKWARD.transposed(("grad_output", "input", "weight"))
    renamed = {f"grad_{name}": f"grad_grad_{name}" for name in ("input", "weight", "bias")}
    assert tuple(renamed.get(name, name) for name in derived.arrays) == rules.DOUBLE_BACKWARD.arrays
    assert written(derived, renamed) == written(rules.DOUBLE_BACKWARD, {})


def test_the_single_gradients_are_lines_of_backward() -> None:
    lines = written(rules.BACKWARD, {})
    for rule in (rules.INPUT, rules.WEIGHT, rules.BIAS):
        for name, terms in written(rule, {}).items():
            assert terms == lines[name]
            assert set(rule.arrays) == {array for _, takes in terms for _, array in takes}


def test_what_belongs_to_an_array_bears_its_name_there() -> None:
    for rule in (rules.BACKWARD, rules.DOUBLE_BACKWARD):
        assert {s.name: s.belongs_to for s in rule.sums if s.belongs_to} == {
            s.name: s.name for s in rule.sums if s.name in rule.arrays
        }


def test_transposing_closes_on_the_three_maps() -> None:
    """Four orders up, every term still is one of the maps, applied to two arrays (one, for the bias)."""
    rule = rules.FORWARD
    for _ in range(4):
        rule = rule.transposed(rule.arrays)
        assert len(set(rule.arrays)) == len(rule.arrays)
        for s in rule.sums:
            for term in s.terms:
                roles = {term.gives, *(role for role, _ in term.takes)}
                assert roles in ({"input", "weight", "output"}, {"bias", "output"})


# ---------------------------------------------------------------- what users may leave out


def test_an_absent_bias_is_none_at_every_order() -> None:
    x, w, g = integers(X), integers(W, 1), integers(G, 2)
    y, pullback = vjp(npconv.conv, x, w, None, **STRIDED)
    by_x, by_w, by_bias = pullback(g)
    assert by_bias is None
    assert_same((by_x, by_w), npconv.conv_backward(g, x, w, **STRIDED)[:2])
    value, second = vjp(pullback, g, x, w, None)
    assert value[2] is None and len(value) == 3
    a, b = integers(X, 3), integers(W, 4)
    by_g, by_x, by_w, by_bias = second(a, b, None)
    assert by_bias is None
    assert_same((by_g, by_x, by_w), npconv.conv_double_backward(a, b, None, g, x, w, **STRIDED))
    value, _ = vjp(second, a, b, None, g, x, w, None)
    assert value[3] is None and len(value) == 4
    (tangent_x, tangent_w, tangent_bias) = jvp(pullback, (g,), (g,))[1]
    assert tangent_bias is None
    assert_same((tangent_x, tangent_w), pullback(g)[:2])


def test_a_cotangent_or_tangent_of_none_counts_as_zeros() -> None:
    g, x, w = integers(G), integers(X, 1), integers(W, 2)
    _, pullback = vjp(npconv.conv_backward, g, x, w, **STRIDED)
    assert_same(pullback(None, None, None), (np.zeros(G), np.zeros(X), np.zeros(W)))
    _, tangent = jvp(npconv.conv_backward, (g, x, w), (None, None, None), **STRIDED)
    assert_same(tangent, (np.zeros(X), np.zeros(W), np.zeros(B)))
    assert [a.dtype for a in tangent] == [np.int64] * 3


def test_a_pullback_may_be_differentiated_by_its_gradients_alone_or_by_some_arrays() -> None:
    x, w, g, a = integers(X), integers(W, 1), integers(G, 2), integers(X, 3)
    _, pullback = vjp(npconv.conv, x, w, **STRIDED)
    by_all = vjp(pullback, g, x, w)[1](a, None)
    assert_same(vjp(pullback, g)[1](a, None), by_all[:1])
    assert_same(vjp(pullback, g, x)[1](a, None), by_all[:2])
    moved = vjp(pullback, g, 2 * x)[0]  # what it is given takes the place of what it had
    assert_same(moved[1], 2 * pullback(g)[1])


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.complex64, bool, np.uint8])
def test_number_kinds_are_those_of_the_functions(kind) -> None:
    x, w, bias = (np.ones(shape, kind) for shape in (X, W, B))
    y, pullback = vjp(npconv.conv, x, w, bias, **STRIDED)
    g = np.ones(G, kind)
    expected = npconv.conv_backward(g, x, w, **STRIDED)
    assert y.dtype == npconv.conv(x, w, bias, **STRIDED).dtype
    assert [a.dtype for a in pullback(g)] == [a.dtype for a in expected]
    assert_same(pullback(g), expected)


EMPTY = [
    (conv1d, ((0, 4, 6), (6, 2, 3), (6,)), dict(groups=2)),
    (conv1d, ((2, 0, 6), (6, 0, 3), (6,)), {}),
    (conv1d, ((2, 4, 6), (0, 4, 3), (0,)), {}),
    (npconv.conv_transpose1d, ((0, 4, 6), (4, 2, 3), (2,)), {}),
    (npconv.conv_bias, ((2, 3, 0),), {}),
    (npconv.conv_bias, ((0, 3, 2),), {}),
    (npconv.conv2d_bias, ((3, 2, 0),), {}),
    (npconv.pad, ((0, 2, 3),), dict(padding=1, mode="circular")),
    (npconv.conv_general_dilated, ((2, 3, 0), (4, 3, 2)), dict(window_strides=(1,), padding=[(0, 0)])),
]


@pytest.mark.parametrize("function, shapes, parameters", EMPTY, ids=lambda v: getattr(v, "__name__", str(v)))
def test_empty_arrays_have_empty_or_zero_gradients_of_every_order(function, shapes, parameters) -> None:
    arrays = [np.ones(shape) for shape in shapes]
    value, pullback = vjp(function, *arrays, **parameters)
    g = np.ones(value.shape)
    gradients = pullback(g)
    assert [a.shape for a in gradients] == list(shapes)
    second = vjp(pullback, g, *arrays)[1](*map(np.ones_like, gradients))
    assert [a.shape for a in second] == [value.shape, *shapes]
    assert total_inner(g, value) == total_inner(gradients[0], arrays[0]) + (
        total_inner(gradients[2], arrays[2]) if len(shapes) == 3 else 0
    )


# ---------------------------------------------------------------- errors


def first_arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return integers((1, 1, 5)), integers((1, 1, 3), 1), integers((1, 1, 3), 2)


def test_what_has_no_derivative_here_is_a_type_error() -> None:
    x, w, _ = first_arrays()
    for function in (np.sum, npconv.conv_integer, lambda x: x, npconv):
        with pytest.raises(TypeError, match="function: .* is not one of npconv's maps, nor a pullback"):
            vjp(function, x, w)
        with pytest.raises(TypeError, match="function: .* is not one of npconv's maps, nor a pullback"):
            jvp(function, (x, w), (x, w))


BAD_CALLS = [
    (
        lambda x, w, g: vjp(conv1d, x),
        TypeError,
        r"arrays: 1 given, but the function takes 3, \(input, weight, bias\)",
    ),
    (lambda x, w, g: vjp(conv1d, x, w, None, 2), TypeError, "arrays: 4 given, but the function takes 3"),
    (
        lambda x, w, g: vjp(npconv.pad, x, 1),
        TypeError,
        r"arrays: 2 given, but the function takes 1, \(input\)",
    ),
    (lambda x, w, g: vjp(conv1d, x, w, strides=2), TypeError, "parameters: conv1d: .*'strides'"),
    (lambda x, w, g: vjp(conv1d, x, w, rank=1), TypeError, "parameters: conv1d: .*'rank'"),
    (lambda x, w, g: vjp(conv1d_input, w, g), TypeError, "parameters: conv1d_input: .*'input_size'"),
    (
        lambda x, w, g: vjp(conv1d, x, w, bias=np.ones(1)),
        TypeError,
        "bias: it is an array; give it by position",
    ),
    (lambda x, w, g: vjp(conv1d, None, w), TypeError, "input: it is None"),
    (lambda x, w, g: vjp(conv1d, x, None), TypeError, "weight: it is None"),
    (
        lambda x, w, g: vjp(conv1d_backward, None, x, w),
        TypeError,
        "grad_output: it is None; it must be an array",
    ),
    (lambda x, w, g: conv1d_backward(None, x, w), TypeError, "grad_output: it is None; it must be an array"),
    (lambda x, w, g: conv1d_input(x.shape, w, None), TypeError, "grad_output: it is None"),
    (lambda x, w, g: conv1d_double_backward(x, w, None, None, x, w), TypeError, "grad_output: it is None"),
    (lambda x, w, g: vjp(conv2d, x, w), ValueError, "weight: it has 3 axes, but with 2 spatial axes"),
    (lambda x, w, g: vjp(conv1d, x, w)[1](), TypeError, r"pullback: it takes 1 gradient\(s\), .* not 0"),
    (lambda x, w, g: vjp(conv1d, x, w)[1](g, g), TypeError, r"pullback: it takes 1 gradient\(s\), .* not 2"),
    (
        lambda x, w, g: vjp(conv1d_backward, g, x, w)[1]((x, w)),
        TypeError,
        r"it takes 3 gradient\(s\), .* not 2",
    ),
    (
        lambda x, w, g: vjp(conv1d, x, w)[1](x),
        ValueError,
        r"grad_output: its shape is \(1, 1, 5\), .* \(1, 1, 3\)",
    ),
    (lambda x, w, g: vjp(vjp(conv1d, x, w)[1]), TypeError, "arrays: 0 given, but the function takes 4"),
    (
        lambda x, w, g: vjp(vjp(conv1d, x, w)[1], g, stride=1),
        TypeError,
        "a pullback has its own; leave out stride",
    ),
    (lambda x, w, g: vjp(vjp(conv1d, x, w)[1], x), ValueError, r"grad_output: its shape is \(1, 1, 5\)"),
    (lambda x, w, g: vjp(vjp(conv1d, x, w)[1], g, w), ValueError, r"input: its shape is \(1, 1, 3\)"),
    (lambda x, w, g: jvp(conv1d, (x, w), (x,)), ValueError, "tangents: 1 of them for 2 arrays"),
    (lambda x, w, g: jvp(conv1d, (x, w), (w, None)), ValueError, r"tangent_input: its shape is \(1, 1, 3\)"),
]


@pytest.mark.parametrize("number", range(len(BAD_CALLS)))
def test_a_bad_call_is_told_what_is_wrong(number: int) -> None:
    call, kind, message = BAD_CALLS[number]
    with pytest.raises(kind, match=message):
        call(*first_arrays())


def test_an_absent_array_has_no_tangent():
    x, w, b = np.ones((1, 1, 3)), np.ones((1, 1, 2)), np.ones(1)
    with pytest.raises(ValueError, match="tangents: one is given for bias, which is not there"):
        npconv.jvp(npconv.conv1d, (x, w, None), (x, w, b))
