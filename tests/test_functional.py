"""The public functions: names and order of arguments, what they accept, what they give, what they refuse."""

import inspect
from fractions import Fraction

import numpy as np
import oracle
import pytest
from geometries import NAMED, case
from messages import saying

import npconv

# ---------------------------------------------------------------- signatures

FORWARD = "input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1"
TRANSPOSED = "input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1"
PARAMETERS = "stride=1, padding=0, dilation=1, groups=1"
TRANSPOSED_PARAMETERS = "stride=1, padding=0, output_padding=0, groups=1, dilation=1"
DOUBLE = "grad_grad_input, grad_grad_weight, grad_grad_bias, grad_output, input, weight"

# A family's name (with {} for the number of axes), its positional arguments, its keyword-only ones.
FAMILIES = [
    ("conv{}", FORWARD, "padding_mode='zeros'"),
    ("conv_transpose{}", TRANSPOSED, "output_size=None"),
    ("conv{}_input", f"input_size, weight, grad_output, {PARAMETERS}", "padding_mode='zeros'"),
    ("conv{}_weight", f"input, weight_size, grad_output, {PARAMETERS}", "padding_mode='zeros'"),
    ("conv{}_bias", "grad_output", ""),
    ("conv{}_backward", f"grad_output, input, weight, {PARAMETERS}", "padding_mode='zeros'"),
    ("conv_transpose{}_backward", f"grad_output, input, weight, {TRANSPOSED_PARAMETERS}", "output_size=None"),
    ("conv{}_double_backward", f"{DOUBLE}, {PARAMETERS}", "padding_mode='zeros'"),
]


def written(function, kinds):
    """The parameters of these kinds as a signature line."""
    parameters = inspect.signature(function).parameters.values()
    return ", ".join(
        p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters if p.kind in kinds
    )


@pytest.mark.parametrize("number", ["", "1d", "2d", "3d"])
@pytest.mark.parametrize("family, positional, keywords", FAMILIES)
def test_signatures_are_pytorchs(family, positional, keywords, number):
    name = family.format(number)
    function = getattr(npconv, name)
    assert function.__name__ == name
    assert name in npconv.__all__
    assert written(function, [inspect.Parameter.POSITIONAL_OR_KEYWORD]) == positional
    rank = "" if number else "rank=None"
    assert written(function, [inspect.Parameter.KEYWORD_ONLY]) == ", ".join(filter(None, [keywords, rank]))


@pytest.mark.parametrize(
    "name, positional",
    [
        (
            "conv_general_dilated",
            "lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None, "
            "dimension_numbers=None, feature_group_count=1, batch_group_count=1",
        ),
        ("pad", "input, padding, mode='zeros'"),
        ("conv_integer", f"input, weight, input_zero_point=0, weight_zero_point=0, {PARAMETERS}"),
    ],
)
def test_signatures_without_a_number(name, positional):
    assert written(getattr(npconv, name), [inspect.Parameter.POSITIONAL_OR_KEYWORD]) == positional


def test_everything_public_is_listed_and_is_there():
    assert len(set(npconv.__all__)) == len(npconv.__all__)
    for name in npconv.__all__:
        assert callable(getattr(npconv, name)), name


def test_results_of_a_backward_pass_are_named():
    x, w, g = np.ones((1, 1, 3)), np.ones((1, 1, 2)), np.ones((1, 1, 2))
    assert npconv.conv1d_backward(g, x, w)._fields == ("input", "weight", "bias")
    assert npconv.conv_transpose1d_backward(np.ones((1, 1, 4)), x, w)._fields == ("input", "weight", "bias")
    double = npconv.conv1d_double_backward(None, None, None, g, x, w)
    assert double._fields == ("grad_output", "input", "weight")


# ---------------------------------------------------------------- every function, by name

C2 = case("the layer in which the functions below are called", (5, 6), 3, s=2, p=((1, 0), 2), C=4, O=6, G=2)
X, W, B, G = C2.arrays(seed=3)
GGX, GGW, GGB, _ = C2.arrays(seed=4)
P = C2.parameters
# A transposed convolution from the output's shape back to the input's.
T = {**P, "output_padding": C2.remainder}


