"""check, emit and judge on the command line."""

import json
import struct
import xml.etree.ElementTree as ElementTree

import pytest
from npconv.cli import main

RIGHT = "import npconv\ndef f(input, weight, bias, **p):\n    return npconv.conv(input, weight, bias, **p)\n"
WRONG = RIGHT.replace("bias, **p)\n", "None, **p)\n").replace(
    "def f(input, weight, None", "def f(input, weight, bias"
)


@pytest.fixture
def kernel(tmp_path):
    def write(text):
        path = tmp_path / "kernel.py"
        path.write_text(text)
        return f"{path}:f"

    return write


def test_a_right_kernel_exits_0(kernel, capsys):
    assert main(["check", kernel(RIGHT), "--no-layers"]) == 0
    assert capsys.readouterr().out.startswith("PASS  ")


def test_a_wrong_kernel_exits_1_and_is_reproduced_by_its_own_line(kernel, capsys):
    spec = kernel(WRONG)
    assert main(["check", spec, "--no-layers"]) == 1
    out = capsys.readouterr().out
    assert "forward: the bias is missing" in out
    (line,) = [line.strip() for line in out.splitlines() if line.strip().startswith("python -m npconv check")]
    descriptor = line.split('"')[1]
    assert main(["check", spec, "--only", descriptor]) == 1
    assert "1 failed" in capsys.readouterr().out


def test_json_and_junit(kernel, tmp_path, capsys):
    target = tmp_path / "report.xml"
    assert main(["check", kernel(WRONG), "--no-layers", "--json", "-", "--junit", str(target)]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["verdict"] == "WRONG" and record["trigger"] == "bias"
    assert ElementTree.parse(target).getroot().get("failures") == "1"


@pytest.mark.parametrize(
    "argv, told",
    [
        (["check", "nowhere.py:f"], "there is no file nowhere.py"),
        (["check", "no.such.module"], "No module named 'no'"),
        (["judge", "."], "has no manifest.txt"),
        (["emit", "x", "backwards"], "parts: backwards unknown"),
        (["check", "math:sqrt", "--input", "float7"], "'float7' is not one of"),
        (["check", "math:sqrt", "--rank", "4"], "rank: 4 spatial axes; give 1, 2 or 3"),
        (["check", "math:sqrt", "--rank", "-1"], "rank: -1 spatial axes"),
        (["check", "math:sqrt", "--time-limit", "0"], "time_limit: 0 s; give a number of seconds"),
        (["check", "math:sqrt", "--time-limit", "-2"], "time_limit: -2 s"),
        (["check", "math:sqrt", "--time-limit", "nan"], "time_limit: nan s"),
        (["check", "math:sqrt", "--time-limit", "inf"], "time_limit: inf s"),
    ],
)
def test_bad_input_is_one_line_and_exits_2(argv, told, capsys):
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert told in captured.err and captured.err.count("\n") == 1 and not captured.out


@pytest.mark.parametrize(
    "name, content",
    [
        ("0.forward.npy", b""),
        ("0.forward.npy", b"no array"),
        ("results.safetensors", b""),
        ("results.safetensors", struct.pack("<Q", 2) + b"[]"),
        ("results.safetensors", struct.pack("<Q", 200000) + b"[" * 200000),
    ],
)
def test_a_spoilt_file_of_results_is_one_line_and_exits_2(name, content, tmp_path, capsys):
    assert main(["emit", str(tmp_path), "forward"]) == 0
    capsys.readouterr()
    (tmp_path / name).write_bytes(content)
    assert main(["judge", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"npconv judge: {name}: it is no ") and captured.err.count("\n") == 1


def test_junit_has_no_character_that_xml_forbids(kernel, capsys):
    raising = "def f(input, weight, bias, **p):\n    raise RuntimeError('a\\x1b\\x00\\ud800\\uffff\\xe9')\n"
    assert main(["check", kernel(raising), "--no-layers", "--junit", "-"]) == 1
    text = capsys.readouterr().out
    failure = ElementTree.fromstring(text).find(".//failure").get("message")
    assert "RuntimeError: a\\x1b\\x00\\ud800\\uffff\xe9" in failure
