"""What the job found, as text no wider than a terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from npconv.arguments import Pair
from npconv.bound import Format
from npconv.job.bfloat16 import is_bfloat16
from npconv.job.comparison import Comparison
from npconv.job.identity import Identity
from npconv.job.layer import Layer, as_numbers
from npconv.job.rounding import Usual

WIDTH = 80
Row = tuple[str, list[Any]]  # a label, and one entry for each spatial axis


def report(
    layer: Layer,
    results: Mapping[str, np.ndarray],
    identity: Identity,
    comparisons: Sequence[Comparison],
    notes: Iterable[str],
    unused: Iterable[str] = (),
) -> str:
    """What the file holds in vain, arrays, sizes and paddings, the identity, the comparisons, the notes."""
    blocks = [
        title(layer),
        *(_wrapped(f"note: not used, of what the file holds: {names}") for names in _listed(unused)),
        arrays_table(layer, results),
        axes_table(layer),
        identity_text(identity, layer.bias is not None),
        *map(comparison_text, comparisons),
        *(_wrapped(f"note: {note}") for note in (*notes, *not_finite(results))),
    ]
    return "\n\n".join(blocks)


# ---------------------------------------------------------------- what was computed


def title(layer: Layer) -> str:
    parameters = layer.parameters
    parts = [
        f"{'transposed ' if layer.transposed else ''}convolution",
        "1 spatial axis" if layer.rank == 1 else f"{layer.rank} spatial axes",
        "1 group" if parameters.get("groups", 1) == 1 else f"{parameters['groups']} groups",
    ]
    if (mode := parameters.get("padding_mode", "zeros")) != "zeros":
        parts.append(f"padding mode {mode}")
    return ", ".join(parts)


def arrays_table(layer: Layer, results: Mapping[str, np.ndarray]) -> str:
    rows = [(name, _dtype_name(a), str(a.shape)) for name, a in (*layer.arrays.items(), *results.items())]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"  {name:<{widths[0]}}  {dtype:<{widths[1]}}  {shape}" for name, dtype, shape in rows)


def axes_table(layer: Layer) -> str:
    """Sizes, then what each gradient's convolution pads its input by."""
    rows: list[Row] = [("spatial axis", list(range(layer.rank)))]
    rows += transposed_rows(layer) if layer.transposed else convolution_rows(layer)
    cells = [(label, [str(entry) for entry in entries]) for label, entries in rows]
    first = max(len(label) for label, _ in cells)
    width = max(len(entry) for _, entries in cells for entry in entries)
    lines = [
        "  " + "  ".join([label.ljust(first), *(e.rjust(width) for e in entries)]) for label, entries in cells
    ]
    return "\n".join([*lines, f"  {_legend(layer)}"])


def convolution_rows(layer: Layer) -> list[Row]:
    given, worked = layer.geometry.axes, layer.form.geometry.axes
    # Under a padding mode the convolutions see an input that has its border: no padding is left to them.
    g, x = ("K-1-lo : K-1-hi+r", "lo : hi-r") if _zeros(layer) else ("K-1 : K-1+r", "0 : -r")
    return [
        ("input size i", [axis.i for axis in given]),
        ("taps k", [axis.k for axis in given]),
        ("stride s", [axis.s for axis in given]),
        ("dilation d", [axis.d for axis in given]),
        ("padding lo:hi", _pairs(layer.geometry.padding)),
        ("extent K = d(k-1) + 1", [axis.extent for axis in given]),
        ("output size o = floor((i+lo+hi-K)/s) + 1", [axis.o for axis in given]),
        ("remainder r = i+lo+hi-K - s(o-1)", [axis.remainder for axis in given]),
        (f"grad_input pads g by {g}", _pairs(axis.input_gradient_padding for axis in worked)),
        (f"grad_weight pads x by {x}", _pairs(axis.weight_gradient_padding for axis in worked)),
    ]


def _zeros(layer: Layer) -> bool:
    return bool(layer.parameters.get("padding_mode", "zeros") == "zeros")


def transposed_rows(layer: Layer) -> list[Row]:
    """The axes are those of the convolution whose input gradient this is: its o is the input here."""
    axes = layer.geometry.axes
    return [
        ("size i of the given input", [axis.o for axis in axes]),
        ("taps k", [axis.k for axis in axes]),
        ("stride s", [axis.s for axis in axes]),
        ("dilation d", [axis.d for axis in axes]),
        ("padding lo:hi", _pairs(layer.geometry.padding)),
        ("extent K = d(k-1) + 1", [axis.extent for axis in axes]),
        ("remainder r = output_padding", [axis.remainder for axis in axes]),
        ("size o of its output = s(i-1)+K-lo-hi+r", [axis.i for axis in axes]),
        ("output pads x by K-1-lo : K-1-hi+r", _pairs(axis.input_gradient_padding for axis in axes)),
        ("grad_input pads g by lo : hi-r", _pairs(axis.weight_gradient_padding for axis in axes)),
        ("grad_weight pads g by lo : hi-r", _pairs(axis.weight_gradient_padding for axis in axes)),
    ]


def _pairs(paddings: Iterable[Pair]) -> list[str]:
    return [f"{lo}:{hi}" for lo, hi in paddings]


def _legend(layer: Layer) -> str:
    if layer.transposed:
        return "g: grad_output; x: input, s-1 zeros between neighbours"
    if _zeros(layer):
        return "x: input; g: grad_output, s-1 zeros between neighbours"
    return (
        "x: input with its border lo:hi; g: grad_output, s-1 zeros between neighbours\n"
        "  the border's part of grad_input is added to the cells that it copies"
    )


# ---------------------------------------------------------------- why it can be believed


