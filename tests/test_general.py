"""The general convolution: JAX's own results, plain loops, and the other convolutions as its cases.

tests/data/jax_vectors.json holds settings with the results and gradients that jax.lax 0.10.2 gave.
"""

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import oracle
import pytest

import npconv
from npconv import conv_general_dilated, vjp

VECTORS = json.loads((Path(__file__).parent / "data" / "jax_vectors.json").read_text())
WORDS = ("SAME", "VALID", "SAME_LOWER")


class Layout(NamedTuple):
    """Three permutations by name, as jax.lax.ConvDimensionNumbers has them."""

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


def integers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, shape)


def parameters_of(vector: dict[str, Any]) -> dict[str, Any]:
    parameters = dict(vector["parameters"])
    if not isinstance(parameters["padding"], str):
        parameters["padding"] = [tuple(pair) for pair in parameters["padding"]]
    return parameters


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_jax_gave_the_same(vector: dict[str, Any]) -> None:
    lhs, rhs, cotangent = (
        np.array(vector[n]).reshape(vector[n + "_shape"]) for n in ("lhs", "rhs", "cotangent")
    )
    parameters = parameters_of(vector)
    output, pullback = vjp(conv_general_dilated, lhs, rhs, **parameters)
    assert output.shape == tuple(vector["output_shape"]) and output.ravel().tolist() == vector["output"]
    np.testing.assert_array_equal(conv_general_dilated(lhs, rhs, **parameters), output)
    for gradient, name in zip(pullback(cotangent), ("lhs", "rhs")):
        assert gradient.shape == tuple(vector[name + "_shape"])
        assert gradient.ravel().tolist() == vector[name + "_gradient"]


def test_the_vectors_cover_every_kind_of_setting() -> None:
    all_of = [vector["parameters"] for vector in VECTORS]
    assert len(VECTORS) >= 24
    assert {len(p["window_strides"]) for p in all_of} == {1, 2, 3}
    assert {p["padding"].upper() for p in all_of if isinstance(p["padding"], str)} == set(WORDS)
    assert any(min(map(min, p["padding"])) < 0 for p in all_of if not isinstance(p["padding"], str))
    for many in ("feature_group_count", "batch_group_count"):
        assert any(p[many] > 1 for p in all_of)
    for spacing in ("lhs_dilation", "rhs_dilation"):
        assert any(p[spacing] and max(p[spacing]) > 1 for p in all_of)
    kinds = {type(p["dimension_numbers"] and p["dimension_numbers"][0]) for p in all_of}
    assert kinds == {type(None), str, list}
    assert any(0 in vector["output_shape"] for vector in VECTORS)


class Setting(NamedTuple):
    """A general convolution in the plain layout, and the loops' parameters for it."""

    lhs: np.ndarray
    rhs: np.ndarray
    parameters: dict[str, Any]
    loops: dict[str, Any]


def settings(count: int, seed: int) -> list[Setting]:
    rng = random.Random(seed)

    def axes(rank: int, low: int, high: int) -> tuple[int, ...]:
        return tuple(rng.randint(low, high) for _ in range(rank))

    found: list[Setting] = []
    while len(found) < count:
        rank, G = rng.choice((1, 1, 2)), rng.choice((1, 2, 3))
        s, d, l = axes(rank, 1, 3), axes(rank, 1, 3), axes(rank, 1, 3)
        pads = tuple(zip(axes(rank, -3, 4), axes(rank, -2, 4)))
        sizes = axes(rank, 1, 5)
        if min(l_ * (i - 1) + 1 + sum(pad) for i, l_, pad in zip(sizes, l, pads)) < 0:
            continue
        lhs = integers((rng.choice((1, 2)), 2 * G, *sizes), len(found))
        rhs = integers((2 * G, 2, *axes(rank, 1, 3)), len(found) + 1)
        jax_names = dict(
            window_strides=s, padding=pads, lhs_dilation=l, rhs_dilation=d, feature_group_count=G
        )
        loops = dict(stride=s, padding=pads, input_dilation=l, dilation=d, groups=G)
        found.append(Setting(lhs, rhs, jax_names, loops))
    return found


