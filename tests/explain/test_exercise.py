"""`lesson NAME --try FILE.py`: right answers pass, and each classic mistake is called by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from npconv.cli import main

RIGHT = Path(__file__).with_name("student.py").read_text(encoding="utf-8")

# What is right, what the student wrote in its place, what must be said.
NO_FLIP = ("[:, :, ::-1, ::-1]", "", "grad_input: the weight is not flipped")
NO_SWAP = ("weight.swapaxes(0, 1)[", "weight[", "grad_input: the weight's channel axes are not swapped")
OWN_PADDING = (
    "(k - 1 - lo, k - 1 - hi + more)",
    "(lo, hi + more)",
    "grad_input: grad_output is padded by the forward's padding, not by K-1-lo and K-1-hi",
)
NO_REMAINDER = ("k - 1 - hi + more)", "k - 1 - hi)", "grad_input: the stride remainder is dropped")
NOT_EXCHANGED = (
    "stride=dilation, padding=around, dilation=stride",
    "stride=stride, padding=around, dilation=dilation",
    "grad_weight: stride and dilation are not exchanged",
)
WRONG_AXIS = (
    "axis=(0, 2, 3)",
    "axis=(1, 2, 3)",
    "grad_bias: it sums over the channels, not over the samples",
)
# Right at stride 1, where a stride that was not exchanged would be right as well: no slip, whatever it is.
NO_SLIP = ("groups=1).swapaxes(0, 1)", "groups=1).swapaxes(0, 1) + (max(stride) > 1)", "grad_weight: ")


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


@pytest.mark.parametrize(
    "lesson, mistakes",
    [
        ("strided", [NO_FLIP, NOT_EXCHANGED, WRONG_AXIS]),
        ("weight", [NO_SWAP, NO_SLIP]),
        ("padded", [OWN_PADDING]),
        ("remainder", [NO_REMAINDER]),
    ],
)
def test_the_classic_mistakes_are_named(lesson, mistakes, tried):
    text = RIGHT
    for right, wrong, _ in mistakes:
        assert right in text
        text = text.replace(right, wrong)
    code, printed = tried(lesson, text)
    assert code == 1 and printed.out.startswith(f"{lesson}: WRONG")
    for _, _, said in mistakes:
        assert f"  {said}" in printed.out
    assert ("exchanged" in printed.out) == (NOT_EXCHANGED in mistakes)
    assert "see:  python -m npconv explain i" in printed.out


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
