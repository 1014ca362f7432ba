"""check, emit and judge on the command line."""

import json
import os
import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from npconv.cli import main
from npconv.commands.views import VERDICTS
from npconv.testing.climb import Rung
from npconv.testing.findings import Finding
from npconv.testing.report import EXIT_CODES, LONGEST, Report

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
        (["check", "math:sqrt", "--input", "fp16"], "npconv check: input: 'fp16' is not one of float64, "),
        (["check", "math:sqrt", "--layout", "NNHW"], "npconv check: layout: 'NNHW'"),
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


# ---------------------------------------------------------------- where the views go


@pytest.fixture
def never(monkeypatch):
    """A check that must not begin."""
    monkeypatch.setattr("npconv.testing.commands.check", lambda *_, **__: pytest.fail("the check began"))
    monkeypatch.setattr("npconv.testing.commands.judge_files", lambda *_: pytest.fail("the check began"))


@pytest.mark.parametrize("command", [["check", "kernel.py"], ["judge", "problems"]])
@pytest.mark.parametrize(
    "json_to, junit_to, told",
    [
        (
            "-",
            "-",
            "json, junit: both are to go to '-', where there is room for one; give one of them a file",
        ),
        ("report", "report", "json, junit: both are to go to 'report'"),
        ("report", "folder/../report", "json, junit: both are to go to 'report'"),
        ("folder", None, "json: 'folder' cannot be written: it is a folder; name another file"),
        (None, "folder", "junit: 'folder' cannot be written: it is a folder"),
        ("", None, "json: '' cannot be written: it is a folder"),
        ("no/report", "-", "json: 'no/report' cannot be written: there is no folder "),
        ("-", "report/x", "junit: 'report/x' cannot be written: there is no folder "),
        ("locked", None, "json: 'locked' cannot be written: that is not permitted"),
    ],
)
def test_views_that_cannot_be_written_are_told_before_the_check(
    command, json_to, junit_to, told, never, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "report").touch()
    (tmp_path / "locked").touch()
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path.name != "locked" and allowed(path, mode))
    flags = [("--json", json_to), ("--junit", junit_to)]
    assert main([*command, *(word for flag, to in flags if to is not None for word in (flag, to))]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"npconv {command[0]}: {told}") and captured.err.count("\n") == 1
    assert not captured.out and sorted(path.name for path in tmp_path.iterdir()) == [
        "folder",
        "locked",
        "report",
    ]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
def test_a_full_disk_is_one_line(kernel, capsys):
    assert main(["check", kernel(RIGHT), "--only", "i4_k2", "--json", "/dev/full"]) == 2
    assert "No space left on device" in capsys.readouterr().err


def test_one_view_is_printed_and_the_other_written(kernel, tmp_path, capsys):
    target = tmp_path / "report.json"
    assert main(["check", kernel(WRONG), "--only", "i4_k2_bias", "--json", str(target), "--junit", "-"]) == 1
    assert ElementTree.fromstring(capsys.readouterr().out).get("failures") == "1"
    assert json.loads(target.read_text())["verdict"] == "WRONG"


# ---------------------------------------------------------------- candidates of every temper


def refuse(token):
    raise AssertionError(f"{token} is no JSON")


NOISY = """
import ctypes, os, sys
print("noise while it is loaded")
os.system("echo noise of a process")
def f(input, weight, bias, **p):
    import npconv
    print("noise")
    sys.__stdout__.write("more noise"); sys.__stdout__.flush()
    os.write(1, b"noise from below")
    os.write(2, b"noise on stderr")
    return npconv.conv(input, weight, bias, **p)
"""


@pytest.mark.parametrize("view", ["--json", "--junit"])
def test_what_a_candidate_prints_is_in_no_view(view, kernel, capfd):
    assert main(["check", kernel(NOISY), "--only", "i4_k2", view, "-"]) == 0
    captured = capfd.readouterr()
    assert "noise" not in captured.out + captured.err
    if view == "--json":
        assert json.loads(captured.out, parse_constant=refuse)["verdict"] == "PASS"
    else:
        assert ElementTree.fromstring(captured.out).get("failures") == "0"


@pytest.mark.parametrize(
    "body, told",
    [
        ("import sys; sys.exit('bye')", "forward: raises SystemExit: bye"),
        ("import sys; sys.exit(0)", "forward: raises SystemExit: 0"),
        ("import os; os._exit(0)", "forward: crashes: the process ended with exit code 0"),
        ("import os; os._exit(3)", "forward: crashes: the process ended with exit code 3"),
        ("raise KeyboardInterrupt", "forward: raises KeyboardInterrupt: ; in"),
        ("raise GeneratorExit('x')", "forward: raises GeneratorExit: x; in"),
        ("raise type('Odd', (BaseException,), {})('boo')", "forward: raises Odd: boo; in"),
        (
            "raise type('Mute', (Exception,), {'__str__': lambda e: 1 / 0})",
            "forward: raises Mute: its text cannot be had, for __str__ raises ZeroDivisionError; in",
        ),
        ("raise RuntimeError('x' * 10**6)", "forward: raises RuntimeError: xxx"),
        ("raise RuntimeError('a\\nb')", "forward: raises RuntimeError: a; in"),
        ("return {'y': input}", "forward: gives the wrong type: the result is a dict, not an array"),
    ],
)
def test_how_a_candidate_ends_is_a_verdict(body, told, kernel, capsys):
    text = f"def f(input, weight, bias, **p):\n    {body}\n"
    assert main(["check", kernel(text), "--only", "i4_k2", "--json", "-"]) == 1
    out = capsys.readouterr().out
    record = json.loads(out, parse_constant=refuse)
    assert record["verdict"] == "WRONG" and record["faults"][0].startswith(told)
    assert len(out) < 20_000


