"""Right kernels, each with innocent differences: order of summation, blocking, fusing, wider numbers."""

import numpy as np

from zoo_kernels import COMPOSED, IM2COL, SCATTER, TAPS, TILED, build

HALF = {"input": "float16", "accumulate": "float32", "output": "float16"}
BF16 = {"input": "bfloat16", "accumulate": "float32", "output": "float32"}


def changed(kernel, *changes, parts=None, **declared):
    return lambda: build(kernel, changes, parts), declared


def through(kernel, before, after, parts=None, **declared):
    """A right kernel that works in another number format inside."""

    def make():
        inner = build(kernel, (), parts)

        def wrap(function):
            def call(*arrays, **parameters):
                inside = [a.astype(before) if isinstance(a, np.ndarray) else a for a in arrays]
                return function(*inside, **parameters).astype(after)

            return staticmethod(call)

        names = parts or ("forward", "grad_input", "grad_weight", "grad_bias", "transposed")
        return type(kernel, (), {n: wrap(getattr(inner, n)) for n in names if hasattr(inner, n)})

    return make, declared


PAIRWISE = (".sum(axis=1)", ".astype(np.float32)[:, ::-1].sum(axis=1)")
ONE_BY_ONE = (
    "    y = np.matmul(rows, cols).reshape(N, O, OH, OW)\n",
    "    y = np.zeros((N, groups, O // groups, OH * OW), np.result_type(rows, cols))\n"
    "    for t in range(rows.shape[2]):\n"
    "        y += rows[None, :, :, t, None] * cols[:, :, None, t]\n"
    "    y = y.reshape(N, O, OH, OW)\n",
)
BACKWARDS = (ONE_BY_ONE[0], ONE_BY_ONE[1].replace("range(rows.shape[2])", "reversed(range(rows.shape[2]))"))
HALVES = (
    ONE_BY_ONE[0],
    "    h = rows.shape[2] // 2\n"
    "    y = np.matmul(rows[:, :, h:], cols[:, :, h:]) + np.matmul(rows[:, :, :h], cols[:, :, :h])\n"
    "    y = y.reshape(N, O, OH, OW)\n",
)
BIAS_FIRST = (
    "        y = y + bias.reshape(1, O, 1, 1)\n",
    "        y = (bias.astype(y.dtype).reshape(1, O, 1, 1) + y)\n",
)

RIGHT = {
    "loop over taps": changed("taps"),
    "loop over taps, float64": changed("taps", input="float64"),
    "loop over taps, last tap first": changed("taps", ("for kh in range(KH):", "for kh in reversed(range(KH)):")),
    "loop over taps, channels last first": changed("taps", ("for j in range(I):", "for j in reversed(range(I)):")),
    "im2col": changed("im2col"),
    "im2col, float64": changed("im2col", input="float64"),
    "im2col, one product after another": changed("im2col", ONE_BY_ONE),
    "im2col, backwards": changed("im2col", BACKWARDS),
    "im2col, two halves": changed("im2col", HALVES),
    "im2col, bias first": changed("im2col", BIAS_FIRST),
    "im2col in float64, rounded once": through("im2col", np.float64, np.float32),
    "im2col in float64, float64 result": changed("im2col", ("rows = weight.reshape(", "rows = weight.astype(np.float64).reshape(")),
    "float16, float32 accumulator": through("im2col", np.float32, np.float16, **HALF),
    "float16, float32 accumulator, one by one": (lambda: through_half(ONE_BY_ONE), HALF),
    "float16, float64 accumulator": through("im2col", np.float64, np.float16, **HALF),
    "bfloat16 values, float32 result": changed("im2col", **BF16),
    "tf32 values": changed("im2col", input="tf32", accumulate="float32", output="float32"),
    "int8 to int32": through("im2col", np.int32, np.int32, input="int8", output="int32"),
    "uint8 to int32": through("im2col", np.int64, np.int32, input="uint8", output="int32"),
    "tiled": changed("tiled"),
    "tiled, float64": changed("tiled", input="float64"),
    "tiled, backwards": changed("tiled", PAIRWISE),
    "tiles of 3": changed("tiled", ("TILE = 4", "TILE = 3")),
    "tiles of 16": changed("tiled", ("TILE = 4", "TILE = 16")),
    "scattered gradients": changed("scatter"),
    "scattered gradients in float64": through("scatter", np.float64, np.float32),
    "composed": changed("composed"),
    "composed, float64": changed("composed", input="float64"),
    "composed, float16 with float32 inside": through("composed", np.float32, np.float16, **HALF),
    "composed, one backward": changed("composed", parts=("forward", "backward", "transposed")),
    "composed, one product after another": changed("composed", ONE_BY_ONE),
}  # fmt: skip


def through_half(change):
    inner = build("im2col", (change,))
    return lambda *arrays, **p: inner.forward(
        *[a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in arrays], **p
    ).astype(np.float16)


__all__ = ["COMPOSED", "IM2COL", "RIGHT", "SCATTER", "TAPS", "TILED"]
