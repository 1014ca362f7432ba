"""Problems and results as files, for kernels that no Python can call.

`emit` writes a folder; the author's program reads it, computes, and writes its results beside; `judge`
reads those and reports as `check` does.  The integers are so small that they are exact in bfloat16,
sums included: the same float32 files serve a kernel of any format.

    manifest.txt            one line a question, numbers separated by blanks (below)
    <number>.<array>.npy    float32, C order; the numbers begin at byte 128
    problems.safetensors    the same arrays, named <number>.<array>
    <number>.<part>.npy     what the author's program writes: .npy, or
    <number>.<part>.f32     plain float32, C order, nothing else, or
    results.safetensors     all results, named <number>.<part>
    <number>.<part>.refused an empty file in place of a result: the program does not support this

A result that is missing without being refused is a fault: the program may have ended before its time.
One that is there twice is none at all: the older may be of another program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from npconv.problem import Problem
from npconv.testing.array_files import (
    Unreadable,
    WrongSize,
    read_npy,
    read_plain,
    read_safetensors,
    write_npy,
    write_safetensors,
)
from npconv.testing.candidate import Call, Declared
from npconv.testing.data import exact_arrays, exact_parts
from npconv.testing.formats import named
from npconv.testing.parts import PARTS, TAKES, output_shape, parts_of, result_shape
from npconv.testing.further import every
from npconv.testing.problems import full
from npconv.testing.running import Answer

CAPACITY = named("bfloat16").capacity
COLUMNS = "number part N C H W O KH KW G SH SW top bottom left right DH DW OPH OPW OH OW bias descriptor"
MANIFEST, PROBLEMS, RESULTS = "manifest.txt", "problems.safetensors", "results.safetensors"
ENDINGS = ("npy", "f32", "refused")  # of the files that a program writes for a question
WRITTEN = re.compile(rf"\d+\.({'|'.join(PARTS)})\.({'|'.join(ENDINGS)})")


class Question(NamedTuple):
    """One line of the manifest: a part of a problem, which has a number; its str names the result's files."""

    number: int
    part: str
    problem: Problem

    def __str__(self) -> str:
        return f"{self.number}.{self.part}"


def questions(parts: Sequence[str] = PARTS, strength: int = 2) -> Iterator[Question]:
    """All exact cases of these parts; a number stands for a problem."""
    domains = [full(), full(transposed=True)]
    problems = [problem for domain in domains for problem in every(domain, strength)]
    for number, problem in enumerate(problems):
        for part in parts_of(problem):
            if part in parts and part in exact_parts(problem, CAPACITY):
                yield Question(number, part, problem)


# ---------------------------------------------------------------- emit


def emit(folder: str | Path, parts: Sequence[str] = PARTS, strength: int = 2) -> int:
    """Write the problems of these parts into a folder, and return how many questions they make.

    ValueError where a part does not exist, and where the folder holds results already: they would be
    taken for answers to the new questions.
    """
    if unknown := set(parts) - set(PARTS):
        raise ValueError(f"parts: {', '.join(sorted(unknown))} unknown; there are {', '.join(PARTS)}")
    folder = Path(folder)
    _refuse_results(folder)
    folder.mkdir(parents=True, exist_ok=True)
    asked = list(questions(parts, strength))
    arrays = dict(_arrays(asked))
    for name, array in arrays.items():
        write_npy(folder / f"{name}.npy", array)
    write_safetensors(folder / PROBLEMS, arrays)
    lines = ["# " + COLUMNS, *(" ".join(_words(question)) for question in asked)]
    (folder / MANIFEST).write_text("\n".join(lines) + "\n")
    return len(asked)


