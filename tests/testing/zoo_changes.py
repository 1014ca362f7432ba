"""A wrong kernel: a right one with a line or two changed, and the words that name its fault.

`words` must all occur in what the report says; a tuple of words is a choice between equally right names.
"""

from dataclasses import dataclass, field

from zoo_kernels import build


@dataclass(frozen=True)
class Wrong:
    name: str
    kernel: str
    changes: tuple
    words: tuple
    parts: tuple | None = None
    declared: dict = field(default_factory=dict)

    def make(self):
        return build(self.kernel, self.changes, self.parts)


def wrong(name, kernel, old, new, *words, parts=None, also=(), **declared):
    return Wrong(name, kernel, ((old, new), *also), words, parts, declared)


INPUT, WEIGHT, BIAS, TRANSPOSED, FORWARD = ("grad_input",), ("grad_weight",), ("grad_bias",), ("transposed",), ("forward",)
ROWS, COLS = "rows = SH * np.arange(OH) + DH * kh - top", "cols = SW * np.arange(OW) + DW * kw - left"
BOTH = ROWS + "\n                    " + COLS
ADD_BIAS = "y += bias[None, :, None, None]"
SPREAD_PADS = "pads = [(e - 1 - lo, e - 1 - hi + rest) for e, (lo, hi), rest in zip(K, padding, r)]"
TURNED = "turned = turned[:, :, ::-1, ::-1]"
GW_X = "x = window(input, [(lo, hi - rest) for (lo, hi), rest in zip(padding, r)])"
GW_END = "    return dw\n\ndef grad_bias"
GI_END = "    return dx\n"
START = "    N, C, H, W = input.shape\n"
SWAP_S = "    stride = stride[::-1]\n"
SPREAD_START = "    taps = weight.shape[2:]\n"
GI_START = "    N, C, H, W = input_size\n"
GW_START = "    O, I, KH, KW = weight_size\n"
SCATTERED = """        for kh in range(KH):
            for kw in range(KW):
                for p in range(OH):
                    for q in range(OW):
"""
WINDOWS_OUTSIDE = """        for p in range(OH):
            for q in range(OW):
                for kh in range(KH):
                    for kw in range(KW):
"""
TRANSPOSED_END = "    return y if bias is None else y + bias[:, None, None]\n"
SPREAD_OUT = "g = window(dilated(grad, stride), pads)"


def is_named(wrong, report):
    """Whether the report names all faults of the kernel, in findings that explain everything."""
    said = " | ".join(finding.sentence for finding in report.findings if finding.named)
    choices = [(word,) if isinstance(word, str) else word for word in wrong.words]
    return all(any(word in said for word in choice) for choice in choices)


def is_told(report):
    """Whether a report on a fault without a name has all else: no name, a trigger, a case, a formula."""
    first = report.findings[0]
    return (
        not any(finding.named for finding in report.findings)
        and bool(first.trigger)
        and "due" in report.reproduction
        and bool(first.smallest)
        and len(first.formula) > 1
    )
