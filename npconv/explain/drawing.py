"""Arrays as plain text: grids of numbers, set side by side, 80 columns wide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WIDTH = 80
PUT_IN = "."  # a zero that stands for no element


def plane(values: np.ndarray, put_in: np.ndarray, marked: np.ndarray | None = None) -> list[str]:
    """One matrix: right-aligned numbers; a dot where a zero was put in; brackets where marked.

    >>> print("\\n".join(plane(np.array([[1, 0], [10, 0]]), np.array([[False, False], [False, True]]))))
     1  0
    10  .
    """
    texts = [[PUT_IN if empty else f"{value}" for value, empty in zip(*row)] for row in zip(values, put_in)]
    width = max((len(text) for row in texts for text in row), default=1)
    if marked is None or not marked.any():
        return [" ".join(text.rjust(width) for text in row) for row in texts]
    return [
        "".join(f"[{text.rjust(width)}]" if mark else f" {text.rjust(width)} " for text, mark in zip(row, marks))
        for row, marks in zip(texts, marked)
    ]


def draw(title: str, array: np.ndarray, put_in: np.ndarray, marked: np.ndarray | None = None) -> list[str]:
    """An array under its title: one matrix, or one for each pair of leading indices.

    Axes (a, b, rows, columns) or (a, b, columns); put_in and marked have the array's shape.
    """
    first, second, *spatial = array.shape
    matrix = (first, second, *([1] * (2 - len(spatial))), *spatial)
    values, empty = array.reshape(matrix), put_in.reshape(matrix)
    marks = None if marked is None else marked.reshape(matrix)
    if not array.size:
        return [title, "(empty)"]
    planes = []
    for a in range(first):
        for b in range(second):
            lines = plane(values[a, b], empty[a, b], None if marks is None else marks[a, b])
            planes.append(lines if first * second == 1 else [f"[{a},{b}]", *lines])
    body = [line for row in _rows(planes, 2, WIDTH // 2) for line in row]
    return [title, *body]


def beside(blocks: Sequence[list[str]], between: Sequence[str] = ()) -> list[str]:
    """Blocks in a row, signs such as -> between them, in a new row where the width runs out.

    >>> print("\\n".join(beside([["a", "1 2"], ["b", "3"]], ["->"])))
    a        b
    1 2  ->  3
    """
    signs = [*between, *[""] * (len(blocks) - 1 - len(between))]
    rows: list[list[str]] = []
    row = list(blocks[0])
    for sign, block in zip(signs, blocks[1:]):
        arrow = ["", *[sign] * min(1, len(block) - 1)]
        wider = _join(_join(row, arrow), block) if sign else _join(row, block, gap=4)
        if max(map(len, wider)) <= WIDTH - 4:
            row = wider
        else:
            rows.append(row)
            row = _join(["", sign], block) if sign else list(block)
    rows.append(row)
    return [line for number, row in enumerate(rows) for line in ([""] if number else []) + row]


def _rows(blocks: Sequence[list[str]], gap: int, width: int) -> list[list[str]]:
    rows: list[list[str]] = []
    for block in blocks:
        wider = _join(rows[-1], block, gap) if rows else block
        if rows and max(map(len, wider)) <= width:
            rows[-1] = wider
        else:
            rows.append(block)
    return rows


def _join(left: list[str], right: list[str], gap: int = 2) -> list[str]:
    width = max(map(len, left), default=0) + gap
    height = max(len(left), len(right))
    pairs = zip(left + [""] * (height - len(left)), right + [""] * (height - len(right)))
    return [f"{a.ljust(width)}{b}".rstrip() for a, b in pairs]
