"""Kept memory: the same piece for the same purpose, lent to one user at a time, one set a thread."""

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from npconv import conv
from npconv.record import recording
from npconv.scratch import LEAST, MOST, _kept, budget, give_back, lend, lend_zeros, scratch_budget

FLOAT = np.dtype(np.float32)
FIT = (LEAST, 2)  # bytes: eight times LEAST


def address(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]


def lent_once(shape: tuple[int, ...], dtype: np.dtype = FLOAT, purpose: str = "test") -> int:
    piece = lend(purpose, shape, dtype)
    give_back(purpose, piece)
    return address(piece)


def test_a_piece_given_back_is_lent_again():
    first = lent_once(FIT)
    assert lent_once(FIT) == first == lent_once((LEAST,), np.dtype(np.float64))
    larger = lent_once((LEAST, 3))
    assert lent_once(FIT) == larger


def test_a_piece_is_lent_to_one_user_at_a_time():
    first = lend("test", FIT, FLOAT)
    second = lend("test", FIT, FLOAT)
    assert not np.shares_memory(first, second)


@pytest.mark.parametrize("shape", [(MOST,), (3,)], ids=["too large", "small"])
def test_what_is_too_large_or_small_is_not_kept(shape):
    first = lend("test", shape, FLOAT)
    give_back("test", first)
    assert first.shape == shape and not np.shares_memory(first, lend("test", shape, FLOAT))


def test_memory_of_somebody_else_is_never_kept():
    own = np.zeros(8 * LEAST, np.uint8)
    give_back("test", own.reshape(2, -1))
    assert not np.shares_memory(own, lend("test", FIT, FLOAT))


def test_zeros_are_zeros_whatever_was_there():
    for _ in range(2):
        zeros = lend_zeros("border", FIT, FLOAT)
        assert not zeros.any()
        zeros[...] = 7
        give_back("border", zeros)


def test_no_thread_sees_the_memory_of_another():
    mine = lend("test", FIT, FLOAT)
    give_back("test", mine)
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(lend, "test", FIT, FLOAT) for _ in range(4)]
        assert not any(np.shares_memory(mine, other.result()) for other in others)


def test_no_result_lies_in_kept_memory():
    """Tiles with a border, straight ones and others: a later call changes no earlier result."""
    x = np.arange(64 * 40 * 40.0).reshape(1, 64, 40, 40) % 7
    for groups, stride in ((1, 1), (64, 1), (64, 2), (1, 2)):
        w = np.ones((64, 64 // groups, 3, 3))
        y = conv(x, w, padding=1, stride=stride, groups=groups)
        before = y.copy()
        conv(x + 1, w, padding=1, stride=stride, groups=groups)
        assert np.array_equal(y, before)


def test_a_call_from_within_another_call_changes_nothing():
    """The collector of garbage may run a finalizer anywhere, and that may convolve."""
    x, w = np.full((4, 16, 64, 64), 3.0, np.float32), np.ones((32, 16, 3, 3), np.float32)
    inner = np.full((2, 8, 64, 64), 7.0, np.float32), np.ones((4, 8, 3, 3), np.float32)
    due, ran = conv(x, w, padding=1), []

    class Finalized:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            ran.append(conv(*inner, padding=1).shape)

    threshold = gc.get_threshold()
    gc.set_threshold(50)
    try:
        for _ in range(30):
            for _ in range(3):
                Finalized()
            assert np.array_equal(conv(x, w, padding=1), due)
    finally:
        gc.set_threshold(*threshold)
        gc.collect()
    assert ran


def test_what_is_recorded_stays_as_it_was():
    x = np.arange(4 * 8 * 64 * 64.0).reshape(4, 8, 64, 64) % 5
    with recording() as steps:
        conv(x, np.ones((32, 8, 3, 3)), padding=1)
    pads = [step for step in steps if step.name == "pad"]
    assert len(pads) > 1
    conv(x + 1, np.ones((32, 8, 3, 3)), padding=1)
    for step in pads:
        sample, ((top, bottom), (left, right)) = step.arguments[:2]
        due = np.pad(sample, ((0, 0), (0, 0), (max(top, 0), max(bottom, 0)), (max(left, 0), max(right, 0))))
        rows = slice(max(-top, 0), due.shape[2] - max(-bottom, 0))
        assert np.array_equal(step.result, due[:, :, rows, max(-left, 0) : due.shape[3] - max(-right, 0)])


# ---------------------------------------------------------------- the budget


def test_the_budget_is_the_blocks_own():
    before = budget()
    with scratch_budget(10), scratch_budget(20):
        assert budget() == 20
    assert budget() == before == 64 * 2**20


@pytest.mark.parametrize(
    "bytes, error, words",
    [
        (0, ValueError, "bytes: it is 0, but it must be 1 or more"),
        (-1, ValueError, "bytes: it is -1, but it must be 1 or more"),
        (True, TypeError, "bytes: it is True, a bool; it must be an integer"),
        (2.5e6, TypeError, "bytes: it is 2500000.0, a float; it must be an integer"),
        (float("nan"), TypeError, "bytes: it is nan, a float; it must be an integer"),
    ],
)
def test_a_budget_that_is_no_number_of_bytes_is_refused(bytes, error, words):
    with pytest.raises(error, match=words):
        with scratch_budget(bytes):
            pass


def test_a_small_budget_keeps_nothing_and_gives_up_what_was_kept():
    give_back("test", lend("test", FIT, FLOAT))
    assert vars(_kept)
    with scratch_budget(2**20):
        assert not vars(_kept)
        give_back("test", lend("test", FIT, FLOAT))
        assert not vars(_kept)
