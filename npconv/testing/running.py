"""Calls that may refuse, crash, hang or never come back, and an answer in every case.

Inside this process a call runs on a thread of its own.  A thread cannot be killed: past the time
limit it is asked to stop by an exception, which ends any Python loop, and is left behind otherwise.
In a process of its own (`Apart`) the candidate may take the whole process with it; that too is an
answer, and the next call starts another.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import warnings
from dataclasses import dataclass
from typing import IO, Any, Protocol

import numpy as np

from npconv.testing.candidate import Call, Candidate, Declared, adapted, declared_by, loaded

# NumPy raises these by itself when shapes do not fit: a slip of the kernel, and no refusal.
SLIPS = ("broadcast", "core dimension", "cannot reshape", "not aligned", "inhomogeneous", "einstein")


@dataclass(frozen=True)
class Answer:
    """kind: "value", "refused", "raised", "hung", "crashed", "wrote" (into an input), "shares" (the memory
    of an input), "missing" (a file)."""

    kind: str
    value: Any = None
    message: str = ""


class Runner(Protocol):
    """Whoever puts calls to a candidate."""

    parts: tuple[str, ...]
    offers: tuple[str, ...]  # the names of its functions
    declared: Declared

    def takes_out(self, part: str) -> bool: ...

    def run(self, call: Call) -> Answer: ...

    def close(self) -> None: ...


class TimeLimit(BaseException):
    """Raised inside a candidate that takes too long."""


def attempt(candidate: Candidate, call: Call) -> Answer:
    """One call, and whatever comes of it."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            _soil(call.size)
            value, written, shared = candidate.answer(call)
    except NotImplementedError as error:
        return Answer("refused", message=_line(error))
    except ValueError as error:
        slip = any(words in _text(error) for words in SLIPS)
        return Answer("raised" if slip else "refused", message=_line(error))
    except TimeLimit:
        return Answer("hung")
    except BaseException as error:  # SystemExit, KeyboardInterrupt and strangers too: it came back
        return Answer("raised", message=_line(error))
    if written:
        return Answer("wrote", value, written)
    return Answer("shares", value, shared) if shared else Answer("value", value)


def _line(error: BaseException) -> str:
    first = (_text(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"[:200]


def _text(error: BaseException) -> str:
    """What the error says; an error whose own text cannot be had says that."""
    try:
        return str(error)
    except BaseException as other:  # a stranger's __str__ may raise anything, too
        return f"its text cannot be had, for __str__ raises {type(other).__name__}"


def _soil(size: int) -> None:
    """Leave NaN in freed memory of the output's size, where np.empty may find it."""
    if size <= 2**16:
        soiled = [
            np.full(size, np.nan, kind) for kind in (np.float64, np.float32, np.float16) for _ in range(4)
        ]
        del soiled


class Inside:
    """The candidate in this process, on a thread beside."""

    def __init__(self, candidate: Candidate, time_limit: float = 10.0):
        self.candidate, self.time_limit = candidate, time_limit
        self.parts, self.declared = candidate.parts, candidate.declared
        self.offers = tuple(candidate.functions)
        self._start()

    def takes_out(self, part: str) -> bool:
        return self.candidate.takes_out(part)

    def _start(self) -> None:
        self._calls: queue.SimpleQueue = queue.SimpleQueue()
        self._answers: queue.SimpleQueue = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=_serve, args=(self.candidate, self._calls, self._answers), daemon=True
        )
        self._thread.start()

    def run(self, call: Call) -> Answer:
        self._calls.put(call)
        try:
            return self._answers.get(timeout=self.time_limit)
        except queue.Empty:
            self._interrupt()
            self._start()
            return Answer("hung", message=f"no answer in {self.time_limit:g} s")

    def _interrupt(self) -> None:
        thread = ctypes.c_ulong(self._thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeLimit))
        self._calls.put(None)

    def close(self) -> None:
        self._calls.put(None)


