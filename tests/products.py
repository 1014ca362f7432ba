"""Large products, what the loops define for them, and places in memory where an input may lie."""

import numpy as np
import oracle

from npconv.columns import large_product
from npconv.conv import im2col

ONES = (1, 1)
DTYPES = ["i8", "f4", "f8", "c8"]  # all with integers in them


def due(x: np.ndarray, w: np.ndarray, stride=ONES, dilation=ONES, groups: int = 1) -> np.ndarray:
    """(N, O, OH, OW) by the loops, from the numbers of x wherever they stand in memory."""
    same = dict(stride=stride, padding=[(0, 0)] * 2, dilation=dilation, groups=groups)
    return oracle.output(x.tolist(), w.tolist(), **same)


class Watched:
    """The matrix product, and the shapes and arrays that it was last given."""

    def __call__(self, rows, columns, out=None):
        self.rows, self.columns, self.out = rows, columns, out
        return np.matmul(rows, columns, out=out)


def made_large(x, w, stride=ONES, dilation=ONES, groups=1, into=None) -> tuple[np.ndarray, Watched]:
    """(N, G, O/G, OH, OW), or `into`; and the product that was asked for."""
    product, windows = Watched(), im2col(x, w.shape[2:], stride, dilation)
    return large_product(product, w, windows, groups, stride[1], dilation[1], into), product


def records(x: np.ndarray) -> np.ndarray:
    """The same numbers as a field of records, whose size is no multiple of the field's items."""
    kept = np.zeros(x.shape[:-1], [("row", x.dtype, x.shape[-1:]), ("tag", "u1")])
    kept["row"] = x
    return kept["row"]


PLACES = {
    "plain": lambda x: x,
    "Fortran": np.asfortranarray,
    "channels last": lambda x: np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
    "backward": lambda x: x[..., ::-1, ::-1].copy()[..., ::-1, ::-1],
    "every second": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "all samples the first": lambda x: np.broadcast_to(x[:1], x.shape),
    "all rows the first": lambda x: np.broadcast_to(x[:, :, :1], x.shape),
    "all columns the first": lambda x: np.broadcast_to(x[..., :1], x.shape),
    "all cells the first": lambda x: np.broadcast_to(x[..., :1, :1], x.shape),
    "rows that overlap": lambda x: np.lib.stride_tricks.sliding_window_view(
        x[..., 0].repeat(4, -1)[..., : sum(x.shape[2:]) - 1], x.shape[-1], -1
    ),
    "a field of records": records,
}
