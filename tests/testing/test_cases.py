"""The cases for test suites fit the signatures of the protocol, for every part."""

import os
import re
import subprocess
import sys
from pathlib import Path

import npconv
import numpy as np
import pytest
from npconv.testing import cases, float_case

README = Path(__file__).parents[2] / "README.md"


def forward(input, weight, bias, *, stride, padding, dilation, groups):
    return npconv.conv(input, weight, bias, stride, padding, dilation, groups)


def grad_input(grad_output, weight, input_size, *, stride, padding, dilation, groups):
    return npconv.conv_input(input_size, weight, grad_output, stride, padding, dilation, groups)


def grad_weight(grad_output, input, weight_size, *, stride, padding, dilation, groups):
    return npconv.conv_weight(input, weight_size, grad_output, stride, padding, dilation, groups)


def grad_bias(grad_output):
    return grad_output.sum(axis=(0, 2, 3))


def transposed(input, weight, bias, *, stride, padding, output_padding, dilation, groups):
    return npconv.conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)


@pytest.mark.parametrize("kernel", [forward, grad_input, grad_weight, grad_bias, transposed])
def test_arguments_fit_the_signature_of_the_part(kernel):
    for case in cases(kernel.__name__):
        case.check(kernel(**case.arguments))


def test_the_readme_names_these_signatures():
    text = README.read_text()
    for kernel in (forward, grad_input, grad_weight, grad_bias, transposed):
        names = kernel.__code__.co_varnames
        (line,) = re.findall(rf"^    {kernel.__name__}\((.*)\)$", text, re.MULTILINE)
        assert line.replace("*, ", "").split(", ") == list(names)


def test_the_pytorch_kernel_of_the_readme_takes_every_case():
    (block,) = re.findall(r"```python\n(# PyTorch\n.*?)```", README.read_text(), re.DOTALL)
    space = {}
    exec(block, space)
    some = cases("forward")
    assert {case.arguments["bias"] is None for case in some} == {True, False}
    for case in some:
        case.check(space["forward"](**case.arguments))


MY_KERNELS = """
import npconv
import numpy as np

def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if groups > 2:
        raise NotImplementedError("groups")
    input, weight = (np.asarray(a, np.float32) for a in (input, weight))  # as most kernels do
    return npconv.conv2d(input, weight{fault}, bias, stride, padding, dilation, groups)
"""


@pytest.mark.parametrize("fault", ["", "[..., ::-1, ::-1]"])
def test_the_test_file_of_the_readme_runs_as_it_stands(fault, tmp_path):
    (block,) = re.findall(
        r"```python\n(import numpy as np\nimport pytest\n.*?)```", README.read_text(), re.DOTALL
    )
    (tmp_path / "test_mine.py").write_text(block)
    (tmp_path / "my_kernels.py").write_text(MY_KERNELS.format(fault=fault))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(README.parent)}, capture_output=True, text=True,
    )  # fmt: skip
    last = run.stdout.splitlines()[-1]
    assert run.returncode == bool(fault) and "error" not in last
    if fault:
        assert "consistent with: the weight is flipped" in run.stdout
    else:
        assert re.match(r"\d+ passed, \d+ skipped in", last)


def test_what_the_readme_leaves_out_beforehand_is_left_out():
    (line,) = re.findall(r"^some = .*$", README.read_text(), re.MULTILINE)
    space = {"cases": cases}
    exec(line, space)
    ends = [[end for pair in case.parameters["padding"] for end in pair] for case in space["some"]]
    assert len(ends) > 50 and min(map(min, ends)) == 0
    assert {case.parameters["groups"] for case in space["some"]} == {1}
    assert any(end < 0 for case in cases("forward") for pair in case.parameters["padding"] for end in pair)


def test_the_float_case_of_the_readme_is_one():
    (call,) = re.findall(r"`npconv\.testing\.(float_case\(\".*?\))` has", README.read_text())
    case = eval(call, {"float_case": float_case})
    case.check(forward(**case.arguments))


def test_the_links_of_the_readme_lead_to_headings():
    text = README.read_text()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(#(.*?)\)", text)
    assert "is-your-kernel-right-the-referee" in links and set(links) <= anchors


def test_the_size_is_that_of_the_result():
    (case, *_) = cases("grad_weight")
    assert case.arguments["weight_size"] == case.due.shape
    assert np.shares_memory(case.arguments["input"], case.arrays["input"])
