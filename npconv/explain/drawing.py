"""Arrays as plain text: grids of numbers, set side by side, 80 columns wide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WIDTH = 80
MOST_ROWS = 24
PUT_IN = "."  # a zero that stands for no element
GAP = "~"  # elements that are not drawn


def plane(values: np.ndarray, put_in: np.ndarray, marked: np.ndarray | None = None) -> list[str]:
    """One matrix: right-aligned numbers; a dot where a zero was put in; brackets where marked.

    What is too large for the page is left out in the middle.

    >>> print("\\n".join(plane(np.array([[1, 0], [10, 0]]), np.array([[False, False], [False, True]]))))
     1  0
    10  .
    """
    marked = np.zeros(values.shape, bool) if marked is None else marked
    texts = np.where(put_in, PUT_IN, values.astype(str))
    width = int(np.char.str_len(texts).max())
    columns = _shown(values.shape[1], (WIDTH - 4) // (width + 1 + int(marked.any())))
    lines = []
    for row in _shown(values.shape[0], MOST_ROWS):
        places = [None if row is None or column is None else (row, column) for column in columns]
        cells = [(GAP if place is None else texts[place]).rjust(width) for place in places]
        marks = [place is not None and marked[place] for place in places]
        lines.append(_bracketed(cells, marks) if marked.any() else " ".join(cells))
    return lines


def _bracketed(cells: Sequence[str], marks: Sequence[bool]) -> str:
    return "".join(f"[{cell}]" if mark else f" {cell} " for cell, mark in zip(cells, marks)).rstrip()


def _shown(size: int, most: int) -> list[int | None]:
    """The positions that are drawn, None for those left out."""
    if size <= most:
        return list(range(size))
    end = max(1, (most - 1) // 3)
    return [*range(most - 1 - end), None, *range(size - end, size)]


def draw(title: str, array: np.ndarray, put_in: np.ndarray, marked: np.ndarray | None = None) -> list[str]:
    """An array under its title: one matrix, or one for each pair of leading indices.

    Axes (a, b, rows, columns) or (a, b, columns); put_in and marked have the array's shape.

    >>> x = np.array([[[1, 0, 2]]])
    >>> draw("spread", x, x == 0), draw("spread", x, x == 0, marked=x > 1)
    (['spread', '1 . 2'], ['spread', ' 1  . [2]'])
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
