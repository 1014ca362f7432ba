"""Kernels for the referee to judge: wrong ones with the words that name their fault, and right ones.

A wrong kernel is a right one with a line or two changed.  `words` must all occur in what the report
says; a tuple of words is a choice between equally right names.
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

FORWARD_KERNELS = [
    wrong("weight flipped", "taps", "weight[o, j, kh, kw]", "weight[o, j, KH - 1 - kh, KW - 1 - kw]", "the weight is flipped"),
    wrong("flipped along the width", "taps", "weight[o, j, kh, kw]", "weight[o, j, kh, KW - 1 - kw]", "flipped along the width only"),
    wrong("flipped along the height", "im2col", "rows = weight.reshape(", "rows = weight[:, :, ::-1].reshape(", "flipped along the height only"),
    wrong("tap axes swapped in memory", "taps", "weight[o, j, kh, kw]", "weight[o, j].reshape(KW, KH)[kw, kh]", "tap axes (KH, KW) are swapped"),
    wrong("strides swapped", "taps", BOTH, BOTH.replace("SH *", "S_ *").replace("SW *", "SH *").replace("S_ *", "SW *"), "strides of height and width are swapped"),
    wrong("stride of height on both", "taps", "SW * np.arange(OW)", "SH * np.arange(OW)", "height's stride serves both"),
    wrong("stride of width on both", "tiled", "h:h + SH * (OH - 1) + 1:SH", "h:h + SW * (OH - 1) + 1:SW", "width's stride serves both"),
    wrong("stride ignored in the loop", "taps", BOTH, BOTH.replace("SH * ", "").replace("SW * ", ""), "the stride is ignored"),
    wrong("stride ignored altogether", "im2col", "x = np.ascontiguousarray(padded(input, padding))", "stride = (1, 1); x = np.ascontiguousarray(padded(input, padding))", "the stride is ignored"),
    wrong("dilations swapped", "taps", BOTH, BOTH.replace("DH *", "D_ *").replace("DW *", "DH *").replace("D_ *", "DW *"), "dilations of height and width are swapped"),
    wrong("dilation ignored", "taps", BOTH, BOTH.replace("DH * ", "").replace("DW * ", ""), "the dilation is ignored"),
    wrong("dilation of height on both", "taps", "DW * kw", "DH * kw", "height's dilation serves both"),
    wrong("stride and dilation swapped", "taps", BOTH, "rows = DH * np.arange(OH) + SH * kh - top\n                    cols = DW * np.arange(OW) + SW * kw - left", "stride and dilation are swapped"),
    wrong("dilation counted from 0", "taps", BOTH, BOTH.replace("DH *", "(DH + 1) *").replace("DW *", "(DW + 1) *"), "one too many is used"),
    wrong("stride multiplies the taps", "taps", BOTH, BOTH.replace("DH *", "SH * DH *").replace("DW *", "SW * DW *"), "stride also multiplies the taps"),
    wrong("padding ignored", "taps", BOTH, BOTH.replace(" - top", "").replace(" - left", ""), "padding is ignored"),
    wrong("padding begin and end swapped", "taps", BOTH, BOTH.replace("top", "bottom").replace("left", "right"), ("begin and end of the padding are swapped", "end's padding is used at the begin")),
    wrong("paddings of the axes swapped", "taps", BOTH, BOTH.replace("top", "t_").replace("left", "top").replace("t_", "left"), "paddings of height and width are swapped"),
    wrong("pads in ONNX order misread", "taps", "(top, bottom), (left, right) = padding\n    OH = (H + top + bottom - DH * (KH - 1) - 1) // SH + 1\n    OW = (W + left + right - DW * (KW - 1) - 1) // SW + 1", "(top, left), (bottom, right) = padding; OH = (H + top + left - DH * (KH - 1) - 1) // SH + 1; OW = (W + bottom + right - DW * (KW - 1) - 1) // SW + 1", ("(top, left, bottom, right)",)),
    wrong("hi for lo on the width", "taps", "- left", "- right", ("begin and end of the padding are swapped along the width", "width's")),
    wrong("padding put at the begin", "im2col", "x = np.ascontiguousarray(padded(input, padding))", "x = np.ascontiguousarray(padded(input, [(sum(pair), 0) for pair in padding]))", "put at the begin only"),
    wrong("padding put at the end", "im2col", "x = np.ascontiguousarray(padded(input, padding))", "x = np.ascontiguousarray(padded(input, [(0, sum(pair)) for pair in padding]))", ("put at the end only", "the padding is ignored")),
    wrong("uneven padding split evenly", "im2col", "x = np.ascontiguousarray(padded(input, padding))", "x = np.ascontiguousarray(padded(input, [(sum(pair) // 2, sum(pair) - sum(pair) // 2) for pair in padding]))", "split evenly, the odd one at the end"),
    wrong("same at the wrong side", "im2col", "x = np.ascontiguousarray(padded(input, padding))", "x = np.ascontiguousarray(padded(input, [(sum(pair) - sum(pair) // 2, sum(pair) // 2) for pair in padding]))", "split evenly, the odd one at the begin"),
    wrong("edge in place of zero", "taps", "np.where(inside, patch, 0)", "patch", "holds the border cell"),
    wrong("reflected in place of zero", "taps", "inside = ", "rows, cols = H - 1 - abs(H - 1 - rows % max(2 * H - 2, 1)), W - 1 - abs(W - 1 - cols % max(2 * W - 2, 1)); inside = ", "the reflected input"),
    wrong("wrapped around in place of zero", "taps", "inside = ", "rows, cols = rows % H, cols % W; inside = ", "wrapped around"),
    wrong("last row and column taken for padding", "taps", "(rows < H)", "(rows < H - 1)", "the last input is taken for padding", also=(("(cols < W)", "(cols < W - 1)"),)),
    wrong("first row and column taken for padding", "taps", "(rows >= 0)", "(rows > 0)", "the first input is taken for padding", also=(("(cols >= 0)", "(cols > 0)"),)),
    wrong("negative padding crops twice", "im2col", "big = np.zeros((N, C, H + max", "x = x[:, :, max(-top, 0):H - max(-bottom, 0), max(-left, 0):W - max(-right, 0)]; H, W = x.shape[2:]; big = np.zeros((N, C, H + max", "a negative padding crops twice"),
    wrong("padding times dilation", "taps", BOTH, BOTH.replace("top", "DH * top").replace("left", "DW * left"), "multiplied by the dilation"),
    wrong("one column late", "taps", "DW * kw - left", "DW * kw - left + 1", "one column too late"),
    wrong("one pixel early", "taps", BOTH, BOTH.replace("- top", "- top - 1").replace("- left", "- left - 1"), "one element too early"),
    wrong("output size rounded up", "taps", "OH = (H + top + bottom - DH * (KH - 1) - 1) // SH + 1", "OH = -(-(H + top + bottom - DH * (KH - 1) - 1) // SH) + 1", "rounded up", also=(("OW = (W + left + right - DW * (KW - 1) - 1) // SW + 1", "OW = -(-(W + left + right - DW * (KW - 1) - 1) // SW) + 1"),)),
    wrong("extent d*k in the size", "taps", "DH * (KH - 1) - 1)", "DH * KH)", "extent as dilation * taps", also=(("DW * (KW - 1) - 1)", "DW * KW)"),)),
    wrong("groups of input channels interleaved", "taps", "c = group * I + j", "c = j * groups + group", "input channels of the groups are interleaved"),
    wrong("groups of output channels interleaved", "taps", "group = o // (O // groups)", "group = o % groups", "output channels of the groups are interleaved"),
    wrong("every group reads the first", "tiled", "first = o // (O // groups) * I", "first = 0", "reads the channels of the first"),
    wrong("group found by C/G", "taps", "group = o // (O // groups)", "group = min(o // I, groups - 1)", "o // (C/G)"),
    wrong("group offset by O/G", "taps", "c = group * I + j", "c = min(group * (O // groups) + j, C - 1)", "group * O/G"),
    wrong("last input channel left out", "taps", "for j in range(I):", "for j in range(I - 1):", "last input channel of each group is left out"),
    wrong("last tap row left out", "taps", "for kh in range(KH):", "for kh in range(max(KH - 1, 1)):", "last row of taps"),
    wrong("weight read as (I, O)", "taps", "weight[o, j, kh, kw]", "weight.reshape(I, O, KH, KW)[j, o, kh, kw]", "channel axes are swapped"),
    wrong("weight taken for OHWI", "taps", "weight[o, j, kh, kw]", "weight.reshape(O, KH, KW, I)[o, kh, kw, j]", "stored (O, KH, KW, I)"),
    wrong("NCHW read as NHWC", "taps", START, START + "    input = input.reshape(N, H, W, C).transpose(0, 3, 1, 2)\n", "NCHW is read as NHWC: the input"),
    wrong("NHWC read as NCHW", "taps", START, START + "    input = input.transpose(0, 2, 3, 1).reshape(N, C, H, W)\n", "NHWC is read as NCHW: the input"),
    wrong("output written as NHWC", "taps", "    return y\n", "    return y.transpose(0, 2, 3, 1).reshape(y.shape)\n", ("NHWC",)),
    wrong("row pitch H", "taps", START, START + "    input = input.reshape(N, C, -1)[:, :, np.minimum(np.arange(H)[:, None] * H + np.arange(W), H * W - 1)]\n", "rows of the input are counted"),
    wrong("bias missing", "taps", ADD_BIAS, "pass", "bias is missing"),
    wrong("bias doubled", "taps", ADD_BIAS, "y += 2 * bias[None, :, None, None]", "bias is added twice"),
    wrong("bias of group 0 for all", "taps", ADD_BIAS, "y += bias[np.arange(O) % (O // groups)][None, :, None, None]", "every group gets the bias of the first"),
    wrong("bias along the width", "taps", ADD_BIAS, "y += np.resize(bias, OW)", "bias is broadcast along the width"),
    wrong("bias once an input channel", "tiled", "acc + bias[o]", "acc + bias[o] * I", "bias is added once an input channel"),
    wrong("bias for the first sample", "taps", ADD_BIAS, "y[0] += bias[:, None, None]", "bias reaches only the first sample"),
    wrong("only the first sample", "taps", "    return y\n", "    y[1:] = 0\n    return y\n", "only the first sample is computed"),
    wrong("every sample reads the first", "taps", "patch = input[:, c]", "patch = input[:1, c]", "every sample reads the first"),
    wrong("only the first group", "taps", "for o in range(O):", "for o in range(O // groups):", "only the first group", also=(("if bias is not None", "if False"),), parts=None),
    wrong("last tile not written", "tiled", "range(0, OW, TILE)", "range(0, OW - TILE + 1, TILE)", "incomplete tile of 4 along the width"),
    wrong("last column not written", "taps", "    return y\n", "    y[..., -1] = 0\n    return y\n", "last column is not written"),
    wrong("last channel not computed", "taps", "for o in range(O):", "for o in range(O - 1):", "last channel is not written", also=(("y += bias[None, :, None, None]", "y[:, :-1] += bias[None, :-1, None, None]"),)),
    wrong("float16 accumulator", "tiled", "acc = np.zeros((N, OH, stop - start), input.dtype)", "acc = np.zeros((N, OH, stop - start), np.float16)", "fewer bits"),
    wrong("result rounded to float16", "im2col", "    return y\n", "    return y.astype(np.float16).astype(np.float32)\n", "rounded to float16"),
    wrong("wraps at 16 bits", "im2col", "    return y\n", "    return y.astype(np.int64).astype(np.int16).astype(np.float32)\n", "wrap around at 16 bits"),
    wrong("int8 wraps at 8 bits", "im2col", "    return y\n", "    return y.astype(np.int8).astype(np.int32)\n", "wrap around at 8 bits", input="int8", output="int32"),
    wrong("negative results cut off", "im2col", "    return y\n", "    return np.maximum(y, 0)\n", "negative results"),
    wrong("flipped and bias missing", "taps", "weight[o, j, kh, kw]", "weight[o, j, KH - 1 - kh, KW - 1 - kw]", "the weight is flipped", "bias is missing", also=((ADD_BIAS, "pass"),)),
    wrong("dilation ignored and padding swapped", "taps", BOTH, BOTH.replace("DH * ", "").replace("DW * ", "").replace("top", "bottom").replace("left", "right"), "dilation is ignored", ("begin and end", "end's padding")),
    wrong("groups interleaved and one column late", "taps", "c = group * I + j", "c = j * groups + group", "interleaved", "one column too late", also=(("DW * kw - left", "DW * kw - left + 1"),)),
    wrong("strides swapped and taps swapped", "taps", BOTH, BOTH.replace("SH *", "S_ *").replace("SW *", "SH *").replace("S_ *", "SW *"), "strides", "tap axes", also=(("weight[o, j, kh, kw]", "weight[o, j].reshape(KW, KH)[kw, kh]"),)),
    wrong("edge padding and bias doubled", "taps", "np.where(inside, patch, 0)", "patch", "border cell", "bias is added twice", also=((ADD_BIAS, "y += 2 * bias[None, :, None, None]"),)),
    wrong("flipped, in float64", "im2col", "rows = weight.reshape(", "rows = weight[:, :, ::-1, ::-1].astype(np.float64).reshape(", "the weight is flipped"),
    wrong("pairwise sum, stride of width on both", "tiled", "h:h + SH * (OH - 1) + 1:SH", "h:h + SW * (OH - 1) + 1:SW", "width's stride", also=((".sum(axis=1)", "[:, ::-1].sum(axis=1)"),)),
    wrong("groups with a stride ignore the stride", "taps", BOTH, "SH, SW = (1, 1) if groups > 1 else stride\n                    " + BOTH, "the stride is ignored"),
]

GRADIENT_KERNELS = [
    wrong("weight not flipped", "composed", TURNED, "pass", "weight is not flipped", parts=INPUT),
    wrong("remainder dropped: too short", "composed", SPREAD_PADS, SPREAD_PADS.replace(" + rest", ""), "stride remainder is dropped", parts=INPUT),
    wrong("remainder dropped: filled with zeros", "scatter", GI_END, "    r = [(n + lo + hi - d * (k - 1) - 1) % s for n, (lo, hi), d, k, s in zip((H, W), padding, dilation, (KH, KW), stride)]\n    dx[:, :, H - r[0]:] = 0; dx[..., W - r[1]:] = 0\n" + GI_END, "stride remainder is dropped", parts=INPUT),
    wrong("remainder at the begin", "composed", SPREAD_PADS, "pads = [(e - 1 - lo + rest, e - 1 - hi) for e, (lo, hi), rest in zip(K, padding, r)]", "remainder is put at the begin", parts=INPUT),
    wrong("pads k-1-lo without dilation", "composed", SPREAD_PADS, "pads = [(k - 1 - lo, 2 * (e - 1) - (k - 1) - hi + rest) for k, e, (lo, hi), rest in zip(taps, K, padding, r)]", "k-1-lo, without the dilation", parts=INPUT),
    wrong("pads lo", "composed", SPREAD_PADS, "pads = [(lo, 2 * (e - 1) - 2 * lo - hi + rest) for e, (lo, hi), rest in zip(K, padding, r)]", "lo in place of K-1-lo", parts=INPUT),
    wrong("pads swapped", "composed", SPREAD_PADS, "pads = [(e - 1 - hi, e - 1 - lo + rest) for e, (lo, hi), rest in zip(K, padding, r)]", ("begin and end", "end's padding", "hi is used for lo"), parts=INPUT),
    wrong("pads K-lo", "composed", SPREAD_PADS, "pads = [(e - lo, e - 2 - hi + rest) for e, (lo, hi), rest in zip(K, padding, r)]", ("one too many", "one element too late"), parts=INPUT),
    wrong("negative pads ignored", "composed", SPREAD_PADS, SPREAD_PADS + "\n    pads = [(max(a, 0), b + min(a, 0)) for a, b in pads]", "is ignored", parts=INPUT),
    wrong("weight's channel axes not swapped", "composed", ".swapaxes(1, 2).reshape(groups * I", ".reshape(groups * I", ("channel axes", "(I, O)"), parts=INPUT),
    wrong("gradient's strides swapped", "scatter", GI_START, GI_START + "    stride = stride[::-1]\n", "strides of height and width are swapped", parts=INPUT),
    wrong("gradient ignores the dilation", "scatter", GI_START, GI_START + "    dilation = (1, 1)\n", "dilation is ignored", parts=INPUT),
    wrong("gradient ignores the padding", "scatter", GI_START, GI_START + "    padding = ((0, 0), (0, 0))\n", ("padding is ignored", "as if there were no padding"), parts=INPUT),
    wrong("gradient overwrites", "scatter", "dx[:, first:first + I, h, w] += ", "dx[:, first:first + I, h, w] = ", ("no known fault",), parts=INPUT),
    wrong("gradient of the first group", "scatter", GI_END, "    dx[:, I:] = 0\n" + GI_END, "only the first group", parts=INPUT),
    wrong("gradient averaged over the batch", "scatter", GI_END, "    dx = dx / N\n" + GI_END, "averaged over the batch", parts=INPUT),
    wrong("gradient one row late", "scatter", "kh * dilation[0] - padding[0][0]\n                        w = q * stride[1] + kw * dilation[1] - padding[1][0]\n                        if 0 <= h < H and 0 <= w < W:\n                            dx", "kh * dilation[0] - padding[0][0] + 1\n                        w = q * stride[1] + kw * dilation[1] - padding[1][0]\n                        if 0 <= h < H and 0 <= w < W:\n                            dx", "one row too late", parts=INPUT),
    wrong("last column of grad_output left out", "scatter", "    OH, OW = grad_output.shape[2:]\n    dx", "    OH, OW = grad_output.shape[2:]; OW -= 1\n    dx", "last column of the output is left out", parts=INPUT),
    wrong("not flipped and remainder dropped", "composed", TURNED, "pass", "not flipped", "remainder is dropped", parts=INPUT, also=((SPREAD_PADS, SPREAD_PADS.replace(" + rest", "")),)),
    wrong("weight gradient with too many taps", "composed", GW_X, "x = window(input, padding)", "more taps than the weight has", parts=WEIGHT, also=(("dw = np.zeros(weight_size, input.dtype)\n    for group", "dw = np.zeros((*weight_size[:2], *[k + q // d for k, q, d in zip((KH, KW), r, dilation)]), input.dtype)\n    for group"),)),
    wrong("extra taps cut at the begin", "composed", GW_X, "x = window(input, padding)", "cut off at the begin", parts=WEIGHT, also=(("= result.swapaxes(0, 1)", "= result.swapaxes(0, 1)[:, :, -KH:, -KW:]"),)),
    wrong("remainder cropped from the begin", "composed", GW_X, "x = window(input, [(lo - rest, hi) for (lo, hi), rest in zip(padding, r)])", "cropped from the input's begin", parts=WEIGHT),
    wrong("weight gradient: stride and dilation not traded", "scatter", GW_START, GW_START + "    stride, dilation = dilation, stride\n", "stride and dilation are swapped", parts=WEIGHT),
    wrong("weight gradient flipped", "scatter", GW_END, "    dw = dw[:, :, ::-1, ::-1]\n" + GW_END, "flipped", parts=WEIGHT),
    wrong("weight gradient averaged over the batch", "scatter", GW_END, "    dw = dw / N\n" + GW_END, "averaged over the batch", parts=WEIGHT),
    wrong("weight gradient averaged over everything", "scatter", GW_END, "    dw = dw / (N * OH * OW)\n" + GW_END, "averaged over batch and positions", parts=WEIGHT),
    wrong("weight gradient of the first sample", "scatter", "* input[:, first:first + I, h, w]).sum(axis=0)", "* input[:, first:first + I, h, w])[0]", "only the first sample is summed", parts=WEIGHT),
    wrong("weight gradient groups interleaved", "composed", "xs = x[:, group * I:(group + 1) * I].swapaxes(0, 1)", "xs = x[:, group::groups].swapaxes(0, 1)", "interleaved", parts=WEIGHT),
    wrong("weight gradient in (I, O) order", "scatter", GW_END, "    dw = dw.swapaxes(0, 1).reshape(weight_size)\n" + GW_END, ("channel axes", "(I, O)"), parts=WEIGHT),
    wrong("weight gradient: paddings swapped", "scatter", GW_START, GW_START + "    padding = padding[::-1]\n", "paddings of height and width are swapped", parts=WEIGHT),
    wrong("weight gradient: first group's channels", "scatter", "(grad_output[:, o, p, q][:, None] * input[:, first:first + I, h, w])", "(grad_output[:, o, p, q][:, None] * input[:, :I, h, w])", "channels of the first", parts=WEIGHT),
    wrong("weight gradient skips the last row", "scatter", "    OH, OW = grad_output.shape[2:]\n    dw", "    OH, OW = grad_output.shape[2:]; OH -= 1\n    dw", "last row of the output is left out", parts=WEIGHT),
    wrong("bias gradient averaged over the batch", "scatter", "grad_output.sum(axis=(0, 2, 3))", "grad_output.sum(axis=(2, 3)).mean(axis=0)", "averaged over the batch", parts=BIAS),
    wrong("bias gradient averaged", "scatter", "grad_output.sum(axis=(0, 2, 3))", "grad_output.mean(axis=(0, 2, 3))", "averaged over batch and positions", parts=BIAS),
    wrong("bias gradient of the first sample", "scatter", "grad_output.sum(axis=(0, 2, 3))", "grad_output[0].sum(axis=(1, 2))", "only the first sample", parts=BIAS),
    wrong("bias gradient without the batch sum", "scatter", "grad_output.sum(axis=(0, 2, 3))", "grad_output.sum(axis=(2, 3))", "leaves out the batch", parts=BIAS),
    wrong("bias gradient over channels", "scatter", "grad_output.sum(axis=(0, 2, 3))", "grad_output.sum(axis=(0, 1))", "over batch and channels", parts=BIAS),
    wrong("bias gradient of the first row", "scatter", "grad_output.sum(axis=(0, 2, 3))", "grad_output[:, :, 0].sum(axis=(0, 2))", "only the first row", parts=BIAS),
    wrong("bias gradient in float16", "scatter", "grad_output.sum(axis=(0, 2, 3))", "np.add.accumulate(grad_output.swapaxes(0, 1).reshape(grad_output.shape[1], -1), axis=1, dtype=np.float16)[:, -1].astype(np.float32)", ("fewer bits", "carried in 11 bits"), parts=BIAS),
    wrong("backward: bias gradient negated", "composed", "grad_output.sum(axis=3).sum(axis=2).sum(axis=0)", "-grad_output.sum(axis=3).sum(axis=2).sum(axis=0)", "grad_bias", "sign is wrong", parts=("backward",)),
    wrong("backward: unflipped input gradient", "composed", TURNED, "pass", "grad_input", "not flipped", parts=("backward",)),
]

TRANSPOSED_KERNELS = [
    wrong("transposed without the flip", "composed", TURNED, "pass", "weight is not flipped", parts=TRANSPOSED),
    wrong("output_padding ignored", "composed", "d * (k - 1) + 1 + extra", "d * (k - 1) + 1", "output_padding is ignored", parts=TRANSPOSED),
    wrong("output_padding filled with zeros", "composed", "    return y if bias is None else y + bias[:, None, None]\n", "    y[:, :, y.shape[2] - output_padding[0]:] = 0; y[..., y.shape[3] - output_padding[1]:] = 0\n    return y if bias is None else y + bias[:, None, None]\n", ("output_padding are left at zero", "remainder is dropped"), parts=TRANSPOSED),
    wrong("output_padding of the other axis", "composed", "weight.shape[2:], output_padding)]", "weight.shape[2:], output_padding[::-1])]", "output_padding is taken from the other axis", parts=TRANSPOSED),
    wrong("output_padding at the begin", "composed", SPREAD_PADS, "pads = [(e - 1 - lo + rest, e - 1 - hi) for e, (lo, hi), rest in zip(K, padding, r)]", "put at the begin", parts=TRANSPOSED),
    wrong("transposed ignores the dilation", "composed", SPREAD_START, "    y_dilation = dilation; dilation = (1, 1)\n" + SPREAD_START, "dilation is ignored", parts=TRANSPOSED, also=(("K = [d * (k - 1) + 1 for k, d in zip(taps, dilation)]", "K = [d * (k - 1) + 1 for k, d in zip(taps, dilation)]"),)),
    wrong("transposed bias missing", "composed", "y if bias is None else y + bias[:, None, None]", "y", "bias is missing", parts=TRANSPOSED),
    wrong("transposed channels not swapped", "composed", ".swapaxes(1, 2).reshape(groups * I", ".reshape(groups * I", ("channel axes", "(I, O)"), parts=TRANSPOSED),
    wrong("transposed groups interleaved", "composed", "turned = weight.reshape(groups, O // groups, I, *taps).swapaxes(1, 2)", "turned = weight.reshape(O // groups, groups, I, *taps).transpose(1, 2, 0, 3, 4)", "output channels are dealt out to the groups in turn", parts=TRANSPOSED),
    wrong("transposed pads lo", "composed", SPREAD_PADS, "pads = [(lo, 2 * (e - 1) - 2 * lo - hi + rest) for e, (lo, hi), rest in zip(K, padding, r)]", "lo in place of K-1-lo", parts=TRANSPOSED),
]

WRONG = FORWARD_KERNELS + GRADIENT_KERNELS + TRANSPOSED_KERNELS


def is_named(wrong, report):
    """Whether the report names all faults of the kernel, in findings that explain everything."""
    said = " | ".join(finding.sentence for finding in report.findings if finding.named)
    choices = [(word,) if isinstance(word, str) else word for word in wrong.words]
    return all(any(word in said for word in choice) for choice in choices)
