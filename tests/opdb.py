"""PyTorch's own sample inputs and error inputs for its six convolutions, run through npconv.

    python tests/opdb.py

It stands outside the suite because torch's collection needs packages that the suite does not:
expecttest and hypothesis.  Every sample is rounded to integers, so that outputs, gradients and second
gradients must be equal, not close.  Every error input must raise ValueError or TypeError, except
what `LEGAL_HERE` lists, which has a meaning here.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import npconv

NAMES = [f"conv{middle}{rank}d" for middle in ("", "_transpose") for rank in (1, 2, 3)]
KINDS = (torch.float64, torch.complex128)

# What follows input, weight and bias, by position, in a plain and in a transposed convolution.
POSITIONAL = {
    "plain": ("stride", "padding", "dilation", "groups"),
    "transposed": ("stride", "padding", "output_padding", "groups", "dilation"),
}


def arguments_of(sample: Any, family: str) -> tuple[list[Any], dict[str, Any]]:
    """The tensors (input, weight, bias), and the parameters by their torch names."""
    given = [sample.input, *sample.args]
    named = dict(zip(("input", "weight", "bias"), given))
    for extra, name in zip(given[3:], POSITIONAL[family]):
        named[name] = extra
    named.update(sample.kwargs)
    return [named.pop(name, None) for name in ("input", "weight", "bias")], named


def rounded(tensor: torch.Tensor | None) -> torch.Tensor | None:
    """The same tensor in whole numbers (Gaussian integers), so that every sum is exact."""
    if tensor is None:
        return None
    parts = torch.view_as_real(tensor.detach()) if tensor.is_complex() else tensor.detach()
    whole = parts.round()
    return (torch.view_as_complex(whole.contiguous()) if tensor.is_complex() else whole).requires_grad_()


def random_like(tensor: torch.Tensor, seed: int) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    array = rng.integers(-4, 5, tuple(tensor.shape)).astype(np.float64)
    if tensor.is_complex():
        array = array + 1j * rng.integers(-4, 5, tuple(tensor.shape))
    return torch.tensor(array, requires_grad=True)


def differences(
    ours: Callable[..., Any],
    theirs: Callable[..., torch.Tensor],
    tensors: list[Any],
    parameters: dict[str, Any],
) -> list[str]:
    """Which of the output, the gradients and the second gradients are not equal."""
    leaves = [t for t in map(rounded, tensors) if t is not None]
    y = theirs(*leaves, **parameters)
    g = random_like(y, 1)
    gradients = torch.autograd.grad(y, leaves, g, create_graph=True)
    into = [random_like(a, 2 + n) for n, a in enumerate(gradients)]
    second = torch.autograd.grad(gradients, (g, *leaves), into, materialize_grads=True)
    arrays = [leaf.detach().numpy() for leaf in leaves]
    output, pullback = npconv.vjp(ours, *arrays, **parameters)
    first = pullback(g.detach().numpy())
    _, again = npconv.vjp(pullback, g.detach().numpy(), *arrays)
    got = [output, *first, *again(*(a.detach().numpy() for a in into))]
    names = ["output", *(f"gradient {n}" for n in range(len(first)))]
    names += [f"second gradient {n}" for n in range(len(second))]
    due = [t.detach().numpy() for t in (y, *gradients, *second)]
    return [name for name, a, b in zip(names, got, due, strict=True) if not np.array_equal(a, b)]


def check_samples(op: Any, ours: Callable[..., Any], family: str, kind: torch.dtype) -> tuple[int, list[str]]:
    count, faults = 0, []
    for sample in op.sample_inputs("cpu", kind, requires_grad=True):
        tensors, parameters = arguments_of(sample, family)
        shapes = [None if t is None else tuple(t.shape) for t in tensors]
        count += 1
        try:
            wrong = differences(ours, op.op, tensors, parameters)
        except (ValueError, TypeError) as error:
            wrong = [f"refused: {error}"]
        faults += [f"{shapes} {parameters} {kind}: {fault}" for fault in wrong]
    return count, faults


# What torch refuses and npconv takes, by torch's own message.
LEGAL_HERE = {
    "negative padding is not supported": "a negative padding crops",
    "padding='same' is not supported for strided convolutions": '"same" at any stride',
    "should be the same": "mixed kinds are promoted",
}


def check_errors(op: Any, ours: Callable[..., Any], family: str) -> tuple[int, list[str], list[str]]:
    """How many error inputs are refused, why others are legal here, and what else is not."""
    refused, legal, faults = 0, [], []
    for error_input in op.error_inputs("cpu") if op.error_inputs_func else ():
        tensors, parameters = arguments_of(error_input.sample_input, family)
        arrays = [None if t is None else t.detach().numpy() for t in tensors]
        try:
            ours(*arrays, **parameters)
        except (ValueError, TypeError):
            refused += 1
            continue
        if error_input.error_regex in LEGAL_HERE:
            legal.append(LEGAL_HERE[error_input.error_regex])
        else:
            call = f"{[None if a is None else (a.shape, str(a.dtype)) for a in arrays]} {parameters}"
            faults.append(f"{call}: no error, but torch says: {error_input.error_regex}")
    return refused, legal, faults


def main() -> int:
    warnings.filterwarnings("ignore", "Using padding='same' with even kernel lengths")
    found = {op.name.removeprefix("nn.functional."): op for op in op_db}
    failed = False
    for name in NAMES:
        op, ours = found[name], getattr(npconv, name)
        family = "transposed" if "transpose" in name else "plain"
        samples, faults = 0, []
        for kind in KINDS:
            count, wrong = check_samples(op, ours, family, kind)
            samples, faults = samples + count, faults + wrong
        refused, legal, unrefused = check_errors(op, ours, family)
        faults += unrefused
        print(f"{name}: {samples} samples, {len(faults)} faults; {refused} error inputs refused", end="")
        print(f", {len(legal)} legal here ({'; '.join(sorted(set(legal)))})" if legal else "")
        print(*(f"    {fault}" for fault in faults), sep="\n", end="\n" if faults else "")
        failed = failed or bool(faults)
    return failed


if __name__ == "__main__":
    sys.exit(main())
