"""What `recording` collects: the moves that really ran, in order, and nothing else."""

from threading import Thread

import numpy as np
import pytest

from npconv import conv1d, conv1d_input, conv1d_weight
from npconv.record import Step, recorded, recording
from npconv.transforms import dilate, flip, pad, swap

X = np.array([[[1, 2, 3]]])


def names(steps):
    return [step.name for step in steps]


def test_steps_come_in_the_order_in_which_they_ran():
    with recording() as steps:
        pad(dilate(X, [2]), [(1, 0)])
        flip(X)
    assert names(steps) == ["dilate", "pad", "flip"]


def test_a_step_holds_what_went_in_and_the_very_array_that_came_out():
    with recording() as steps:
        result = pad(X, [(1, 2)])
    (step,) = steps
    assert isinstance(step, Step)
    assert step.arguments[0] is X
    assert step.arguments[1:] == ([(1, 2)],)
    assert step.result is result


def test_nothing_is_collected_outside():
    with recording() as steps:
        flip(X)
    flip(X)
    assert names(steps) == ["flip"]


def test_the_list_is_still_there_after_the_block():
    with recording() as steps:
        pass
    assert steps == []


def test_each_block_has_a_list_of_its_own_with_all_that_happens_inside_it():
    with recording() as outer:
        flip(X)
        with recording() as inner:
            swap(X)
        pad(X, [(1, 1)])
    assert names(outer) == ["flip", "swap", "pad"]
    assert names(inner) == ["swap"]


def test_an_error_ends_the_recording():
    with pytest.raises(ZeroDivisionError), recording() as steps:
        flip(X)
        raise ZeroDivisionError
    flip(X)
    assert names(steps) == ["flip"]


def test_a_move_that_fails_is_not_a_step():
    with recording() as steps, pytest.raises(AttributeError):
        flip("no array")
    assert steps == []


def test_another_thread_is_not_listened_to():
    with recording() as steps:
        thread = Thread(target=flip, args=(X,))
        thread.start()
        thread.join()
    assert steps == []


def test_a_recorded_function_keeps_its_name_and_its_words():
    @recorded
    def halve(x):
        """Half of it."""
        return x / 2

    assert (halve.__name__, halve.__doc__, halve(4)) == ("halve", "Half of it.", 2)


@pytest.mark.parametrize(
    "call, moves",
    [
        (lambda: conv1d(X, np.array([[[1, 10]]]), padding=1), ["dilate", "pad", "slide"]),
        (lambda: conv1d_input((1, 1, 5), X, np.ones((1, 1, 2), int), 2), ["flip", "dilate", "pad", "slide"]),
        (
            lambda: conv1d_weight(np.ones((1, 1, 8)), (1, 1, 3), np.ones((1, 1, 3)), 2),
            ["dilate", "pad", "slide"],
        ),
    ],
    ids=["output", "input gradient", "weight gradient"],
)
def test_the_maps_are_recorded_move_by_move(call, moves):
    with recording() as steps:
        call()
    told = [name for name in names(steps) if name in ("flip", "dilate", "pad", "slide")]
    assert told == moves


def test_recording_changes_no_result():
    w, g = np.array([[[1, 10]]]), np.array([[[1, 2, 3]]])
    plain = conv1d_input((1, 1, 8), w, g, 3)
    with recording():
        listened = conv1d_input((1, 1, 8), w, g, 3)
    assert np.array_equal(plain, listened)