@pytest.mark.parametrize("body, told", [("sys.exit(0)", "exit code 0"), ("os._exit(5)", "exit code 5")])
def test_a_candidate_that_ends_while_it_is_loaded_is_bad_input(body, told, kernel, capsys):
    assert main(["check", kernel(f"import os, sys\n{body}\n")]) == 2
    captured = capsys.readouterr()
    assert f"cannot be loaded: the process ended with {told}" in captured.err and not captured.out


# ---------------------------------------------------------------- the report itself


def test_the_help_has_every_verdict_and_its_exit_code(capsys):
    for command in ("check", "judge"):
        assert main([command, "--help"]) == 0
        assert VERDICTS in capsys.readouterr().out
    assert {name: int(code) for name, code in re.findall(r"^([A-Z]+) +(\d) ", VERDICTS, re.M)} == EXIT_CODES


def test_the_readme_has_every_verdict_and_its_exit_code():
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    rows = re.findall(r"^\| ([A-Z]+) \|.*\| (\d) \|$", readme, re.M)
    assert {name: int(code) for name, code in rows} == EXIT_CODES


@pytest.mark.parametrize("verdict", EXIT_CODES)
def test_junit_passes_only_where_the_exit_code_is_0(verdict):
    rung = Rung("a rung", cases=1)
    if verdict == "WRONG":
        rung.failed.append("it differs")
    if verdict == "INCOMPLETE":
        rung.missing.append("it never came")
    if verdict == "SUSPICIOUS":
        rung.odd.append("it is odd")
    suite = ElementTree.fromstring(Report("kernel", verdict, "a reason", rungs=[rung]).to_junit())
    bad = suite.findall("testcase/failure") + suite.findall("testcase/error")
    assert bool(bad) == bool(EXIT_CODES[verdict])
    assert int(suite.get("failures")) + int(suite.get("errors")) == len(bad)
    assert int(suite.get("tests")) == len(suite.findall("testcase"))


NASTY = "a\x00\x1b[31m\r\n\u2028\ud800\uffff<&\"']]>\xe9" + "z" * 10**5


def nasty_report():
    rung = Rung(NASTY, cases=1, failed=[NASTY], odd=[NASTY], notes=[NASTY])
    finding = Finding(NASTY, NASTY, True, NASTY, NASTY, "line 1\n" + NASTY, [NASTY, NASTY])
    return Report(
        NASTY,
        "WRONG",
        NASTY,
        (NASTY,),
        {NASTY: NASTY},
        [finding],
        [rung],
        {NASTY: [NASTY]},
        NASTY,
        {"x": NASTY},
    )


def test_no_text_spoils_the_xml_or_the_json():
    report = nasty_report()
    for text in (report.to_junit(), report.to_json()):
        assert text.isascii() and "\x00" not in text
    failure = ElementTree.fromstring(report.to_junit()).find(".//failure")
    assert (
        failure.get("message").startswith("a\\x00\\x1b[31m") and "\\ud800\\uffff<&\"']]>\xe9" in failure.text
    )
    assert json.loads(report.to_json(), parse_constant=refuse)["faults"] == [NASTY]


def test_every_line_of_the_text_is_printable_and_none_is_endless():
    lines = str(nasty_report()).split("\n")
    assert all(line.isprintable() for line in lines)
    body = lines[: lines.index("  to reproduce:")]
    assert max(map(len, body)) < 2 * LONGEST and "characters)" in body[0]


def test_a_file_of_results_has_its_problem_in_the_finding(tmp_path, capsys):
    assert main(["emit", str(tmp_path), "forward"]) == 0
    lines = (tmp_path / "manifest.txt").read_text().splitlines()[1:]
    for line in lines:
        number, part = line.split()[:2]
        (tmp_path / f"{number}.{part}.refused").touch()
    shape = tuple(int(lines[3].split()[column]) for column in (2, 6, -4, -3))
    (tmp_path / "3.forward.refused").unlink()
    np.save(tmp_path / "3.forward.npy", np.full(shape, 0.5, np.float32))
    capsys.readouterr()
    assert main(["judge", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    descriptor = lines[3].split()[-1]
    assert f"smallest case: {descriptor}, problem 3 of the manifest" in out
    assert f"# forward of {descriptor}, problem 3: " in out and "first at (0, 0, 0, 0): got 0.5, due " in out
    assert "npconv check" not in out and "FILE.py" not in out
