"""Kernels whose faults are in no table: WRONG all the same, with a trigger, a smallest case, a formula."""

from zoo_changes import BOTH, GI_START, GW_START, INPUT, START, TRANSPOSED, TURNED, WEIGHT, wrong

UNKNOWN = [
    wrong("taps one further, the last first", "taps", "weight[o, j, kh, kw]", "weight[o, j, kh, (kw + 1) % KW]"),
    wrong("row = 5*oh + kh, with a stride", "taps", BOTH, BOTH.replace("SH * np.arange(OH)", "(SH if SH == 1 else 5) * np.arange(OH)")),
    wrong("input mirrored, with a dilation", "taps", START, START + "    input = input[..., ::-1] if max(dilation) > 1 else input\n"),
    wrong("every second position negated", "taps", "    return y\n", "    return y * (-1) ** (np.arange(OH)[:, None] + np.arange(OW))\n"),
    wrong("rows and taps of odd numbers swapped", "taps", BOTH, BOTH.replace("DH * kh", "DH * (kh ^ 1 if KH % 2 == 0 else kh)") + " + (kh & 1)"),
    wrong("input gradient: odd positions one row late", "scatter", "h = p * stride[0]", "h = (p % 2) + p * stride[0]", parts=INPUT),
    wrong("input gradient: taps one further", "scatter", GI_START, GI_START + "    weight = np.roll(weight, 1, axis=3)\n", parts=INPUT),
    wrong("weight gradient: mirrored input", "scatter", GW_START, GW_START + "    input = input[:, :, ::-1]\n", parts=WEIGHT),
    wrong("weight gradient: taps one further", "scatter", "    return dw\n", "    return np.roll(dw, 1, axis=3)\n", parts=WEIGHT),
    wrong("transposed: mirrored input", "composed", TURNED, TURNED + "\n    grad = grad[..., ::-1]", parts=TRANSPOSED),
]  # fmt: skip
