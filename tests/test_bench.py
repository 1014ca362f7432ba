"""The benchmark's own arithmetic: what it counts, what it compares with, what it prints."""

import csv
import io
import json

import numpy as np
import pytest

from npconv import bench
from npconv.cli import main
from npconv.layers import LAYERS
from npconv.problem import Problem
from npconv.record import recording


def test_every_layer_is_written_as_its_problem_prints_itself():
    for name, line in LAYERS.items():
        assert str(Problem.parse(line)) == line, name


@pytest.mark.parametrize(
    "name, output, weight",
    [
        ("resnet50_v1.5/conv1", (1, 64, 112, 112), (64, 3, 7, 7)),
        ("mobilenet_v1/dw2", (1, 32, 112, 112), (32, 1, 3, 3)),
        ("deepbench/speech_conv1", (4, 32, 79, 341), (32, 1, 5, 20)),
        ("inception_v3/mixed_1x7", (1, 192, 17, 17), (192, 192, 1, 7)),
        ("deeplabv3_r50/aspp_d36", (1, 256, 65, 65), (256, 2048, 3, 3)),
    ],
)
def test_the_table_has_the_published_sizes(name, output, weight):
    problem = Problem.parse(LAYERS[name])
    assert (problem.output_shape, problem.weight_shape) == (output, weight)


def test_gflops_by_hand(monkeypatch):
    # 3 output channels of 3x3, 2*3*3 products each: 486 of them, and as many sums; in half a second.
    monkeypatch.setattr(bench, "least_time", lambda call, seconds: 0.5)
    found = list(bench.measure(bench.chosen("C2O3_i5x5_k3"), 0))
    assert [one.direction for one in found] == ["forward", "input", "weight"]
    assert all(one.gflops == 2 * 486 / 0.5 / 1e9 for one in found)
    assert all(one.over_wall == 1 for one in found)


@pytest.mark.parametrize("direction", ["forward", "input", "weight"])
@pytest.mark.parametrize("line", ["N2C6O4G2_i9x8_k3x2_p1", "C3O8_i60x61_k5"])
def test_the_wall_multiplies_as_often_as_the_convolution(line, direction, monkeypatch):
    problem = Problem.parse(line)
    products = np.prod(problem.output_shape) * np.prod(problem.weight_shape[1:])
    counted = []

    def count(call, seconds):
        with recording() as steps:
            call()
        (slide,) = (step for step in steps if step.name == "slide")
        counted.append(slide.result.size * slide.arguments[1].shape[1])
        return 1.0

    monkeypatch.setattr(bench, "least_time", count)
    assert bench.bare_product(problem, direction, 0) == 1.0
    assert counted == [products]


def test_a_long_wall_is_measured_in_part(monkeypatch):
    monkeypatch.setattr(bench, "least_time", lambda call, seconds: 1.0)
    monkeypatch.setattr(bench, "LONGEST", 100)
    assert bench.bare_product(Problem.parse("C1O1_i1x1000_k1"), "forward", 0) == 10.0


def test_the_least_time_is_of_three_calls_at_least(monkeypatch):
    ticks = iter([0, 9, 10, 12, 20, 25])  # after the first call, which is not counted: 9, 2 and 5
    monkeypatch.setattr(bench.time, "perf_counter", lambda: next(ticks))
    calls = []
    assert bench.least_time(lambda: calls.append(1), 0.0) == 2
    assert len(calls) == 4


def test_scratch_is_what_is_taken_beside_the_result():
    assert bench.peak_scratch(lambda: np.zeros(10**6, np.uint8)) < 10**4
    assert (
        10**6
        <= bench.peak_scratch(lambda: np.concatenate([np.zeros(10**6, np.uint8)])[:0].copy())
        < 3 * 10**6
    )


def test_csv_and_json_hold_the_same_fields(capsys):
    assert main(["bench", "C2O3_i5x5_k3", "--seconds", "0", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert main(["bench", "C2O3_i5x5_k3", "--seconds", "0", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)["measurements"]
    assert [row["direction"] for row in rows] == [record["direction"] for record in records]
    assert [list(row) for row in rows] == [list(record) for record in records]
    for record in records:
        assert record["problem"] == "C2O3_i5x5_k3"
        assert record["seconds"] > 0 and record["wall_seconds"] > 0
        assert record["over_wall"] == record["seconds"] / record["wall_seconds"]


def test_the_table_has_a_line_for_each_direction(capsys):
    assert main(["bench", "se_reduce", "--seconds", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["efficientnet_b0/mb6_se_reduce", direction] for direction in ("forward", "input", "weight")
    ]
    assert lines[4].startswith("geometric mean")


def test_what_cannot_be_measured_is_refused_in_one_line(capsys):
    assert main(["bench", "no_such_layer"]) == 2
    assert "'no'" in capsys.readouterr().err
    assert main(["bench", "transposed_C1O1_i4x4_k3"]) == 2
    assert "transposed convolution" in capsys.readouterr().err


def test_layers_larger_than_the_memory_are_left_out(monkeypatch, capsys):
    problem = Problem.parse(LAYERS["mobilenet_v1/dw8"])
    arrays = sum(map(np.prod, (problem.input_shape, problem.weight_shape, problem.output_shape)))
    monkeypatch.setattr(bench, "_memory", lambda: 16 * arrays)
    assert main(["bench", "mobilenet_v1/dw", "--seconds", "0"]) == 0
    names = {line.split()[0] for line in capsys.readouterr().out.splitlines()[1:-1]}
    assert "mobilenet_v1/dw8" in names and "mobilenet_v1/dw2" not in names


def test_a_problem_larger_than_the_memory_is_refused(capsys):
    assert main(["bench", "i99999999999999_k3"]) == 2
    out, err = capsys.readouterr()
    assert (
        out == "" and "the arrays of i99999999999999_k3 do not fit into half of this machine's memory" in err
    )


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1"])
def test_a_time_that_is_none_is_refused(capsys, seconds):
    assert main(["bench", "i5_k3", "--seconds", seconds]) == 2
    out, err = capsys.readouterr()
    assert out == "" and f"seconds: it is {float(seconds)}, but it must be 0 or more" in err
