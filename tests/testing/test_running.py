"""Whatever a call ends with is an answer, and comes at once; a thread's traceback is none."""

import time

import pytest
from npconv.problem import Problem
from npconv.testing.candidate import Call, Declared, adapted
from npconv.testing.observation import exact_case
from npconv.testing.running import Inside


class Odd(BaseException):
    """Neither an error nor an end that Python knows."""


class Mute(RuntimeError):
    def __str__(self):
        raise KeyError("no text")


class MuteRefusal(ValueError):
    def __str__(self):
        return 7  # a TypeError, when it is asked for


def answered(error):
    """The answer, within less than the time limit, of a candidate that raises this."""

    def kernel(*arrays, **parameters):
        raise error

    case = exact_case("forward", Problem.parse("i4x4_k2"), Declared())
    runner = Inside(adapted(kernel), time_limit=30.0)
    begun = time.monotonic()
    answers = [runner.run(Call(case.part, case.problem, case.arrays)) for _ in range(2)]
    runner.close()
    assert time.monotonic() - begun < 15 and answers[0] == answers[1]
    return answers[0].kind, answers[0].message


@pytest.mark.parametrize(
    "error, told",
    [
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
        (GeneratorExit("x"), "GeneratorExit: x"),
        (SystemExit(3), "SystemExit: 3"),
        (Odd("boo"), "Odd: boo"),
        (Mute(), "Mute: its text cannot be had, for __str__ raises KeyError"),
    ],
)
def test_whatever_is_raised_is_told_at_once(error, told, capfd):
    assert answered(error) == ("raised", told)
    assert not capfd.readouterr().err


def test_a_refusal_whose_text_cannot_be_had_is_a_refusal():
    assert answered(MuteRefusal()) == (
        "refused",
        "MuteRefusal: its text cannot be had, for __str__ raises TypeError",
    )
