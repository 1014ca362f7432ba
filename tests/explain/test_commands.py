"""`explain` and `shape` from the command line."""

from __future__ import annotations

import pytest

from npconv.cli import main


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
    "words, complaint",
    [
        (["explain", "i4"], "npconv explain: problem: 'i4' lacks k"),
        (
            ["explain", "i4_k3", "--of", "sideways"],
            "npconv explain: of: it is 'sideways', but it must be one of forward",
        ),
        (["explain", "i4_k3", "--element", "7"], "npconv explain: element: [7] is not in output"),
        (["explain", "i4_k3", "--element", "x"], "argument --element: 'x' is not an integer"),
        (["explain", "i4x4x4_k3"], "npconv explain: problem: it has 3 spatial axes"),
        (["shape", "i2_k3"], "npconv shape: padding: on spatial axis 0 the padded input has size 2"),
        (["lesson", "strided?"], "there is no 'strided?'"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(words, complaint, capsys):
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert complaint in printed.err
