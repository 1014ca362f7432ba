"""The text: what it says is what ran, and it fits a terminal."""

import numpy as np
import pytest

import npconv
from npconv import grad
from npconv.job.evidence import Evidence
from npconv.job.layer import Layer
from npconv.job.report import axes_table, report


def layer_of(input_shape, weight_shape, transposed=False, dtype=int, scale=1, **parameters):
    x, w = np.ones(input_shape, dtype) * scale, np.ones(weight_shape, dtype) * scale
    output = (npconv.conv_transpose if transposed else npconv.conv)(x, w, **parameters)
    return Layer(x, w, None, output, parameters, transposed)


def report_of(layer, notes=(), **expected):
    results = layer.results()
    evidence = Evidence(layer, results)
    return report(layer, results, evidence.identity(), evidence.compare(expected), notes)


def test_a_whole_report():
    """Worked by hand: windows (1, 2, 3) and (3, 4, 5); no window reads the 6."""
    x, w, g = np.array([[[1, 2, 3, 4, 5, 6]]]), np.array([[[1, 10, 100]]]), np.array([[[1, 1000]]])
    layer = Layer(x, w, np.array([7], np.int32), g, dict(stride=2))
    assert (
        report_of(layer, ["a remark"], output=np.array([[[328, 551]]]))
        == """\
convolution, 1 spatial axis, 1 group

  input        int64  (1, 1, 6)
  weight       int64  (1, 1, 3)
  bias         int32  (1,)
  grad_output  int64  (1, 1, 2)
  output       int64  (1, 1, 2)
  grad_input   int64  (1, 1, 6)
  grad_weight  int64  (1, 1, 3)
  grad_bias    int64  (1,)

  spatial axis                                 0
  input size i                                 6
  taps k                                       3
  stride s                                     2
  dilation d                                   1
  padding lo:hi                              0:0
  extent K = d(k-1) + 1                        3
  output size o = floor((i+lo+hi-K)/s) + 1     2
  remainder r = i+lo+hi-K - s(o-1)             1
  grad_input pads g by K-1-lo : K-1-hi+r     2:3
  grad_weight pads x by lo : hi-r           0:-1
  x: input; g: grad_output, s-1 zeros between neighbours

one number, three ways (a bias left out)
  <output, grad_output> = 543321
  <input, grad_input>   = 543321
  <weight, grad_weight> = 543321
  exactly equal

output DISAGREES: 1 of 2 integers differ, the first
  at (0, 0, 1)
  given  551
  npconv 550

note: a remark"""
    )


# ---------------------------------------------------------------- the table says what ran


def shown_paddings(layer):
    """The paddings in the table's rows that say who pads what, one list of pairs a row."""
    rows = [line.split(" : ")[1].split()[1:] for line in axes_table(layer).splitlines() if " pads " in line]
    return [[tuple(map(int, entry.split(":"))) for entry in row] for row in rows]


@pytest.fixture
def padded(monkeypatch):
    """The padding of each forward that runs."""
    seen, forward = [], grad.forward

    def spy(*arrays, padding, **parameters):
        seen.append(list(map(tuple, padding)))
        return forward(*arrays, padding=padding, **parameters)

    monkeypatch.setattr(grad, "forward", spy)
    return seen


PLAIN = [
    ((1, 2, 7), (3, 2, 3), dict(stride=2, padding=[(1, 3)])),
    ((1, 2, 6, 7), (3, 2, 3, 2), dict(stride=(2, 3), padding=((1, 0), (-1, 4)), dilation=(1, 3))),
    ((2, 4, 5, 5), (4, 2, 2, 2), dict(padding="same", groups=2, stride=3)),
    ((1, 1, 4, 5, 6), (1, 1, 2, 2, 2), dict(stride=(3, 2, 1), padding=2)),
]


@pytest.mark.parametrize("input_shape, weight_shape, parameters", PLAIN)
def test_the_paddings_are_those_that_ran(padded, input_shape, weight_shape, parameters):
    layer = layer_of(input_shape, weight_shape, **parameters)
    padded.clear()
    layer.results()
    assert padded == [list(layer.geometry.padding), *shown_paddings(layer)]


def test_the_paddings_under_a_padding_mode_are_those_that_ran(padded):
    layer = layer_of((1, 2, 6, 7), (3, 2, 3, 2), stride=(2, 3), padding=(2, 1), padding_mode="reflect")
    padded.clear()
    layer.gradients()
    assert padded == shown_paddings(layer)
    assert "padding mode reflect" in report_of(layer)
    assert any(line.split() == ["padding", "lo:hi", "2:2", "1:1"] for line in axes_table(layer).splitlines())