# Each public function as a function of arrays alone, and the arrays.
CALLS = {
    "conv2d": (lambda x, w, b: npconv.conv2d(x, w, b, **P), (X, W, B)),
    "conv2d, reflect": (lambda x, w, b: npconv.conv2d(x, w, b, **P, padding_mode="reflect"), (X, W, B)),
    "conv2d_input": (lambda w, g: npconv.conv2d_input(X.shape, w, g, **P), (W, G)),
    "conv2d_input, circular": (
        lambda w, g: npconv.conv2d_input(X.shape, w, g, **P, padding_mode="circular"),
        (W, G),
    ),
    "conv2d_weight": (lambda x, g: npconv.conv2d_weight(x, W.shape, g, **P), (X, G)),
    "conv2d_bias": (npconv.conv2d_bias, (G,)),
    "conv2d_backward": (lambda g, x, w: npconv.conv2d_backward(g, x, w, **P), (G, X, W)),
    "conv2d_double_backward": (
        lambda *arrays: npconv.conv2d_double_backward(*arrays, **P),
        (GGX, GGW, GGB, G, X, W),
    ),
    "conv2d_double_backward by the bias": (
        lambda b, g, x, w: npconv.conv2d_double_backward(None, None, b, g, x, w, **P),
        (GGB, G, X, W),
    ),
    "conv_transpose2d": (lambda g, w, b: npconv.conv_transpose2d(g, w, b, **T), (G, W, np.arange(4.0))),
    "conv_transpose2d_backward": (lambda x, g, w: npconv.conv_transpose2d_backward(x, g, w, **T), (X, G, W)),
    "conv_general_dilated": (
        lambda x, w: npconv.conv_general_dilated(x, w, (2, 1), [(1, 0), (0, 2)], (1, 2), (2, 1), None, 2),
        (X, W),
    ),
    "pad": (lambda x: npconv.pad(x, [(1, -1), (2, 0)]), (X,)),
    "pad by nothing": (lambda x: npconv.pad(x, 0), (X,)),
    "pad, replicate": (lambda x: npconv.pad(x, [(1, -1), (2, 0)], "replicate"), (X,)),
    "pad_adjoint": (lambda y: npconv.pad_adjoint(y, 1), (X,)),
    "pad_adjoint of nothing": (lambda y: npconv.pad_adjoint(y, 0), (X,)),
    "pad_adjoint, reflect": (lambda y: npconv.pad_adjoint(y, 1, "reflect"), (X,)),
    "vjp": (lambda x, w, b, g: npconv.vjp(npconv.conv2d, x, w, b, **P)[1](g), (X, W, B, G)),
    "jvp": (lambda x, w, b, t: npconv.jvp(npconv.conv2d, (x, w, b), (None, None, t), **P), (X, W, B, GGB)),
    "vjp of pad": (lambda x, y: _value_and_gradient(npconv.vjp(npconv.pad, x, padding=0), y), (X, GGX)),
}
# A bias of the output's own shape once it stands on its axis: the layer with one output cell.
ONE = (np.arange(3.0), np.ones((1, 3, 1)), np.ones((1, 1, 1)), np.ones((3, 1, 1)))
CALLS["a bias as large as the output"] = (
    lambda b, g, x, w: npconv.conv1d_double_backward(None, None, b, g, x, w),
    ONE,
)


def _value_and_gradient(value_and_pullback, cotangent):
    value, pullback = value_and_pullback
    return value, pullback(cotangent)


def results(value):
    """All arrays in what a function returned."""
    if isinstance(value, np.ndarray):
        return [value]
    assert isinstance(value, tuple), value
    return [array for part in value for array in results(part)]


def same(first, second):
    return [np.array_equal(a, b) for a, b in zip(results(first), results(second), strict=True)]


def test_every_public_function_is_called_below():
    called = {name.split(",")[0].split(" ")[0] for name in CALLS}
    rank_free = {name for name in npconv.__all__ if not any(number in name for number in ("1d", "3d"))}
    covered = called | {name.replace("2d", "") for name in called}
    # Its arrays must be integers; it is called with every kind of memory in its own tests.
    assert rank_free - covered == {"conv_integer"}


# ---------------------------------------------------------------- any memory, never written, never shared

