"""A layer's results against torch autograd, and its counts against counting."""

from itertools import product

import ml_dtypes
import numpy as np
import pytest
import torch
import torch.nn.functional as F

import npconv
from npconv.job.bfloat16 import RAW
from npconv.job.layer import RESULTS, Layer

CASES = {
    "plain": ((2, 3, 9), (4, 3, 3), {}),
    "remainder": ((1, 2, 6, 7), (3, 2, 3, 2), dict(stride=(2, 3), padding=1)),
    "groups, dilation": ((2, 4, 8, 8), (6, 2, 2, 3), dict(groups=2, dilation=(2, 1))),
    "unbatched": ((2, 5, 5), (3, 2, 3, 3), dict(padding=2)),
    "three axes": ((1, 2, 4, 5, 4), (2, 2, 2, 3, 2), dict(stride=2, padding=(1, 1, 0))),
    "reflect": ((1, 2, 6), (2, 2, 3), dict(padding=2, padding_mode="reflect")),
    "circular": ((1, 2, 5, 4), (2, 2, 3, 3), dict(padding=1, padding_mode="circular")),
}
TRANSPOSED = {
    "transposed": ((2, 3, 5), (3, 2, 3), dict(stride=2, padding=1, output_padding=1)),
    "transposed, groups": ((1, 4, 3, 4), (4, 2, 3, 2), dict(stride=(2, 1), groups=2, dilation=(1, 2))),
    "transposed, unbatched": ((2, 3, 3), (2, 2, 2, 2), dict(stride=2)),
}


def integers(seed, shape):
    return np.random.default_rng(seed).integers(-4, 5, shape)


def layer_of(case, transposed):
    input_shape, weight_shape, parameters = case
    O = weight_shape[1] * parameters.get("groups", 1) if transposed else weight_shape[0]
    x, w, b = integers(1, input_shape), integers(2, weight_shape), integers(3, (O,))
    function = npconv.conv_transpose if transposed else npconv.conv
    g = integers(4, function(x, w, b, **parameters).shape)
    return Layer(x, w, b, g, parameters, transposed)


def by_torch(layer):
    """Output and gradients in float64, where integers of this size are exact."""
    x, w, b = (
        torch.tensor(a, dtype=torch.float64, requires_grad=True)
        for a in (layer.input, layer.weight, layer.bias)
    )
    parameters, rank = dict(layer.parameters), layer.weight.ndim - 2
    mode = parameters.pop("padding_mode", "zeros")
    padded = x
    if mode != "zeros":
        padded = F.pad(x, [parameters.pop("padding")] * 2 * rank, mode)
    name = f"conv_transpose{rank}d" if layer.transposed else f"conv{rank}d"
    output = getattr(F, name)(padded, w, b, **parameters)
    output.backward(torch.tensor(layer.grad_output, dtype=torch.float64))
    return dict(zip(RESULTS, (a.detach().numpy() for a in (output, x.grad, w.grad, b.grad))))


ALL = [pytest.param(case, False, id=name) for name, case in CASES.items()] + [
    pytest.param(case, True, id=name) for name, case in TRANSPOSED.items()
]


@pytest.mark.parametrize("case, transposed", ALL)
def test_results_are_those_of_autograd(case, transposed):
    layer = layer_of(case, transposed)
    results = layer.results()
    assert tuple(results) == RESULTS
    for name, expected in by_torch(layer).items():
        assert results[name].dtype == np.int64
        np.testing.assert_array_equal(results[name], expected, err_msg=name)


