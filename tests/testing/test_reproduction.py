"""What a report gives to reproduce a fault is run as it is printed, in every layout and part."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import npconv
from npconv.cli import main
from npconv.problem import Problem
from npconv.testing import check
from npconv.testing.candidate import FROM_BACKWARD, Declared
from npconv.testing.observation import Observation, exact_case
from npconv.testing.parts import PARTS
from npconv.testing.reproduction import in_python, in_shell, of_candidate, of_result

LAYOUTS = [("NCHW", "OIHW"), ("NHWC", "HWIO"), ("NHWC", "OHWI"), ("NCHW", "HWIO"), ("CHWN", "IHWO")]
CC = shutil.which("cc")


class Kernel:
    """npconv in another layout."""

    def __init__(self, layout, weight_layout, rank):
        spatial = "DHW"[-rank:]
        own = [letters.replace("H", "DH") for letters in (layout, weight_layout)]
        own = ["".join(c for c in letters if c in "NCOI" + spatial) for letters in own]
        self.x = [own[0].index(letter) for letter in "NC" + spatial]
        self.w = [own[1].index(letter) for letter in "OI" + spatial]

    def image(self, array):
        return array.transpose(self.x)

    def forward(self, input, weight, bias, **p):
        y = npconv.conv(self.image(input), weight.transpose(self.w), bias, **p)
        return y.transpose(np.argsort(self.x))

    def grad_input(self, grad_output, weight, input_size, **p):
        size = [input_size[axis] for axis in self.x]
        dx = npconv.conv_input(size, weight.transpose(self.w), self.image(grad_output), **p)
        return dx.transpose(np.argsort(self.x))

    def grad_weight(self, grad_output, input, weight_size, **p):
        size = [weight_size[axis] for axis in self.w]
        dw = npconv.conv_weight(self.image(input), size, self.image(grad_output), **p)
        return dw.transpose(np.argsort(self.w))

    def grad_bias(self, grad_output):
        return npconv.conv_bias(self.image(grad_output), rank=grad_output.ndim - 2)

    def transposed(self, input, weight, bias, **p):
        y = npconv.conv_transpose(self.image(input), weight.transpose(self.w), bias, **p)
        return y.transpose(np.argsort(self.x))


def case(line, part, declared=Declared()):
    """An observation of a result whose last element is one too large."""
    made = exact_case(part, Problem.parse(line), declared)
    got = made.due.copy()
    got[(-1,) * got.ndim] += 1
    return Observation(made, "wrong", got, "1 of 4 elements, first at (0, 0, 3)")


LINES = {
    1: ("N2C4O2G2_i6_k3_s2_p1:0_bias", "N2_transposed_C2O4G2_i3_k3_s2_p1:0_op1_bias"),
    2: ("N2C2O4G2_i3x4_k2x3_s2x1_p1:0x0:1", "transposed_C2O2_i2x3_k3x2_s2x1_p0x1:0_bias"),
    3: ("C2O1_i2x3x4_k1x2x3", "transposed_O2_i1x2x3_k2x1x1_s2x1x1"),
}


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("layout, weight_layout", LAYOUTS)
@pytest.mark.parametrize("part", PARTS)
def test_the_numpy_code_runs_as_printed(part, layout, weight_layout, rank):
    declared = Declared(layout=layout, weight_layout=weight_layout)
    right = getattr(Kernel(layout, weight_layout, rank), part)

    def wrong(*arrays, **parameters):
        result = np.array(right(*arrays, **parameters))
        result[(-1,) * result.ndim] += 1
        return result

    text = of_candidate(case(LINES[rank][part == "transposed"], part), declared, PARTS, "LINE")
    code = text[text.index("import numpy") :].split("\n\n")[0]
    exec(code, {part: right})
    bound = {part: wrong}
    with pytest.raises(AssertionError, match="Mismatched elements: 1 /"):
        exec(code, bound)
    assert f"# got {bound['got'].astype(int).tolist()}\n" in code


@pytest.mark.parametrize("layout, weight_layout", LAYOUTS)
@pytest.mark.parametrize("part", FROM_BACKWARD)
def test_the_numpy_code_of_a_backward_runs_as_printed(part, layout, weight_layout):
    declared = Declared(layout=layout, weight_layout=weight_layout)
    kernel = Kernel(layout, weight_layout, 2)

    def backward(grad_output, input, weight, **p):
        dx = kernel.grad_input(grad_output, weight, input.shape, **p)
        dw = kernel.grad_weight(grad_output, input, weight.shape, **p)
        return dx, dw, kernel.grad_bias(grad_output)

    text = of_candidate(case(LINES[2][0], part), declared, ("forward", "backward"), "LINE")
    code = text[text.index("import numpy") :].split("\n\n")[0]
    exec(code, {"backward": backward})
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        exec(code, {"backward": lambda *a, **p: [y + 1 for y in backward(*a, **p)]})


def test_who_offers_a_backward_gets_its_call(tmp_path):
    def backward(grad_output, input, weight, **p):
        return npconv.conv_backward(grad_output, input, -weight, **p)

    text = "import npconv\ndef backward(g, x, w, **p):\n    return npconv.conv_backward(g, x, -w, **p)\n"
    (tmp_path / "kernel.py").write_text(text)
    for candidate in (SimpleNamespace(backward=backward), f"{tmp_path}/kernel.py"):
        report = check(candidate, only="i3x4_k2x1")
        assert "got = backward(grad_output, input, weight, **parameters)[0]" in report.reproduction


def test_each_array_says_how_its_axes_lie():
    declared = Declared(layout="NHWC", weight_layout="HWIO")
    lines = of_candidate(case("C3O2_i2x3_k1x2", "forward"), declared, PARTS, "LINE").splitlines()
    (input,) = (line for line in lines if line.startswith("input = "))
    (weight,) = (line for line in lines if line.startswith("static const float weight["))
    assert input.endswith("np.float32)  # NHWC") and weight.endswith("/* HWIO: 1 x 2 x 3 x 2 */")


@pytest.mark.parametrize(
    "kind, input, bias",
    [("float64", "float64", "float64"), ("float16", "float16", "float16"), ("int8", "int8", "int32"),
     ("bfloat16", "float32", "float32"), ("tf32", "float32", "float32")],
)  # fmt: skip
def test_the_arrays_have_the_declared_format(kind, input, bias):
    declared = Declared(input=kind)
    text = of_candidate(case("i2x2_k1x1_bias", "forward", declared), declared, PARTS, "LINE")
    assert re.search(f"^input = np.array\\(.*, np.{input}\\)", text, re.M)
    assert re.search(f"^bias = np.array\\(.*, np.{bias}\\)", text, re.M)


def test_the_call_of_a_kernel_in_python_asks_it_again():
    forward = Kernel("NHWC", "HWIO", 2).forward

    def flipped(input, weight, bias, **p):
        return forward(input, weight[::-1, ::-1], bias, **p)

    report = check(flipped, only="C2O2_i3x3_k1x2", layout="NHWC", weight_layout="HWIO", input="float64")
    (line,) = (line for line in report.reproduction.splitlines() if line.startswith("npconv.testing.check("))
    again = eval(line, {"npconv": npconv, "flipped": flipped})
    assert again.verdict == "WRONG" and again.declared == report.declared
    assert again.reproduction == report.reproduction


def test_the_command_for_a_file_asks_it_again_in_its_layout(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "two words"
    folder.mkdir()
    (folder / "kernel.py").write_text(
        "import npconv, numpy as np\n"
        "def f(input, weight, bias, **p):\n"
        "    x, w = input.transpose(0, 3, 1, 2), weight.transpose(3, 2, 0, 1)\n"
        "    return npconv.conv(x, w, None, **p).transpose(0, 2, 3, 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    asked = [
        "check",
        "two words/kernel.py:f",
        "--layout",
        "NHWC",
        "--weight-layout",
        "HWIO",
        "--input",
        "float16",
    ]
    assert main([*asked, "--no-layers"]) == 1
    out = capsys.readouterr().out
    (line,) = (line.strip() for line in out.splitlines() if "npconv check" in line)
    words = shlex.split(line)
    assert words[:3] == ["python", "-m", "npconv"]
    assert main(words[3:]) == 1
    assert "the bias is missing" in capsys.readouterr().out


@pytest.mark.parametrize("spec", ["kernel.py", "kernel.py:f", "package.module", "package.module:f"])
def test_a_candidate_by_name_is_asked_in_the_shell(spec):
    line = in_shell(spec, Declared(weight_layout="HWIO"), Problem.parse("i4_k1"))
    assert line == f'python -m npconv check {spec} --only "i4_k1" --weight-layout HWIO'


def test_a_candidate_without_a_name_is_the_kernel():
    assert (
        in_python("<lambda>", Declared(), Problem.parse("i4_k1"))
        == 'npconv.testing.check(kernel, only="i4_k1")'
    )


def test_a_result_in_a_file_has_its_problem_and_element_and_no_python():
    text = of_result(case("i4_k1", "forward"), Declared(), 17)
    first, second, *rest = text.splitlines()
    assert second == "# its arrays: 17.input.npy, 17.weight.npy"
    assert first == "# forward of i4_k1, problem 17: 1 of 4 elements, first at (0, 0, 3)"
    assert "python" not in text and "FILE.py" not in text
    assert [line.split("[")[0] for line in rest if line] == [
        f"static const float {name}" for name in ("input", "weight", "due")
    ]


def test_a_call_without_a_result_says_what_it_did():
    made = exact_case("forward", Problem.parse("i4_k1"), Declared())
    text = of_candidate(Observation(made, "raised", None, "KeyError: 'x'"), Declared(), PARTS, "LINE")
    assert text.startswith("# forward of i4_k1: KeyError: 'x'\nLINE\n\nimport numpy")
    assert "# got" not in text


def test_a_number_that_no_integer_type_holds_is_shown_as_it_came():
    made = exact_case("forward", Problem.parse("i2_k1"), Declared())
    text = of_candidate(Observation(made, "wrong", np.array([[[1e30, 2.0]]])), Declared(), PARTS, "LINE")
    assert "# got [[[1e+30, 2.0]]]" in text


def test_a_large_case_is_its_descriptor():
    text = of_candidate(case("i400_k1", "forward"), Declared(), PARTS, "LINE")
    assert text == "# forward of i400_k1\nLINE\n"


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int8", "uint8"])
def test_the_arrays_are_c(kind, tmp_path):
    text = of_candidate(case("C2_i2x3_k1x2_bias", "forward"), Declared(input=kind), PARTS, "LINE")
    source = tmp_path / "arrays.c"
    source.write_text(
        "#include <stdint.h>\n" + "".join(f"{line}\n" for line in text.splitlines() if "static" in line)
    )
    subprocess.run([CC, "-std=c99", "-pedantic-errors", "-fsyntax-only", source], check=True)
    assert source.read_text().count("static const") == 4


@pytest.mark.parametrize("name", ["", ":forward", ":Kernel"])
def test_a_kernel_in_a_file_is_imported_by_the_code_that_shows_its_fault(name, tmp_path):
    (tmp_path / "kernel.py").write_text(
        "import npconv\n"
        "def forward(input, weight, bias, **parameters):\n"
        "    return -npconv.conv(input, weight, bias, **parameters)\n"
        "class Kernel:\n"
        "    forward = staticmethod(forward)\n"
    )
    code = check(f"{tmp_path}/kernel.py{name}", layers=False).reproduction
    code = code[code.index("import numpy") : code.index("static const")]
    (tmp_path / "shown.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    shown = subprocess.run(
        [sys.executable, "shown.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert shown.returncode == 1 and "AssertionError" in shown.stderr and "Mismatched elements: 1 / 1" in shown.stderr