MEMORIES = {
    "Fortran order": np.asfortranarray,
    "reversed": lambda a: a[(slice(None, None, -1),) * a.ndim].copy()[(slice(None, None, -1),) * a.ndim],
    "every second element of another": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "axes of another exchanged": lambda a: np.moveaxis(np.moveaxis(a, 0, -1).copy(), -1, 0),
    "not aligned": lambda a: np.frombuffer(b"\0" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
    "the other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "a subclass": lambda a: a.copy().view(type("Subclass", (np.ndarray,), {})),
    "nested lists": lambda a: a.tolist(),
}


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", CALLS)
def test_results_do_not_depend_on_how_the_memory_lies(name, memory):
    function, arrays = CALLS[name]
    assert all(same(function(*map(MEMORIES[memory], arrays)), function(*arrays)))


@pytest.mark.parametrize("name", CALLS)
def test_arrays_of_stride_0_are_as_good_as_full_ones(name):
    function, arrays = CALLS[name]
    broadcast = [np.broadcast_to(a[(slice(0, 1),) * a.ndim], a.shape) for a in arrays]
    assert all(0 in a.strides for a in broadcast)
    assert all(same(function(*broadcast), function(*(a.copy() for a in broadcast))))


@pytest.mark.parametrize("name", CALLS)
def test_no_function_writes_to_its_arrays(name):
    function, arrays = CALLS[name]
    mine = [a.copy() for a in arrays]
    function(*mine)
    assert all(np.array_equal(a, b) for a, b in zip(mine, arrays))


@pytest.mark.parametrize("name", CALLS)
def test_no_result_shares_memory_with_an_array_or_with_another_result(name):
    function, arrays = CALLS[name]
    mine = [a.copy() for a in arrays]
    found = results(function(*mine))
    for number, result in enumerate(found):
        assert not any(np.shares_memory(result, a) for a in (*mine, *found[:number]))


@pytest.mark.parametrize("name", CALLS)
def test_every_result_can_be_written(name):
    function, arrays = CALLS[name]
    assert all(result.flags.writeable for result in results(function(*arrays)))


@pytest.mark.parametrize("name", CALLS)
def test_the_same_call_gives_the_same_bits(name):
    function, arrays = CALLS[name]
    halves = [a / 7 for a in arrays]
    first, second = (results(function(*halves)) for _ in range(2))
    assert [a.tobytes() for a in first] == [a.tobytes() for a in second]


# ---------------------------------------------------------------- dtypes

# Padding alone adds nothing up and keeps every dtype; its gradient adds, and test_padding.py has both.
SUMMING = [name for name in CALLS if not name.startswith(("pad", "vjp of pad")) or "adjoint" in name]


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128]
)
@pytest.mark.parametrize("name", CALLS)
def test_every_result_has_the_dtype_of_the_arrays(name, dtype):
    function, arrays = CALLS[name]
    found = results(function(*(a.astype(dtype) for a in arrays)))
    assert {result.dtype for result in found} == {np.dtype(dtype)}


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.int64, np.uint64])
@pytest.mark.parametrize("name", SUMMING)
def test_integers_give_int64_and_the_sums_that_floats_give(name, dtype):
    function, arrays = CALLS[name]
    whole = [abs(a).astype(dtype) for a in arrays]
    exact, floating = results(function(*whole)), results(function(*(a.astype(float) for a in whole)))
    assert {result.dtype for result in exact} == {np.dtype(np.int64)}
    assert all(same(tuple(exact), tuple(floating)))


# gamma(n) bounds the relative error of n roundings: (1 + u)^n - 1 <= gamma(n).
def gamma(n, dtype):
    u = Fraction(1, 2 ** (np.finfo(dtype).nmant + 1))
    return n * u / (1 - n * u)


