"""Where every cell came from, against the index formula written out in loops."""

from __future__ import annotations

import numpy as np
import pytest
from problems import expected, random_problem

from npconv import conv, conv_input, conv_transpose, conv_weight
from npconv.explain.scene import Scene
from npconv.problem import Problem


def found(figure):
    """The same from the trace: the products behind each cell of the result, back at the given arrays."""
    made = figure.trace
    stages = {stage.name: stage for stage in made.stages if not stage.parents}
    slide, result = made.stages[made.slide], made.stages[-1]
    under, window = (made.stages[parent] for parent in slide.parents)
    shapes = stages[figure.under].array.shape, stages[figure.window].array.shape
    pairs = {}
    for cell, summed in zip(np.ndindex(*result.array.shape), result.roots):
        for first, second in zip(*(sources[summed] for sources in slide.sources)):
            first, second = under.roots[first], window.roots[second]
            if first >= 0 and second >= 0:
                indices = tuple(
                    tuple(map(int, np.unravel_index(at, shape))) for at, shape in zip((first, second), shapes)
                )
                pairs.setdefault(cell, []).append(indices)
    return {cell: sorted(found) for cell, found in pairs.items()}


def without_inserted_axis(pairs, rank):
    """A slide of one spatial axis has a row axis of size 1; take its index out of the result's cells."""
    return {cell[:2] + cell[-rank:]: made for cell, made in pairs.items()}


PROBLEMS = [random_problem(seed) for seed in range(200)]
TRANSPOSED = [random_problem(seed, transposed=True) for seed in range(60)]


@pytest.mark.parametrize("of", ["forward", "input", "weight"])
def test_the_products_behind_every_cell_are_those_of_the_index_formula(of):
    for problem in PROBLEMS:
        (figure,) = Scene.of(problem).figures(of)
        assert without_inserted_axis(found(figure), problem.rank) == expected(problem.geometry, figure.map), (
            problem
        )


def test_the_transposed_convolutions_products_are_those_of_the_index_formula():
    for problem in TRANSPOSED:
        (figure,) = Scene.of(problem).figures("forward")
        assert without_inserted_axis(found(figure), problem.rank) == expected(problem.geometry, "input"), (
            problem
        )


def test_every_recorded_slide_is_the_sum_of_its_products():
    for problem in (*PROBLEMS[:60], *TRANSPOSED[:30]):
        for of in ("forward", "input", "weight", "double"):
            for figure in Scene.of(problem).figures(of):
                slide = figure.trace.stages[figure.trace.slide]
                first, second = (
                    figure.trace.stages[parent].array.reshape(-1)[sources]
                    for parent, sources in zip(slide.parents, slide.sources)
                )
                assert (first * second).sum(axis=1).tolist() == slide.array.reshape(-1).tolist(), problem


def test_every_moved_cell_holds_the_number_of_the_cell_that_it_came_from():
    for problem in PROBLEMS[:60]:
        for of in ("forward", "input", "weight"):
            (figure,) = Scene.of(problem).figures(of)
            for stage in figure.trace.stages:
                if stage.moved:
                    before = np.append(figure.trace.stages[stage.parents[0]].array.reshape(-1), 0)
                    assert before[stage.sources[0]].tolist() == stage.array.reshape(-1).tolist(), problem


def test_the_traces_end_with_what_the_public_functions_return():
    for problem in PROBLEMS[:60]:
        scene, p = Scene.of(problem), problem.parameters
        x, w, g = (scene.arrays[name] for name in ("input", "weight", "grad_output"))
        results = {
            "forward": conv(x, w, **p),
            "input": conv_input(x.shape, w, g, **p),
            "weight": conv_weight(x, w.shape, g, **p),
            "transpose": conv_transpose(g, w, output_padding=problem.geometry.remainder, **p),
        }
        for of, result in results.items():
            (figure,) = scene.figures(of)
            assert figure.trace.result.reshape(-1).tolist() == result.reshape(-1).tolist(), (of, problem)


def test_feeding_marks_the_window_and_what_it_was_made_of():
    (figure,) = Scene.of(Problem.parse("i5x5_k3_s2")).figures("input")
    made = figure.trace
    cell = np.zeros(25, bool)
    cell[12] = True  # m = (2, 2): p + q/2 = 1 on each axis, so the corners of the taps and all four outputs
    fed = made.feeding(len(made.stages) - 1, cell)
    given = {stage.name: number for number, stage in enumerate(made.stages) if not stage.parents}
    assert fed[given["grad_output"]].tolist() == [True] * 4
    padded = next(number for number, stage in enumerate(made.stages) if stage.name == "pad")
    assert np.flatnonzero(fed[padded]).tolist() == [16, 17, 18, 23, 24, 25, 30, 31, 32]


def test_a_bias_is_added_last_one_number_a_channel():
    (figure,) = Scene.of(Problem.parse("O2_i3_k2_bias")).figures("forward")
    last = figure.trace.stages[-1]
    assert (last.name, last.array.tolist()) == ("plus bias", [[[21, 33], [43, 71]]])
    assert [sources.tolist() for sources in last.sources] == [[0, 1, 2, 3], [0, 0, 1, 1]]


def test_the_four_maps_of_the_second_order_name_their_arrays():
    figures = Scene.of(Problem.parse("i4_k2")).figures("double")
    assert [(figure.result, figure.map, figure.under, figure.window) for figure in figures] == [
        ("grad_grad_output", "output", "grad_grad_input", "weight"),
        ("grad_grad_output", "output", "input", "grad_grad_weight"),
        ("grad_input", "input", "grad_output", "grad_grad_weight"),
        ("grad_weight", "weight", "grad_grad_input", "grad_output"),
    ]


@pytest.mark.parametrize(
    "line, message",
    [
        ("i4x4x4_k2", "problem: it has 3 spatial axes; pictures show one or two"),
        ("i4_k3_p1_reflect", "problem: its border is reflect"),
        ("N0_i4_k3", "problem: an array is empty"),
        (
            "C64O64_i56x56_k3",
            "problem: its 115605504 products are too many to show one by one; the most is 16384",
        ),
    ],
)
def test_what_pictures_cannot_show_is_refused(line, message):
    with pytest.raises(ValueError, match=message):
        Scene.of(Problem.parse(line))


def test_an_unknown_map_is_refused_with_the_names():
    with pytest.raises(
        ValueError, match="of: it is 'backward', but it must be one of forward, input, weight"
    ):
        Scene.of(Problem.parse("i4_k3")).figures("backward")


@pytest.mark.parametrize(
    "line", ["i42x42_k3_p1", "i5400_k3", "C40O40_i3x3_k1", "O1024_i4x4_k1", "N64C2O2_i4x4_k2_s2_p1", "i3x3_k41_p20", "C16O16G16_i20_k3_s3_p9"]
)  # fmt: skip
def test_the_largest_problems_are_still_computed_in_one_piece(line):
    scene = Scene.of(Problem.parse(line))
    for of in ("forward", "input", "weight", "transpose"):
        (figure,) = scene.figures(of)
        assert [stage.name for stage in figure.trace.stages].count("slide") == 1
