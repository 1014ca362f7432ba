"""Every command in the README prints what the README says it prints.

The Python examples run as doctests of README.md itself; here are the blocks marked `console`.
"""

import re
import shlex
import sys
from pathlib import Path

import pytest

from npconv.cli import main

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
COMMANDS = [part for block in BLOCKS for part in re.split(r"^\$ ", block, flags=re.M) if part]


def arguments(command: str) -> list[str]:
    """The words after `npconv`, and files of the project by their place."""
    program, *words = shlex.split(command)
    assert program == "npconv"
    return [str(ROOT / word) if word.startswith("tests/") else word for word in words]


def test_the_readme_shows_commands() -> None:
    assert COMMANDS


DECIMAL = r"-?\d+(?:\.\d+)?e[+-]?\d+|-?\d+\.\d+"


def decimals(text: str) -> list[float]:
    return [float(number) for number in re.findall(DECIMAL, text)]


def without_decimals(text: str) -> str:
    lines = re.sub(DECIMAL, "#", text).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip()


@pytest.mark.parametrize("shown", COMMANDS, ids=lambda shown: shown.splitlines()[0])
def test_a_command_of_the_readme_prints_what_stands_below_it(shown, capsys, tmp_path, monkeypatch) -> None:
    command, _, due = shown.partition("\n")
    monkeypatch.chdir(tmp_path)
    main(arguments(command))
    got = capsys.readouterr().out
    assert without_decimals(got) == without_decimals(due)
    for a, b in zip(decimals(got), decimals(due), strict=True):
        # A float32 sum's last digits depend on the order in which the machine adds; what is printed as
        # a fraction of the rounding bound, or is a difference itself, depends on nothing else.
        assert abs(a - b) <= 1e-5 * abs(b) if b >= 1 else 0 <= a < 1


def test_the_kernel_of_the_readme_is_judged_as_the_readme_says(capsys, tmp_path, monkeypatch) -> None:
    text = (ROOT / "README.md").read_text()
    kernel = re.search(r"^```python\n(# kernel.py\n.*?)^```", text, re.M | re.S)[1]
    due = re.search(r"^`python -m npconv check kernel.py` prints\n\n```text\n(.*?)^```", text, re.M | re.S)[1]
    (tmp_path / "kernel.py").write_text(kernel)
    monkeypatch.chdir(tmp_path)
    assert main(["check", "kernel.py"]) == 1
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert "\n".join(lines).strip() == due.strip()


def test_the_readme_counts_the_kernels_that_there_are() -> None:
    sys.path.insert(0, str(ROOT / "tests" / "testing"))
    try:
        from zoo import WRONG
        from zoo_right import RIGHT
    finally:
        sys.path.pop(0)
    text = (ROOT / "README.md").read_text()
    assert f"`make referee` judges {len(WRONG)} wrong kernels" in text
    assert f"and {len(RIGHT)} right ones" in text