exactly = np.vectorize(Fraction, otypes=[object])
FLOATS = [
    case("a strided layer", (6, 7), 3, s=2, p=1, C=3, O=4, N=2),
    case("a grouped, dilated layer", (7, 8), (2, 3), s=(1, 2), d=(2, 1), p=((0, 1), 2), C=4, O=4, G=2, N=2),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layer", FLOATS, ids=str)
def test_rounding_stays_within_the_worst_case_bound(layer, dtype):
    """|computed - exact| <= gamma(n) * sum of |terms|, with n the terms of one sum; exact in fractions.

    A product's rounding and at most n - 1 additions' reach any one term, in whatever order they come
    and whether or not they are fused.
    """
    rng = np.random.default_rng(5)
    x, w, b, g = (
        rng.standard_normal(shape).astype(dtype)
        for shape in (layer.input_shape, layer.weight_shape, (layer.O,), layer.output_shape)
    )
    taps, positions = int(np.prod(layer.k)), int(np.prod(layer.sizes))
    backward = npconv.conv_backward(g, x, w, **layer.parameters)

    def by_definition(number):
        X, W, B, G = (number(a) for a in (x, w, b, g))
        return [
            oracle.output(X, W, B, **layer.parameters),
            oracle.input_gradient(x.shape, W, G, **layer.parameters),
            oracle.weight_gradient(X, w.shape, G, **layer.parameters),
            oracle.bias_gradient(G),
        ]

    found = [npconv.conv(x, w, b, **layer.parameters), *backward]
    terms = [
        layer.C // layer.G * taps + 1,  # and the bias
        layer.O // layer.G * taps,
        layer.N * positions,
        layer.N * positions,
    ]
    worst = []
    for value, n, exact, size in zip(
        found, terms, by_definition(exactly), by_definition(lambda a: abs(exactly(a)))
    ):
        assert value.dtype == dtype
        bound = gamma(n, dtype) * size
        assert np.all(abs(exactly(value) - exact) <= bound)
        worst.append(np.max(abs(exactly(value) - exact)))
    assert max(worst) > 0  # numbers that round: the bound was put to use


def test_float16_is_summed_in_float32_and_rounded_once():
    # A running sum of ones in float16 sticks at 2048.
    x, w = np.ones((1, 1, 4096), np.float16), np.ones((1, 1, 4096), np.float16)
    assert npconv.conv1d(x, w).item() == 4096
    assert npconv.conv1d_bias(np.ones((1, 2, 5000), np.float16)).tolist() == [5000, 5000]
    # 2049 + a bias of 1 is 2050; rounding 2049 to float16 first gives 2048, and 2048 + 1 gives 2048.
    x = np.array([[[2048, 1]]], np.float16)
    assert npconv.conv1d(x, np.ones((1, 1, 2), np.float16), np.ones(1, np.float16)).item() == 2050


def test_mixed_dtypes_are_promoted_as_numpy_promotes_them():
    x, w = np.ones((1, 1, 3), np.float32), np.ones((1, 1, 2), np.float64)
    assert npconv.conv1d(x, w).dtype == np.float64
    assert npconv.conv1d(x, w.astype(np.int8)).dtype == np.float32
    assert npconv.conv1d(x, w.astype(np.float32), [1.0]).dtype == np.float64
    assert npconv.conv1d(x.astype(np.float16), w.astype(np.complex64)).dtype == np.complex64


def test_padded_zeros_are_ordinary_zeros_and_infinity_times_zero_is_nan():
    with np.errstate(invalid="ignore"):
        y = npconv.conv1d([[[1.0, 1.0, 1.0]]], [[[np.inf, 1.0, 1.0]]], padding=1)
    assert np.array_equal(y, [[[np.nan, np.inf, np.inf]]], equal_nan=True)


@pytest.mark.parametrize("padding", [1, [(0, 2)], [(2, 0)], 3])
def test_an_input_without_elements_gives_zeros_beside_any_weight(padding):
    """Nothing of it is there to be multiplied, and what is padded counts as nothing."""
    x, w = np.ones((2, 3, 0)), np.full((4, 3, 2), np.nan)
    y = npconv.conv1d(x, w, padding=padding)
    assert y.size and not y.any()
    gradients = npconv.conv1d_backward(np.full(y.shape, np.nan), x, w, padding=padding)
    assert gradients.input.shape == x.shape and np.array_equal(gradients.weight, np.zeros(w.shape))


@pytest.mark.parametrize("kind", ["m8[s]", "M8[s]", "U3", "S3", object])
def test_arrays_that_hold_no_numbers_are_refused_by_name(kind):
    numbers, others = np.ones((1, 1, 2)), np.zeros((1, 1, 2), kind)
    with pytest.raises(
        TypeError, match=saying("weight: its dtype is ... must hold integers, floats or complex")
    ):
        npconv.conv1d(numbers, others)
    with pytest.raises(TypeError, match=saying("grad_output: its dtype is")):
        npconv.conv1d_bias(others)


def test_integers_that_overflow_are_an_error_and_not_a_wrong_number():
    most = np.full((1, 1, 2), 2**62)
    for call in (
        lambda: npconv.conv1d(most, np.ones((1, 1, 2), int)),
        lambda: npconv.conv1d(most, np.ones((1, 1, 1), int), [2**62]),
        lambda: npconv.conv1d_bias(most),
        lambda: npconv.conv1d_weight(most, (1, 1, 1), np.ones((1, 1, 2), int)),
        lambda: npconv.conv1d_input((1, 1, 3), np.ones((1, 1, 2), int), most),
    ):
        with pytest.raises(OverflowError, match=saying(f"a sum is {2**63}, but int64 holds only")):
            call()


def test_a_uint64_that_int64_cannot_hold_never_passes_in_silence():
    top = np.array([[[2**63]]], np.uint64)
    one = np.array([[[1]]])
    for call in (
        lambda: npconv.conv1d(top, one),
        lambda: npconv.conv1d(one, one, top.ravel()),
        lambda: npconv.conv1d_bias(top),
        lambda: npconv.conv1d_backward(top, one, one),
        lambda: npconv.conv1d_double_backward(None, None, top.ravel(), one, one, one),
        lambda: npconv.pad_adjoint(top, 0),
        lambda: npconv.pad_adjoint(np.concatenate([top, top, top], axis=2), 1),
    ):
        with pytest.raises(OverflowError, match=saying("a sum is 9223372036854775")):
            call()


# ---------------------------------------------------------------- no batch axis, no samples, no channels


@pytest.mark.parametrize("c", [c for c in NAMED if c.N == 1 or c.padding_mode != "zeros"], ids=str)
def test_without_a_batch_axis_the_results_are_the_same_without_it(c):
    x, w, b, g = (a[:1] if a.ndim > 1 and n != 1 else a for n, a in enumerate(c.arrays()))
    with_batch = npconv.conv_backward(g, x, w, **c.parameters)
    x1, g1 = x[0], g[0]
    assert np.array_equal(npconv.conv(x1, w, b, **c.parameters), npconv.conv(x, w, b, **c.parameters)[0])
    assert np.array_equal(npconv.conv_input(x1.shape, w, g1, **c.parameters), with_batch.input[0])
    assert np.array_equal(npconv.conv_weight(x1, w.shape, g1, **c.parameters), with_batch.weight)
    assert np.array_equal(npconv.conv_bias(g1, rank=c.rank), with_batch.bias)
    without = npconv.conv_backward(g1, x1, w, **c.parameters)
    assert np.array_equal(without.input, with_batch.input[0])
    assert np.array_equal(without.weight, with_batch.weight)
    second = npconv.conv_double_backward(x, w, b, g, x, w, **c.parameters)
    second1 = npconv.conv_double_backward(x1, w, b, g1, x1, w, **c.parameters)
    assert same(second1, (second.grad_output[0], second.input[0], second.weight)) == [True] * 3


@pytest.mark.parametrize("c", [c for c in NAMED if 0 in (*c.input_shape, c.O)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_empty_arrays_give_the_right_shapes_and_zeros_where_a_sum_is_empty(c, dtype):
    x, w, b, g = (a.astype(dtype) for a in c.arrays())
    y = npconv.conv(x, w, b, **c.parameters)
    back = npconv.conv_backward(g, x, w, **c.parameters)
    assert np.array_equal(y, oracle.output(x, w, b, **c.parameters))
    assert np.array_equal(back.input, oracle.input_gradient(x.shape, w, g, **c.parameters))
    assert np.array_equal(back.weight, oracle.weight_gradient(x, w.shape, g, **c.parameters))
    assert np.array_equal(back.bias, oracle.bias_gradient(g))
    second = npconv.conv_double_backward(x, w, b, g, x, w, **c.parameters)
    assert (second.grad_output.shape, second.input.shape, second.weight.shape) == (g.shape, x.shape, w.shape)
    assert {a.dtype for a in (y, *back, *second)} == {np.dtype(np.int64 if dtype is np.int8 else dtype)}


def test_an_empty_batch_has_gradients_of_zeros():
    x, g = np.zeros((0, 3, 8, 8), np.float32), np.zeros((0, 4, 6, 6), np.float32)
    back = npconv.conv2d_backward(g, x, np.ones((4, 3, 3, 3), np.float32))
    assert back.input.shape == (0, 3, 8, 8)
    assert np.array_equal(back.weight, np.zeros((4, 3, 3, 3)))
    assert np.array_equal(back.bias, np.zeros(4))


def test_none_in_place_of_a_second_gradient_counts_as_zeros():
    zeros = [np.zeros_like(a) for a in (X, W, B)]
    for given in np.ndindex(2, 2, 2):
        arrays = [a if here else None for a, here in zip((GGX, GGW, GGB), given)]
        full = [a if here else z for a, z, here in zip((GGX, GGW, GGB), zeros, given)]
        found = npconv.conv2d_double_backward(*arrays, G, X, W, **P)
        assert same(found, npconv.conv2d_double_backward(*full, G, X, W, **P)) == [True] * 3


def test_a_bias_is_added_to_every_sample_and_position():
    y = npconv.conv2d(X, W, None, **P)
    assert np.array_equal(npconv.conv2d(X, W, B, **P), y + B.reshape(1, -1, 1, 1))


def test_the_gradient_functions_apart_give_what_backward_gives():
    back = npconv.conv2d_backward(G, X, W, **P)
    assert np.array_equal(npconv.conv2d_input(X.shape, W, G, **P), back.input)
    assert np.array_equal(npconv.conv2d_weight(X, W.shape, G, **P), back.weight)
    assert np.array_equal(npconv.conv2d_bias(G), back.bias)


@pytest.mark.parametrize("padding", [1, (1, 0), ((1, 0), 2), "valid", "same", "same_lower", (-1, 2)], ids=str)
def test_padding_in_every_form_reaches_every_function(padding):
    geometry = npconv.geometry.convolution(X.shape, W.shape, (2, 1), padding, 1, 2)
    parameters = dict(stride=(2, 1), padding=padding, groups=2)
    plain = dict(stride=(2, 1), padding=geometry.padding, dilation=(1, 1), groups=2)
    y = npconv.conv2d(X, W, **parameters)
    assert np.array_equal(y, oracle.output(X, W, **plain))
    back = npconv.conv2d_backward(y, X, W, **parameters)
    assert np.array_equal(back.input, oracle.input_gradient(X.shape, W, y, **plain))
    assert np.array_equal(back.weight, oracle.weight_gradient(X, W.shape, y, **plain))


# ---------------------------------------------------------------- numbered names


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_numbered_names_compute_what_the_rank_free_ones_do(rank):
    x, w, b = np.ones((2, 2) + (4,) * rank), np.ones((3, 2) + (2,) * rank), np.arange(3.0)
    g = npconv.conv(x, w, b)
    assert np.array_equal(getattr(npconv, f"conv{rank}d")(x, w, b), g)
    assert np.array_equal(
        getattr(npconv, f"conv{rank}d_input")(x.shape, w, g), npconv.conv_input(x.shape, w, g)
    )
    assert np.array_equal(
        getattr(npconv, f"conv{rank}d_weight")(x, w.shape, g), npconv.conv_weight(x, w.shape, g)
    )
    assert np.array_equal(getattr(npconv, f"conv{rank}d_bias")(g), npconv.conv_bias(g))
    assert all(same(getattr(npconv, f"conv{rank}d_backward")(g, x, w), npconv.conv_backward(g, x, w)))
    second = getattr(npconv, f"conv{rank}d_double_backward")
    assert all(same(second(x, w, b, g, x, w), npconv.conv_double_backward(x, w, b, g, x, w)))


@pytest.mark.parametrize("named", [1, 2, 3])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_numbered_names_check_the_rank(named, rank):
    x, w = np.ones((1, 1) + (3,) * rank), np.ones((1, 1) + (2,) * rank)
    g = np.ones((1, 1) + (2,) * rank)
    calls = {
        "": (x, w),
        "_input": (x.shape, w, g),
        "_weight": (x, w.shape, g),
        "_backward": (g, x, w),
        "_double_backward": (None, None, None, g, x, w),
    }
    for suffix, arrays in calls.items():
        function = getattr(npconv, f"conv{named}d{suffix}")
        if named == rank:
            function(*arrays)
            continue
        name = "weight_size" if suffix == "_weight" else "weight"
        text = f"{name}: it has {rank + 2} axes, but with {named} spatial axes it must have {named + 2}"
        with pytest.raises(ValueError, match=saying(text)):
            function(*arrays)


def test_the_numbered_bias_gradient_knows_whether_a_batch_axis_is_there():
    g = np.arange(6.0).reshape(1, 2, 3)
    assert npconv.conv1d_bias(g).tolist() == [3, 12]
    assert npconv.conv2d_bias(g).tolist() == [15]
    with pytest.raises(
        ValueError, match=saying("grad_output: it has 3 axes, but with 3 spatial axes ... 5 ... 4")
    ):
        npconv.conv3d_bias(g)


def test_a_rank_given_to_a_rank_free_function_is_checked():
    x, w = np.ones((1, 1, 3)), np.ones((1, 1, 2))
    assert npconv.conv(x, w, rank=1).shape == (1, 1, 2)
    with pytest.raises(
        ValueError, match=saying("weight: it has 3 axes, but with 2 spatial axes it must have 4")
    ):
        npconv.conv(x, w, rank=2)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: npconv.conv2d(X, W, np.ones(5), **P), "bias: its shape is (5,) ... it must be (6,)"),
        (lambda: npconv.conv2d(X, W, np.ones((6, 1)), **P), "bias: its shape is (6, 1) ... it must be (6,)"),
        (lambda: npconv.conv2d(X, W, 1.0, **P), "bias: its shape is () ... it must be (6,)"),
        (
            lambda: npconv.conv2d_input(X.shape, W, G[:1], **P),
            "grad_output: its shape is (1, 6, 2, 4) ... (2, 6, 2, 4)",
        ),
        (
            lambda: npconv.conv2d_input(X.shape, W, G[0], **P),
            "grad_output: its shape is (6, 2, 4) ... (2, 6, 2, 4)",
        ),
        (
            lambda: npconv.conv2d_weight(X, W.shape, G[..., 1:], **P),
            "grad_output: its shape is (2, 6, 2, 3) ... (2, 6, 2, 4)",
        ),
        (
            lambda: npconv.conv2d_backward(G[0], X, W, **P),
            "grad_output: its shape is (6, 2, 4) ... (2, 6, 2, 4)",
        ),
        (
            lambda: npconv.conv2d_double_backward(X[:1], None, None, G, X, W, **P),
            "grad_grad_input: its shape is (1,",
        ),
        (
            lambda: npconv.conv2d_double_backward(None, X, None, G, X, W, **P),
            "grad_grad_weight: its shape is",
        ),
        (lambda: npconv.conv2d_double_backward(None, None, G, G, X, W, **P), "grad_grad_bias: its shape is"),
        (
            lambda: npconv.conv2d(X, W, **P, padding_mode="mirror"),
            "padding_mode: 'mirror' is not one of 'zeros', 'reflect'",
        ),
        (
            lambda: npconv.conv1d([[[1]]], [[[1]]], padding=1, padding_mode="reflect"),
            "padding_mode: 'reflect' on spatial axis 0 of size 1 ... size 2 or more",
        ),
        (
            lambda: npconv.conv1d(np.ones((1, 1, 0)), [[[1]]], padding=1, padding_mode="circular"),
            "padding_mode: 'circular' on spatial axis 0 of size 0 ... size 1 or more",
        ),
        (
            lambda: npconv.conv1d(np.ones((1, 1, 0)), [[[1]]], padding=1, padding_mode="replicate"),
            "padding_mode: 'replicate' on spatial axis 0 of size 0",
        ),
        (
            lambda: npconv.conv2d_bias(np.ones(3)),
            "grad_output: it has 1 axes, but with 2 spatial axes it must have 4",
        ),
        (lambda: npconv.conv_bias(np.ones((2, 3)), rank=0), "rank: it is 0, but it must be 1 or more"),
        (lambda: npconv.conv2d(1.0, W), "input: it has 0 axes"),
        (lambda: npconv.conv2d(X, 1.0), "weight: it has 0 axes"),
        (lambda: npconv.conv2d_input((5, 6), W, G, **P), "it has 2 axes ... 4 (batch"),
        (lambda: npconv.conv2d_input((2, 4, 5, -6), W, G, **P), "input_size axis 3: it is -6 ... 0 or more"),
        (
            lambda: npconv.conv2d_weight(X, (6, 2, 3, -3), G, **P),
            "weight_size axis 3: it is -3 ... 0 or more",
        ),
    ],
)
def test_what_does_not_fit_is_a_value_error_that_says_why(call, text):
    with pytest.raises(ValueError, match=saying(text)):
        call()


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: npconv.conv2d_input(5, W, G, **P), "input_size: it is 5, a int ... sequence of integers"),
        (lambda: npconv.conv2d_input((2, 4, 5, 6.0), W, G, **P), "input_size axis 3: it is 6.0, a float"),
        (lambda: npconv.conv2d_weight(X, 5, G, **P), "weight_size: it is 5, a int"),
        (lambda: npconv.conv2d_weight(X, (6, 2, 3, "3"), G, **P), "weight_size axis 3: it is '3', a str"),
        (lambda: npconv.conv2d_double_backward(None, None, None, None, X, W, **P), "grad_output: it is None"),
        (lambda: npconv.conv_bias(np.ones((2, 3, 4)), rank=1.0), "rank: it is 1.0, a float"),
        (lambda: npconv.conv2d_backward(None, X, W, **P), "grad_output: it is None"),
    ],
)
def test_a_wrong_kind_is_a_type_error_that_says_which(call, text):
    with pytest.raises(TypeError, match=saying(text)):
        call()


