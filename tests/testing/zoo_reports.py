"""Faults that users of frameworks have reported, each as a kernel that has it.

The names are those of tests/data/reports.json.  `words` must occur in what the report says.
"""

from zoo_changes import BIAS, FORWARD, GW_X, INPUT, SPREAD_PADS, TRANSPOSED, TURNED, WEIGHT, wrong

TOO_MANY_TAPS = (
    "dw = np.zeros(weight_size, input.dtype)\n    for group",
    "dw = np.zeros((*weight_size[:2], *[k + q // d for k, q, d in zip((KH, KW), r, dilation)]), input.dtype)\n    for group",
)
FLAT = "np.lib.stride_tricks.as_strided({0}, {0}.shape, np.zeros({0}.shape, {0}.dtype).strides) if min({0}.strides) > 0 else {0}"
GI_DEF = "    N, C, H, W = input_size\n"
END = "    return y\n"
STRIP = "    x = np.ascontiguousarray(padded(input, padding))\n"

REPORTS = [
    wrong("dgrad-drops-3-tail-inputs", "composed", SPREAD_PADS, SPREAD_PADS.replace(" + rest", ""), "stride remainder is dropped", parts=INPUT),
    wrong("dgrad-transposed-conv-missing-output-padding-dilated", "composed", SPREAD_PADS, "pads = [(e - 1 - lo + rest, e - 1 - hi) for e, (lo, hi), rest in zip(K, padding, r)]", "stride remainder is put at the begin", parts=INPUT),
    wrong("dgrad-1x1-stride-2", "scatter", "    return dx\n", "    for n, (s, d, (lo, _), k, o) in enumerate(zip(stride, dilation, padding, (KH, KW), (OH, OW)), 2):\n        read = {s * p + d * q - lo for p in range(o) for q in range(k)}\n        np.moveaxis(dx, n, 0)[[m for m in range(dx.shape[n]) if m not in read]] = np.nan\n    return dx\n", "inputs that no window reads are not written", parts=INPUT),
    wrong("wgrad-groups-nn-grad", "composed", "xs = x[:, group * I:(group + 1) * I].swapaxes(0, 1)", "xs = x[:, group::groups].swapaxes(0, 1)", "interleaved", parts=WEIGHT),
    wrong("wgrad-depthwise-stride2", "composed", GW_X, "x = window(input, padding)", "more taps than the weight has", parts=WEIGHT, also=(TOO_MANY_TAPS,)),
    wrong("wgrad-one-column-too-many", "composed", GW_X, "x = window(input, list(padding))", "more taps than the weight has", parts=WEIGHT, also=(TOO_MANY_TAPS,)),
    wrong("wgrad-divided-by-batch", "scatter", "    return dw\n", "    return dw / (N * OH * OW)\n", "averaged over batch and positions", parts=WEIGHT),
    wrong("bias-grad-bf16-stuck-at-256", "scatter", "    return grad_output.sum(axis=(0, 2, 3))", "    total = np.zeros(grad_output.shape[1], np.float32)\n    for values in grad_output.swapaxes(0, 1).reshape(grad_output.shape[1], -1).T:\n        f, e = np.frexp(total + values)\n        total = np.ldexp(np.rint(np.ldexp(f, 8)), e - 8).astype(np.float32)\n    return total", ("fewer bits", "carried in 8 bits"), parts=BIAS),
    wrong("geometry-truncating-division", "taps", "OH = (H + top + bottom - DH * (KH - 1) - 1) // SH + 1", "OH = int((H + top + bottom - DH * (KH - 1) - 1) / SH) + 1", "a weight larger than the input, with a stride gives an output", parts=FORWARD, also=(("OW = (W + left + right - DW * (KW - 1) - 1) // SW + 1", "OW = int((W + left + right - DW * (KW - 1) - 1) / SW) + 1"),)),
    wrong("kernel-larger-than-input", "taps", "    y = np.zeros((N, O, OH, OW), input.dtype)\n", "    OH, OW = max(OH, 1), max(OW, 1)\n    y = np.zeros((N, O, OH, OW), input.dtype)\n", "a weight larger than the input gives an output", parts=FORWARD),
    wrong("convtranspose-dilated-gradcheck-passes", "composed", "    taps = weight.shape[2:]\n", "    dilation = (1, 1); taps = weight.shape[2:]\n", "dilation is ignored", parts=TRANSPOSED),
    wrong("tf-same-stride2-vs-symmetric", "taps", "rows = SH * np.arange(OH) + DH * kh - top", "rows = SH * np.arange(OH) + DH * kh - bottom", ("begin and end of the padding are swapped", "end's padding"), parts=FORWARD, also=(("- left", "- right"),)),
    wrong("negative-low-pad-reads-neighbour-row", "taps", "inside = ((rows >= 0) & (rows < H))[:, None] & ((cols >= 0) & (cols < W))", "inside = ((rows >= 0) & (rows < H))[:, None] & ((cols >= 0) & (cols < W) | (left < 0))", "where the low padding of the width is negative, the next row is read", parts=FORWARD, also=(('patch = input[:, c].take(rows, 1, mode="clip").take(cols, 2, mode="clip")', "line = np.pad(input.reshape(-1), 99); patch = line[99 + ((np.arange(N)[:, None] * C + c) * H + rows.clip(0, H - 1))[..., None] * W + (cols if left < 0 else cols.clip(0, W - 1))]"),)),
    wrong("negative-pad-and-zero-stuffing-order", "composed", "    g = window(dilated(grad, stride), pads)\n", "    g = dilated(window(grad, [(min(a, 0), min(b, 0)) for a, b in pads]), stride)\n    g = window(g, [(max(a, 0), n + e - 1 - m - max(a, 0)) for (a, _), n, e, m in zip(pads, size, K, g.shape[2:])])\n", "cropped before it is dilated", parts=INPUT),
    wrong("conv-transpose-without-flip", "composed", TURNED, "pass", "weight is not flipped", parts=TRANSPOSED),
    wrong("noncontiguous-sliced-weight", "im2col", STRIP, "    weight = " + FLAT.format("weight") + "\n" + STRIP, "every second element of a larger array", parts=FORWARD),
    wrong("grad-with-transposed-kernel", "scatter", GI_DEF, GI_DEF + "    weight = " + FLAT.format("weight") + "\n", "grad_input: wrong where weight lies in memory as Fortran order", parts=INPUT),
    wrong("uint8-wraps", "im2col", END, "    return y.astype(np.uint8).astype(np.int32)\n", "wrap around at 8 bits, unsigned", parts=FORWARD, input="uint8", output="int32"),
    wrong("u8s8-saturation", "im2col", "    y = np.matmul(rows, cols).reshape(N, O, OH, OW)\n", "    m = rows.shape[2] // 2 * 2\n    y = np.zeros((N, groups, O // groups, OH * OW), np.int64)\n    for t in range(0, rows.shape[2], 2):\n        pair = np.matmul(rows[None, :, :, t:t + 2].astype(np.int64), cols[:, :, t:t + 2].astype(np.int64))\n        y += np.clip(pair, -2**15, 2**15 - 1)\n    y = y.reshape(N, O, OH, OW).astype(np.int32)\n", "pairs of products saturate at 16 bits", parts=FORWARD, input="uint8", output="int32"),
    wrong("tf32-identity-conv", "im2col", STRIP, "    def tf32(x):\n        f, e = np.frexp(x)\n        return np.ldexp(np.rint(np.ldexp(f, 11)), e - 11).astype(np.float32)\n    input, weight = tf32(input), tf32(weight)\n" + STRIP, "11 bits (TF32, rounded), declared 24", parts=FORWARD),
    wrong("zero-batch-weight-grad-junk", "scatter", "    return dw\n", "    return dw if N else dw + 5\n", "N0", parts=WEIGHT),
]  # fmt: skip

# Reports with no kernel to judge, and why.
NOT_JUDGED = {
    "dgrad-padding-larger-than-kernel": "the kernel refuses, which is listed and no fault",
    "wgrad-stride-dilation-swap": "the framework was right; the zoo has the fault",
    "dilation-zero-accepted": "a meaningless number that is taken is a note, as no right result exists",
    "ddgrad-stride2-remainder-crash": "second derivatives are not in the protocol",
    "ddgrad-groups-size-mismatch": "second derivatives are not in the protocol",
    "circular-pad-minus-zero-slice": "padding modes are not in the protocol",
    "replicate-forward-zero-backward": "padding modes are not in the protocol",
    "im2col-int32-index": "it needs 9 GB",
}
