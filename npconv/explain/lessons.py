"""The lessons: small problems on which the idea can be seen, each of which proves itself.

python -m npconv                  all of them
python -m npconv lesson strided   one
"""

from __future__ import annotations

from textwrap import wrap

from npconv.explain import narrate
from npconv.explain.course import LESSONS, Lesson
from npconv.explain.drawing import WIDTH
from npconv.explain.proof import Proof
from npconv.explain.scene import Scene
from npconv.problem import Problem

NAMES = tuple(LESSONS)


def run(name: str | None = None) -> int:
    """Print one lesson, or the whole course in order; 0 if every proof holds, else 1.

    ValueError where there is no lesson of that name.

    >>> run("simpel")
    Traceback (most recent call last):
    ValueError: lesson: there is no 'simpel'; choose one of simple, flip, padded, strided, remainder, \
dilated, grouped, bias, transposed, weight, triangle, second, numbers
    """
    if name is not None and name not in LESSONS:
        raise ValueError(f"lesson: there is no {name!r}; choose one of {', '.join(NAMES)}")
    chosen = NAMES if name is None else (name,)
    passed = [teach(LESSONS[each]) for each in chosen]
    if len(chosen) > 1:
        print(*_index(), "", sep="\n")
        print(f"{sum(passed)} of {len(passed)} lessons pass")
    return 0 if all(passed) else 1


def teach(lesson: Lesson) -> bool:
    """Print one lesson; whether all its proofs hold."""
    heading = f"{lesson.name}: {lesson.title}"
    scene = Scene.of(Problem.parse(lesson.problem))
    said = [line for part in lesson.says.splitlines() for line in wrap(part, WIDTH)]
    print(heading, "=" * len(heading), "", *said, "", *_sizes(scene), "", sep="\n")
    try:
        for page in lesson.pages:
            print(*page(scene), "", sep="\n")
        proofs = lesson.proofs(scene)
    except ValueError as error:
        proofs = [Proof("the maps run", False, str(error))]
    shown = [line for proof in proofs for line in wrap(str(proof), WIDTH, subsequent_indent=" " * 8)]
    print("PROOF", *shown, "", *_further(lesson), "", sep="\n")
    passed = all(proof.holds for proof in proofs)
    print("pass" if passed else "FAIL", "", sep="\n")
    return passed


def _index() -> list[str]:
    """What there was, and where to go on."""
    return [
        "LESSONS",
        *(f"  {lesson.name}: {lesson.title}" for lesson in LESSONS.values()),
        "",
        "NEXT",
        "  python -m npconv lesson strided                           one of them again",
        "  python -m npconv explain i5x5_k3_s2 --html page.html      a page to play with",
    ]


def _sizes(scene: Scene) -> list[str]:
    shapes = ", ".join(f"{name} {narrate.by(array.shape)}" for name, array in scene.arrays.items())
    sizes = narrate.transposed_sizes if scene.problem.transposed else narrate.sizes
    return [shapes, narrate.parameters(scene.geometry), *(f"  {line}" for line in sizes(scene.geometry))]


def _further(lesson: Lesson) -> list[str]:
    return [
        *wrap(f"EXERCISE: {lesson.exercise}", WIDTH, subsequent_indent="  "),
        f"  python -m npconv lesson {lesson.name} --try FILE.py",
        "PLAY with it: open page.html#" + lesson.name + " in a browser, after",
        f"  python -m npconv explain {lesson.problem} --html page.html",
    ]