def test_output_and_gradients_are_the_sums_over_the_one_equation() -> None:
    """s*p + d*q = l*m + lo, for all three spacings at once; settings without any output are among them."""
    sizes = []
    for lhs, rhs, parameters, loops in settings(150, seed=11):
        output, pullback = vjp(conv_general_dilated, lhs, rhs, **parameters)
        np.testing.assert_array_equal(output, oracle.output(lhs, rhs, **loops).astype(int))
        g = integers(output.shape, 5)
        by_lhs, by_rhs = pullback(g)
        np.testing.assert_array_equal(by_lhs, oracle.input_gradient(lhs.shape, rhs, g, **loops).astype(int))
        np.testing.assert_array_equal(by_rhs, oracle.weight_gradient(lhs, rhs.shape, g, **loops).astype(int))
        sizes.append(output.size)
    assert 0 in sizes and max(sizes) > 100


def test_the_pullback_differentiated_is_two_convolutions() -> None:
    for lhs, rhs, parameters, _ in settings(40, seed=12):
        output, pullback = vjp(conv_general_dilated, lhs, rhs, **parameters)
        g, a, b = integers(output.shape, 1), integers(lhs.shape, 2), integers(rhs.shape, 3)
        _, second = vjp(pullback, g, lhs, rhs)
        by_g, by_lhs, by_rhs = second((a, b))
        expected = conv_general_dilated(a, rhs, **parameters) + conv_general_dilated(lhs, b, **parameters)
        np.testing.assert_array_equal(by_g, expected)
        np.testing.assert_array_equal(by_lhs, vjp(conv_general_dilated, lhs, b, **parameters)[1](g)[0])
        np.testing.assert_array_equal(by_rhs, vjp(conv_general_dilated, a, rhs, **parameters)[1](g)[1])


@pytest.mark.parametrize("B", [2, 3])
def test_batch_groups_pair_each_group_of_samples_with_its_output_features(B: int) -> None:
    """Output features b*O/B .. (b+1)*O/B see only the samples b*N/B .. (b+1)*N/B."""
    lhs, rhs = integers((2 * B, 2, 5)), integers((2 * B, 2, 2))
    parameters = dict(window_strides=(2,), padding=[(2, -1)], lhs_dilation=(2,), rhs_dilation=(3,))
    groups = list(zip(np.split(lhs, B), np.split(rhs, B)))
    expected = np.concatenate([conv_general_dilated(x, w, **parameters) for x, w in groups], axis=1)
    output, pullback = vjp(conv_general_dilated, lhs, rhs, **parameters, batch_group_count=B)
    np.testing.assert_array_equal(output, expected)
    g = integers(output.shape, 1)
    pieces = [
        vjp(conv_general_dilated, x, w, **parameters)[1](piece)
        for (x, w), piece in zip(groups, np.split(g, B, axis=1))
    ]
    for gradient, parts in zip(pullback(g), zip(*pieces)):
        np.testing.assert_array_equal(gradient, np.concatenate(parts))
    _, second = vjp(pullback, g, lhs, rhs)
    a, b = integers(lhs.shape, 2), integers(rhs.shape, 3)
    linear = conv_general_dilated(a, rhs, **parameters, batch_group_count=B)
    linear = linear + conv_general_dilated(lhs, b, **parameters, batch_group_count=B)
    np.testing.assert_array_equal(second((a, b))[0], linear)


LAYOUTS = [
    ("NHWC", "HWIO", "NHWC"),
    ("NHWC", "OHWI", "NCHW"),
    ("CHWN", "IHWO", "HNWC"),
    ("NCab", "IOba", "baCN"),
    ("NWHC", "HWIO", "NCWH"),
]


@pytest.mark.parametrize("names", LAYOUTS, ids="-".join)
def test_a_layout_only_names_the_axes(names: tuple[str, str, str]) -> None:
    """Strides and paddings follow the spatial letters of the rhs; axes by number mean the same."""
    spatial = "".join(letter for letter in names[1] if letter not in "OI")
    x, w = integers((2, 3, 4, 5)), integers((4, 3, 2, 3))
    g = integers((2, 4, 3, 2), 1)
    plain = dict(window_strides=(1, 2), padding=[(0, 0), (1, -1)])
    y, pullback = vjp(conv_general_dilated, x, w, **plain)
    assert y.shape == g.shape
    of_lhs, of_rhs, of_out = ("NC" + spatial, "OI" + spatial, "NC" + spatial)

    def move(array: np.ndarray, old: str, new: str) -> np.ndarray:
        return array.transpose([old.index(letter) for letter in new])

    moved = move(x, of_lhs, names[0]), move(w, of_rhs, names[1])
    numbers = tuple(
        tuple(new.index(letter) for letter in old) for old, new in zip((of_lhs, of_rhs, of_out), names)
    )
    for form in (names, list(names), numbers, Layout(*numbers)):
        output, back = vjp(conv_general_dilated, *moved, **plain, dimension_numbers=form)
        np.testing.assert_array_equal(output, move(y, of_out, names[2]))
        by_lhs, by_rhs = back(move(g, of_out, names[2]))
        np.testing.assert_array_equal(by_lhs, move(pullback(g)[0], of_lhs, names[0]))
        np.testing.assert_array_equal(by_rhs, move(pullback(g)[1], of_rhs, names[1]))


