"""Pictures: what they show is what was recorded, and the README's are the ones that are drawn today."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from npconv.cli import main
from npconv.explain import svg
from npconv.explain.scene import Scene
from npconv.problem import Problem

HERE = Path(__file__).parent
README = HERE.parent.parent / "README.md"
NS = {"s": "http://www.w3.org/2000/svg"}

# The README's pictures: file name -> the words of the command that draws it.
PICTURES = {
    "strided_input.svg": ["i5x5_k3_s2", "--of", "input"],
    "strided_weight.svg": ["i5x5_k3_s2", "--of", "weight", "--animated"],
    "remainder_input.svg": ["i6x6_k3_s2", "--of", "input", "--element", "5,2"],
}


def figure(line, of):
    return Scene.of(Problem.parse(line)).figures(of)[0]


def values(text):
    return [
        node.text
        for node in ElementTree.fromstring(text).findall(".//s:text", NS)
        if "n" in (node.get("class") or "").split()
    ]


@pytest.mark.parametrize("of", ["forward", "input", "weight", "transpose"])
@pytest.mark.parametrize("line", ["i5x5_k3_s2", "C2O2G2_i4_k2_p1:0_bias", "N2_i3x3_k2_p-1:1"])
def test_a_picture_shows_every_recorded_number_once(line, of):
    shown = figure(line, of)
    due = []
    for stage in shown.trace.stages:
        if not stage.idle:
            zeros = stage.put_in.ravel()
            due += ["·" if zero else str(value) for value, zero in zip(stage.array.ravel(), zeros)]
    assert sorted(values(svg.picture(shown))) == sorted(due)


def test_the_marked_cells_are_those_that_feed_the_element():
    text = svg.picture(figure("i5x5_k3_s2", "weight"), (0, 0))
    root = ElementTree.fromstring(text)
    corners = [
        (float(r.get("x")) - 2, float(r.get("y")) - 2) for r in root.findall(".//s:rect[@class='mark']", NS)
    ]
    # grad_weight[0,0]: itself, all four of grad_output, and the input's (0,0) (0,2) (2,0) (2,2).
    at = [(14 + 30 * column, 34 + 30 * row) for row in (0, 2) for column in (0, 2)]
    assert len(corners) == 9 and set(at) <= set(corners)
    assert "grad_weight[0,0] = 1·1 + 9·2 + 6·3 + 5·4 = 57" in text


def test_an_animation_has_a_frame_for_every_element_and_all_its_sums():
    shown = figure("i5x5_k3_s2", "weight")
    text = svg.animation(shown)
    frames = re.findall(r'<g class="frame f(\d+)">', text)
    assert frames == [str(cell) for cell in range(9)]
    for value in shown.trace.result.ravel():
        assert f" = {value}</text>" in text
    assert "prefers-reduced-motion" in text and "animation:8.1s step-end infinite" in text


def test_a_picture_names_itself_and_needs_nothing_from_outside():
    text = svg.picture(figure("i5x5_k3_s2", "input"))
    root = ElementTree.fromstring(text)
    assert (
        root.get("role") == "img"
        and root.find("s:title", NS).text == "grad_input: weight slides over grad_output"
    )
    assert not re.search(
        r"href|url\(|@import|https?:", text.replace('xmlns="http://www.w3.org/2000/svg"', "")
    )


@pytest.mark.parametrize("name", PICTURES)
def test_the_readmes_pictures_are_those_that_are_drawn_today(name, tmp_path, capsys):
    drawn = tmp_path / name
    assert main(["explain", *PICTURES[name], "--svg", str(drawn)]) == 0
    assert capsys.readouterr().out == f"wrote {drawn}\n"
    kept = HERE / "pictures" / name
    command = f"python -m npconv explain {' '.join(PICTURES[name])} --svg {kept.relative_to(README.parent)}"
    assert drawn.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), f"draw it again: {command}"
    assert str(kept.relative_to(README.parent)) in README.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words, complaint",
    [
        (["i4_k2", "--of", "double"], "of: 'double' is 4 maps; a picture shows one"),
        (
            ["i40x40_k3", "--of", "input", "--animated"],
            "svg: grad_input has 1600 elements, too many to animate; the most is 100",
        ),
        (["i4_k2", "--element", "9"], "element: [9] is not in output"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_writes_nothing(words, complaint, tmp_path, capsys):
    assert main(["explain", *words, "--svg", str(tmp_path / "x.svg")]) == 2
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
