"""The same convolution as other libraries write it, or why they cannot.

Each dialect is a line that computes npconv's result, or "not expressible" and the rule that stands
in the way, with what to do first.  Layouts are each library's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npconv.geometry import Axis, Geometry, Shape, same_total
from npconv.problem import Problem

NOT = "not expressible"


def dialects(problem: Problem) -> dict[str, str]:
    """One line for each dialect.

    >>> lines = dialects(Problem.parse("C3O8_i9x9_k3_s2_p0:1_bias"))
    >>> print(lines["PyTorch"])
    not expressible: padding must be the same at both ends; first input = F.pad(input, (0, 1, 0, 1)), \
then padding 0
    >>> print(lines["JAX"])
    jax.lax.conv_general_dilated(input, weight, (2, 2), [(0, 1), (0, 1)], rhs_dilation=(1, 1), \
feature_group_count=1) + bias.reshape(1, -1, 1, 1)
    """
    if problem.padding_mode != "zeros":
        return {
            name: f"{NOT}: a border that is {problem.padding_mode} is no part of its convolution; pad first"
            for name in DIALECTS
        } | ({"PyTorch": _torch_module(problem)} if _symmetric(problem.geometry) else {})
    return {name: write(problem) for name, write in DIALECTS.items()}


def _pytorch(problem: Problem) -> str:
    geometry = problem.geometry
    if problem.rank > 3:
        return f"{NOT}: it has convolutions of 1 to 3 spatial axes, not {problem.rank}"
    if not _symmetric(geometry):
        if problem.transposed:
            rule = "be the same at both ends and not negative"
            return f"{NOT}: padding must {rule}; crop or pad the output yourself"
        ends = tuple(end for lo, hi in reversed(geometry.padding) for end in (lo, hi))
        rule = "be the same at both ends" if min(ends) >= 0 else "not be negative"
        return f"{NOT}: padding must {rule}; first input = {_padded_first(geometry, ends)}, then padding 0"
    name = f"conv_transpose{problem.rank}d" if problem.transposed else f"conv{problem.rank}d"
    extra = f", output_padding={geometry.remainder}" if problem.transposed else ""
    return (
        f"F.{name}(input, weight, {_bias(problem)}, stride={geometry.stride}, "
        f"padding={_los(geometry)}{extra}, dilation={geometry.dilation}, groups={geometry.G})"
    )


def _padded_first(geometry: Geometry, ends: Shape) -> str:
    """F.pad, which crops before it pads; where a crop would take more than there is, it must pad first."""
    if all(a.i + min(a.lo, 0) + min(a.hi, 0) >= 0 for a in geometry.axes):
        return f"F.pad(input, {ends})"
    padded, cropped = (tuple(bound(end, 0) for end in ends) for bound in (max, min))
    return f"F.pad(F.pad(input, {padded}), {cropped})"


def _torch_module(problem: Problem) -> str:
    p, geometry = problem, problem.geometry
    if p.rank > 3:
        return _pytorch(p)
    for number, axis in enumerate(geometry.axes):
        most = {"reflect": axis.i - 1, "circular": axis.i}.get(p.padding_mode, axis.lo)
        if axis.lo > most:
            return (
                f"{NOT}: its {p.padding_mode} padding is at most {most} of {axis.i} inputs, but on "
                f"spatial axis {number} it is {axis.lo}; pad first"
            )
    return (
        f"torch.nn.Conv{p.rank}d({p.C}, {p.O}, {p.k}, {geometry.stride}, {_los(geometry)}, "
        f"{geometry.dilation}, {p.G}, bias={p.bias}, padding_mode={p.padding_mode!r})(input)"
    )


def _jax(problem: Problem) -> str:
    geometry, rank = problem.geometry, problem.rank
    bias = f" + bias.reshape({', '.join(map(str, (1, -1) + (1,) * rank))})" if problem.bias else ""
    if not problem.transposed:
        return (
            f"jax.lax.conv_general_dilated(input, weight, {geometry.stride}, {list(geometry.padding)}, "
            f"rhs_dilation={geometry.dilation}, feature_group_count={geometry.G}){bias}"
        )
    # (C, O/G, *k) -> (G, C/G, O/G, *k) -> (G, O/G, C/G, *k) -> (O, C/G, *k), the taps backwards
    p = problem
    channels = f"{p.G}, {p.C // p.G}, {p.O // p.G}"
    taps = ", ".join(map(str, p.k))
    flipped = f"weight[:, :, {', '.join(['::-1'] * rank)}]"
    weight = f"{flipped}.reshape({channels}, {taps}).swapaxes(1, 2).reshape({p.O}, {p.C // p.G}, {taps})"
    return (
        f"jax.lax.conv_general_dilated(input, {weight}, {(1,) * rank}, "
        f"{list(geometry.input_gradient_padding)}, lhs_dilation={geometry.stride}, "
        f"rhs_dilation={geometry.dilation}, feature_group_count={geometry.G}){bias}"
    )


def _keras(problem: Problem) -> str:
    geometry, p = problem.geometry, problem
    if p.rank > 3:
        return f"{NOT}: it has convolutions of 1 to 3 spatial axes, not {p.rank}"
    if max(geometry.stride) > 1 and max(geometry.dilation) > 1:
        return f"{NOT}: it refuses stride {geometry.stride} together with dilation {geometry.dilation}"
    named = _named_padding(geometry, p.transposed)
    if p.transposed and geometry.G > 1:
        return f"{NOT}: its transposed layers have no groups"
    if named is None and p.transposed:
        sizes = f"padding {geometry.padding} with output size {_sizes(geometry)}"
        return f"{NOT}: {sizes} is neither 'valid' nor 'same'"
    if named is None:
        if min(end for pair in geometry.padding for end in pair) < 0:
            return f"{NOT}: padding {geometry.padding} crops; use a Cropping layer first, then 'valid'"
        pairs = geometry.padding[0] if p.rank == 1 else geometry.padding
        return (
            f"{NOT} in one layer: padding {geometry.padding} is neither 'valid' nor 'same'; "
            f"first keras.layers.ZeroPadding{p.rank}D({pairs}), then 'valid'"
        )
    name = f"Conv{p.rank}D{'Transpose' if p.transposed else ''}"
    groups = "" if p.transposed else f", groups={geometry.G}"
    # Taps first; then what the layer takes and makes, in the order of npconv's weight turned round.
    kernel = (*p.k, p.weight_shape[1], p.weight_shape[0])
    return (
        f"keras.layers.{name}({p.O}, {p.k}, strides={geometry.stride}, padding={named!r}, "
        f"dilation_rate={geometry.dilation}{groups}, use_bias={p.bias}, data_format='channels_first'), "
        f"its kernel {kernel}"
    )


def _onnx(problem: Problem) -> str:
    geometry = problem.geometry
    ends = [lo for lo, _ in geometry.padding] + [hi for _, hi in geometry.padding]
    if min(ends) < 0:
        return (
            f"{NOT}: pads must not be negative, and {ends} are; first a Pad node with these pads, then pads 0"
        )
    extra = f", output_padding={list(geometry.remainder)}" if problem.transposed else ""
    name = "ConvTranspose" if problem.transposed else "Conv"
    inputs = "input, weight, bias" if problem.bias else "input, weight"
    return (
        f"{name}({inputs}; kernel_shape={list(problem.k)}, strides={list(geometry.stride)}, "
        f"pads={ends}{extra}, dilations={list(geometry.dilation)}, group={geometry.G})"
    )


def _onednn(problem: Problem) -> str:
    geometry = problem.geometry
    if problem.rank > 3:
        return f"{NOT}: it has convolutions of 1 to 3 spatial axes, not {problem.rank}"
    lows, highs = (tuple(pair[end] for pair in geometry.padding) for end in (0, 1))
    if min(lows) < 0:
        return f"{NOT}: padding_l must not be negative, and {lows} is; crop the {_padded(problem)} first"
    # Its deconvolution knows no output_padding: the destination's size and padding_r say it together.
    highs = tuple(hi - r for hi, r in zip(highs, geometry.remainder)) if problem.transposed else highs
    if any(hi + s < 1 for hi, s in zip(highs, geometry.stride)):
        return f"{NOT}: padding_r + strides must be positive, and {highs} + {geometry.stride} is not"
    dilates = tuple(d - 1 for d in geometry.dilation)
    return (
        f"{'de' if problem.transposed else ''}convolution_forward: src {_dims(problem.input_shape)}, "
        f"weights {_dims(_grouped(problem))}, dst {_dims(problem.output_shape)}, strides={geometry.stride}, "
        f"dilates={dilates} (counted from 0), padding_l={lows}, padding_r={highs}"
    )


DIALECTS: dict[str, Callable[[Problem], str]] = {
    "PyTorch": _pytorch,
    "TensorFlow/Keras": _keras,
    "JAX": _jax,
    "ONNX": _onnx,
    "oneDNN": _onednn,
}


def _bias(problem: Problem) -> str:
    return "bias" if problem.bias else "None"


def _symmetric(geometry: Geometry) -> bool:
    return all(lo == hi >= 0 for lo, hi in geometry.padding)


def _los(geometry: Geometry) -> Shape:
    return tuple(lo for lo, _ in geometry.padding)


def _sizes(geometry: Geometry) -> Shape:
    return tuple(axis.i for axis in geometry.axes)


def _padded(problem: Problem) -> str:
    return "output" if problem.transposed else "input"


def _dims(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def _grouped(problem: Problem) -> Shape:
    """oneDNN's weights: (O, C, *k), or (G, O/G, C/G, *k) with groups; the same order when transposed."""
    channels = (
        (problem.O, problem.C)
        if problem.G == 1
        else (problem.G, problem.O // problem.G, problem.C // problem.G)
    )
    return (*channels, *problem.k)


def _named_padding(geometry: Geometry, transposed: bool) -> str | None:
    """'valid' or 'same' where Keras's word means these paddings and sizes, else None."""
    for name, means in (("valid", _is_valid), ("same", _is_same)):
        if all(means(axis, transposed) for axis in geometry.axes):
            return name
    return None


def _is_valid(axis: Axis, transposed: bool) -> bool:
    # Its transposed layer takes the smallest size that is no smaller than s*o.
    fits = axis.remainder == max(axis.s - axis.extent, 0) if transposed else True
    return axis.lo == axis.hi == 0 and fits


def _is_same(axis: Axis, transposed: bool) -> bool:
    total = same_total(axis.i, axis.k, axis.s, axis.d)
    fits = axis.i == axis.s * axis.o if transposed else True
    return (axis.lo, axis.hi) == (total // 2, total - total // 2) and fits
