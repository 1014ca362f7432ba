"""The page's data against the record, and the page as a file."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from problems import expected, random_problem

from npconv import conv, conv_input, conv_transpose, conv_weight
from npconv.cli import main
from npconv.explain import page
from npconv.explain.lessons import LESSONS, NAMES
from npconv.explain.proof import inner_product
from npconv.explain.scene import Scene
from npconv.problem import Problem

PROBLEMS = [random_problem(seed) for seed in range(200)]


def data_in(text):
    """The data as the page itself reads it."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def given(shown, lane):
    return next(
        number
        for number, stage in enumerate(shown["stages"])
        if stage["lane"] == lane and not stage["parents"]
    )


def back_to(shown, number, cell, start):
    """The given cell that a moved cell carries, or -1."""
    while number != start and cell >= 0:
        cell = shown["stages"][number]["sources"][0][cell]
        (number,) = shown["stages"][number]["parents"]
    return cell


def pairs_of(shown):
    """For each cell of the result, the given cells behind its products: what the page lights up."""
    slide = shown["stages"][shown["slide"]]
    starts = [given(shown, lane) for lane in "AB"]
    found = {}
    for cell in range(len(shown["stages"][-1]["values"])):
        summed, number = cell, len(shown["stages"]) - 1
        while number != shown["slide"]:
            summed = shown["stages"][number]["sources"][0][summed]
            number = shown["stages"][number]["parents"][0]
        for pair in zip(*(sources[summed] for sources in slide["sources"])):
            cells = tuple(back_to(shown, *each) for each in zip(slide["parents"], pair, starts))
            if min(cells) >= 0:
                found.setdefault(cell, []).append(cells)
    return {cell: sorted(pairs) for cell, pairs in found.items()}


def flat(pairs, result, under, window):
    """The index formula's cells as numbers in C order."""
    return {
        int(np.ravel_multi_index(cell, result)): sorted(
            (int(np.ravel_multi_index(a, under)), int(np.ravel_multi_index(b, window))) for a, b in made
        )
        for cell, made in pairs.items()
    }


@pytest.mark.parametrize("of", ["forward", "input", "weight"])
def test_the_cells_lit_up_on_200_problems_are_those_of_the_index_formula(of):
    shapes = {
        "forward": ("output_shape", "input_shape", "weight_shape"),
        "input": ("input_shape", "output_shape", "weight_shape"),
        "weight": ("weight_shape", "input_shape", "output_shape"),
    }[of]
    for problem in PROBLEMS:
        (figure,) = Scene.of(problem).figures(of)
        geometry = problem.geometry
        due = flat(expected(geometry, figure.map), *(getattr(geometry, name) for name in shapes))
        assert pairs_of(page.map_data(of, figure)) == due, problem


def test_every_number_on_the_page_is_the_recorded_one():
    problem = Problem.parse("C2O2_i5x4_k3_s2_p1:0_bias")
    own, *lessons = data_in(page.page(problem))["problems"]
    assert [each["name"] for each in lessons] == list(NAMES)
    for shown, line in zip([own, *lessons], [str(problem), *(lesson.problem for lesson in LESSONS.values())]):
        scene = Scene.of(Problem.parse(line))
        assert shown["arrays"] == {name: array.ravel().tolist() for name, array in scene.arrays.items()}
        for map_shown in shown["maps"]:
            (figure,) = scene.figures(map_shown["of"])
            recorded = [stage for stage in figure.trace.stages if not stage.idle]
            assert [stage["values"] for stage in map_shown["stages"]] == [
                s.array.ravel().tolist() for s in recorded
            ]
            assert [np.prod(stage["shape"]) for stage in map_shown["stages"]] == [
                s.array.size for s in recorded
            ]


def test_the_last_array_of_each_map_is_what_the_public_function_returns():
    for lesson in LESSONS.values():
        problem = Problem.parse(lesson.problem)
        arrays, p = Scene.of(problem).arrays, problem.parameters
        if problem.transposed:
            continue
        x, w, g = arrays["input"], arrays["weight"], arrays["grad_output"]
        due = {
            "forward": conv(x, w, arrays.get("bias"), **p),
            "input": conv_input(x.shape, w, g, **p),
            "weight": conv_weight(x, w.shape, g, **p),
            "transpose": conv_transpose(g, w, output_padding=problem.geometry.remainder, **p),
        }
        for of, array in due.items():
            shown = page.map_data(of, Scene.of(problem).figures(of)[0])
            assert shown["stages"][-1]["values"] == array.ravel().tolist()


