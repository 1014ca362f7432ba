"""Every lesson runs, reads well, proves itself, and fails where the code is at fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from npconv import cli, functional, grad
from npconv.explain import claims, lessons, proof
from npconv.explain.scene import Scene
from npconv.problem import Problem
from npconv.transforms import flip


@pytest.mark.parametrize("name", lessons.NAMES)
def test_a_lesson_passes_within_80_columns_of_plain_text(name, capsys):
    assert lessons.run(name) == 0
    text = capsys.readouterr().out
    assert text.rstrip().endswith("pass")
    assert "FAIL" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()


def test_all_lessons_run_in_their_order(capsys):
    assert lessons.run() == 0
    text = capsys.readouterr().out
    headings = [line.split(":")[0] for line in text.splitlines() if line.split(":")[0] in lessons.NAMES]
    assert len(headings) == len(set(headings))
    assert headings == list(lessons.NAMES)
    assert text.endswith(f"{len(lessons.NAMES)} of {len(lessons.NAMES)} lessons pass\n")


def test_the_whole_course_ends_with_its_index_and_what_to_try_next(capsys):
    lessons.run()
    end = capsys.readouterr().out.splitlines()[-20:]
    listed = [line.strip().split(": ") for line in end if ": " in line]
    assert listed == [[name, lesson.title] for name, lesson in lessons.LESSONS.items()]
    commands = [line.split("   ")[0].split() for line in map(str.strip, end) if line.startswith("python")]
    assert [words[:3] for words in commands] == [["python", "-m", "npconv"]] * 2
    parsed = [cli._parser().parse_args(words[3:]) for words in commands]
    assert (parsed[0].name, parsed[1].descriptor, parsed[1].html) == ("strided", "i5x5_k3_s2", "page.html")
    assert max(map(len, end)) <= 80


def test_one_lesson_has_no_index(capsys):
    lessons.run("simple")
    assert "NEXT" not in capsys.readouterr().out


def test_the_first_lesson_says_what_is_differentiated_before_it_shows_a_gradient(capsys):
    lessons.run("simple")
    lines = capsys.readouterr().out.splitlines()
    said = [
        lines.index(f"  {formula}")
        for formula in (
            "output[p] = sum over q of input[p+q] * w[q]",
            "L = sum over p of output[p] * g[p]",
            "d output[p] / d input[m] = w[m-p]",
            "grad_input[m] = dL / d input[m] = sum over p of g[p] * w[m-p]",
            "grad_weight[q] = dL / d w[q] = sum over p of g[p] * input[p+q]",
        )
    ]
    assert said == sorted(said) and said[-1] < lines.index("GRADIENT BY THE INPUT")
    assert "called grad_output" in "\n".join(lines)


def test_the_formulas_of_the_first_lesson_hold_for_its_numbers():
    arrays = Scene.of(Problem.parse(lessons.LESSONS["simple"].problem)).arrays
    x, w, g = (arrays[name][0, 0] for name in ("input", "weight", "grad_output"))
    taps, outputs = list(np.ndindex(w.shape)), list(np.ndindex(g.shape))

    def L(x, w):
        return sum(g[p] * x[p[0] + q[0], p[1] + q[1]] * w[q] for p in outputs for q in taps)

    for m in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[m] = 1
        met = [(p, (m[0] - p[0], m[1] - p[1])) for p in outputs]
        assert L(x + step, w) - L(x, w) == sum(g[p] * w[q] for p, q in met if q in taps)
    for q in taps:
        step = np.zeros_like(w)
        step[q] = 1
        assert L(x, w + step) - L(x, w) == sum(g[p] * x[p[0] + q[0], p[1] + q[1]] for p in outputs)


def test_the_course_goes_from_the_forward_to_the_numbers():
    assert lessons.NAMES == (
        "simple", "flip", "padded", "strided", "remainder", "dilated", "grouped", "bias",
        "transposed", "weight", "triangle", "second", "numbers",
    )  # fmt: skip


@pytest.mark.parametrize("name", lessons.NAMES)
def test_a_lesson_ends_with_an_exercise_and_the_way_to_its_page(name, capsys):
    lessons.run(name)
    text = capsys.readouterr().out
    assert f"python -m npconv lesson {name} --try FILE.py" in text
    assert f"open page.html#{name} in a browser" in text
    assert f"python -m npconv explain {lessons.LESSONS[name].problem} --html page.html" in text


# The zeros that go in between and around, and the gradient under them, worked out by hand:
# grad_output 1 2 / 3 4 at stride 2 paints the weight at (0, 0), (0, 2), (2, 0), (2, 2).
STRIDED_BY_HAND = """\
grad_output      zeros between      zeros around (= A)
1 2          ->  1 . 2          ->  . . . . . . .
3 4              . . .              . . . . . . .
                 3 . 4              . . 1 . 2 . .
                                    . . . . . . .
                                    . . 3 . 4 . .
                                    . . . . . . .
                                    . . . . . . .

