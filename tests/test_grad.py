"""The three maps, as written in grad.py: against PyTorch, against the loops, and against each other.

All data are small integers, so float64 sums are exact and equality is equality.
"""

import numpy as np
import oracle
import pytest
import torch_oracle
from geometries import NAMED, Case, case, random_cases, random_large_cases, small_integers

from npconv import conv_double_backward, grad
from npconv.geometry import convolution

# The padding modes stand around the maps and not in them.
PLAIN = [c for c in NAMED if c.padding_mode == "zeros"]
FULL = [c for c in PLAIN if 0 not in (*c.input_shape, c.O)]


def geometry_of(c: Case):
    return convolution(c.input_shape, c.weight_shape, c.stride, c.padding, c.dilation, c.G)


def three_maps(c: Case, arrays):
    x, w, _, g = arrays
    geometry = geometry_of(c)
    return (
        grad.output(x, w, geometry),
        grad.input_gradient(w, g, geometry),
        grad.weight_gradient(x, g, geometry),
        grad.bias_gradient(g),
    )


def differences(c: Case, seed: int = 0) -> list[str]:
    """Which of output, gradients and gradients of gradients differ from torch's."""
    arrays = x, w, bias, g = c.arrays(seed)
    rng = np.random.default_rng(seed + 1)
    grad_gradients = [small_integers(rng, a.shape) for a in (x, w, bias)]
    due = torch_oracle.answers(c, arrays, grad_gradients)
    y, gx, gw, gb = three_maps(c, arrays)
    second = conv_double_backward(*grad_gradients, g, x, w, **c.parameters)
    found = {
        "output": (y + bias.reshape(-1, *[1] * c.rank), due.output),
        "input": (gx, due.gradients[0]),
        "weight": (gw, due.gradients[1]),
        "bias": (gb, due.gradients[2]),
        "grad_output's": (second.grad_output, due.second[0]),
        "input's": (second.input, due.second[1]),
        "weight's": (second.weight, due.second[2]),
    }
    return [name for name, pair in found.items() if not np.array_equal(*pair)]


# ---------------------------------------------------------------- against torch


@pytest.mark.parametrize("c", FULL, ids=str)
def test_every_derivative_of_a_named_geometry_equals_torchs(c):
    assert differences(c) == []


@pytest.mark.parametrize("seed", range(30))
def test_every_derivative_of_a_hundred_random_2d_geometries_equals_torchs(seed):
    wrong = {c.name: found for c in random_cases(seed, 100) if (found := differences(c, seed))}
    assert wrong == {}


@pytest.mark.parametrize("rank", [1, 3])
def test_every_derivative_of_random_geometries_of_other_ranks_equals_torchs(rank):
    wrong = {c.name: found for c in random_cases(100 + rank, 200, (rank,)) if (found := differences(c))}
    assert wrong == {}


@pytest.mark.parametrize("seed", range(6))
def test_every_derivative_of_large_geometries_equals_torchs(seed):
    # So large that the kernel cuts them into tiles and phases.
    wrong = {c.name: found for c in random_large_cases(seed, 8) if (found := differences(c))}
    assert wrong == {}


# ---------------------------------------------------------------- against the loops


def map_and_definition(c: Case, name: str) -> tuple[np.ndarray, np.ndarray]:
    """One of the maps from grad.py, and the same by the loops."""
    x, w, _, g = c.arrays()
    geometry = geometry_of(c)
    if name == "output":
        return grad.output(x, w, geometry), oracle.output(x, w, **c.parameters)
    if name == "input":
        return grad.input_gradient(w, g, geometry), oracle.input_gradient(x.shape, w, g, **c.parameters)
    if name == "weight":
        return grad.weight_gradient(x, g, geometry), oracle.weight_gradient(x, w.shape, g, **c.parameters)
    return grad.bias_gradient(g), oracle.bias_gradient(g)


def differences_from_the_loops(c: Case) -> list[str]:
    return [
        name
        for name in ("output", "input", "weight", "bias")
        if not np.array_equal(*map_and_definition(c, name))
    ]


@pytest.mark.parametrize("c", FULL, ids=str)
def test_the_maps_of_a_named_geometry_equal_the_sums_by_definition(c):
    assert differences_from_the_loops(c) == []


