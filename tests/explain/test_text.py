"""The explanations in text: fixed pages for the founding example, and rules for all others."""

from __future__ import annotations

import re

import numpy as np
import pytest
from problems import random_problem

from npconv.explain import text
from npconv.explain.drawing import plane
from npconv.explain.element import busiest, element
from npconv.explain.scene import OF, Scene
from npconv.problem import Problem

FOUNDING = """\
i5x5_k3_s2: gradient by the input
=================================

input 1x1x5x5, weight 1x1x3x3, grad_output 1x1x2x2
stride 2, padding 0, dilation 1, groups 1
  extent     K = d(k-1)+1 = 1*(3-1)+1 = 3
  output     o = floor((i+lo+hi-K)/s)+1 = floor((5+0+0-3)/2)+1 = 2
  remainder  r = i+lo+hi-K-(o-1)s = 5+0+0-3-(2-1)*2 = 0

grad_input[n,c,m] = sum over o, p, q of grad_output[n,o,p] * weight[o,c,q]
where m = s*p + d*q - lo = 2*p + 1*q - 0

STEPS
  1. dilate grad_output by the stride 2: 1 zero between neighbours
  2. pad it by (K-1-lo, K-1-hi+r) = (3-1-0, 3-1-0+0) = (2, 2)
  3. flip weight and swap its channel axes
  4. slide it over that: stride 1, dilation 1

ARRAYS
  grad_output 1x1x2x2 -> zeros between 1x1x3x3 -> zeros around 1x1x7x7
  weight 1x1x3x3 -> flipped 1x1x3x3
  B over A 1x1x5x5

grad_output      zeros between      zeros around (= A)
[1][2]       ->  [1][.][2]      ->   .  .  .  .  .  .  .
[3][4]           [.][.][.]           .  .  .  .  .  .  .
                 [3][.][4]           .  . [1][.][2] .  .
                                     .  . [.][.][.] .  .
                                     .  . [3][.][4] .  .
                                     .  .  .  .  .  .  .
                                     .  .  .  .  .  .  .

weight         flipped (= B)
[1] 2 [3]  ->  [9] 8 [7]
 4  5  6        6  5  4
[7] 8 [9]      [3] 2 [1]

B slides over A = grad_input
  1   2   5   4   6
  4   5  14  10  12
 10  14 [36] 24  30
 12  15  34  20  24
 21  24  55  32  36

ELEMENT grad_input[2,2] = 36, in brackets
  = g[0,0]*w[2,2] + g[0,1]*w[2,0] + g[1,0]*w[0,2] + g[1,1]*w[0,0]
  = 1*9 + 2*7 + 3*3 + 4*1
  and 5 more products with a zero that was put in"""


def test_the_founding_examples_input_gradient_reads_as_a_teacher_would_draw_it():
    assert text.explain(Problem.parse("i5x5_k3_s2"), "input") == FOUNDING


def test_the_founding_examples_weight_gradient_shows_the_stride_as_a_dilation():
    page = text.explain(Problem.parse("i5x5_k3_s2"), "weight", (0, 0))
    assert "slide grad_output over it: stride 1 (= d), dilation 2 (= s); no flip" in page
    # Output (p, p') meets input (2p, 2p') at tap (0, 0): 1*1 + 9*2 + 6*3 + 5*4.
    assert page.endswith(
        "ELEMENT grad_weight[0,0] = 57, in brackets\n"
        "  = x[0,0]*g[0,0] + x[0,2]*g[0,1] + x[2,0]*g[1,0] + x[2,2]*g[1,1]\n"
        "  = 1*1 + 9*2 + 6*3 + 5*4"
    )


def test_the_founding_examples_forward_adds_nine_products():
    page = text.explain(Problem.parse("i5x5_k3_s2"), "forward", (1, 1))
    assert "ELEMENT y[1,1] = " in page
    assert page.count("*w[") == 9


@pytest.mark.parametrize(
    "line, of, formula",
    [
        ("C2O3_i4_k2", "forward", "output[n,o,p] = sum over c, q of input[n,c,m] * weight[o,c,q]"),
        ("transposed_C2O3_i4_k2", "forward", "output[n,o,m] = sum over c, p, q of input[n,c,p] * weight[c,o,q]"),
        ("transposed_C2O3_i4_k2", "input", "grad_input[n,c,p] = sum over o, q of grad_output[n,o,m] * weight[c,o,q]"),
        ("transposed_C2O3_i4_k2", "weight", "grad_weight[c,o,q] = sum over n, p of grad_output[n,o,m] * input[n,c,p]"),
    ],
)  # fmt: skip
def test_c_are_the_input_channels_and_o_the_output_channels_of_a_transposed_one_too(line, of, formula):
    page = text.explain(Problem.parse(line), of)
    assert formula in page.splitlines()
    # The formula's letters are the axes of the shapes: N 1, C 2, O 3.
    named = dict(re.findall(r"(\w+)\[(\w,\w),", formula))
    sizes = {"n": "1", "c": "2", "o": "3"}
    for name, letters in named.items():
        shape = "x".join(sizes[letter] for letter in letters.split(","))
        assert re.search(rf"\b{name} {shape}x\d|= {name}$", page, re.M), name


def test_a_bias_is_the_last_term():
    page = text.explain(Problem.parse("O2_i3_k2_bias"), "forward", (0, 1, 1))
    assert page.endswith(
        "ELEMENT y[0,1,1] = 71, in brackets\n  = x[1]*w[1,0,0] + x[2]*w[1,0,1] + b[1]\n  = 5*3 + 9*4 + 20"
    )


