"""The command line: its words, its exit codes, and that nothing goes wrong loudly."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from commandline import contents, refused, save_layer

from npconv import cli
from npconv.cli import main

ROOT = Path(__file__).parent.parent


@pytest.fixture
def layer(tmp_path):
    return save_layer(tmp_path / "layer.npz")


def by_subprocess(*argv, **options):
    return subprocess.run(
        [sys.executable, "-m", "npconv", *map(str, argv)], capture_output=True, text=True, cwd=ROOT, **options
    )


# ---------------------------------------------------------------- what is refused, and how


@pytest.mark.parametrize("argv", [["grd"], ["--grad"], ["grad", "a.npz", "b.npz"]], ids=str)
def test_a_wrong_command(capsys, argv):
    refused(capsys, argv, "invalid choice: 'grd'|unrecognized arguments: (--grad|b.npz)")


SPLIT = {
    "--stride 2 3": "--stride 2 3: write --stride 2,3$",
    "--padding 1:2 0:1": "--padding 1:2 0:1: write --padding 1:2,0:1$",
    "--padding -1 -2": "--padding -1 -2: write --padding -1,-2$",
    "--dilation 1 2 3": "--dilation 1 2 3: write --dilation 1,2,3$",
}


@pytest.mark.parametrize("flags, message", SPLIT.items(), ids=SPLIT)
def test_values_apart_are_not_taken_for_files(capsys, layer, flags, message):
    refused(capsys, ["grad", layer, *flags.split()], f"^npconv grad: {message}")
    refused(capsys, ["grad", *flags.split(), layer], f"^npconv grad: {message}")


def test_a_file_may_have_a_number_for_a_name(capsys, tmp_path, monkeypatch, layer):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "3").write_bytes(layer.read_bytes())
    assert main(["grad", "--padding", "0", "3"]) == 0


@pytest.mark.parametrize("command", ["grad", "explain", "shape"])
def test_a_misspelt_option_is_refused_in_the_name_of_its_command(capsys, command):
    message = f"^npconv {command}: .*--strde.*; did you mean --stride[?] see npconv {command} --help$"
    refused(capsys, [command, "--strde", "2"], message)
    refused(capsys, [command, "--strde=2"], message)
    refused(capsys, [command, "--zzz"], f"^npconv {command}: .*: --zzz; see npconv {command} --help$")


def test_an_interruption_is_one_line(capsys, monkeypatch, layer):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("npconv.job.run", interrupt)
    refused(capsys, ["grad", layer], "^npconv grad: interrupted$")


def test_too_little_memory_is_one_line(capsys, monkeypatch, layer):
    def exhaust(*_):
        raise MemoryError("Unable to allocate 9 PiB")

    monkeypatch.setattr("npconv.job.run", exhaust)
    refused(capsys, ["grad", layer], "^npconv grad: not enough memory: Unable to allocate 9 PiB$")


def test_a_fault_of_npconv_itself_is_not_hidden(monkeypatch, layer):
    def fail(*_):
        raise AssertionError("a fault")

    monkeypatch.setattr("npconv.job.run", fail)
    with pytest.raises(AssertionError, match="a fault"):
        main(["grad", str(layer)])


# ---------------------------------------------------------------- the commands


@pytest.fixture
def lessons(monkeypatch):
    """Stands in for the lessons: tells which were asked for, and returns 1."""
    module, seen = ModuleType("npconv.explain.lessons"), []
    module.run = lambda name=None: seen.append(name) or 1
    monkeypatch.setitem(sys.modules, "npconv.explain.lessons", module)
    monkeypatch.setattr("npconv.explain.lessons", module, raising=False)
    return seen


def test_without_a_command_all_lessons_run(lessons):
    assert main([]) == 1 and lessons == [None]


def test_one_lesson_or_all(lessons):
    assert main(["lesson", "strided"]) == 1
    assert main(["lesson"]) == 1
    assert lessons == ["strided", None]


def test_a_lesson_that_is_none(capsys):
    refused(capsys, ["lesson", "quantum"], "^npconv lesson: .*'quantum'.*strided")


def commands():
    parser = cli._parser()
    (action,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return list(action.choices)


@pytest.mark.parametrize("command", [None, *commands()])
def test_help_fits_80_columns_and_has_an_example(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([command, "--help"] if command else ["--help"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert f"example:\n  npconv {command or ''}" in text
    assert "exit code: 0" in text


def test_the_examples_in_the_help_parse():
    for command in commands():
        parser = cli._parser()
        (action,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
        examples = action.choices[command].epilog.split("example:\n")[1].splitlines()
        assert examples
        for example in examples:
            assert parser.parse_args(example.split()[1:]).command == command


# ---------------------------------------------------------------- as a process


def test_it_runs_as_a_module_and_prints_the_same(capsys, layer):
    done = by_subprocess("grad", layer)
    main(["grad", str(layer)])
    assert (done.returncode, done.stdout, done.stderr) == (0, capsys.readouterr().out, "")


@pytest.mark.parametrize("argv", [["-m", "npconv", "grad"], ["npconv", "--help"]], ids=["module", "script"])
def test_without_numpy_it_is_one_line(tmp_path, argv):
    """-S leaves out the installed packages, NumPy among them."""
    (tmp_path / "npconv").write_text("import sys; from npconv.cli import main; sys.exit(main())")
    words = [str(tmp_path / word) if word == "npconv" and "-m" not in argv else word for word in argv]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-S", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert re.match("npconv: it needs NumPy, which .* has not; pip install numpy", done.stderr)


def test_without_numpy_an_import_fails_as_ever():
    command = [sys.executable, "-S", "-c", "import npconv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and "ModuleNotFoundError: No module named 'numpy'" in done.stderr


def test_it_loads_no_other_command(layer):
    script = (
        "import sys; from npconv.cli import main; main(['grad', sys.argv[1]]);"
        "print([name for name in sys.modules if name.startswith(('npconv.explain', 'npconv.testing'))])"
    )
    done = subprocess.run([sys.executable, "-c", script, layer], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "[]", done


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def environment(request):
    """Printing fails at once, or when the buffer is flushed."""
    return {**os.environ, "PYTHONUNBUFFERED": request.param}


def test_a_reader_that_goes_away_is_no_error(tmp_path, layer, environment):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "npconv", "grad", layer, "-o", tmp_path / "out.npz"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")
    assert "grad_input" in contents(tmp_path / "out.npz")


def test_a_report_that_cannot_be_printed_is_one_line(layer, environment):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "npconv", "grad", layer]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )
    assert done.returncode == 2
    assert re.fullmatch("npconv.*: .*No space left on device\n", done.stderr)


@pytest.mark.parametrize(
    "words", ["grad {}", "explain i4_k3", "shape i4_k3", "bench i4_k3 --seconds 0 --csv"]
)
def test_a_closed_output_is_no_error(layer, words):
    """As by `>&-`: Python then has no sys.stdout at all."""
    command = f"exec {sys.executable} -m npconv {words.format(layer)} >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_name_that_the_terminal_cannot_show_is_no_error(tmp_path):
    np.savez(tmp_path / "f.npz", input=np.ones((1, 1, 1)), weight=np.ones((1, 1, 1)), **{"größe": 1})
    done = by_subprocess("grad", tmp_path / "f.npz", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert r"not used, of what the file holds: 'gr\xf6\xdfe'" in done.stdout
