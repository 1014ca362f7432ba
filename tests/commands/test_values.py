"""Numbers on the command line, read by hand."""

import argparse

import pytest

from npconv.commands.parsing import Misuse
from npconv.commands.values import attach_negative_values, check_one_word_a_value, index, integers, padding

READ = [
    (integers, "2", 2),
    (integers, "2,1", (2, 1)),
    (integers, "-1", -1),
    (index, "2", (2,)),
    (index, "2,0", (2, 0)),
    (padding, "1", 1),
    (padding, "1,2", (1, 2)),
    (padding, "1:2", ((1, 2),)),
    (padding, "-1:2,3", ((-1, 2), 3)),
    (padding, "same", "same"),
]


@pytest.mark.parametrize("read, text, value", READ)
def test_a_text_means(read, text, value):
    assert read(text) == value


@pytest.mark.parametrize("read", [integers, index, padding])
@pytest.mark.parametrize("text", ["", ",", "x", "1.5", "nan", "1,", "1;2", "1e3"])
def test_what_is_no_number_is_shown(read, text):
    with pytest.raises(argparse.ArgumentTypeError, match=f"^'{text}' is not an integer"):
        read(text)


@pytest.mark.parametrize(
    "words, due",
    [
        ("--padding -1,2", ["--padding=-1,2"]),
        ("--weight -1,1,3 --bias", ["--weight=-1,1,3", "--bias"]),
        ("--padding=1 -2", ["--padding=1", "-2"]),
        ("-o -1.npz", ["-o", "-1.npz"]),
        ("-- -1", ["--", "-1"]),
        ("--padding 1 -o x", ["--padding", "1", "-o", "x"]),
    ],
)
def test_a_negative_value_belongs_to_the_option_before_it(words, due):
    assert attach_negative_values(words.split()) == due


def test_two_values_apart_are_refused_in_the_name_of_the_command():
    with pytest.raises(Misuse, match="^--stride 2 3: write --stride 2,3$") as raised:
        check_one_word_a_value(["grad", "a.npz", "--stride", "2", "3"])
    assert raised.value.command == "npconv grad"
    check_one_word_a_value(["grad", "a.npz", "--stride", "2,3", "--dilation", "1"])