def _refuse_results(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder: {folder} is a file; name a folder")
    names = sorted(path.name for path in folder.glob("*"))
    found = [name for name in names if name == RESULTS or WRITTEN.fullmatch(name)]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise ValueError(
            f"folder: {folder} holds results ({found[0]}{more}), which would be taken for answers to the new "
            f"problems; remove them, or name another folder"
        )


def _arrays(asked: Iterable[Question]) -> Iterator[tuple[str, np.ndarray]]:
    """Name and content of every array that these questions take."""
    taken: dict[tuple[int, Problem], set[str]] = {}
    for number, part, problem in asked:
        taken.setdefault((number, problem), set()).update(TAKES[part])
    for (number, problem), names in taken.items():
        for name, array in exact_arrays(problem, CAPACITY).items():
            if name in names:
                yield f"{number}.{name}", array.astype("<f4")


def _words(question: Question) -> list[str]:
    """A line of the manifest, column by column."""
    number, part, problem = question
    geometry = problem.geometry
    extra = geometry.remainder if problem.transposed else (0,) * problem.rank
    entries = (
        number, part, problem.N, problem.C, *problem.i, problem.O, *problem.k, problem.G,
        *geometry.stride, *(end for pair in geometry.padding for end in pair), *geometry.dilation, *extra,
        *output_shape(problem)[2:], int(problem.bias), problem,
    )  # fmt: skip
    return [str(entry) for entry in entries]


# ---------------------------------------------------------------- judge


def read_manifest(folder: Path) -> list[Question]:
    """The questions of a folder, from its manifest; ValueError where it is not as `emit` wrote it."""
    path = folder / MANIFEST
    if not path.is_file():
        raise ValueError(f"folder: {folder} has no {MANIFEST}; write one with `npconv emit {folder}`")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    asked = [_question(line, at) for at, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if not asked:
        raise ValueError(f"manifest: {path} asks nothing; write it again with `npconv emit`")
    for at, question in enumerate(asked):
        if question[:2] in (other[:2] for other in asked[:at]):
            raise ValueError(f"manifest: it asks for {question} twice; write it again with `npconv emit`")
    return asked


def _question(line: str, at: int) -> Question:
    """The question of one line, whose columns must agree with its descriptor."""
    words, columns = line.split(), COLUMNS.split()
    if len(words) != len(columns) or words[1] not in PARTS or not words[0].isdecimal():
        raise ValueError(f"manifest: the line {line!r} does not have the columns {COLUMNS}")
    try:
        question = Question(int(words[0]), words[1], Problem.parse(words[-1]))
        due = _words(question)
    except ValueError as error:
        raise ValueError(f"manifest: line {at}: {error}") from None
    for name, word, right in zip(columns, words, due):
        if word != right:
            raise ValueError(
                f"manifest: line {at}: {name} is {word}, but {words[-1]} has {right}; write it again with "
                f"`npconv emit`"
            )
    return question


class Answered:
    """A candidate that has already answered, in files.

    ValueError where the folder's problems are not those that its manifest names, and where a result is
    there more than once.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.asked = read_manifest(self.folder)
        self.declared = Declared(accumulate="bfloat16")
        self.parts = tuple(part for part in PARTS if any(part == question.part for question in self.asked))
        self.offers = self.parts
        self._numbers = {question[1:]: question.number for question in self.asked}
        self._results = read_safetensors(self.folder / RESULTS) if self._holds(RESULTS) else {}
        self._check_problems()
        for question in self.asked:
            self.file(question)

    def number(self, part: str, problem: Problem) -> int:
        """The number under which a part of a problem was asked."""
        return self._numbers[part, problem]

    def file(self, question: Question) -> str:
        """The file that answers a question; "" where none does, Unreadable where several do."""
        files = [f"{question}.{ending}" for ending in ENDINGS]
        found = [file for file in files if self._holds(file)]
        found += [RESULTS] if str(question) in self._results else []
        if len(found) > 1:
            raise Unreadable(
                f"{question}: {' and '.join(found)} both answer it, and one may be old; remove all but one"
            )
        file = found[0] if found else ""
        if file.endswith(".refused") and (size := (self.folder / file).stat().st_size):
            raise Unreadable(
                f"{file}: it holds {size} bytes, but a refusal is an empty file; write a result to "
                f"{question}.f32 or .npy"
            )
        return file

    def _holds(self, name: str) -> bool:
        """Whether a file of that name lies in the folder; Unreadable where it is something else."""
        path = self.folder / name
        if os.path.lexists(path) and not path.is_file():
            kind = "a folder" if path.is_dir() else "no plain file"
            raise Unreadable(f"{name}: it is {kind}, where a file with a result is due; remove it")
        return path.is_file()

    def strays(self) -> list[str]:
        """Results that answer no question."""
        asked = {str(question) for question in self.asked}
        files = (path.name for path in self.folder.glob("*") if WRITTEN.fullmatch(path.name))
        names = [
            *(name for name in files if name.rpartition(".")[0] not in asked),
            *(set(self._results) - asked),
        ]
        return sorted(names)

    def takes_out(self, part: str) -> bool:
        """Nobody can give a program that has ended an array to write into."""
        return False

    def run(self, call: Call) -> Answer:
        """The answer that lies in the folder."""
        question = Question(self.number(call.part, call.problem), call.part, call.problem)
        file = self.file(question)
        if not file:
            return Answer("missing", message=f"there is no {question}.f32 or .npy")
        if file.endswith(".refused"):
            return Answer("refused", message=file)
        try:
            return Answer("value", self._read(question, file))
        except WrongSize as error:
            return Answer("size", message=str(error))

    def close(self) -> None:
        """Nothing to end."""

    def _read(self, question: Question, file: str) -> np.ndarray:
        if file == RESULTS:
            return self._results[str(question)]
        if file.endswith(".npy"):
            return read_npy(self.folder / file)
        return read_plain(self.folder / file, result_shape(question.part, question.problem))

    def _check_problems(self) -> None:
        """The arrays that the program read, where they still lie there, must be those of the problems."""
        together = self.folder / PROBLEMS
        found = read_safetensors(together) if together.is_file() else {}
        for name, due in _arrays(self.asked):
            path = self.folder / f"{name}.npy"
            stored = {path.name: read_npy(path)} if path.is_file() else {}
            stored |= {f"{name} in {PROBLEMS}": found[name]} if name in found else {}
            for place, array in stored.items():
                if not np.array_equal(array, due):
                    raise Unreadable(
                        f"{place}: it does not hold the array of the problem that the manifest names; "
                        f"emit into a new folder, and run the program on that"
                    )
