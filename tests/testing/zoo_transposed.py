"""Wrong transposed convolutions."""

from zoo_changes import SPREAD_PADS, SPREAD_START, TRANSPOSED, TURNED, wrong

TRANSPOSED_KERNELS = [
    wrong("transposed without the flip", "composed", TURNED, "pass", "weight is not flipped", parts=TRANSPOSED),
    wrong("output_padding ignored", "composed", "d * (k - 1) + 1 + extra", "d * (k - 1) + 1", "output_padding is ignored", parts=TRANSPOSED),
    wrong("output_padding filled with zeros", "composed", "    return y if bias is None else y + bias[:, None, None]\n", "    y[:, :, y.shape[2] - output_padding[0]:] = 0; y[..., y.shape[3] - output_padding[1]:] = 0\n    return y if bias is None else y + bias[:, None, None]\n", ("output_padding are left at zero", "remainder is dropped"), parts=TRANSPOSED),
    wrong("output_padding of the other axis", "composed", "weight.shape[2:], output_padding)]", "weight.shape[2:], output_padding[::-1])]", "output_padding is taken from the other axis", parts=TRANSPOSED),
    wrong("output_padding at the begin", "composed", SPREAD_PADS, "pads = [(e - 1 - lo + rest, e - 1 - hi) for e, (lo, hi), rest in zip(K, padding, r)]", "put at the begin", parts=TRANSPOSED),
    wrong("transposed ignores the dilation", "composed", SPREAD_START, "    y_dilation = dilation; dilation = (1, 1)\n" + SPREAD_START, "dilation is ignored", parts=TRANSPOSED, also=(("K = [d * (k - 1) + 1 for k, d in zip(taps, dilation)]", "K = [d * (k - 1) + 1 for k, d in zip(taps, dilation)]"),)),
    wrong("transposed bias missing", "composed", "y if bias is None else y + bias[:, None, None]", "y", "bias is missing", parts=TRANSPOSED),
    wrong("transposed channels not swapped", "composed", ".swapaxes(1, 2).reshape(groups * I", ".reshape(groups * I", ("channel axes", "(I, O)"), parts=TRANSPOSED),
    wrong("transposed groups interleaved", "composed", "turned = weight.reshape(groups, O // groups, I, *taps).swapaxes(1, 2)", "turned = weight.reshape(O // groups, groups, I, *taps).transpose(1, 2, 0, 3, 4)", "the weight's input channels are dealt out to the groups in turn", parts=TRANSPOSED),
    wrong("transposed pads lo", "composed", SPREAD_PADS, "pads = [(lo, 2 * (e - 1) - 2 * lo - hi + rest) for e, (lo, hi), rest in zip(K, padding, r)]", "lo in place of K-1-lo", parts=TRANSPOSED),
]
