"""`explain` and `shape` from the command line."""

from __future__ import annotations

import pytest

from npconv.cli import main
from npconv.commands.convolution import GRAMMAR
from npconv.problem import Problem


def test_explain_prints_the_chosen_map_and_element(capsys):
    assert main(["explain", "i5x5_k3_s2", "--of", "input", "--element", "2,2"]) == 0
    assert "ELEMENT grad_input[2,2] = 36" in capsys.readouterr().out


def test_explain_shows_the_forward_where_nothing_is_chosen(capsys):
    assert main(["explain", "i4_k3"]) == 0
    assert capsys.readouterr().out.startswith("i4_k3: forward\n")


def test_shape_prints_sizes_and_dialects(capsys):
    assert main(["shape", "i6_k3_s2"]) == 0
    text = capsys.readouterr().out
    assert "unread" in text and "oneDNN:" in text


@pytest.mark.parametrize(
    "flags, line",
    [
        ("--input 1,2,5,6 --weight 4,2,3,3 --stride 2", "C2O4_i5x6_k3_s2"),
        ("--input 1,4,7 --weight 6,2,3 --groups 2 --padding 1:0 --bias", "C4O6G2_i7_k3_p1:0_bias"),
        ("--input 1,1,6,6 --weight 1,1,3,3 --padding same", "i6x6_k3_p1"),
        ("--input 2,4,3,3 --weight 4,3,3,3 --transposed --groups 2 --stride 2 --output-padding 1",
         "transposed_N2C4O6G2_i3x3_k3_s2_op1"),
    ],
)  # fmt: skip
def test_flags_name_the_same_convolution_as_a_descriptor(flags, line, capsys):
    assert main(["shape", *flags.split()]) == 0
    by_flags = capsys.readouterr().out
    assert main(["shape", line]) == 0
    assert by_flags == capsys.readouterr().out
    assert by_flags.startswith(line + "\n")


def test_shape_tells_sizes_beyond_every_machine_integer(capsys):
    assert main(["shape", f"i{5 * 10**30}_k3_s5"]) == 0
    text = capsys.readouterr().out
    assert f"output 1x1x{10**30}\n" in text and f"({2 * 10**30} in all)" in " ".join(text.split())


@pytest.mark.parametrize("command", ["explain", "shape"])
def test_the_help_spells_out_a_descriptor(command, capsys):
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert GRAMMAR in text
    examples = [line.split()[0] for line in GRAMMAR.splitlines() if "_i" in line]
    parsed = [Problem.parse(line) for line in examples]
    assert [problem.transposed for problem in parsed] == [False, True]


@pytest.mark.parametrize(
    "part, field, value",
    [
        ("N2", "N", 2), ("C2", "C", 2), ("O2", "O", 2), ("s2x1", "stride", (2, 1)), ("d2", "dilation", (2, 2)),
        ("p1:0x1", "padding", ((1, 0), (1, 1))), ("psame", "padding", ((1, 1), (1, 1))),
        ("psame-lower", "padding", ((1, 1), (1, 1))), ("pvalid", "padding", ((0, 0), (0, 0))),
        ("p-1", "padding", ((-1, -1), (-1, -1))), ("bias", "bias", True), ("reflect", "padding_mode", "reflect"),
        ("replicate", "padding_mode", "replicate"), ("circular", "padding_mode", "circular"),
    ],
)  # fmt: skip
def test_every_part_that_the_help_names_is_understood(part, field, value):
    assert getattr(Problem.parse(f"i6x7_k3_{part}"), field) == value


@pytest.mark.parametrize(
    "words, complaint",
    [
        (["explain", "i4"], "npconv explain: problem: 'i4' lacks k"),
        (
            ["explain", "i4_k3", "--of", "sideways"],
            "npconv explain: of: it is 'sideways', but it must be one of forward",
        ),
        (["explain", "i4_k3", "--element", "7"], "npconv explain: element: [7] is not in output"),
        (
            ["explain", "C2O3_i4x4_k3", "--element", "1,1"],
            "element: [1, 1] has 2 entries, but output has the shape (1, 3, 2, 2); give 4 indices",
        ),
        (
            ["explain", "i4_k3", "--animated"],
            "npconv explain: animated: only a picture slides; give --svg FILE",
        ),
        (["explain", "i4_k3", "--element", "x"], "argument --element: 'x' is not an integer"),
        (["explain", "i4x4x4_k3"], "npconv explain: problem: it has 3 spatial axes"),
        (
            ["shape"],
            "npconv shape: input: it is missing; give a descriptor as in i5x5_k3_s2, or --input and --weight",
        ),
        (
            ["shape", "i5_k3", "--stride", "2"],
            "npconv shape: stride: 'i5_k3' says it all; give a descriptor or flags",
        ),
        (["shape", "--input", "1,2,5", "--weight", "4,3,3"], "its shape (4, 3, 3) takes 3 channels, not 2"),
        (
            ["shape", "--input", "1,2,5,5", "--weight", "4,2,3"],
            "weight: its shape is (4, 2, 3); both shapes need",
        ),
        (
            ["shape", "--input", "1,1,5", "--weight", "-1,1,3"],
            "weight axis 0: it is -1, but it must be 0 or more",
        ),
        (
            ["shape", "--input", "1,1,5", "--weight", "1,1,3", "--groups", "0"],
            "groups: it is 0, but it must be 1",
        ),
        (["explain", "i4_k3", "--element", "-1,-1"], "element: [-1, -1] has 2 entries"),
        (["shape", "j6_k3"], "npconv shape: problem: 'j6' in 'j6_k3' is not understood"),
        (["shape", "i2_k3"], "npconv shape: padding: on spatial axis 0 the padded input has size 2"),
        (["lesson", "strided?"], "there is no 'strided?'"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(words, complaint, capsys):
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert complaint in printed.err
