"""One kernel for each hypothesis that no other kernel of the zoo shows."""

from zoo_changes import ADD_BIAS, BIAS, BOTH, GI_END, GW_END, INPUT, START, WEIGHT, wrong

END = "    return y\n"
SUM = "grad_output.sum(axis=(0, 2, 3))"
INDEX = "weight[o, j, kh, kw]"
CHANNEL = "c = group * I + j"


def forward(old, *rows):
    """Forwards in which the same text is changed."""
    return [wrong(words, "taps", old, new, words) for words, new in rows]


def believed(*rows):
    """Forwards that read with other numbers."""
    return forward(BOTH, *((words, f"{change}\n                    {BOTH}") for words, change in rows))


def finished(kernel, end, name, parts, *rows):
    """A result that is changed when it is handed out."""
    return [
        wrong(f"{parts[0]}: {w}", kernel, end, f"    {name} = {new}\n{end}", w, parts=parts)
        for w, new in rows
    ]


EACH = [
    *believed(
        ("the stride is ignored along the width only", "SW = 1"),
        ("the stride is ignored along the height only", "SH = 1"),
        ("the dilation is ignored along the width only", "DW = 1"),
        ("the width's dilation serves all axes", "DH = DW"),
        ("the stride is given as the dilation", "(DH, DW), SH, SW = stride, 1, 1"),
        ("one too few is used", "DH, DW = [max(d - 1, 1) for d in dilation]"),
        ("the dilation also multiplies the stride", "SH, SW = [s * d for s, d in zip(stride, dilation)]"),
        ("begin and end of the padding are swapped along the height only", "top = bottom"),
        ("the padding is ignored along the width only", "left = 0"),
        ("the padding is ignored along the height only", "top = 0"),
        ("the height's padding serves all axes", "left = top"),
        ("the width's padding serves all axes", "top = left"),
        ("the padding is applied twice", "top, left = [2 * lo for lo, _ in padding]"),
        ("a negative padding at the begin is ignored along the width", "left = max(left, 0)"),
        ("a negative padding at the begin is ignored along the height", "top = max(top, 0)"),
        ("a negative padding pads", "top, left = abs(top), abs(left)"),
        ("the padding is multiplied by the stride", "top, left = [s * lo for s, (lo, _) in zip(stride, padding)]"),
        ("the padding is one too small at the begin", "top, left = [lo - (lo > 0) for lo, _ in padding]"),
        ("the padding is one too large at the begin", "top, left = [lo + (lo > 0) for lo, _ in padding]"),
        ("the input is read one column too early", "left = padding[1][0] + 1"),
        ("the input is read one row too early", "top = padding[0][0] + 1"),
        ("the output is shifted by one position", "top, left = [lo - s for s, (lo, _) in zip(stride, padding)]"),
        ("shifted by one position backwards", "top, left = [lo + s for s, (lo, _) in zip(stride, padding)]"),
    ),
    *forward(
        INDEX,
        ("the last tap of each axis is left out", f"(0 if kh == KH - 1 or kw == KW - 1 else {INDEX})"),
        ("the last column of taps is left out", f"(0 if kw == KW - 1 else {INDEX})"),
        ("the first tap of each axis is left out", f"(0 if kh == 0 or kw == 0 else {INDEX})"),
        ("the first column of taps is left out", f"(0 if kw == 0 else {INDEX})"),
        ("the first row of taps is left out", f"(0 if kh == 0 else {INDEX})"),
        ("the sum begins anew at each tap", f"(0 if kh < KH - 1 or kw < KW - 1 else {INDEX})"),
        ("only the first input channel of each group is used", f"(0 if j else {INDEX})"),
        ("a weight stored (O, KH, KW, I)", "weight.transpose(0, 2, 3, 1).reshape(weight.shape)[o, j, kh, kw]"),
    ),
    *forward(
        CHANNEL,
        ("every group reads the channels of the last", "c = (groups - 1) * I + j"),
        ("the groups are taken in reverse order", "c = (groups - 1 - group) * I + j"),
        ("the last one is read twice", "c = min(group * I + j + 1, C - 1)"),
        ("each input channel is taken for the next", "c = (group * I + j + 1) % C"),
    ),
    *forward(
        ADD_BIAS,
        ("the bias is subtracted", "y -= bias[None, :, None, None]"),
        ("the first channel's bias serves all", "y += bias[0]"),
        ("the bias is in reverse order", "y += bias[None, ::-1, None, None]"),
        ("the bias is dealt out to the groups in turn", "y += bias.reshape(-1, groups).T.reshape(-1)[None, :, None, None]"),
        ("the bias is broadcast along the height", "y += np.resize(bias, OH)[:, None]"),
        ("the bias is added once a tap", "y += KH * KW * bias[None, :, None, None]"),
        ("the bias is added once a group", "y += groups * bias[None, :, None, None]"),
        ("the bias reaches only the first row", "y[:, :, 0] += bias[None, :, None]"),
        ("the bias reaches only the first column", "y[..., 0] += bias[None, :, None]"),
        ("negative sums are set to zero, before the bias", "y = np.maximum(y, 0) + bias[None, :, None, None]"),
        ("the sums are rounded to float16, before the bias", "y = y.astype(np.float16) + bias[None, :, None, None]"),
        ("the sums wrap around at 8 bits, before the bias", "y = (y + 128) % 256 - 128 + bias[None, :, None, None]"),
    ),
    *forward(
        END,
        ("nothing is written", "    return 0 * y\n"),
        ("the last sample is not written", "    y[-1] = 0\n" + END),
        ("the first column is not written", "    y[..., 0] = 0\n" + END),
        ("the first row is not written", "    y[:, :, 0] = 0\n" + END),
        ("every element is computed twice", "    return y + y\n"),
        ("the result is multiplied by the stride", "    return y * SH * SW\n"),
        ("the result is divided by the number of groups", "    return y / groups\n"),
        ("wrap around at 8 bits, unsigned", "    return y % 256\n"),
        ("wrap around at 16 bits, unsigned", "    return y % 65536\n"),
        ("the result saturates at 8 bits", "    return y.clip(-128, 127)\n"),
        ("the result saturates at 16 bits", "    return y.clip(-32768, 32767)\n"),
        ("the result saturates at 8 bits, unsigned", "    return y.clip(0, 255)\n"),
        ("the result saturates at 16 bits, unsigned", "    return y.clip(0, 65535)\n"),
        *(
            (f"the last incomplete tile of {n} along the {name}", f"    y[{before}{'{0}'}//{n}*{n}:] = 0\n".format(size) + END)
            for n in (2, 4, 8, 16, 32)
            for name, before, size in (("width", "..., ", "OW"), ("height", ":, :, ", "OH"), ("channels", ":, ", "O"))
        ),
        *(
            (f"nothing beyond the first {n} along the {name}", f"    y[{before}{n}:] = 0\n" + END)
            for n in (4, 8)
            for name, before in (("width", "..., "), ("height", ":, :, "), ("channels", ":, "))
        ),
    ),
    *forward(START, ("the input's height and width are swapped", START + "    input = input.reshape(N, C, W, H).swapaxes(2, 3)\n")),
    *finished(
        "scatter", GW_END, "dw", WEIGHT,
        ("each channel of the result stands one place later", "np.roll(dw, 1, axis=0)"),
        ("each channel of the result stands one place earlier", "np.roll(dw, -1, axis=0)"),
        ("the last output channel is not written", "dw * (np.arange(O) < O - 1)[:, None, None, None]"),
        ("only the first group is computed", "dw * (np.arange(O) < O // groups)[:, None, None, None]"),
    ),
    *finished("scatter", GI_END, "dx", INPUT, ("each sample gets the sum", "0 * dx + dx.sum(axis=0)")),
    *(
        wrong(words, "scatter", SUM, new, words, parts=BIAS)
        for words, new in (
            ("only the first position is summed", "grad_output[:, :, 0, 0].sum(axis=0)"),
            ("the last position is left out of the sum", f"{SUM} - grad_output[:, :, -1, -1].sum(axis=0)"),
            ("the last row is left out of the sum", "grad_output[:, :, :-1].sum(axis=(0, 2, 3))"),
            ("the last column is left out of the sum", "grad_output[..., :-1].sum(axis=(0, 2, 3))"),
            ("the result is in reverse order", f"{SUM}[::-1]"),
        )
    ),
]  # fmt: skip
