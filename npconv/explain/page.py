"""One self-contained page to play with: the recorded arrays and where their cells came from, as data.

The page computes no convolution.  It shows what npconv recorded, and follows the same lists of
sources that the text explanations follow.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from npconv.explain import narrate
from npconv.explain.board import caption
from npconv.explain.course import LESSONS
from npconv.explain.element import LETTERS, cell_at, symbol
from npconv.explain.files import write_text
from npconv.explain.scene import Figure, Scene
from npconv.explain.trace import Stage, Trace
from npconv.problem import Problem

LARGEST = 1_000_000  # bytes of a whole page
MAPS = {
    "forward": "Forward",
    "input": "Gradient by the input",
    "weight": "Gradient by the weight",
    "transpose": "Transposed",
}
# What each move does, where the narration has no sentence of its own for it.
MOVED = {
    "swap": "the first two axes trade places",
    "groups_to_batch": "groups of channels become groups of samples",
    "groups_to_channels": "groups of samples become groups of channels",
    "plus bias": "add each channel's bias",
}


@dataclass(frozen=True)
class Question:
    """A question that learners ask, and the place on the page that answers it."""

    asks: str
    answer: str
    place: str


QUESTIONS = (
    Question(
        "Why is the dilation of the weight's gradient the stride?",
        "Each tap of the weight's gradient multiplies grad_output with inputs that lie one stride apart, "
        "because that is where the windows stood. Rest on any cell of grad_weight: the cells of the input "
        "that feed it are a stride apart, so grad_output slides over the input spread out by the stride: a "
        "dilation.",
        "#strided/weight/grad_weight/0",
    ),
    Question(
        "Why does this row of the input get gradient zero?",
        "The last window ends before it: that is the remainder r. No output read the row, so no output can "
        "change with it. To have the row at all, grad_output is padded with r more zeros at the end.",
        "#remainder/input/grad_input/32",
    ),
    Question(
        "Why is the weight flipped here and not there?",
        "Input m was read by output p with tap q = m - s*p + lo. As p goes forward, q goes backward: under a "
        "window over grad_output the taps stand in reverse, so the input's gradient flips. For one tap q, as "
        "p goes forward the input m = s*p + q - lo goes forward too: the weight's gradient does not flip.",
        "#strided/input/grad_input/12",
    ),
)


def run(problem: Problem, path: str, of: str = "forward", at: Sequence[int] | None = None) -> int:
    """Write the page, with this problem first, open at one map and element of it, and say where; 0.

    ValueError where the problem or what is chosen of it cannot be shown, or makes too large a page;
    OSError where the file cannot be written.
    """
    write_text(path, page(problem, place(problem, of, at)))
    print(f"wrote {path}, a page to open in any browser")
    return 0


def place(problem: Problem, of: str, at: Sequence[int] | None = None) -> str:
    """Where on the page one map of the problem is, and one element of it; ValueError where it is not there.

    >>> place(Problem.parse("i5x5_k3_s2"), "input", (2, 2))
    '#yours/input/grad_input/12'
    """
    if of == "double":
        raise ValueError(
            f"of: {of!r} is on no page, which shows {', '.join(MAPS)}; leave --html out to read it as text"
        )
    (figure,) = Scene.of(problem).figures(of)
    return f"#yours/{of}" + ("" if at is None else f"/{figure.result}/{cell_at(figure, at)}")


def page(problem: Problem | None = None, start: str = "") -> str:
    """The whole page as HTML; start: the place at which it opens, by default the first map.

    >>> text = page(Problem.parse("i4_k2"))
    >>> text.startswith("<!doctype html>"), "http:" in text
    (True, False)
    """
    folder = files("npconv.explain")
    data = json.dumps(page_data(problem, start), separators=(",", ":")).replace("<", "\\u003c")
    text = (folder / "page.html").read_text(encoding="utf-8")
    for mark, content in {
        "/* page.css */": (folder / "page.css").read_text(encoding="utf-8"),
        "/* page.js */": (folder / "page.js").read_text(encoding="utf-8"),
        "/* data */": data,
    }.items():
        text = text.replace(mark, content)
    if len(text.encode()) > LARGEST:
        raise ValueError(
            f"problem: {problem} makes a page of {len(text.encode())} bytes; the most is {LARGEST}; "
            f"choose fewer channels or a smaller input"
        )
    return text


def page_data(problem: Problem | None = None, start: str = "") -> dict[str, Any]:
    """What the page shows: problems, each with its maps, each with its arrays; and where it opens."""
    own = [_problem("yours", f"Your problem, {problem}", "", Scene.of(problem))] if problem else []
    lessons = [
        _problem(
            lesson.name,
            f"{lesson.name}: {lesson.title}",
            lesson.says,
            Scene.of(Problem.parse(lesson.problem)),
        )
        for lesson in LESSONS.values()
    ]
    questions = [{"asks": q.asks, "answer": q.answer, "place": q.place} for q in QUESTIONS]
    return {"problems": own + lessons, "questions": questions, "start": start}


def _problem(name: str, title: str, says: str, scene: Scene) -> dict[str, Any]:
    sizes = narrate.transposed_sizes if scene.problem.transposed else narrate.sizes
    maps = [of for of in MAPS if of != "transpose" or not scene.problem.transposed]
    return {
        "name": name,
        "title": title,
        "descriptor": str(scene.problem),
        "says": says,
        "facts": [narrate.parameters(scene.geometry), *sizes(scene.geometry)],
        "arrays": {given: array.ravel().tolist() for given, array in scene.arrays.items()},
        "maps": [map_data(of, scene.figures(of)[0]) for of in maps],
    }


def map_data(of: str, figure: Figure) -> dict[str, Any]:
    """One map: its formula and its arrays, in the order in which they were made."""
    made = figure.trace
    shown = [number for number, stage in enumerate(made.stages) if not stage.idle]
    said = {move: " / ".join(sentences) for move, sentences in narrate.moves(figure)}
    under, window = made.stages[made.slide].parents
    lanes = {
        **{number: "A" for number in made.chain(under)},
        **{number: "B" for number in made.chain(window)},
    }
    stages = []
    for number in shown:
        stage = made.stages[number]
        stages.append(
            {
                "caption": _caption(figure, number),
                "lane": lanes.get(number, "bias" if not stage.parents else "result"),
                "says": said.pop(stage.name, MOVED.get(stage.name, "")) if stage.parents else "",
                "shape": _matrix(stage.array.shape),
                "values": stage.array.ravel().tolist(),
                "symbols": _symbols(figure, number),
                "put_in": [int(cell) for cell in stage.put_in.ravel().nonzero()[0]],
                "parents": [shown.index(_acting(made, parent)) for parent in stage.parents],
                "sources": [sources.tolist() for sources in stage.sources],
            }
        )
    return {
        "of": of,
        "title": MAPS[of],
        "result": figure.result,
        "formula": narrate.formula(figure),
        "slide": shown.index(made.slide),
        "stages": stages,
    }


def _acting(made: Trace, number: int) -> int:
    """The stage whose cells these are: a move that changed nothing stands for what it was given."""
    stage = made.stages[number]
    return _acting(made, stage.parents[0]) if stage.idle else number


def _caption(figure: Figure, number: int) -> str:
    made = figure.trace
    under, window = (_acting(made, parent) for parent in made.stages[made.slide].parents)
    ends = {under: " = A", window: " = B", made.after[-1]: f" = {figure.result}"}
    return caption(made.stages[number]) + ends.get(number, "")


def _matrix(shape: Sequence[int]) -> list[int]:
    """Any shape as (a, b, rows, columns)."""
    if len(shape) == 1:  # a bias
        return [1, 1, 1, shape[0]]
    return [*shape[:2], *[1] * (4 - len(shape)), *shape[2:]]


def _symbols(figure: Figure, number: int) -> list[str]:
    """Each cell's symbol: that of the given cell that it carries; of a sum, that of the result's cell."""
    made = figure.trace
    stage = made.stages[number]
    if number < made.slide or not stage.parents:
        given = _beginning(made, stage)
        return ["0" if root < 0 else short(given.name, given.array.shape, int(root)) for root in stage.roots]
    last = made.stages[-1]
    shape = last.array.shape
    own = (*shape[:2], *shape[len(shape) - figure.geometry.rank :])
    names = {int(root): short(figure.result, own, cell) for cell, root in enumerate(last.roots)}
    return [names[int(root)] for root in stage.roots]


def _beginning(made: Trace, stage: Stage) -> Stage:
    """The given array where its chain of moves began."""
    return _beginning(made, made.stages[stage.parents[0]]) if stage.parents else stage


SHORT = {**LETTERS, "grad_input": "dx", "grad_weight": "dw"}


def short(name: str, shape: Sequence[int], cell: int) -> str:
    """A symbol that fits into a cell.

    >>> short("input", (1, 1, 5, 5), 2), short("grad_weight", (2, 1, 3), 4), short("input", (1, 1, 20), 12)
    ('x02', 'dw101', 'x12')
    """
    letter, index = symbol(name, shape, cell).rstrip("]").split("[")
    places = index.split(",")
    return SHORT.get(name, letter) + ("" if max(map(len, places)) == 1 or len(places) == 1 else "_").join(
        places
    )
