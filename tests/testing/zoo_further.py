"""Further kinds: scales, orders of channels and samples, borders, overwriting, formats too narrow."""

from zoo_changes import (
    ADD_BIAS, BIAS, BOTH, GI_END, GW_END, GW_START, GW_X, INPUT, SCATTERED, SPREAD_OUT, SPREAD_PADS, START, TRANSPOSED,
    TRANSPOSED_END, TURNED, WEIGHT, WINDOWS_OUTSIDE, wrong
)  # fmt: skip

END = "    return y\n"
FLAT = "input = input.reshape(-1)[np.arange(N)[:, None, None, None] * {} + np.arange(C * H * W).reshape(C, H, W)]\n"
ADD = "y[:, o] += np.where(inside, patch, 0)"
PRODUCT = "(grad_output[:, o, p, q][:, None] * input[:, first:first + I, h, w])"
SHUFFLED = ".reshape(y.shape[0], groups, -1, *y.shape[2:]).swapaxes(1, 2).reshape(y.shape)"
PAIR_SUMS = """    m = rows.shape[2] // 2 * 2
    y = np.zeros((N, groups, O // groups, OH * OW), np.int64)
    for t in range(0, rows.shape[2], 2):
        pair = np.matmul(rows[None, :, :, t:t + 2].astype(np.int64), cols[:, :, t:t + 2].astype(np.int64))
        y += np.clip(pair, -2**15, 2**15 - 1)
    y = y.reshape(N, O, OH, OW).astype(np.int32)
"""
MATMUL = "    y = np.matmul(rows, cols).reshape(N, O, OH, OW)\n"
CHANNELS_FASTEST = (
    "    y = np.matmul(rows, cols)",
    "    order = np.arange(I * KH * KW).reshape(I, KH, KW).transpose(1, 2, 0).reshape(-1)\n"
    "    rows, cols = rows[:, :, order], cols[:, :, order]\n    y = np.matmul(rows, cols)",
)

NUMBERS = [
    wrong("scaled by 1.001", "im2col", END, "    return y * y.dtype.type(1.001)\n", "every element is multiplied by 1.001;"),
    wrong("divided by the batch", "im2col", END, "    return y / N\n", "divided by the batch size"),
    wrong("divided by the positions", "im2col", END, "    return y / (OH * OW)\n", "divided by the number of positions"),
    wrong("divided by the taps", "im2col", END, "    return y / (KH * KW)\n", "divided by the number of taps"),
    wrong("3 added to all", "im2col", END, "    return y + 3\n", "3 is added to every element"),
    wrong("input gradient: halved", "scatter", GI_END, "    dx = dx * 0.5\n" + GI_END, "multiplied by 0.5;", parts=INPUT),
    wrong("weight gradient: scaled by 0.999", "scatter", GW_END, "    dw = dw * dw.dtype.type(0.999)\n" + GW_END, "multiplied by 0.999;", parts=WEIGHT),
    wrong("weight gradient: averaged over the positions", "scatter", GW_END, "    dw = dw / (OH * OW)\n" + GW_END, "averaged over the positions", parts=WEIGHT),
    wrong("bias gradient: scaled by 1.001", "scatter", "grad_output.sum(axis=(0, 2, 3))", "grad_output.sum(axis=(0, 2, 3)) * np.float32(1.001)", "multiplied by 1.001;", parts=BIAS),
    wrong("transposed: scaled by 1.001", "composed", TRANSPOSED_END, "    return (y if bias is None else y + bias[:, None, None]) * np.float32(1.001)\n", "multiplied by 1.001;", parts=TRANSPOSED),
    wrong("sums of 16 bits", "im2col", MATMUL, MATMUL.replace("rows, cols)", "rows.astype(np.int16), cols.astype(np.int16)).astype(np.float32)"), "the sums wrap around at 16 bits, before the bias"),
    wrong("pairs of uint8 products saturate", "im2col", MATMUL, PAIR_SUMS, "pairs of products saturate at 16 bits;", input="uint8", output="int32"),
    wrong("pairs saturate, channels fastest", "im2col", MATMUL, PAIR_SUMS, "saturate at 16 bits, channels fastest", input="uint8", output="int32", also=((PAIR_SUMS, CHANNELS_FASTEST[1].split("    y =")[0] + PAIR_SUMS),)),
    wrong("input gradient: float16 accumulator", "scatter", "dx = np.zeros(input_size, grad_output.dtype)", "dx = np.zeros(input_size, np.float16)", "fewer bits", parts=INPUT, also=((GI_END, "    return dx.astype(np.float32)\n"),)),
    wrong("weight gradient: float16 accumulator", "scatter", "dw = np.zeros(weight_size, input.dtype)", "dw = np.zeros(weight_size, np.float16)", "fewer bits", parts=WEIGHT, also=((GW_END, "    dw = dw.astype(np.float32)\n" + GW_END),)),
    wrong("transposed: negative results cut off", "composed", TRANSPOSED_END, "    return np.maximum(y if bias is None else y + bias[:, None, None], 0)\n", "negative results", parts=TRANSPOSED),
]  # fmt: skip

