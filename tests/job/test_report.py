"""The text: what it says is what ran, and it fits a terminal."""

import re

import numpy as np
import pytest

import npconv
from npconv import grad
from npconv.bound import deviations
from npconv.job.evidence import Evidence
from npconv.job.layer import Layer
from npconv.job.report import axes_table, report


def layer_of(input_shape, weight_shape, transposed=False, dtype=int, scale=1, **parameters):
    x, w = np.ones(input_shape, dtype) * scale, np.ones(weight_shape, dtype) * scale
    output = (npconv.conv_transpose if transposed else npconv.conv)(x, w, **parameters)
    return Layer(x, w, None, output, parameters, transposed)


def drawn(input_shape, weight_shape, kind="f4"):
    random = np.random.default_rng(1)
    x, w = (random.normal(size=shape).astype(kind) for shape in (input_shape, weight_shape))
    return Layer(x, w, None, random.normal(size=npconv.conv(x, w).shape).astype(kind), {})


def inner(layer, change=np.asarray):
    """The only output of a layer with one window and one filter."""
    return float(np.sum(change(layer.input.astype(float) * layer.weight)))


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

one number, three ways (the output without its bias)
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
    assert rows["size i of the given input"] == "4"
    assert rows["size o of its output = s(i-1)+K-lo-hi+r"] == "14"
    assert rows["remainder r = output_padding"] == "2"


# ---------------------------------------------------------------- verdicts


def test_rounding_is_given_as_a_fraction_with_its_place_and_bound():
    """Eight quarters, and a given output one step of float32 above 2: 2**-22 of 8u/(1-8u) * 2."""
    layer = layer_of((1, 8, 1), (1, 8, 1), dtype=np.float32, scale=0.5)
    text = report_of(layer, output=np.array([[[2 + 2**-22]]], np.float32))
    assert "output agrees: its worst difference is 0.2500 of the rounding bound\n  at (0, 0, 0)" in text
    assert "  given  2.000000238\n  npconv 2\n" in text
    assert "bound: n*u/(1 - n*u) of the sum of |terms|, n = 8, u = 2^-24" in text
    text = report_of(layer, output=np.array([[[2 + 2**-19]]], np.float32))
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


def test_what_the_worst_case_cannot_tell_is_suspicious():
    """By hand: 900 terms, so 30 = sqrt(n); a difference of 3 lambda sqrt(n) u of the sum of |terms|."""
    layer = drawn((1, 900, 1), (1, 900, 1))
    due, size = inner(layer), inner(layer, np.abs)
    wrong = np.float32([[[due + 3 * deviations(1, 900, 2**-24) * 30 * 2**-24 * size]]])
    text = report_of(layer, output=wrong)
    assert "output SUSPICIOUS: 1 of 1 values are beyond usual rounding\n  the worst case cannot tell" in text
    assert re.search(r"usual, sums in float32: (2.99|3.00)\d* of it\n", text)
    assert "    6.5*sqrt(n)*u of the sum of |terms|, u = 2^-24\n  rounding can do this" in text
    text = report_of(layer, output=np.float32([[[due]]]))
    assert "output agrees" in text and "usual, sums in float32: " in text and "rounding can" not in text


def test_half_precision_shows_both_ways_to_carry_sums():
    layer = drawn((1, 900, 1), (1, 900, 1), "f2")
    text = report_of(layer, output=layer.output())
    assert "usual, sums in float16: " in text and ", u = 2^-11\n" in text
    assert "usual, sums in float32, rounded once to float16: " in text


def test_equal_terms_are_counted_and_integers_add_up_exactly():
    layer = layer_of((1, 1, 3000), (1, 1, 1), dtype=np.float32, scale=1.5)
    assert "sqrt(n*m)*u of the sum of |terms|, m = 3000 equal terms" not in report_of(layer)
    bias = {"grad_bias": layer.gradients()["grad_bias"]}
    assert "usual" not in report_of(layer, **bias)  # then the worst case is all that can be said
    ones = layer_of((1, 1, 300), (1, 1, 1), dtype=np.float32)
    text = report_of(ones, grad_bias=np.float32([300]))
    assert "usual, sums in float32: 0.0e+00 of it\n    none: integers of this size add up exactly" in text
    text = report_of(ones, grad_bias=np.nextafter(np.float32([300]), np.float32(0)))
    assert "grad_bias SUSPICIOUS" in text


def test_the_difference_of_floats_is_given_in_words():
    layer = drawn((1, 900, 1), (2, 900, 1))
    text = report_of(layer)
    assert re.search(r"equal but for rounding: they differ by \S+, \S+ of the most it can do", text)
    assert "(the output without its bias)" not in text
    assert "exactly equal" in report_of(layer_of((0, 1, 3), (1, 1, 2), dtype=np.float32))


def test_under_a_padding_mode_the_labels_say_that_no_padding_is_left():
    layer = layer_of((1, 1, 6), (1, 1, 3), padding=1, padding_mode="reflect")
    text = axes_table(layer)
    assert re.search(r"grad_input pads g by K-1 : K-1\+r +2:2\n  grad_weight pads x by 0 : -r +0:0\n", text)
    assert "the border's part of grad_input is added to the cells that it copies" in text


def test_what_is_not_used_stands_before_the_table():
    layer = layer_of((1, 1, 3), (1, 1, 2))
    results = layer.results()
    text = report(layer, results, Evidence(layer, results).identity(), [], [], ["lr", "epoch"])
    assert text.split("\n\n")[1] == "note: not used, of what the file holds: 'lr', 'epoch'"


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


def test_numbers_beyond_float64_are_shown():
    """By hand: 2e-400 is given where 1e-400 is due; and 1e-200 * 1e-200 falls below float64's range."""
    x = np.full((1, 1, 1), np.longdouble("1e-400"))
    text = report_of(Layer(x, np.ones_like(x), None, np.ones_like(x), {}), output=2 * x)
    assert text.count("= 1e-400\n") == 3 and "given  2e-400\n  npconv 1e-400\n" in text
    x = np.full((1, 1, 1), 1e-200)
    assert "they differ by 1e-400, " in report_of(Layer(x, x, None, x / x, {}))