@pytest.mark.parametrize("word", [*WORDS, "same", "Valid"])
def test_padding_words_are_those_of_conv_in_any_case(word: str) -> None:
    x, w = integers((1, 2, 7, 6)), integers((3, 2, 4, 3))
    np.testing.assert_array_equal(
        conv_general_dilated(x, w, (2, 3), word, rhs_dilation=(1, 2)),
        npconv.conv(x, w, None, (2, 3), word.lower(), (1, 2)),
    )


def test_a_transposed_convolution_is_one_with_an_input_dilation() -> None:
    """Flip the weight, swap its channels, dilate the input: K-1-lo, K-1-hi+output_padding around it."""
    x, w = integers((2, 3, 4)), integers((3, 2, 3))
    expected = npconv.conv_transpose(x, w, None, 2, [(1, 0)], 1, dilation=2)
    flipped = w[:, :, ::-1].swapaxes(0, 1)
    y = conv_general_dilated(x, flipped, (1,), [(4 - 1, 4 - 0 + 1)], lhs_dilation=(2,), rhs_dilation=(2,))
    np.testing.assert_array_equal(y, expected)


def test_dilation_comes_before_a_crop() -> None:
    x, w = np.array([[[1, 2, 3]]]), np.array([[[1]]])
    y = conv_general_dilated(x, w, (1,), [(-1, 0)], lhs_dilation=(2,))
    assert y.tolist() == [[[0, 2, 0, 3]]]


EMPTY = [
    ((1, 2, 3), (4, 2, 3), dict(padding=[(-2, 1)]), (1, 4, 0)),
    ((1, 2, 1), (4, 2, 3), dict(padding="VALID"), (1, 4, 0)),
    ((1, 2, 0), (4, 2, 2), dict(padding=[(2, 1)]), (1, 4, 2)),
    ((0, 2, 3), (4, 2, 2), dict(padding="SAME"), (0, 4, 3)),
    ((2, 0, 3), (4, 0, 2), dict(padding="SAME"), (2, 4, 3)),
    ((2, 3, 3), (0, 3, 2), dict(padding="SAME"), (2, 0, 3)),
    ((1, 1, 2), (1, 1, 1), dict(padding=[(-2, 0)]), (1, 1, 0)),
]


@pytest.mark.parametrize("lhs, rhs, parameters, shape", EMPTY, ids=lambda v: str(v))
def test_empty_arrays_have_the_right_shapes_and_empty_sums_are_zero(lhs, rhs, parameters, shape) -> None:
    x, w = integers(lhs), integers(rhs)
    output, pullback = vjp(conv_general_dilated, x, w, window_strides=(1,), **parameters)
    assert output.shape == shape and not output.any()
    gradients = pullback(integers(shape))
    assert [a.shape for a in gradients] == [lhs, rhs]
    assert not gradients[0].any() and not gradients[1].any()


