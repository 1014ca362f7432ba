"""What `shape` says of a problem, by hand and against the index formula."""

from __future__ import annotations

import re

import pytest

from npconv.explain import shape
from npconv.geometry import Axis
from npconv.problem import Problem

# By hand: K = 3, o = floor((6-3)/2)+1 = 2, r = 6-3-2 = 1; the last window ends at input 4.
BY_HAND = """\
i6_k3_s2
input 1x1x6, weight 1x1x3, output 1x1x2
stride 2, padding 0, dilation 1, groups 1

axis  i  k  s  d  lo  hi  K  o  r  unread
   0  6  3  2  1   0   0  3  2  1  5

K extent, o outputs, r remainder; unread: the inputs that no window reads, whose
gradient is zero

MAPS
        map  dilate first  then pad  stride  dilation  flip
 grad_input             2    (2, 3)       1         1  yes
grad_weight             1   (0, -1)       1         2  no
     output             1    (0, 0)       2         1  no

PHASES (m + lo) mod s: input m meets only the taps q with d*q = m + lo mod s
  0: taps 0 2; 1: taps 1
"""


def test_the_sizes_of_a_strided_convolution_are_those_worked_out_by_hand():
    assert shape.shape(Problem.parse("i6_k3_s2")).startswith(BY_HAND)


def test_a_transposed_problem_has_its_maps_exchanged_and_its_output_padding_as_r():
    text = shape.shape(Problem.parse("transposed_i4_k3_s2_p1_op1"))
    assert "axis  output  k  s  d  lo  hi  K  input  op  unreached" in text
    assert "   0       8  3  2  1   1   1  3      4   1  none" in text
    assert re.search(r" output +2 +\(1, 2\) +1 +1  yes", text)
    assert re.search(r"grad_input +1 +\(1, 0\) +2 +1  no", text)
    assert "op is its remainder r" in text
    assert "above" not in text  # no convolution stands there


@pytest.mark.parametrize(
    "line",
    [
        "i6x7_k3_s2_p1:0x1_bias", "C4O4G4_i9x9_k3_s4_d2", "transposed_i4x4_k2_s3", "i30000000_k1_s2",
        "i9_k3_p1_circular",
    ],
)  # fmt: skip
def test_the_text_fits_80_columns_but_for_words_that_cannot_be_broken(line):
    lines = shape.shape(Problem.parse(line)).splitlines()
    assert all(len(row) <= 80 or " " not in row.strip() for row in lines)


def test_the_phases_name_the_taps_that_each_input_meets():
    for i, k, s, d, lo in [(9, 3, 2, 1, 0), (9, 2, 4, 2, 1), (8, 3, 3, 2, -1), (6, 1, 2, 1, 0)]:
        axis = Axis(i, k, (i + lo - d * (k - 1) - 1) // s + 1, s, d, lo=lo)
        phases = dict(part.split(": ") for part in shape._axis_phases(axis).split("; "))
        empty = next((named for named, taps in phases.items() if taps == "no tap, zero"), "")
        for m in range(axis.i):
            meets = {q for q in range(k) if (m + lo - d * q) % s == 0}
            phase = (m + lo) % s
            if meets:
                assert phases[str(phase)] == "taps " + " ".join(map(str, sorted(meets)))
            else:
                assert any(str(phase) in entry or "-" in entry for entry in empty.split())


# Each by hand: a stride of 2 leaves out every other input; 3 taps lie in 3 of the 20000000 phases.
@pytest.mark.parametrize(
    "line, said",
    [
        ("i30000000_k3", "none"),
        ("i30000000_k1_s2", "1 3 5 7 9 11 13 15 17 19 21 23 ... (15000000 in all)"),
        ("i10_k3_p1_s20000000", "0: taps 0; 1: taps 1; 2: taps 2; the other 19999997: no tap, zero"),
        ("i30000000_k30000000_s20000000", "11: taps 11 20000011; ... (20000000 phases have taps)"),
        ("i30000000_k30000000_s2", "0: taps 0 2 4 ... (15000000 in all); 1: taps 1 3 5 ... (15000000"),
        ("i60_k1_s16", "0: taps 0; the other 15: no tap, zero"),
    ],
)
def test_large_sizes_are_counted_and_only_the_first_are_listed(line, said):
    text = shape.shape(Problem.parse(line))
    assert said in " ".join(text.split()) and len(text) < 3000


def test_with_a_border_that_is_no_zeros_unread_is_meant_of_the_padded_input():
    text = shape.shape(Problem.parse("i5_k2_s3_p1_circular"))
    # Windows at 0-1 and 3-4 of 7 padded inputs; input 4 is read through the border, though no window
    # inside reads it.
    assert "   0  7  2  3  1   0   0  2  2  2  2 5-6" in text
    assert "The border is circular" in text
    assert re.search(r"grad_input +3 +\(1, 3\) +1 +1  yes", text)


def test_run_prints_and_returns_0(capsys):
    assert shape.run(Problem.parse("i6_k3_s2")) == 0
    assert capsys.readouterr().out.startswith(BY_HAND)