@pytest.mark.parametrize(
    "parameters", [dict(stride=3, padding=1, output_padding=2), dict(dilation=2), dict(groups=2)]
)
def test_the_paddings_of_a_transposed_convolution_are_those_that_ran(padded, parameters):
    layer = layer_of((1, 2, 4, 3), (2, 3, 3, 2), transposed=True, **parameters)
    padded.clear()
    layer.results()
    assert padded == shown_paddings(layer)


def test_the_sizes_of_a_transposed_convolution_are_its_own():
    layer = layer_of((1, 2, 4), (2, 3, 3), transposed=True, stride=3, output_padding=2)
    rows = {line.split("  ")[1]: line.split()[-1] for line in axes_table(layer).splitlines()[:-1]}
    assert rows["input size i"] == "4" and rows["output size o = s(i-1) + K - lo - hi + r"] == "14"
    assert rows["remainder r = output_padding"] == "2"


# ---------------------------------------------------------------- verdicts


def test_rounding_is_given_as_a_fraction_with_its_place_and_bound():
    """Eight ones, and a given output one step of float32 above 8: 2**-20 of 8u/(1-8u) * 8."""
    layer = layer_of((1, 8, 1), (1, 8, 1), dtype=np.float32)
    text = report_of(layer, output=np.array([[[8 + 2**-20]]], np.float32))
    assert "output agrees: its worst difference is 0.2500 of the rounding bound\n  at (0, 0, 0)" in text
    assert "  given  8.000000954\n  npconv 8\n" in text
    assert "bound: n*u/(1 - n*u) of the sum of |terms|, n = 8, u = 2^-24" in text
    text = report_of(layer, output=np.array([[[8 + 2**-17]]], np.float32))
    assert "output DISAGREES: 1 of 1 values are beyond the rounding bound" in text
    assert "a difference of 2.0000 times the bound" in text


def test_a_difference_where_none_can_be_is_infinite():
    layer = layer_of((1, 1, 1), (1, 1, 1), dtype=np.float32, scale=0)
    text = report_of(layer, output=np.ones((1, 1, 1), np.float32))
    assert "a difference of infinitely many times the bound" in text


def test_equal_integers_agree():
    layer = layer_of((1, 1, 3), (1, 1, 2))
    assert "output agrees: all 2 integers are equal" in report_of(layer, output=np.full((1, 1, 2), 2))


def test_nothing_agrees_with_nothing():
    layer = layer_of((0, 1, 3), (1, 1, 2))
    assert "output agrees: it is empty" in report_of(layer, output=np.ones((0, 1, 2), int))


def test_what_is_not_finite_is_counted():
    layer = layer_of((1, 1, 3), (1, 1, 2), dtype=float, scale=np.nan)
    text = report_of(layer, output=np.ones((1, 1, 2)))
    assert "note: output: 2 of 2 values are not finite" in text
    assert "no evidence: not everything is finite" in text
    assert "2 of 2 values are not finite and are not judged" in text


def test_a_broken_identity_is_not_passed_over():
    layer = layer_of((1, 1, 3), (1, 1, 2))
    results = layer.results()
    results["grad_weight"][0, 0, 0] += 1
    evidence = Evidence(layer, results)
    assert "they DIFFER by 1: npconv itself is wrong here" in report(
        layer, results, evidence.identity(), [], []
    )


def test_a_bound_that_rejects_little_says_so():
    layer = layer_of((1, 4096, 1), (1, 4096, 1), dtype=np.float16)
    assert "bound: n*u (>= 1: rejects little)" in report_of(layer, output=np.ones((1, 1, 1), np.float16))


# ---------------------------------------------------------------- the width


@pytest.mark.parametrize("kind", ["i8", "f2", "f8", "g", "c16", "G"])
@pytest.mark.parametrize("transposed", [False, True])
def test_it_fits_80_columns(kind, transposed):
    scale = {"i8": 1000, "f2": 1 / 3}.get(kind, 100 / 3)
    for input_shape, weight_shape, parameters in [
        ((2, 2, 6, 6, 6), (2, 2, 2, 2, 2), dict(stride=3, padding=1)),
        (
            (1, 2, 300, 3),
            (2, 1, 100, 3),
            dict(groups=2, stride=(100, 3), padding=((90, 150), (1, 1)), dilation=(2, 1)),
        ),
    ]:
        layer = layer_of(input_shape, weight_shape, transposed, kind, scale, **parameters)
        expected = {name: array + array.dtype.type(1) for name, array in layer.results().items()}
        text = report_of(layer, ["of a length that does not fit on one line " * 5], **expected)
        assert max(map(len, text.splitlines())) <= 80, text