def test_nothing_is_computed_before_the_arguments_are_checked():
    class Trap(np.ndarray):
        """An array that complains when its numbers are used."""

        def __array_ufunc__(self, *arguments, **keywords):
            raise AssertionError("numbers were used")

    for bad in ({"stride": 0}, {"groups": 3}, {"padding": -9}, {"dilation": 99}):
        with pytest.raises(ValueError, match="called with input"):
            npconv.conv2d(X.view(Trap), W.view(Trap), **{**P, **bad})


# ---------------------------------------------------------------- reported elsewhere, worked out by hand


def line(*numbers):
    return np.array(numbers).reshape(1, 1, -1)


def test_a_window_that_does_not_fit_gives_no_output_at_any_stride():
    for s in (1, 2, 3, 9):
        with pytest.raises(ValueError, match=saying("size 4 (4 + 0 + 0) ... covers 5 ... 0 outputs")):
            npconv.conv2d(np.ones((1, 1, 4, 4)), np.ones((1, 1, 3, 3)), stride=s, dilation=2)


def test_same_padding_at_stride_2_is_not_symmetric_padding():
    x, w = np.arange(36).reshape(1, 1, 6, 6), np.ones((1, 1, 3, 3), int)
    assert npconv.conv2d(x, w, stride=2, padding="same").tolist() == [
        [[[63, 81, 63], [171, 189, 135], [168, 180, 126]]]
    ]
    assert npconv.conv2d(x, w, stride=2, padding=1).tolist() == [
        [[[14, 30, 42], [75, 126, 144], [147, 234, 252]]]
    ]