def test_the_maps_of_four_axes_equal_the_sums_by_definition():
    # torch has no convolution of four axes; the text of the gradients does not count them.
    c = case(
        "four axes",
        (3, 2, 4, 3),
        (2, 1, 2, 2),
        s=(2, 1, 3, 1),
        d=(1, 3, 1, 2),
        p=(1, 0, (-1, 2), 1),
        C=2,
        O=2,
        G=2,
    )
    assert differences_from_the_loops(c) == []


def test_the_maps_with_input_dilation_equal_the_sums_by_definition():
    # With the input spread by l the form is symmetric in its three spacings, and the formulas stay.
    for c in random_cases(5, 60, (1, 2)):
        spread = [1 + (n + c.C) % 3 for n in range(c.rank)]
        plain = geometry_of(c)
        axes = []
        for axis, l in zip(plain.axes, spread):
            padded = (l * (axis.i - 1) + 1) + axis.lo + axis.hi
            o = oracle.count_windows(padded, axis.extent, axis.s)
            axes.append(type(axis)(axis.i, axis.k, o, axis.s, axis.d, l, axis.lo, axis.hi))
        geometry = type(plain)(c.N, c.C, c.O, c.G, tuple(axes))
        x, w, _, _ = c.arrays()
        g = small_integers(np.random.default_rng(9), geometry.output_shape)
        parameters = {**c.parameters, "input_dilation": spread}
        assert np.array_equal(grad.output(x, w, geometry), oracle.output(x, w, **parameters))
        assert np.array_equal(
            grad.input_gradient(w, g, geometry), oracle.input_gradient(x.shape, w, g, **parameters)
        )
        assert np.array_equal(
            grad.weight_gradient(x, g, geometry), oracle.weight_gradient(x, w.shape, g, **parameters)
        )


# ---------------------------------------------------------------- against each other


def assert_one_number_three_ways(c: Case, seed: int):
    arrays = x, w, _, g = c.arrays(seed)
    y, gx, gw, _ = three_maps(c, arrays)
    assert oracle.inner(y, g) == oracle.inner(x, gx) == oracle.inner(w, gw), c


@pytest.mark.parametrize("c", FULL, ids=str)
def test_the_trilinear_identity_of_a_named_geometry(c):
    assert_one_number_three_ways(c, seed=1)


def test_the_trilinear_identity_of_random_geometries_of_one_to_four_axes():
    for seed, c in enumerate(random_cases(4, 300, (1, 2, 3, 4))):
        assert_one_number_three_ways(c, seed)


def test_each_map_gives_exactly_the_shape_asked_for():
    for c in FULL:
        y, gx, gw, gb = three_maps(c, c.arrays())
        assert (y.shape, gx.shape, gw.shape, gb.shape) == (
            c.output_shape,
            c.input_shape,
            c.weight_shape,
            (c.O,),
        )


def test_central_differences_with_step_one_are_exact():
    c = case("x", (4, 5), (2, 3), s=(2, 1), p=(1, (0, 1)), d=(2, 1), C=2, O=2, G=2, N=1)
    x, w, _, g = c.arrays()
    geometry = geometry_of(c)

    def loss(x, w):
        return oracle.inner(grad.output(x, w, geometry), g)

    def numeric(array, of):
        slope = np.empty(array.shape)
        for index in np.ndindex(array.shape):
            step = np.zeros(array.shape)
            step[index] = 1
            slope[index] = (of(array + step) - of(array - step)) / 2
        return slope

    assert np.array_equal(grad.input_gradient(w, g, geometry), numeric(x, lambda x: loss(x, w)))
    assert np.array_equal(grad.weight_gradient(x, g, geometry), numeric(w, lambda w: loss(x, w)))


def test_integers_in_give_the_same_integers_as_floats():
    for c in FULL[::3]:
        arrays = c.arrays()
        for exact, floating in zip(three_maps(c, [a.astype(np.int8) for a in arrays]), three_maps(c, arrays)):
            assert exact.dtype == np.int64
            assert np.array_equal(exact, floating)


# ---------------------------------------------------------------- by hand


def line(*numbers):
    return np.array(numbers).reshape(1, 1, -1)