LINES = [
    "i5x5_k3_s2",
    "i6_k3_s2_p1:0",
    "N2C2O4G2_i4x3_k2_s2_d1",
    "i4x4_k2_p-1:1",
    "i3x3_k2_bias",
    "i7_k2_s3_d2",
    "C2O3_i4_k2",
]


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("line", [*LINES, "transposed_i3x3_k3_s2_p1_op1"])
def test_every_explanation_is_plain_text_in_80_columns(line, of):
    problem = Problem.parse(line)
    if problem.transposed and of == "transpose":
        with pytest.raises(ValueError, match="of: the problem is a transposed convolution already"):
            text.explain(problem, of)
        return
    page = text.explain(problem, of)
    assert page.isascii()
    assert [row for row in page.splitlines() if len(row) > 80 or row != row.rstrip()] == []


@pytest.mark.parametrize("of", ["forward", "input", "weight", "transpose"])
def test_the_products_shown_add_up_to_the_element(of):
    for line in LINES:
        (figure,) = Scene.of(Problem.parse(line)).figures(of)
        for cell in range(figure.trace.result.size):
            found = element(figure, cell)
            total = sum(a.value * b.value for a, b in found.products) + (
                found.bias.value if found.bias else 0
            )
            assert total == found.value == figure.trace.result.reshape(-1)[cell]


@pytest.mark.parametrize("of", ["forward", "input", "weight"])
def test_every_symbol_names_the_cell_whose_value_stands_beside_it(of):
    scene = Scene.of(Problem.parse("C2O2_i5x4_k3x2_s2_p1"))
    letters = {"x": scene.arrays["input"], "w": scene.arrays["weight"], "g": scene.arrays["grad_output"]}
    (figure,) = scene.figures(of)
    for product in element(figure, busiest(figure)).products:
        for factor in product:
            letter, index = re.fullmatch(r"(\w)\[([\d,]+)\]", factor.symbol).groups()
            assert letters[letter][tuple(map(int, index.split(",")))] == factor.value


@pytest.mark.parametrize("at", [(5, 0), (0, 0, 0, 5), (1, 0, 0, 0), (-1, 0)])
def test_an_element_that_is_not_there_is_refused(at):
    message = rf"element: {re.escape(str(list(at)))} is not in grad_input, whose shape is \(1, 1, 5, 5\)"
    with pytest.raises(ValueError, match=message):
        text.explain(Problem.parse("i5x5_k3_s2"), "input", at)


@pytest.mark.parametrize("of", ["forward", "input", "weight", "transpose"])
def test_every_formula_comes_to_what_was_applied(of):
    seen = 0
    for seed in range(40):
        page = text.explain(random_problem(seed), of).replace("\n     ", " ")
        for formula, applied in re.findall(r"= (\([-+*\d, ]+\)) = (\(-?\d+, -?\d+\))", page):
            assert eval(formula) == eval(applied), page
            seen += formula != applied
        for formula, value in re.findall(r"= ([-+*()\d]+) = (-?\d+)$", page, re.M):
            assert eval(formula) == int(value), page
    assert seen > 20 or of == "forward"


def test_an_input_that_no_window_reads_is_a_sum_without_terms():
    page = text.explain(Problem.parse("i6_k3_s2"), "input", (5,))
    assert "ELEMENT grad_input[5] = 0, in brackets\n  = 0, a sum without terms" in page


def test_the_second_order_is_four_maps():
    page = text.explain(Problem.parse("i4_k2"), "double")
    assert re.findall(r"MAP \d OF 4: a term of (\w+)", page) == [
        "grad_grad_output", "grad_grad_output", "grad_input", "grad_weight",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line, at, due",
    [
        ("i5x5_k3", (1,), "4 or 2"), ("i5x5_k3", (0, 0, 0, 0, 0), "4 or 2"), ("i5x5_k3", (0, 1, 1), "4 or 2"),
        ("C2_i5x5_k3", (1, 1), "4"), ("N2_i5_k3", (1,), "3"), ("i5_k3", (0, 1), "3 or 1"),
    ],
)  # fmt: skip
def test_an_index_of_the_wrong_length_is_refused_with_the_right_one(line, at, due):
    with pytest.raises(ValueError, match=f"element: .* has {len(at)} entries, .*; give {due} indices"):
        text.explain(Problem.parse(line), "input", at)


def test_an_element_of_four_maps_is_refused():
    with pytest.raises(
        ValueError, match="element: 'double' is 4 maps, each with elements of its own; leave it out"
    ):
        text.explain(Problem.parse("i4_k2"), "double", (0,))


def test_nothing_but_the_escapes_is_changed_by_colour():
    page = text.explain(Problem.parse("C2O2_i5_k3_s2_p1"), "forward")
    painted = text.coloured(page)
    assert re.sub("\x1b\\[\\d+m", "", painted) == page
    assert "\x1b[1mELEMENT y" in painted and "\x1b[7m[6]\x1b[0m" in painted and "\x1b[2m.\x1b[0m" in painted


def test_run_prints_without_colour_where_no_terminal_reads(capsys):
    assert text.run(Problem.parse("i5x5_k3_s2"), "input") == 0
    assert capsys.readouterr().out == FOUNDING + "\n"


def test_what_is_too_large_for_the_page_is_left_out_in_the_middle():
    page = text.explain(Problem.parse("i40x40_k3_s2_p1"), "input")
    assert max(map(len, page.splitlines())) <= 80
    numbers = np.arange(1600).reshape(40, 40)
    rows = plane(numbers, np.zeros((40, 40), bool))
    assert rows[0].split() == ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "~", "36", "37", "38", "39"]
    assert rows[-1].split()[-1] == "1599" and set(rows[16].split()) == {"~"} and len(rows) == 24