ERRORS = [
    (
        dict(window_strides=(0,)),
        ValueError,
        "window_strides of spatial axis 0: it is 0, but it must be 1 or more",
    ),
    (dict(window_strides=(1, 1)), ValueError, "window_strides: 2 values for 1 spatial axes"),
    (dict(window_strides=None), TypeError, "window_strides: it is None"),
    (dict(lhs_dilation=(0,)), ValueError, "lhs_dilation of spatial axis 0: it is 0"),
    (dict(rhs_dilation=0), ValueError, "rhs_dilation: it is 0"),
    (dict(lhs_dilation=(1.0,)), TypeError, "lhs_dilation of spatial axis 0: it is 1.0, a float"),
    (dict(padding="FULL"), ValueError, "padding: 'FULL' is not one of 'VALID', 'SAME', 'SAME_LOWER'"),
    (
        dict(padding="SAME", lhs_dilation=(2,)),
        ValueError,
        "padding: 'SAME' has no meaning with lhs_dilation (2,)",
    ),
    (dict(padding=[(1, 1), (1, 1)]), ValueError, "padding: 2 entries for 1 spatial axes"),
    (
        dict(padding=[(-3, -3)]),
        ValueError,
        "padding: on spatial axis 0 it crops 6 of 5 elements; crop 5 or fewer",
    ),
    (
        dict(feature_group_count=2),
        ValueError,
        "rhs: it has 4 input features, but lhs has 4 in 2 group(s), so it must have 2",
    ),
    (
        dict(feature_group_count=3),
        ValueError,
        "feature_group_count: 3 must divide the 4 features of lhs and the 6",
    ),
    (dict(feature_group_count=0), ValueError, "feature_group_count: it is 0"),
    (
        dict(batch_group_count=4),
        ValueError,
        "batch_group_count: 4 must divide the batch of 2 of lhs and the 6",
    ),
    (
        dict(batch_group_count=2, feature_group_count=2),
        ValueError,
        "batch_group_count: 2 and feature_group_count 2 cannot both exceed 1",
    ),
    (
        dict(dimension_numbers="NCW"),
        ValueError,
        "dimension_numbers: it is 'NCW', but it must be None or three",
    ),
    (dict(dimension_numbers=("NCW", "OIW")), ValueError, "must be None or three layouts"),
    (
        dict(dimension_numbers=("NCW", "OIW", "NCH")),
        ValueError,
        "dimension_numbers: 'NCH' must name 3 axes with the letters N, C, W, each once",
    ),
    (dict(dimension_numbers=("NCW", "OIIW", "NCW")), ValueError, "'OIIW' must name 3 axes"),
    (dict(dimension_numbers=("NCW", "OIWH", "NCW")), ValueError, "must name 3 axes"),
    (
        dict(dimension_numbers=((0, 1, 1), (0, 1, 2), (0, 1, 2))),
        ValueError,
        "(0, 1, 1) must name the axes 0 to 2",
    ),
    (
        dict(dimension_numbers=((0, 1, -1), (0, 1, 2), (0, 1, 2))),
        ValueError,
        "(0, 1, -1) must name the axes 0 to 2",
    ),
    (dict(dimension_numbers=("NCW", (0, 1, 2), (0, 1, 2))), TypeError, "dimension_numbers: it is 'N', a str"),
]


@pytest.mark.parametrize("parameters, kind, message", ERRORS, ids=lambda v: str(v)[:50])
def test_errors_say_the_rule_and_the_numbers(parameters, kind, message) -> None:
    x, w = integers((2, 4, 5)), integers((6, 4, 3))
    for function in (conv_general_dilated, lambda *a, **p: vjp(conv_general_dilated, *a, **p)):
        with pytest.raises(kind) as raised:
            function(x, w, **{"window_strides": (1,), "padding": "VALID", **parameters})
        assert message in str(raised.value)


def test_the_arrays_must_fit_each_other() -> None:
    with pytest.raises(ValueError, match=r"rhs: it has 4 axes, but lhs has 3; they must agree"):
        conv_general_dilated(integers((1, 1, 3)), integers((1, 1, 3, 3)), (1,), "SAME")
    with pytest.raises(
        ValueError, match=r"lhs: it has 2 axes, but it needs batch, features and a spatial axis"
    ):
        conv_general_dilated(integers((1, 3)), integers((1, 3)), (), "SAME")
    with pytest.raises(ValueError, match=r"rhs: on spatial axis 0 it has 0 taps; it must have 1 or more"):
        conv_general_dilated(integers((1, 1, 3)), integers((1, 1, 0)), (1,), "SAME")
    _, pullback = vjp(
        conv_general_dilated, integers((1, 1, 3)), integers((1, 1, 2)), window_strides=(1,), padding="SAME"
    )
    with pytest.raises(
        ValueError, match=r"grad_output: its shape is \(1, 1, 4\), but .* must be \(1, 1, 3\)"
    ):
        pullback(integers((1, 1, 4)))


def test_dilations_may_be_arrays() -> None:
    x, w = integers((1, 1, 4, 5)), integers((1, 1, 2, 2))
    by_arrays = conv_general_dilated(x, w, np.array([1, 2]), "VALID", np.array([1, 1]), np.array([2, 1]))
    np.testing.assert_array_equal(by_arrays, conv_general_dilated(x, w, (1, 2), "VALID", None, (2, 1)))