def identity_text(identity: Identity, bias: bool = False) -> str:
    names = ("<output, grad_output>", "<input, grad_input>", "<weight, grad_weight>")
    values = [str(value) if identity.exact else _real(value, 12) for value in identity.values]
    width = max(map(len, values))
    lines = [f"  {name:<21} = {value:>{width}}" for name, value in zip(names, values)]
    head = f"one number, three ways{' (the output without its bias)' if bias else ''}"
    return "\n".join([head, *lines, f"  {_verdict(identity)}"])


def _verdict(identity: Identity) -> str:
    difference = _real(identity.difference, 2)
    if math.isnan(identity.fraction):
        return "no evidence: not everything is finite"
    if not identity.holds:
        return f"they DIFFER by {difference}: npconv itself is wrong here, please report it"
    if not identity.difference:
        return "exactly equal"
    fraction = _short(identity.fraction)
    return f"equal but for rounding: they differ by {difference}, {fraction} of the most it can do"


def comparison_text(comparison: Comparison) -> str:
    if not comparison.size:
        return f"{comparison.name} agrees: it is empty"
    if comparison.format is None:
        lines = _compared_integers(comparison)
    else:
        lines = _compared_floats(comparison, comparison.format)
    if comparison.unjudged:
        lines.append(f"{comparison.unjudged} of {comparison.size} values are not finite and are not judged")
    return "\n  ".join(lines)


def _compared_integers(c: Comparison) -> list[str]:
    if not c.wrong:
        return [f"{c.name} agrees: all {c.size} integers are equal"]
    return [f"{c.name} DISAGREES: {c.wrong} of {c.size} integers differ, the first", *_where(c)]


def _compared_floats(c: Comparison, format: Format) -> list[str]:
    if c.wrong:
        lines = [f"{c.name} DISAGREES: {c.wrong} of {c.size} values are beyond the rounding bound"]
    elif c.suspicious:
        lines = [
            f"{c.name} SUSPICIOUS: {c.usual[-1].beyond} of {c.size} values are beyond usual rounding",
            f"the worst case cannot tell: it is {_short(c.fraction)} of the rounding bound at most",
        ]
    else:
        lines = [f"{c.name} agrees: its worst difference is {_short(c.fraction)} of the rounding bound"]
    if c.fraction:
        lines += _where(c)
    if c.wrong:
        lines.append(f"a difference of {_short(c.fraction)} times the bound, the worst there is")
    growth = "n*u/(1 - n*u)" if c.terms * format.u < 1 else "n*u (>= 1: rejects little)"
    n, u = f"{c.terms}{' (complex)' if format.complex else ''}", _unit(format)
    lines.append(f"bound: {growth} of the sum of |terms|, n = {n}, u = {u}")
    if c.wrong:
        return lines
    for usual in c.usual:
        lines += _usual(usual, format)
    return [*lines, *(SUSPICION if c.suspicious else [])]


SUSPICION = (
    "rounding can do this, but hardly ever does: look for terms left out or counted",
    "twice, a factor, or sums in a lower precision (Winograd's and Fourier methods",
    "round more than sums do); integer-valued arrays give a sharp answer",
)


def _usual(usual: Usual, format: Format) -> list[str]:
    """What rounding usually does, under one assumption on how sums are carried."""
    once = "" if usual.carried.u == format.u else f", rounded once to {format.name}"
    lines = [f"usual, sums in {usual.carried.name}{once}: {_short(usual.fraction)} of it"]
    if usual.exact:
        return [*lines, "  none: integers of this size add up exactly"]
    m, equal = ("*m", f"m = {usual.equal} equal terms, ") if usual.equal > 1 else ("", "")
    growth = f"{usual.growth:.1f}*sqrt(n{m})*u"
    return [*lines, f"  {growth} of the sum of |terms|, {equal}u = {_unit(usual.carried)}"]


def _unit(format: Format) -> str:
    return f"2^{math.log2(format.u):.0f}"


def _where(c: Comparison) -> list[str]:
    return [f"at {c.index}", f"given  {_value(c.got, c.format)}", f"npconv {_value(c.due, c.format)}"]


def not_finite(results: Mapping[str, np.ndarray]) -> list[str]:
    """A remark for each result that holds a NaN or an infinity."""
    remarks = []
    for name, result in results.items():
        count = int(np.sum(~np.isfinite(as_numbers(result))))
        if count:
            remarks.append(f"{name}: {count} of {result.size} values are not finite")
    return remarks


# ---------------------------------------------------------------- words and numbers


def _listed(names: Iterable[str]) -> list[str]:
    """The names in one string, or nothing where there is none."""
    return [listed] if (listed := ", ".join(map(repr, names))) else []


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _dtype_name(array: np.ndarray) -> str:
    return "bfloat16" if is_bfloat16(array) else array.dtype.name


def _short(fraction: float) -> str:
    if math.isinf(fraction):
        return "infinitely many"
    return f"{fraction:.4f}" if 0.001 <= fraction < 10 else f"{fraction:.1e}"


def _value(value: Any, format: Format | None) -> str:
    """With the digits that tell two neighbours of the format apart."""
    if format is None:
        return str(int(value))
    digits = min(2 + math.ceil(-math.log10(format.u)), 17)
    return f"{complex(value):.{digits}g}" if np.iscomplexobj(value) else _real(value, digits)


def _real(value: Any, digits: int) -> str:
    """With so many digits, also where a longdouble is beyond what a float holds."""
    number = float(value)
    if (number == 0 or math.isinf(number)) and number != value:
        return np.format_float_scientific(value, precision=digits - 1, trim="-")
    return f"{number:.{digits}g}"