def test_negative_padding_crops_its_own_row():
    x = np.arange(15 * 6 * 8).reshape(1, 8, 15, 6)
    identity = np.eye(8, dtype=int).reshape(8, 8, 1, 1)
    y = npconv.conv2d(x, identity, padding=((0, 0), (-5, 1)))
    assert y.shape == (1, 8, 15, 2)
    assert np.array_equal(y[..., 0], x[..., 5])
    assert not y[..., 1].any()


def test_a_weight_that_is_a_slice_gives_the_same_bits_as_its_copy():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((2, 8, 6, 7)).astype(np.float32)
    w = rng.standard_normal((3, 8, 3, 3, 3)).astype(np.float32)[:, :, 1]
    assert npconv.conv2d(x, w).tobytes() == npconv.conv2d(x, np.ascontiguousarray(w)).tobytes()


def test_gradients_with_a_weight_whose_axes_are_exchanged():
    x = np.arange(1, 19).reshape(1, 2, 3, 3)
    w = np.arange(1, 17).reshape(2, 2, 2, 2).swapaxes(0, 1)
    y = npconv.conv2d(x, w)
    assert y.tolist() == [[[[548, 600], [704, 756]], [[788, 872], [1040, 1124]]]]
    assert npconv.conv2d_input(x.shape, w, 2 * y).tolist() == [
        [
            [[8976, 21568, 12864], [26128, 60848, 35264], [18784, 42544, 24032]],
            [[30352, 66496, 36416], [75408, 163760, 88896], [46688, 100528, 54112]],
        ]
    ]