def test_inputs_behind_the_last_window_get_a_gradient_of_zero():
    geometry = convolution((1, 1, 11), (1, 1, 4), stride=4)
    gx = grad.input_gradient(line(1, 2, 3, 4), line(1, 1), geometry)
    assert gx.ravel().tolist() == [1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0]
    long = grad.input_gradient(
        line(1, 2, 3, 4), np.ones((1, 1, 400), int), convolution((1, 1, 1603), (1, 1, 4), stride=4)
    )
    assert (long.shape, long[0, 0, -4:].tolist()) == ((1, 1, 1603), [4, 0, 0, 0])


def test_the_weight_gradient_has_no_column_too_many():
    gw = grad.weight_gradient(
        line(0, 1, 2, 3, 4, 5), line(1, 10), convolution((1, 1, 6), (1, 1, 3), stride=2)
    )
    assert gw.ravel().tolist() == [20, 31, 42]


def test_stride_and_dilation_trade_places_in_the_weight_gradient():
    x, w, g = np.array([[[7, 3]], [[3, 2]]]), np.array([[[3, 6]], [[4, 2]]]), np.ones((2, 2, 1), int)
    geometry = convolution(x.shape, w.shape, stride=2, padding=1, dilation=2)
    assert grad.output(x, w, geometry).tolist() == [[[18], [6]], [[12], [4]]]
    assert grad.weight_gradient(x, g, geometry).tolist() == [[[0, 5]], [[0, 5]]]
    assert grad.input_gradient(w, g, geometry).tolist() == [[[0, 8]], [[0, 8]]]


def test_padding_beyond_the_window_covers_every_input_fully():
    geometry = convolution((5, 2, 11, 14), (3, 2, 3, 3), padding=4)
    w = np.arange(54).reshape(3, 2, 3, 3)
    gx = grad.input_gradient(w, np.ones((5, 3, 17, 20), int), geometry)
    assert np.array_equal(gx, np.broadcast_to(w.sum(axis=(0, 2, 3)).reshape(1, 2, 1, 1), (5, 2, 11, 14)))


def test_a_strided_1x1_reaches_every_other_input_and_no_other():
    geometry = convolution((1, 1, 2, 2), (1, 1, 1, 1), stride=2)
    assert grad.input_gradient(np.array([[[[2]]]]), np.array([[[[5]]]]), geometry).tolist() == [
        [[[10, 0], [0, 0]]]
    ]


def test_the_gradients_of_a_strided_depthwise_layer():
    x, w = np.arange(64).reshape(1, 4, 4, 4), np.arange(36).reshape(4, 1, 3, 3)
    g = np.ones((1, 4, 2, 2), int)
    geometry = convolution(x.shape, w.shape, stride=2, padding=1, groups=4)
    assert grad.weight_gradient(x, g, geometry)[:, 0].tolist() == [
        [[5, 10, 12], [10, 20, 24], [18, 36, 40]],
        [[21, 42, 44], [42, 84, 88], [50, 100, 104]],
        [[37, 74, 76], [74, 148, 152], [82, 164, 168]],
        [[53, 106, 108], [106, 212, 216], [114, 228, 232]],
    ]
    assert grad.input_gradient(w, g, geometry)[0, 0].tolist() == [
        [4, 8, 4, 5],
        [8, 16, 8, 10],
        [4, 8, 4, 5],
        [7, 14, 7, 8],
    ]


def test_the_weight_gradient_is_a_sum_over_samples_and_not_a_mean():
    ones = np.ones((2, 1, 4, 4), int)
    gw = grad.weight_gradient(ones, np.ones((2, 1, 2, 2), int), convolution(ones.shape, (1, 1, 3, 3)))
    assert gw.ravel().tolist() == [8] * 9


def test_a_single_gradient_reads_out_one_window_of_the_input():
    x = np.arange(100, 112).reshape(1, 1, 12)
    geometry = convolution(x.shape, (1, 1, 3), stride=2, padding=1, dilation=3)
    for p in range(geometry.output_shape[2]):
        g = np.zeros(geometry.output_shape, int)
        g[0, 0, p] = 1
        window = [x[0, 0, m] if 0 <= (m := 2 * p + 3 * q - 1) < 12 else 0 for q in range(3)]
        assert grad.weight_gradient(x, g, geometry).ravel().tolist() == window