def meetings(layer):
    """Every (input cell or None, tap, output cell) on one line without groups or channels."""
    (i,), (k,), (o,) = layer.input.shape[2:], layer.weight.shape[2:], layer.grad_output.shape[2:]
    s, d, lo = (layer.parameters.get(name, n) for name, n in (("stride", 1), ("dilation", 1), ("padding", 0)))
    if layer.transposed:
        return [
            (m, q, s * m + d * q - lo) for m, q in product(range(i), range(k)) if 0 <= s * m + d * q - lo < o
        ]
    cells = [*range(i)]
    mode = layer.parameters.get("padding_mode", "zeros")
    border = {"zeros": [None] * lo, "reflect": cells[1 : lo + 1][::-1], "replicate": [0] * lo}[mode]
    after = {"zeros": [None] * lo, "reflect": cells[::-1][1 : lo + 1], "replicate": [i - 1] * lo}[mode]
    line = [*border, *cells, *after]
    return [(line[s * p + d * q], q, p) for p, q in product(range(o), range(k))]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        dict(),
        dict(stride=2),
        dict(stride=3, padding=1),
        dict(stride=2, dilation=2, padding=3),
        dict(padding=2, padding_mode="reflect"),
        dict(padding=3, stride=2, padding_mode="replicate"),
    ],
    ids=str,
)
def test_terms_are_the_most_that_meet_in_one_sum(parameters, transposed):
    if transposed and "padding_mode" in parameters:
        parameters = dict(padding=1)
    x, w = integers(1, (2, 3, 8)), integers(2, (3, 3, 4))
    function = npconv.conv_transpose if transposed else npconv.conv
    layer = Layer(x, w, None, function(x, w, **parameters), parameters, transposed)
    met = [(m, q, p) for m, q, p in meetings(layer) if m is not None]
    m, q, p = (max(column.count(cell) for cell in column) for column in map(list, zip(*met)))
    assert layer.terms() == {
        "output": 3 * p,
        "grad_input": 3 * m,
        "grad_weight": 2 * q,
        "grad_bias": 2 * layer.grad_output.shape[-1],
    }


def test_terms_know_groups_bias_and_a_missing_batch():
    layer = Layer(
        integers(1, (6, 5)), integers(2, (4, 3, 3)), integers(3, (4,)), integers(4, (4, 3)), dict(groups=2)
    )
    assert layer.terms() == {"output": 10, "grad_input": 6, "grad_weight": 3, "grad_bias": 3}


def test_an_empty_batch_has_empty_sums():
    layer = Layer(np.ones((0, 2, 5)), np.ones((3, 2, 3)), None, np.ones((0, 3, 3)), {})
    assert (
        layer.terms()["grad_weight"] == 0
        and layer.results()["grad_weight"].tolist() == np.zeros((3, 2, 3)).tolist()
    )


def test_map_leaves_out_what_is_not_there():
    layer = Layer(np.ones((1, 1, 2)), np.ones((1, 1, 1)), None, np.ones((1, 1, 2)), {})
    assert layer.map(np.negative).bias is None
    assert layer.map(np.negative).weight.tolist() == [[[-1.0]]]


def test_bfloat16_is_carried_in_float32_and_rounded_once():
    """The same bits as from arrays whose dtype is ml_dtypes' own bfloat16."""
    random = np.random.default_rng(5)
    shapes = (2, 3, 7), (4, 3, 3), (4,), (2, 4, 5)
    x, w, b, g = (random.normal(size=shape).astype(ml_dtypes.bfloat16) for shape in shapes)
    raw = Layer(*(a.view(RAW) for a in (x, w, b, g)), {})
    results = raw.results()
    expected = npconv.conv(x, w, b), *npconv.conv_backward(g, x, w)
    for result, due in zip(results.values(), expected):
        assert result.dtype == RAW and due.dtype == ml_dtypes.bfloat16
        np.testing.assert_array_equal(result.view(np.uint16), due.view(np.uint16))


def test_bfloat16_beside_a_wider_kind_gives_the_wider_kind():
    x, w = np.ones((1, 1, 2), ml_dtypes.bfloat16).view(RAW), np.ones((1, 1, 1), np.float32)
    layer = Layer(x, w, None, np.ones((1, 1, 2), np.float32), {})
    assert {result.dtype for result in layer.results().values()} == {np.dtype(np.float32)}


def test_bfloat16_beside_integers_stays_bfloat16():
    x, w = np.ones((1, 1, 2), ml_dtypes.bfloat16).view(RAW), np.full((1, 1, 1), 3, np.int8)
    layer = Layer(x, w, None, np.ones((1, 1, 2), np.int64), {})
    assert layer.results()["output"].view(ml_dtypes.bfloat16).tolist() == [[[3.0, 3.0]]]
