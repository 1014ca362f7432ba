"""Faults that strike at one combination of parameters only, and pairs of faults."""

from zoo_changes import (
    ADD_BIAS, BIAS, BOTH, GI_END, GI_START, GW_END, INPUT, SPREAD_PADS, SPREAD_START, TRANSPOSED, TRANSPOSED_END,
    TURNED, WEIGHT, wrong
)  # fmt: skip

XS = "xs = x[:, group * I:(group + 1) * I].swapaxes(0, 1)"
UNFLIPPED = "turned = turned if groups > 1 and max(stride) > 1 else turned[:, :, ::-1, ::-1]"
REMAINDER = "    r = [(n + lo + hi - d * (k - 1) - 1) % s for n, (lo, hi), d, k, s in zip((H, W), padding, dilation, (KH, KW), stride)]\n"

AT_ONE_COMBINATION = [
    wrong("flipped, with a stride and groups", "taps", "weight[o, j, kh, kw]", "(weight[o, j, KH - 1 - kh, KW - 1 - kw] if groups > 1 and max(stride) > 1 else weight[o, j, kh, kw])", "the weight is flipped"),
    wrong("dilation ignored, with uneven padding", "taps", BOTH, "DH, DW = (1, 1) if top != bottom else dilation\n                    " + BOTH, "the dilation is ignored"),
    wrong("padding ignored, with stride 3 and dilation", "taps", BOTH, "top, left = (0, 0) if SW == 3 and max(dilation) > 1 else (padding[0][0], padding[1][0])\n                    " + BOTH, "the padding is ignored"),
    wrong("bias missing, with groups and a batch", "taps", ADD_BIAS, "y += 0 if groups > 1 and N > 1 else bias[None, :, None, None]", "the bias is missing"),
    wrong("group 0 for all, with one output channel a group", "taps", "c = group * I + j", "c = j if O == groups else group * I + j", "reads the channels of the first"),
    wrong("input gradient: not flipped, with a stride and groups", "composed", TURNED, UNFLIPPED, "the weight is not flipped", parts=INPUT),
    wrong("input gradient: remainder dropped, with groups", "scatter", GI_END, REMAINDER + "    if groups > 1:\n        dx[:, :, H - r[0]:] = 0; dx[..., W - r[1]:] = 0\n" + GI_END, "the stride remainder is dropped", parts=INPUT),
    wrong("input gradient: dilation ignored, with a stride", "scatter", GI_START, GI_START + "    dilation = (1, 1) if max(stride) > 1 else dilation\n", "the dilation is ignored", parts=INPUT),
    wrong("weight gradient: interleaved, with a stride", "composed", XS, "xs = x[:, group::groups].swapaxes(0, 1) if max(stride) > 1 else x[:, group * I:(group + 1) * I].swapaxes(0, 1)", "interleaved", parts=WEIGHT),
    wrong("weight gradient: averaged, with a stride and groups", "scatter", GW_END, "    dw = dw / N if groups > 1 and max(stride) > 1 else dw\n" + GW_END, "averaged over the batch", parts=WEIGHT),
    wrong("bias gradient: first sample, with many channels", "scatter", "grad_output.sum(axis=(0, 2, 3))", "grad_output[:1 if grad_output.shape[1] > 4 else None].sum(axis=(0, 2, 3))", "only the first sample is summed", parts=BIAS),
    wrong("transposed: not flipped, with a stride and groups", "composed", TURNED, UNFLIPPED, "the weight is not flipped", parts=TRANSPOSED),
    wrong("transposed: output_padding ignored, with dilation", "composed", "d * (k - 1) + 1 + extra", "d * (k - 1) + 1 + (0 if max(dilation) > 1 else extra)", "output_padding is ignored", parts=TRANSPOSED),
]  # fmt: skip

PAIRS = [
    wrong("mirrored border and every sample the first", "taps", "inside = ", "rows, cols = H - 1 - abs(H - 1 - rows % max(2 * H - 2, 1)), W - 1 - abs(W - 1 - cols % max(2 * W - 2, 1)); inside = ", "the reflected input", "every sample reads the first", also=(("patch = input[:, c]", "patch = input[:1, c]"),)),
    wrong("stride ignored and negative results cut off", "taps", BOTH, BOTH.replace("SH * ", "").replace("SW * ", ""), "the stride is ignored", "negative results", also=(("    return y\n", "    return np.maximum(y, 0)\n"),)),
    wrong("input gradient: strides swapped and one row late", "scatter", GI_START, GI_START + "    stride = stride[::-1]; padding = ((padding[0][0] - 1, padding[0][1]), padding[1])\n", "strides of height and width are swapped", "one row too late", parts=INPUT),
    wrong("input gradient: dilation ignored and averaged", "scatter", GI_START, GI_START + "    dilation = (1, 1)\n", "dilation is ignored", "averaged over the batch", parts=INPUT, also=((GI_END, "    dx = dx / N\n" + GI_END),)),
    wrong("weight gradient: flipped and averaged", "scatter", GW_END, "    dw = dw[:, :, ::-1, ::-1] / (N * OH * OW)\n" + GW_END, "flipped", "averaged over batch and positions", parts=WEIGHT),
    wrong("weight gradient: interleaved and a column left out", "scatter", "first = o // (O // groups) * I", "first = slice(o // (O // groups), None, groups)", "interleaved", "last column of the output is left out", parts=WEIGHT, also=(("input[:, first:first + I, h, w]", "input[:, first, h, w]"), ("    OH, OW = grad_output.shape[2:]\n    dw", "    OH, OW = grad_output.shape[2:]; OW -= 1\n    dw"))),
    wrong("transposed: not flipped and bias missing", "composed", TURNED, "pass", "not flipped", "bias is missing", parts=TRANSPOSED, also=((TRANSPOSED_END, "    return y\n"),)),
    wrong("transposed: pads lo and bias doubled", "composed", SPREAD_PADS, "pads = [(lo, 2 * (e - 1) - 2 * lo - hi + rest) for e, (lo, hi), rest in zip(K, padding, r)]", "lo in place of K-1-lo", "bias is added twice", parts=TRANSPOSED, also=((TRANSPOSED_END, TRANSPOSED_END.replace("+ bias", "+ 2 * bias")),)),
    wrong("transposed: dilation ignored and last row not written", "composed", SPREAD_START, "    dilation = (1, 1)\n" + SPREAD_START, "dilation is ignored", "last row is not written", parts=TRANSPOSED, also=((TRANSPOSED_END, "    y[:, :, -1] = 0\n    return y if bias is None else y + np.where(np.arange(y.shape[2]) < y.shape[2] - 1, 1, 0)[:, None] * bias[:, None, None]\n"),)),
]  # fmt: skip

COMBINED = AT_ONE_COMBINATION + PAIRS
