"""The board as SVG: a still picture of one element and what feeds it, or the window sliding.

Colours follow the reader's scheme, and where the reader wants less motion an animation stands still.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

import numpy as np

from npconv.explain.board import caption
from npconv.explain.element import busiest, cell_at, element
from npconv.explain.files import write_text
from npconv.explain.scene import Figure, Scene
from npconv.explain.trace import Stage
from npconv.problem import Problem

CELL, GAP, LETTER, LINE, MARGIN = 30, 36, 7.6, 20, 14
FRAME = 0.9  # seconds that the window rests
MOST_FRAMES = 100

STYLE = """\
svg{--page:#fff;--ink:#1b1f24;--soft:#4d5661;--line:#c9ced6;
--a:#dcebff;--b:#ffe9cf;--r:#daf2dd;--mark:#b3261e}
@media(prefers-color-scheme:dark){svg{--page:#14171b;--ink:#eceff3;--soft:#b4bcc7;--line:#474f5a;--a:#17365f;
--b:#553411;--r:#1a4424;--mark:#ff9d94}}
text{font:14px system-ui,sans-serif;fill:var(--ink)}.n{text-anchor:middle;font-size:13px}
.page{fill:var(--page)}.A{fill:var(--a)}.B,.bias{fill:var(--b)}.result{fill:var(--r)}
.put-in{fill:none;stroke:var(--line);stroke-dasharray:2 2}.soft{fill:var(--soft)}
.mark{fill:none;stroke:var(--mark);stroke-width:3}.window{stroke-dasharray:5 3;stroke-width:2}
.small{font-size:12px;fill:var(--soft)}.cut{text-decoration:line-through}"""


@dataclass(frozen=True)
class Placed:
    """A stage at its place on the picture: where each of its cells is."""

    stage: Stage
    lane: str
    title: str
    x: float
    y: float

    @property
    def matrix(self) -> tuple[int, ...]:
        """Its shape as (planes, rows, columns)."""
        shape = self.stage.array.shape
        if len(shape) == 1:
            return (1, 1, shape[0])
        return (shape[0] * shape[1], *[1] * (4 - len(shape)), *shape[2:])

    @property
    def width(self) -> float:
        planes, _, columns = self.matrix
        return max(planes * columns * CELL + (planes - 1) * CELL / 2, LETTER * len(self.title))

    @property
    def top(self) -> float:
        """Where its first row of cells begins."""
        return self.y + LINE + (LINE if self.matrix[0] > 1 else 0)

    @property
    def bottom(self) -> float:
        return self.top + self.matrix[1] * CELL

    def corner(self, cell: int) -> tuple[float, float]:
        """The upper left corner of a cell."""
        _, rows, columns = self.matrix
        plane, row, column = cell // (rows * columns), cell // columns % rows, cell % columns
        return self.x + plane * (columns * CELL + CELL / 2) + column * CELL, self.top + row * CELL


def run(problem: Problem, of: str, at: Sequence[int] | None, path: str, animated: bool) -> int:
    """Write a picture of one map, and say where; 0.

    ValueError where the map has more than one term (draw its terms from their own problems), or the
    problem, map or element is not there; OSError where the file cannot be written.
    """
    figures = Scene.of(problem).figures(of)
    if len(figures) > 1:
        raise ValueError(
            f"of: {of!r} is {len(figures)} maps; a picture shows one; choose another, or read the text"
        )
    write_text(path, animation(figures[0]) if animated else picture(figures[0], at))
    print(f"wrote {path}")
    return 0


def picture(figure: Figure, at: Sequence[int] | None = None) -> str:
    """A still: every array, one element, the cells that feed it, and the products written out.

    at: the index of the element, without its first two entries where those have size 1; by default
    one with most products.

    >>> text = picture(Scene.of(Problem.parse("i5x5_k3_s2")).figures("input")[0])
    >>> text.startswith("<svg "), "1·9 + 2·7 + 3·3 + 4·1 = 36" in text
    (True, True)
    """
    cell = busiest(figure) if at is None else cell_at(figure, at)
    placed = _placed(figure)
    words = _words(figure, cell)
    return _svg(figure, placed, [*_arrays(placed), *_marks(figure, placed, cell)], words, "")


def animation(figure: Figure) -> str:
    """The window slides: one frame for each element of the result, over and over.

    ValueError where there are more than 100 of them.

    >>> animation(Scene.of(Problem.parse("i4_k3")).figures("forward")[0]).count('class="frame')
    2
    """
    count = figure.trace.result.size
    if count > MOST_FRAMES:
        raise ValueError(
            f"svg: {figure.result} has {count} elements, too many to animate; the most is {MOST_FRAMES}"
        )
    placed = _placed(figure)
    last = placed[figure.trace.after[-1]]
    frames, rules = [], []
    rest = busiest(figure)
    for cell in range(count):
        start, end = 100 * cell / count, 100 * (cell + 1) / count
        words = "".join(
            _text(MARGIN, _height(placed) + LINE * n, line) for n, line in enumerate(_words(figure, cell))
        )
        frames.append(f'<g class="frame f{cell}">{"".join(_marks(figure, placed, cell))}{words}</g>')
        rules.append(f"@keyframes f{cell}{{0%{{opacity:0}}{start:.4g}%{{opacity:1}}{end:.4g}%{{opacity:0}}}}"
                     f"@keyframes v{cell}{{0%{{opacity:0}}{start:.4g}%{{opacity:1}}}}"
                     f".f{cell}{{animation-name:f{cell}}}.v{cell}{{animation-name:v{cell}}}")  # fmt: skip
    timing = f"animation:{count * FRAME:.4g}s step-end infinite"
    style = (
        f".frame,.value{{{timing}}}{''.join(rules)}"
        f"@media(prefers-reduced-motion:reduce){{.frame,.value{{animation:none}}"
        f".frame:not(.f{rest}){{opacity:0}}}}"
    )
    most = max(len(_words(figure, cell)) for cell in range(count))
    return _svg(figure, placed, [*_arrays(placed, last), *frames], [""] * most, style)


def _placed(figure: Figure) -> dict[int, Placed]:
    """Every array's place: A and its moves in the first row; B, its moves and the result in the second."""
    made = figure.trace
    under, window = (made.chain(number) for number in made.stages[made.slide].parents)
    bias = [number for number in range(made.slide) if made.stages[number].name == "bias"]
    rows = [[("A", under)], [("B", window), ("bias", bias), ("result", made.after)]]
    placed: dict[int, Placed] = {}
    y: float = MARGIN
    for row in rows:
        x: float = MARGIN
        for lane, numbers in row:
            for number in numbers:
                title = _title(figure, number, under[-1], window[-1])
                placed[number] = Placed(made.stages[number], lane, title, x, y)
                x += placed[number].width + GAP
        y = max(placed[number].bottom for _, numbers in row for number in numbers) + LINE
    return placed


def _title(figure: Figure, number: int, under: int, window: int) -> str:
    made = figure.trace
    ends = {under: " = A", window: " = B", made.after[-1]: f" = {figure.result}"}
    return caption(made.stages[number]) + ends.get(number, "")


def _arrays(placed: dict[int, Placed], revealed: Placed | None = None) -> list[str]:
    """Titles, arrows and cells; the values of `revealed` appear one after the other."""
    drawn = []
    for each in placed.values():
        drawn.append(_text(each.x, each.y + 13, each.title))
        if each.stage.moved:
            drawn.append(
                _text(each.x - GAP + 10, each.top + min(each.matrix[1], 2) * CELL / 2 + 5, "→", "soft")
            )
        planes, rows, columns = each.matrix
        if planes > 1:
            shape = each.stage.array.shape
            for plane in range(planes):
                x, _ = each.corner(plane * rows * columns)
                drawn.append(
                    _text(x, each.y + 13 + LINE, f"[{plane // shape[1]},{plane % shape[1]}]", "small")
                )
        for cell, (value, zero) in enumerate(zip(each.stage.array.ravel(), each.stage.put_in.ravel())):
            x, y = each.corner(cell)
            kind = "put-in" if zero else each.lane
            drawn.append(f'<rect class="{kind}" x="{x + 1:g}" y="{y + 1:g}" width="28" height="28" rx="3"/>')
            style = "n soft" if zero else f"n value v{cell}" if each is revealed else "n"
            drawn.append(_text(x + CELL / 2, y + 20, "·" if zero else str(value), style))
    return drawn


def _marks(figure: Figure, placed: dict[int, Placed], cell: int) -> list[str]:
    """Frames around one element and the cells that feed it; dashed around zeros under the window."""
    made = figure.trace
    number = len(made.stages) - 1
    chosen = np.zeros(made.stages[number].array.size, bool)
    chosen[cell] = True
    slide = made.stages[made.slide]
    drawn = []
    for at, fed in made.feeding(number, chosen).items():
        if at not in placed:
            continue
        for each in np.flatnonzero(fed):
            zero = made.stages[at].roots[each] < 0
            if zero and at not in slide.parents:
                continue
            x, y = placed[at].corner(int(each))
            style = "mark window" if zero else "mark"
            drawn.append(f'<rect class="{style}" x="{x + 2:g}" y="{y + 2:g}" width="26" height="26" rx="3"/>')
    return drawn


def _words(figure: Figure, cell: int) -> list[str]:
    """The element as a sum, in lines."""
    found = element(figure, cell)
    terms = [f"{a.value}·{b.value}" for a, b in found.products] + (
        [str(found.bias.value)] if found.bias else []
    )
    said = (
        f"{found.symbol} = {' + '.join(terms)} = {found.value}"
        if terms
        else f"{found.symbol} = 0, no product"
    )
    return wrap(said, 90)


def _svg(figure: Figure, placed: dict[int, Placed], drawn: list[str], words: list[str], style: str) -> str:
    below = _height(placed)
    width = max(each.x + each.width for each in placed.values()) + MARGIN
    width = max(width, MARGIN * 2 + LETTER * max(map(len, words), default=0))
    height = below + LINE * len(words)
    said = [_text(MARGIN, below + LINE * number, line) for number, line in enumerate(words) if line]
    title = f"{figure.result}: {figure.window} slides over {figure.under}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img">\n<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n'
        f'<rect class="page" width="100%" height="100%" rx="6"/>\n'
        + "\n".join([*drawn, *said])
        + "\n</svg>\n"
    )


def _height(placed: dict[int, Placed]) -> float:
    """Where the words begin: below all arrays."""
    return max(each.bottom for each in placed.values()) + LINE + 6


def _text(x: float, y: float, said: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"' + (f' class="{style}"' if style else "") + f">{escape(said)}</text>"
