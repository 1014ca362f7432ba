"""Kept memory: the same piece for the same purpose, one a thread, and none too large to keep."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from npconv import conv
from npconv.plan import SMALL, TILE
from npconv.record import recording
from npconv.scratch import scratch, scratch_zeros

FLOAT = np.dtype(np.float32)
FIT = (SMALL, 2)  # bytes: eight times SMALL


def address(x: np.ndarray) -> int:
    return x.__array_interface__["data"][0]


def test_a_purpose_has_one_piece_which_larger_requests_replace():
    first = scratch("test", FIT, FLOAT)
    first[...] = 1
    assert address(scratch("test", FIT, FLOAT)) == address(first)
    assert address(scratch("test", (SMALL,), np.dtype(np.float64))) == address(first)
    assert address(scratch("another", FIT, FLOAT)) != address(first)
    larger = scratch("test", (SMALL, 3), FLOAT)
    assert larger.shape == (SMALL, 3) and larger.flags.c_contiguous
    assert address(scratch("test", FIT, FLOAT)) == address(larger)


@pytest.mark.parametrize("shape", [(2 * TILE,), (3,)], ids=["too large", "small"])
def test_what_is_too_large_or_small_is_not_kept(shape):
    first, second = scratch("test", shape, FLOAT), scratch("test", shape, FLOAT)
    assert first.shape == shape and address(first) != address(second)


def test_zeros_are_zeros_whatever_was_there():
    scratch_zeros(FIT, FLOAT)[...] = 7
    assert not scratch_zeros(FIT, FLOAT).any()


def test_no_thread_sees_the_memory_of_another():
    with ThreadPoolExecutor(4) as pool:
        wait = [pool.submit(lambda: address(scratch("test", FIT, FLOAT))) for _ in range(4)]
        own = address(scratch("test", FIT, FLOAT))
        assert own not in [future.result() for future in wait]


def test_no_result_lies_in_kept_memory():
    """Tiles with a border, straight ones and others: a later call changes no earlier result."""
    x = np.arange(64 * 40 * 40.0).reshape(1, 64, 40, 40) % 7
    for groups, stride in ((1, 1), (64, 1), (64, 2), (1, 2)):
        w = np.ones((64, 64 // groups, 3, 3))
        y = conv(x, w, padding=1, stride=stride, groups=groups)
        before = y.copy()
        conv(x + 1, w, padding=1, stride=stride, groups=groups)
        assert np.array_equal(y, before)


def test_moves_that_are_recorded_keep_their_shapes_in_tiles():
    with recording() as steps:
        conv(np.ones((1, 64, 40, 40)), np.ones((8, 64, 3, 3)), padding=1)
    assert {step.name for step in steps} >= {"pad", "slide"}
