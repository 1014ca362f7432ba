"""`lesson NAME --try FILE.py`: right answers pass, and each classic mistake is called by its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from npconv.cli import main

RIGHT = Path(__file__).with_name("student.py").read_text(encoding="utf-8")

# lesson, what the student wrote in place of what is right, what must be said
MISTAKES = {
    "no flip": ("strided", "[:, :, ::-1, ::-1]", "", r"grad_input: .*flip"),
    "no channel swap": ("strided", "weight.swapaxes(0, 1)[", "weight[", r"grad_input: .*(channel|raises)"),
    "padding not K-1-p": ("padded", "(k - 1 - lo, k - 1 - hi + more)", "(lo, hi + more)", r"grad_input: .*pad"),
    "remainder forgotten": ("remainder", "k - 1 - hi + more)", "k - 1 - hi)", r"grad_input: .*remainder"),
    "dilation not swapped": ("dilated", "stride=dilation, padding=around, dilation=stride", "stride=stride, padding=around, dilation=dilation", r"grad_weight: .*(stride|dilation)"),
    "bias summed over the wrong axis": ("bias", "axis=(0, 2, 3)", "axis=(1, 2, 3)", r"grad_bias: .*(channel|axis|axes|batch)"),
}  # fmt: skip


@pytest.fixture
def tried(tmp_path, capsys):
    def attempt(lesson, text):
        file = tmp_path / "mine.py"
        file.write_text(text, encoding="utf-8")
        code = main(["lesson", lesson, "--try", str(file)])
        return code, capsys.readouterr()

    return attempt


def test_right_answers_pass_and_what_was_refused_is_said(tried):
    code, printed = tried("strided", RIGHT)
    print(printed.out)
    assert code == 0 and printed.out.startswith("strided: PASS")
    assert "groups" in printed.out


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_classic_mistake_is_named(mistake, tried):
    lesson, right, wrong, said = MISTAKES[mistake]
    assert RIGHT.count(right) >= 1
    code, printed = tried(lesson, RIGHT.replace(right, wrong))
    print(printed.out, printed.err)
    assert code == 1 and printed.out.startswith(f"{lesson}: WRONG")
    assert re.search(said, printed.out)


def test_a_fault_that_is_no_slip_keeps_the_referees_words(tried):
    # Right at stride 1, where a stride that was not exchanged would be right as well.
    right = "dilation=stride, groups=1).swapaxes(0, 1)"
    assert right in RIGHT
    code, printed = tried("dilated", RIGHT.replace(right, right + " + (max(stride) > 1)"))
    assert code == 1 and "exchanged" not in printed.out
    assert "grad_weight: " in printed.out


@pytest.mark.parametrize(
    "words, complaint",
    [
        (["quantum"], "npconv lesson: lesson: there is no 'quantum'; choose one of simple, flip"),
        ([], "mine.py answer? Choose one of simple, flip"),
        (
            ["transposed"],
            "it has no transposed, for which the lesson 'transposed' asks: Write transposed(input",
        ),
    ],
)
def test_an_exercise_that_cannot_be_graded_is_refused(words, complaint, tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(RIGHT, encoding="utf-8")
    assert main(["lesson", *words, "--try", str(file)]) == 2
    assert complaint in capsys.readouterr().err