def test_the_symbols_name_the_cells_whose_values_stand_beside_them():
    scene = Scene.of(Problem.parse("C2O2_i5x4_k3x2_s2_p1"))
    arrays = {"x": scene.arrays["input"], "w": scene.arrays["weight"], "g": scene.arrays["grad_output"]}
    for of in ("forward", "input", "weight"):
        for stage in page.map_data(of, scene.figures(of)[0])["stages"]:
            for symbol, value in zip(stage["symbols"], stage["values"]):
                if symbol[0] in arrays:
                    assert arrays[symbol[0]][tuple(map(int, symbol[1:]))] == value
                else:
                    assert symbol == "0" and value == 0 or re.fullmatch(r"(y|dx|dw)\d{4}", symbol)


def test_the_page_needs_nothing_from_outside_and_is_small():
    text = page.page(Problem.parse("C2O4_i8x8_k3_p1"))
    assert len(text.encode()) < page.LARGEST
    assert not re.search(r"https?:|//[a-z]|url\(|@import|<link rel=\"style|src=", text.replace("img-src", ""))
    assert "default-src 'none'" in text


def test_text_in_the_data_cannot_end_the_script():
    text = page.page()
    assert "<" not in re.search(r'id="data">(.*?)</script>', text, re.S)[1]


def test_too_large_a_page_is_refused(monkeypatch):
    monkeypatch.setattr(page, "LARGEST", 100_000)
    with pytest.raises(
        ValueError, match=r"problem: i20x20_k3_p1 makes a page of \d+ bytes; the most is 100000"
    ):
        page.page(Problem.parse("i20x20_k3_p1"))


def test_the_largest_problem_that_is_shown_makes_a_small_page():
    assert len(page.page(Problem.parse("i42x42_k3_p1")).encode()) < page.LARGEST


def test_the_questions_lead_to_places_that_are_there():
    data = page.page_data()
    for question in data["questions"]:
        name, of, result, cell = question["place"].lstrip("#").split("/")
        (problem,) = [each for each in data["problems"] if each["name"] == name]
        (shown,) = [each for each in problem["maps"] if each["of"] == of]
        assert shown["result"] == result and int(cell) < len(shown["stages"][-1]["values"])


def test_the_inner_products_agree_on_the_pages_own_arrays():
    for problem in page.page_data(Problem.parse("i5_k3_bias"))["problems"]:
        maps = {shown["of"]: shown for shown in problem["maps"]}
        last = {of: np.array(shown["stages"][-1]["values"]) for of, shown in maps.items()}
        output = np.array(maps["forward"]["stages"][maps["forward"]["slide"]]["values"])
        arrays = {name: np.array(values) for name, values in problem["arrays"].items()}
        sums = {
            inner_product(output, arrays["grad_output"]),
            inner_product(arrays["input"], last["input"]),
            inner_product(arrays["weight"], last["weight"]),
        }
        assert len(sums) == 1


def test_the_command_writes_the_page_and_says_where(tmp_path, capsys):
    path = tmp_path / "page.html"
    assert main(["explain", "i5x5_k3_s2", "--html", str(path)]) == 0
    assert capsys.readouterr().out == f"wrote {path}, a page to open in any browser\n"
    assert data_in(path.read_text(encoding="utf-8"))["problems"][0]["descriptor"] == "i5x5_k3_s2"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    "words, start",
    [
        ("i5x5_k3_s2 --of input --element 2,2", "#yours/input/grad_input/12"),
        ("C2O2_i4_k2 --of weight --element 1,0,1", "#yours/weight/grad_weight/5"),
        ("i5x5_k3_s2 --of transpose", "#yours/transpose"),
        ("transposed_i3_k3 --element 4", "#yours/forward/output/4"),
        ("i5x5_k3_s2", "#yours/forward"),
    ],
)
def test_the_page_opens_at_the_map_and_the_element_that_were_chosen(words, start, tmp_path):
    path = tmp_path / "page.html"
    assert main(["explain", *words.split(), "--html", str(path)]) == 0
    assert data_in(path.read_text(encoding="utf-8"))["start"] == start


@pytest.mark.parametrize(
    "words, complaint",
    [
        ("--of double", "of: 'double' is on no page, which shows forward, input, weight, transpose; leave --html"),
        ("--of sideways", "of: it is 'sideways', but it must be one of forward"),
        ("--element 5,5", "element: [5, 5] is not in output, whose shape is (1, 1, 2, 2)"),
        ("--element 1", "give 4 or 2 indices"),
        ("--svg picture.svg", "not allowed with argument"),
    ],
)
def test_a_choice_that_is_on_no_page_writes_none(words, complaint, tmp_path, capsys):
    assert main(["explain", "i5x5_k3_s2", *words.split(), "--html", str(tmp_path / "page.html")]) == 2
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_written_leaves_nothing_behind(tmp_path, capsys):
    path = tmp_path / "none" / "page.html"
    assert main(["explain", "i5_k3", "--html", str(path)]) == 2
    assert f"{path}: it cannot be written: No such file or directory" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