ORDERS = [
    wrong("output channels reversed", "taps", END, "    return y[:, ::-1]\n", "channels of the result are in reverse order"),
    wrong("output channels one later", "taps", END, "    return np.roll(y, 1, axis=1)\n", "stands one place later"),
    wrong("output channels shuffled", "taps", END, "    return y" + SHUFFLED + "\n", "channels of the result are shuffled"),
    wrong("input gradient: channels shuffled", "scatter", GI_END, "    dx = dx" + SHUFFLED.replace("y.", "dx.") + "\n" + GI_END, ("channels of the result are shuffled", "input channels of the groups are interleaved"), parts=INPUT),
    wrong("input gradient: channels one earlier", "scatter", GI_END, "    dx = np.roll(dx, -1, axis=1)\n" + GI_END, ("stands one place earlier", "each input channel is taken for the one before"), parts=INPUT),
    wrong("weight gradient: output channels reversed", "scatter", GW_END, "    dw = dw[::-1]\n" + GW_END, "channels of the result are in reverse order", parts=WEIGHT),
    wrong("transposed: channels reversed", "composed", TRANSPOSED_END, "    y = y[:, ::-1]\n" + TRANSPOSED_END, "all output channels are in reverse order", parts=TRANSPOSED),
    wrong("input channels reversed in each group", "taps", "c = group * I + j", "c = group * I + I - 1 - j", "input channels of each group are in reverse order"),
    wrong("weight rotated", "taps", START, START + "    weight = np.rot90(weight, axes=(2, 3)) if weight.shape[2] == weight.shape[3] else weight\n", "rotated by 90 degrees, where"),
    wrong("input gradient: weight rotated back", "scatter", "    O, I, KH, KW = weight.shape\n", "    O, I, KH, KW = weight.shape\n    weight = np.rot90(weight, -1, axes=(2, 3)) if KH == KW else weight\n", "rotated by 90 degrees the other way", parts=INPUT),
    wrong("transposed: weight rotated", "composed", "    taps = weight.shape[2:]\n", "    weight = np.rot90(weight, axes=(2, 3)) if weight.shape[2] == weight.shape[3] else weight\n    taps = weight.shape[2:]\n", "rotated by 90 degrees, where", parts=TRANSPOSED),
    wrong("groups start one too late", "taps", "c = group * I + j", "c = min(group * I + j + (group > 0), C - 1)", "every group but the first start one too late"),
    wrong("groups start one too early", "taps", "c = group * I + j", "c = group * I + j - (group > 0)", "every group but the first start one too early"),
    wrong("last group with the first's weight", "taps", "weight[o, j, kh, kw]", "weight[o % (O // groups) if group == groups - 1 else o, j, kh, kw]", "weight of the first group serves the last"),
    wrong("all groups with the first's weight", "taps", "weight[o, j, kh, kw]", "weight[o % (O // groups), j, kh, kw]", "weight of the first group serves all groups"),
    wrong("input gradient: last group with the first's weight", "scatter", "weight[o, :, kh, kw]", "weight[o - first // I * (O // groups) if first // I == groups - 1 else o, :, kh, kw]", "weight of the first group serves the last", parts=INPUT),
    wrong("bias by the group's number", "taps", ADD_BIAS, "y += bias[np.arange(O) // (O // groups)][None, :, None, None]", "taken by the group's number"),
    wrong("bias before the groups are joined", "taps", ADD_BIAS, "y[:, :O // groups] += bias[None, :O // groups, None, None]", "only the first group gets its bias"),
    wrong("samples one plane apart", "taps", START, START + "    " + FLAT.format("H * W"), "counted H*W apart"),
    wrong("samples one group apart", "taps", "    O, I, KH, KW = weight.shape\n", "    O, I, KH, KW = weight.shape\n    " + FLAT.format("I * H * W"), "counted C/G*H*W apart"),
    wrong("weight gradient: samples one plane apart", "scatter", "    N, C, H, W = input.shape\n", "    N, C, H, W = input.shape\n    " + FLAT.format("H * W"), "counted H*W apart", parts=WEIGHT),
    wrong("each sample reads the next", "taps", "patch = input[:, c]", "patch = np.roll(input, -1, axis=0)[:, c]", ("each sample reads the next", "samples come in reverse order")),
]  # fmt: skip

