"""The cases for test suites fit the signatures of the protocol, for every part."""

import os
import re
import subprocess
import sys
from pathlib import Path

import npconv
import numpy as np
import pytest
from npconv.testing import cases

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

def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if groups > 2:
        raise NotImplementedError("groups")
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
        assert "the weight is flipped; explains" in run.stdout
    else:
        assert re.match(r"\d+ passed, \d+ skipped in", last)


def test_the_size_is_that_of_the_result():
    (case, *_) = cases("grad_weight")
    assert case.arguments["weight_size"] == case.due.shape
    assert np.shares_memory(case.arguments["input"], case.arrays["input"])
