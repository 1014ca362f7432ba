"""What may be given as a candidate, and what it may declare."""

from types import SimpleNamespace

import npconv
import pytest
from npconv.cli import main
from npconv.testing import check
from npconv.testing.candidate import Declared, adapted, declared_by


class Methods:
    def forward(self, input, weight, bias, **p):
        return npconv.conv(input, weight, bias, **p)


class Called:
    def __call__(self, input, weight, bias, **p):
        return npconv.conv(input, weight, bias, **p)


class Statics:
    forward = staticmethod(npconv.conv)

    @classmethod
    def grad_bias(cls, grad_output):
        return npconv.conv2d_bias(grad_output)


class Plain:
    forward = lambda input, weight, bias, **p: npconv.conv(input, weight, bias, **p)  # noqa: E731


class Heir(Methods):
    """Its method stands in another class."""


@pytest.mark.parametrize("given, method", [(Methods, "forward"), (Called, "__call__"), (Heir, "forward")])
def test_a_class_in_place_of_an_instance_is_one_line(given, method):
    told = f"^candidate: {given.__name__} is a class; give an instance: its {method} takes self$"
    with pytest.raises(TypeError, match=told):
        check(given, layers=False)
    assert check(given(), only="i4x4_k2").verdict == "PASS"


@pytest.mark.parametrize("given", [Statics, Statics(), Plain])
def test_a_class_whose_functions_take_no_self_is_a_candidate(given):
    assert check(given, only="i4x4_k2").verdict == "PASS"


@pytest.mark.parametrize("given", [int, type("Empty", (), {}), type("Number", (), {"forward": 5})])
def test_a_class_without_functions_is_no_forward(given):
    with pytest.raises(TypeError, match=f"{given.__name__}'>, which is a class and has none of forward"):
        check(given, layers=False)


def test_a_class_in_a_file_is_bad_input(tmp_path, capsys):
    path = tmp_path / "file.py"
    path.write_text("class Mine:\n    def forward(self, input, weight, bias, **p):\n        return input\n")
    assert main(["check", f"{path}:Mine"]) == 2
    captured = capsys.readouterr()
    assert "Mine is a class; give an instance" in captured.err and captured.err.count("\n") == 1
    assert not captured.out


@pytest.mark.parametrize(
    "name, value, kind, told",
    [
        ("layout", "", ValueError, "layout: '' must have each of NC and of its spatial axes once"),
        ("weight_layout", "", ValueError, "weight_layout: '' must have each of OI"),
        ("layout", 5, TypeError, "layout: it is 5, a int; it must be text"),
        ("layout", ["N", "C"], TypeError, "layout: it is .*, a list; it must be text"),
        ("input", "", ValueError, "input: '' is not one of float64"),
        ("input", 32, TypeError, "input: it is 32, a int; it must be text"),
        ("output", ["float32"], TypeError, "output: it is .*, a list; it must be text"),
    ],
)
def test_what_cannot_be_declared_is_said_with_its_name(name, value, kind, told):
    with pytest.raises(kind, match=f"^{told}"):
        check(npconv.conv, **{name: value})


def test_none_declares_nothing():
    assert declared_by(npconv.conv, {"input": None, "output": None, "layout": None}) == Declared()


@pytest.mark.parametrize("own, told", [(5, "declared: the candidate's own is 5"), ({"x": "y"}, "x unknown")])
def test_what_a_candidate_declares_itself_is_looked_at(own, told):
    with pytest.raises(TypeError, match=told):
        declared_by(SimpleNamespace(declared=own, forward=npconv.conv), {})


def test_an_instance_offers_its_methods():
    assert adapted(Methods()).parts == ("forward",)
