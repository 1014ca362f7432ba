"""A failing case to take away: the descriptor, NumPy code and C arrays."""

from __future__ import annotations

import numpy as np

from npconv.testing.observation import Observation
from npconv.testing.parts import TAKES

CALLS = {
    "forward": "conv(input, weight, bias, stride, padding, dilation, groups)",
    "grad_input": "conv_input({input}, weight, grad_output, stride, padding, dilation, groups)",
    "grad_weight": "conv_weight(input, {weight}, grad_output, stride, padding, dilation, groups)",
    "grad_bias": "conv_bias(grad_output)",
    "transposed": "conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)",
}
LARGEST = 200  # elements written out; a larger case is named by its descriptor alone


def reproduction(o: Observation, name: str = "") -> str:
    """The case as a command, as NumPy code that prints what is due, and as C arrays."""
    spec = name if ":" in name or name.endswith(".py") else "FILE.py:NAME"
    command = f'python -m npconv check {spec} --only "{o.problem}"'
    size = sum(a.size for a in o.case.arrays.values()) + o.case.due.size
    if size > LARGEST:
        return f"# {o.case}\n{command}\n"
    return "\n".join([f"# {o.case}", command, "", *_numpy(o), "", *_c(o)]) + "\n"


def _numpy(o: Observation) -> list[str]:
    problem = o.problem
    names = [name for name in TAKES[o.part] if name in o.case.arrays]
    lines = ["import numpy as np, npconv"]
    lines += [f"{name} = np.array({o.case.arrays[name].tolist()})" for name in names]
    if "bias" in TAKES[o.part] and "bias" not in names:
        lines.append("bias = None")
    if o.part != "grad_bias":
        lines.append(
            f"stride, padding, dilation, groups = "
            f"{problem.stride}, {problem.padding}, {problem.dilation}, {problem.G}"
        )
    if o.part == "transposed":
        lines.append(f"output_padding = {problem.output_padding}")
    call = CALLS[o.part].format(input=problem.input_shape, weight=problem.weight_shape)
    lines.append(f"print(npconv.{call}.tolist())")
    lines.append(f"# due {o.case.due.tolist()}")
    if o.got is not None:
        lines.append(f"# got {_plain(o.got)}")
    return lines


def _plain(x: np.ndarray) -> object:
    whole = np.isfinite(x).all() and (x == np.rint(x)).all()
    return x.astype(np.int64).tolist() if whole else x.tolist()


def _c(o: Observation) -> list[str]:
    arrays = {name: o.case.arrays[name] for name in TAKES[o.part] if name in o.case.arrays}
    arrays["due"] = o.case.due
    return [
        f"static const float {name}[{a.size}] = {{{', '.join(map(str, a.reshape(-1).tolist()))}}};"
        f"  /* {' x '.join(map(str, a.shape))} */"
        for name, a in arrays.items()
    ]