weight      flipped (= B)
1 2 3   ->  9 8 7
4 5 6       6 5 4
7 8 9       3 2 1

B slides over A = grad_input
 1  2  5  4  6
 4  5 14 10 12
10 14 36 24 30
12 15 34 20 24
21 24 55 32 36
"""


def test_the_strided_lesson_draws_zeros_in_between_and_around(capsys):
    lessons.run("strided")
    assert STRIDED_BY_HAND in capsys.readouterr().out


def test_the_remainder_lesson_brackets_what_no_window_reads(capsys):
    lessons.run("remainder")
    text = capsys.readouterr().out
    assert "row 5 and column 5" in text
    assert "[ 0][ 0][ 0][ 0][ 0][ 0]" in text
    assert "(2, 3)" in text and "(0, -1)" in text  # +r in one gradient, -r in the other


def test_the_dilated_lesson_exchanges_stride_and_dilation(capsys):
    lessons.run("dilated")
    text = capsys.readouterr().out
    assert "slide weight over it: stride 2, dilation 3" in text
    assert "slide grad_output over it: stride 3 (= d), dilation 2 (= s)" in text


right = grad.input_gradient


def without_remainder(weight, grad_output, geometry):
    axes = tuple(replace(axis, i=axis.i - axis.remainder) for axis in geometry.axes)
    return right(weight, grad_output, replace(geometry, axes=axes))


def unflipped_input_gradient(weight, grad_output, geometry):
    return grad.input_gradient(flip(weight), grad_output, geometry)


def flipped_weight_gradient(input, grad_output, geometry):
    return flip(grad.weight_gradient(input, grad_output, geometry))


def off_by_one_in_one_cell(weight, grad_output, geometry):
    gradient = grad.input_gradient(weight, grad_output, geometry).copy()
    gradient.reshape(-1)[-1] += 1
    return gradient


@pytest.mark.parametrize(
    "role, faulty, seen",
    [
        ("input", unflipped_input_gradient, "at [0, 0, 0, 0] it is 9, but the quotient is 1"),
        ("weight", flipped_weight_gradient, "FAIL grad_weight is the difference quotient"),
        ("input", off_by_one_in_one_cell, "at [0, 0, 4, 4] it is 37, but the quotient is 36"),
    ],
)
def test_a_fault_in_a_gradient_fails_the_lesson_and_is_named(role, faulty, seen, monkeypatch, capsys):
    monkeypatch.setitem(functional.MAPS, role, faulty)
    assert lessons.run("strided") == 1
    text = " ".join(capsys.readouterr().out.split())
    assert seen in text
    assert text.endswith("FAIL")


def test_a_forgotten_remainder_fails_the_remainder_lesson(monkeypatch, capsys):
    monkeypatch.setitem(functional.MAPS, "input", without_remainder)
    assert lessons.run("remainder") == 1
    assert "FAIL" in capsys.readouterr().out


def test_one_failing_lesson_makes_the_whole_course_fail(monkeypatch, capsys):
    monkeypatch.setitem(functional.MAPS, "weight", flipped_weight_gradient)
    assert lessons.run() == 1
    verdicts = [line for line in capsys.readouterr().out.splitlines() if line in ("pass", "FAIL")]
    # It is right where no gradient by the weight is asked for: of the transposed map, and of the numbers.
    passing = [name for name, verdict in zip(lessons.NAMES, verdicts) if verdict == "pass"]
    assert passing == ["transposed", "numbers"]


def unswapped_groups(input, grad_output, geometry):
    return grad.weight_gradient(input, grad_output, geometry)[::-1]


@pytest.mark.parametrize(
    "name, map, faulty",
    [
        ("flip", "output", lambda x, w, geometry: grad.output(x, flip(w), geometry)),
        ("bias", "weight", unswapped_groups),
        ("weight", "weight", unswapped_groups),
        ("triangle", "input", unflipped_input_gradient),
        ("second", "input", unflipped_input_gradient),
        ("numbers", "output", lambda x, w, geometry: grad.output(x, w, geometry) + 1),
    ],
)
def test_each_lesson_sees_a_fault_in_what_it_is_about(name, map, faulty, monkeypatch, capsys):
    monkeypatch.setitem(functional.MAPS, map, faulty)
    assert lessons.run(name) == 1
    assert "FAIL" in capsys.readouterr().out


def test_the_transposed_lesson_sees_a_forgotten_output_padding(monkeypatch, capsys):
    monkeypatch.setattr(grad, "input_gradient", without_remainder)
    assert lessons.run("transposed") == 1
    assert "FAIL" in capsys.readouterr().out


def test_an_unknown_lesson_is_refused_with_the_names():
    with pytest.raises(ValueError, match=r"lesson: there is no 'simpel'; choose one of simple, flip, padded"):
        lessons.run("simpel")


def test_a_difference_quotient_that_differs_is_reported_with_its_place():
    array, wrong = np.array([[2, 3]]), np.array([[5, 8]])
    shown = proof.differences("by x", lambda a: int(5 * a[0, 0] + 7 * a[0, 1]), array, wrong)
    assert str(shown) == "  FAIL  by x: at [0, 1] it is 8, but the quotient is 7"


def test_a_derivative_of_the_wrong_sign_is_seen():
    array = np.array([[2]])
    assert proof.differences("by x", lambda a: int(-5 * a[0, 0]), array, np.array([[-5]])).holds
    assert not proof.differences("by x", lambda a: int(-5 * a[0, 0]), array, np.array([[5]])).holds


def test_the_flip_lesson_fails_where_the_flip_is_left_out(monkeypatch, capsys):
    monkeypatch.setattr(claims, "flip", lambda weight: weight)
    assert lessons.run("flip") == 1
    assert "FAIL  in base 1000 the flipped weight multiplies" in capsys.readouterr().out


# Multiplication done on paper: 4009005001 * 3002001, digit by digit in base 1000, no digit carries.
def test_the_flip_lesson_multiplies_two_numbers(capsys):
    lessons.run("flip")
    text = " ".join(capsys.readouterr().out.split())
    assert "4009005001 * 3002001 = 12035037022007001" in text
    assert 4009005001 * 3002001 == 12035037022007001


def test_the_bias_lesson_sums_over_samples_and_positions(capsys):
    lessons.run("bias")
    # Channel 0: 1+2+3+4 in the first sample, 5+6+7+8 in the second; channel 1: 3+4+5+6 and 7+8+9+1.
    assert "grad_bias[0] = 36\ngrad_bias[1] = 43" in capsys.readouterr().out


def test_the_transposed_lesson_tells_the_sizes_apart(capsys):
    lessons.run("transposed")
    text = capsys.readouterr().out
    assert "a convolution makes 3 of 5; back from 3 with output_padding 0: 5" in text
    assert "a convolution makes 3 of 6; back from 3 with output_padding 1: 6" in text


def test_the_numbers_lesson_shows_where_float32_stops_counting(capsys):
    lessons.run("numbers")
    text = capsys.readouterr().out
    assert "16777216 + 1 in float32: 16777216; in integers: 16777217" in text
    assert "(0.1 + 0.5) + 0.8 is 1.4000001, and 0.1 + (0.5 + 0.8) is 1.4" in text


def test_the_readme_counts_the_lessons():
    readme = Path(__file__).parents[2] / "README.md"
    words = {13: "thirteen"}
    assert f"in {words[len(lessons.NAMES)]} lessons" in readme.read_text(encoding="utf-8")