def _serve(candidate: Candidate, calls: queue.SimpleQueue, answers: queue.SimpleQueue) -> None:
    try:
        while (call := calls.get()) is not None:
            answers.put(attempt(candidate, call))
    except TimeLimit:  # it came just after the call had ended
        return


class Apart:
    """The candidate in a process of its own, named as FILE.py:NAME or module:NAME."""

    def __init__(self, spec: str, options: dict[str, Any], time_limit: float = 10.0):
        self.spec, self.options, self.time_limit = spec, options, time_limit
        declared_by(None, options)  # what is wrong with an option is no fault of the candidate
        self._process: subprocess.Popen | None = None
        try:
            self.parts, self.offers, self.declared, self._with_out = self._ask(None, 60.0)
        except (EOFError, TimeoutError) as error:
            how = _died(self._process.wait()) if isinstance(error, EOFError) and self._process else "it hangs"
            self._kill()
            raise ValueError(f"candidate: {spec} cannot be loaded: {how}") from None

    def takes_out(self, part: str) -> bool:
        return part in self._with_out

    def run(self, call: Call) -> Answer:
        try:
            return self._ask(call, self.time_limit)
        except TimeoutError:
            self._kill()
            return Answer("hung", message=f"no answer in {self.time_limit:g} s")
        except EOFError:
            code = self._process.wait() if self._process else 0
            self._kill()
            return Answer("crashed", message=_died(code))

    def close(self) -> None:
        self._kill()

    def _ask(self, question: Any, seconds: float) -> Any:
        if self._process is None:
            self._process = _spawn(self.spec, self.options)
            if question is not None:
                self._exchange(None, 60.0)
        return self._exchange(question, seconds)

    def _exchange(self, question: Any, seconds: float) -> Any:
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            _send(process.stdin, question)
            answer = _receive(process.stdout)
        except (EOFError, BrokenPipeError):
            if timer.is_alive():
                raise EOFError from None
            raise TimeoutError from None
        finally:
            timer.cancel()
        if isinstance(answer, str):
            self._kill()
            raise ValueError(answer)
        return answer

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except BrokenPipeError:
                        pass


def _died(code: int) -> str:
    if code < 0:
        return f"the process died of {signal.Signals(-code).name}"
    return f"the process ended with exit code {code}"


def _spawn(spec: str, options: dict[str, Any]) -> subprocess.Popen:
    program = "from npconv.testing.running import serve; serve()"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdin is not None
    _send(process.stdin, (spec, options))
    return process


def serve() -> None:
    """The other process: load the candidate, say what it offers, then answer calls until the end."""
    questions = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the candidate prints does not mix with the answers
    sys.stdout = sys.stderr
    spec, options = _receive(questions)
    try:
        target = loaded(spec)
        candidate = adapted(target, declared_by(target, options))
    except Exception as error:  # whatever a stranger's file raises
        known = _text(error).startswith("candidate:")
        _send(answers, _text(error) if known else f"candidate: {spec} cannot be used: {_line(error)}")
        return
    while True:
        try:
            call = _receive(questions)
        except EOFError:
            return
        if call is None:
            out = tuple(part for part in candidate.parts if candidate.takes_out(part))
            _send(answers, (candidate.parts, tuple(candidate.functions), candidate.declared, out))
        else:
            _send(answers, _portable(attempt(candidate, call)))


def _portable(answer: Answer) -> Answer:
    if isinstance(answer.value, np.ndarray) or answer.value is None:
        return answer
    return Answer(answer.kind, _Foreign(type(answer.value).__name__), answer.message)


@dataclass(frozen=True)
class _Foreign:
    """A result that is no array: only the name of its type travels."""

    name: str


def type_name(value: Any) -> str:
    return value.name if isinstance(value, _Foreign) else type(value).__name__


def _send(stream: IO[bytes], thing: Any) -> None:
    data = pickle.dumps(thing, protocol=5)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    header = stream.read(8)
    if len(header) < 8:
        raise EOFError
    (size,) = struct.unpack("<Q", header)
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)
