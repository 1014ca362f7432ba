"""PyTorch before the referee."""

from pathlib import Path

import pytest
import torch

from npconv.testing import check

F = torch.nn.functional


README = Path(__file__).parents[2] / "README.md"


class Torch:
    @staticmethod
    def conv(x, w, b, stride, padding, dilation, groups):
        ends = [end for pair in reversed(padding) for end in pair]
        return F.conv2d(F.pad(x, ends), w, b, stride, 0, dilation, groups)

    @staticmethod
    def forward(input, weight, bias, *, stride, padding, dilation, groups):
        x, w, b = (None if a is None else torch.tensor(a) for a in (input, weight, bias))
        return Torch.conv(x, w, b, stride, padding, dilation, groups).numpy()

    @staticmethod
    def backward(grad_output, input, weight, *, stride, padding, dilation, groups):
        x, w = (torch.tensor(a, requires_grad=True) for a in (input, weight))
        b = torch.zeros(len(weight), dtype=x.dtype, requires_grad=True)
        y = Torch.conv(x, w, b, stride, padding, dilation, groups)
        return tuple(t.numpy() for t in torch.autograd.grad(y, (x, w, b), torch.tensor(grad_output)))

    @staticmethod
    def transposed(input, weight, bias, *, stride, padding, output_padding, dilation, groups):
        if any(lo != hi or lo < 0 for lo, hi in padding):
            raise NotImplementedError("uneven padding")
        x, w, b = (None if a is None else torch.tensor(a) for a in (input, weight, bias))
        ends = [lo for lo, _ in padding]
        return F.conv_transpose2d(x, w, b, stride, ends, output_padding, groups, dilation).numpy()


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_torch_passes(kind):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        report = check(Torch, input=kind, layers=False)
    finally:
        torch.set_num_threads(threads)
    assert report.verdict == "PASS", str(report)
    count = report.why.rpartition(": ")[2]
    assert f": {count})" in README.read_text()
    assert report.passport["input significand"].endswith("as declared")
    assert report.identity.startswith("<output, g> = <x, grad_input> = <w, grad_weight> in all")
    assert set(report.unsupported) == {"transposed"}