POSITIONS = [
    wrong("padding of 3", "taps", "np.where(inside, patch, 0)", "np.where(inside, patch, 3)", "the padding holds 3 in place of zeros"),
    wrong("padding of the zero point", "taps", "np.where(inside, patch, 0)", "np.where(inside, patch, 128)", "the padding holds 128 in place of zeros"),
    wrong("weight gradient: padding of -2", "composed", "(60, 60), (60, 60)))", "(60, 60), (60, 60)), constant_values=-2)", "the padding holds -2 in place of zeros", parts=WEIGHT),
    wrong("mirrored with the border twice", "taps", "inside = ", "rows, cols = [np.minimum(v % (2 * n), 2 * n - 1 - v % (2 * n)) for v, n in ((rows, H), (cols, W))]; inside = ", "the border cell twice"),
    wrong("dilation 0 for 1", "taps", BOTH, BOTH.replace("DH *", "(DH - 1) *").replace("DW *", "(DW - 1) *"), "of dilation 1 all taps meet one element"),
    wrong("dilation 0", "taps", BOTH, BOTH.replace("DH *", "0 *").replace("DW *", "0 *"), "the dilation is 0"),
    wrong("input gradient: dilation for stride", "composed", SPREAD_OUT, "g = window(grad, [(s * (k - 1) - lo, s * (k - 1) - hi) for s, k, (lo, hi) in zip(stride, taps, padding)])", "grad_output is not spread out", parts=INPUT, also=(("padding=((0, 0), (0, 0)), dilation=dilation, groups=groups)", "padding=((0, 0), (0, 0)), dilation=stride, groups=groups)"),)),
    wrong("weight gradient: stride and dilation kept", "composed", GW_X, "x = window(input, padding)", "stride and dilation are swapped", parts=WEIGHT, also=(("g = dilated(grad_output, stride)\n    dw = np.zeros(weight_size, input.dtype)\n    for group", "g = dilated(grad_output, dilation)\n    dw = np.zeros((O, I, *[(n - m) // s + 1 for n, m, s in zip(x.shape[2:], g.shape[2:], stride)]), input.dtype)\n    for group"), ("None, stride=dilation", "None, stride=stride"))),
    wrong("weight gradient: negative low padding as 0", "scatter", GW_START, GW_START + "    padding = [(max(lo, 0), hi) for lo, hi in padding]\n", "a negative padding is ignored", parts=WEIGHT),
    wrong("weight gradient: low crop at the end", "scatter", GW_START, GW_START + "    H, W = input.shape[2:]; (top, _), (left, _) = padding\n    input = np.pad(input[:, :, :H + min(top, 0), :W + min(left, 0)], ((0, 0), (0, 0), (0, -min(top, 0)), (0, -min(left, 0))))\n    padding = [(max(lo, 0), hi) for lo, hi in padding]\n", "negative padding at the begin crops the end", parts=WEIGHT),
    wrong("neighbouring row beside the row", "taps", "inside = ((rows >= 0) & (rows < H))[:, None] & ((cols >= 0) & (cols < W))", "inside = ((rows >= 0) & (rows < H))[:, None] & (cols > -99)", "neighbouring row is read", also=(('patch = input[:, c].take(rows, 1, mode="clip").take(cols, 2, mode="clip")', "line = np.pad(input.reshape(-1), 99); patch = line[99 + ((np.arange(N)[:, None] * C + c) * H + rows.clip(0, H - 1))[..., None] * W + cols]"),)),
    wrong("height and width swapped where equal", "taps", END, "    return y.swapaxes(2, 3) if OH == OW else y\n", "height and width of the output are swapped where they are equal"),
    wrong("transposed: one row early", "composed", SPREAD_PADS, SPREAD_PADS + "\n    pads[0] = (pads[0][0] + 1, pads[0][1] - 1)", "the output is read one row too late", parts=TRANSPOSED),
]  # fmt: skip

OVERWRITTEN = [
    wrong("every product overwrites", "taps", ADD, ADD.replace("+=", "="), "only the last tap of the last input channel stays"),
    wrong("sum anew at each input channel", "taps", "for j in range(I):", "for j in range(I):\n            y[:, o] = 0", "sum begins anew at each input channel"),
    wrong("sum anew at each row of taps", "taps", "                for kw in range(KW):\n", "                y[:, o] = 0\n                for kw in range(KW):\n", "only the last row counts", "only the last of each group counts"),
    wrong("input gradient: windows overwrite", "scatter", SCATTERED, WINDOWS_OUTSIDE, "only the last window's and the last output channel's stay", parts=INPUT, also=(("dx[:, first:first + I, h, w] += ", "dx[:, first:first + I, h, w] = "),)),
    wrong("input gradient: whole windows overwrite", "scatter", SCATTERED, WINDOWS_OUTSIDE, "only the last one's products stay", parts=INPUT, also=(("    for o in range(O):\n", "    for o in range(0, O, O // groups):\n"), ("dx[:, first:first + I, h, w] += grad_output[:, o, p, q][:, None] * weight[o, :, kh, kw]", "dx[:, first:first + I, h, w] = grad_output[:, o:o + O // groups, p, q] @ weight[o:o + O // groups, :, kh, kw]"))),
    wrong("weight gradient: every product overwrites", "scatter", "dw[o, :, kh, kw] += ", "dw[o, :, kh, kw] = ", "only the last position inside the input stays", parts=WEIGHT),
    wrong("weight gradient: last sample only", "scatter", PRODUCT + ".sum(axis=0)", PRODUCT + "[-1]", "only the last sample counts", parts=WEIGHT),
    wrong("transposed: input channels overwrite", "composed", TURNED, TURNED + "\n    turned = turned * (np.arange(O // groups) == O // groups - 1)[None, :, None, None]", "input channels overwrite each other", parts=TRANSPOSED),
]  # fmt: skip

FURTHER = NUMBERS + ORDERS + POSITIONS + OVERWRITTEN