def test_narrow_integers_neither_wrap_nor_saturate():
    assert (
        npconv.conv1d(
            line(111, 111).reshape(1, 2, 1).astype(np.uint8), np.full((1, 2, 1), 113, np.int8)
        ).item()
        == 25086
    )
    wrapping = npconv.conv1d(
        line(1, 2, 3, 4, 4, 3, 2, 1).astype(np.uint8), line(-1, 0, 1), padding=1, padding_mode="replicate"
    )
    assert wrapping.ravel().tolist() == [1, 2, 2, 1, -1, -2, -2, -1]
    full = npconv.conv2d(np.ones((1, 3, 64, 64), np.uint8), np.ones((8, 3, 5, 5), np.int8))
    assert np.array_equal(full, np.full((1, 8, 60, 60), 75))


def test_second_gradients_of_a_strided_layer_with_a_remainder():
    # One unit more in grad_output, input or weight changes <gx, ggx> + <gw, ggw> by the second gradient.
    c = case("x", (4, 4), 3, s=2, p=1, C=2, O=3, N=1)
    assert c.remainder == (1, 1)
    x, w, b, g = c.arrays(1)
    ggx, ggw, _, _ = c.arrays(2)

    def loss(g, x, w):
        back = npconv.conv2d_backward(g, x, w, **c.parameters)
        return oracle.inner(back.input, ggx) + oracle.inner(back.weight, ggw)

    second = npconv.conv2d_double_backward(ggx, ggw, None, g, x, w, **c.parameters)
    for number, (array, due) in enumerate(zip((g, x, w), second)):
        for index in np.ndindex(array.shape):
            moved = [a.copy() for a in (g, x, w)]
            moved[number][index] += 1
            assert loss(*moved) - loss(g, x, w) == due[index]


@pytest.mark.parametrize("rank, kind", [(True, TypeError), (2.0, TypeError), (0, ValueError)])
def test_a_rank_is_a_positive_integer(rank, kind):
    with pytest.raises(kind, match="rank: it is"):
        npconv.conv(np.ones((1, 1, 3)), np.ones((1, 1, 2)), rank=rank)
