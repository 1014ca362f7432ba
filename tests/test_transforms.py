"""Each move against its adjoint, in exact integers, and against values written out by hand."""

from itertools import product

import numpy as np
import pytest
from oracle import inner

from npconv import transforms
from npconv.transforms import dilate, flip, groups_to_batch, groups_to_channels, pad, subsample, swap

SHAPES = [
    (1, 1, 1),
    (2, 3, 4),
    (2, 3, 4, 5),
    (1, 2, 1, 6),
    (3, 1, 2, 3, 4),
    (0, 2, 3),
    (2, 0, 3),
    (2, 2, 0, 3),
]


def integers(shape, seed=0):
    return np.random.default_rng(seed).integers(-9, 10, size=shape)


def assert_adjoint(move, adjoint, shape):
    """<A(x), y> = <x, A*(y)>: x of the given shape, y of whatever shape A gives."""
    x = integers(shape, seed=1)
    moved = move(x)
    y = integers(moved.shape, seed=2)
    back = adjoint(y)
    assert back.shape == x.shape
    assert inner(moved, y) == inner(x, back)


# ---------------------------------------------------------------- pad


@pytest.mark.parametrize(
    "ends, line",
    [
        ((0, 0), [1, 2, 3]),
        ((1, 2), [0, 1, 2, 3, 0, 0]),
        ((-1, -1), [2]),
        ((-1, 2), [2, 3, 0, 0]),
        ((2, -1), [0, 0, 1, 2]),
        ((-3, 0), []),
        ((-3, 1), [0]),
        ((-5, 4), [0, 0]),
        ((4, -5), [0, 0]),
        ((-4, 1), []),
        ((-9, 3), []),
        ((-2, -2), []),
    ],
)
def test_pad_is_a_window_on_a_line_of_zeros(ends, line):
    assert pad(np.array([[[1, 2, 3]]]), [ends]).tolist() == [[line]]


def test_pad_writes_every_cell_of_the_line_that_its_window_covers():
    x = integers((1, 1, 4))
    for lo, hi in product(range(-7, 8), repeat=2):
        line = {position: x[0, 0, position] for position in range(4)}
        assert pad(x, [(lo, hi)])[0, 0].tolist() == [line.get(position, 0) for position in range(-lo, 4 + hi)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_pad_against_its_adjoint(shape):
    rank = len(shape) - 2
    rng = np.random.default_rng(3)
    for _ in range(50):
        ends = [tuple(map(int, rng.integers(-6, 7, size=2))) for _ in range(rank)]
        # Where the window has a negative size it is empty, and only windows with a size have an adjoint.
        if all(i + lo + hi >= 0 for i, (lo, hi) in zip(shape[2:], ends)):
            assert_adjoint(lambda x: pad(x, ends), lambda y: pad(y, [(-lo, -hi) for lo, hi in ends]), shape)


def test_pad_by_axis():
    assert pad(np.array([[[[1, 2]]]]), [(1, 0), (0, -1)]).tolist() == [[[[0], [1]]]]


# ---------------------------------------------------------------- dilate and subsample


@pytest.mark.parametrize(
    "step, line", [(1, [1, 2, 3]), (2, [1, 0, 2, 0, 3]), (4, [1, 0, 0, 0, 2, 0, 0, 0, 3])]
)
def test_dilate_puts_zeros_between_neighbours_only(step, line):
    assert dilate(np.array([[[1, 2, 3]]]), [step]).tolist() == [[line]]


def test_dilate_of_one_element_and_of_none():
    assert dilate(np.array([[[7]]]), [5]).tolist() == [[[7]]]
    assert dilate(np.zeros((1, 1, 0)), [5]).shape == (1, 1, 0)
    assert dilate(np.zeros((0, 2, 3, 0)), [2, 3]).shape == (0, 2, 5, 0)


def test_dilate_by_axis():
    assert dilate(np.array([[[[1, 2], [3, 4]]]]), [2, 1]).tolist() == [[[[1, 2], [0, 0], [3, 4]]]]


def test_subsample_takes_every_step_th_from_the_first():
    assert subsample(np.arange(7).reshape(1, 1, 7), [3]).tolist() == [[[0, 3, 6]]]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_dilate_against_its_adjoint(shape):
    for step in product((1, 2, 3), repeat=len(shape) - 2):
        assert_adjoint(lambda x: dilate(x, step), lambda y: subsample(y, step), shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_subsample_against_its_adjoint(shape):
    # The adjoint of subsampling n elements fills n cells: those that a dilation ends on.
    for step in product((1, 2, 3), repeat=len(shape) - 2):
        spread = (*shape[:2], *(size * (i - 1) + 1 if i else 0 for i, size in zip(shape[2:], step)))
        assert_adjoint(lambda x: subsample(x, step), lambda y: dilate(y, step), spread)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_subsample_undoes_dilate(shape):
    x = integers(shape)
    for step in product((1, 2, 5), repeat=len(shape) - 2):
        assert np.array_equal(subsample(dilate(x, step), step), x)


# ---------------------------------------------------------------- flip and swap


def test_flip_turns_every_spatial_axis_and_no_other():
    x = np.arange(8).reshape(2, 1, 2, 2)
    assert flip(x).tolist() == [[[[3, 2], [1, 0]]], [[[7, 6], [5, 4]]]]
    assert flip(np.arange(4).reshape(2, 2, 1)).ravel().tolist() == [0, 1, 2, 3]


def test_swap_exchanges_the_first_two_axes():
    x = np.arange(6).reshape(2, 3, 1)
    assert swap(x)[..., 0].tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("move", [flip, swap])
def test_flip_and_swap_are_their_own_adjoint_and_inverse(move, shape):
    assert_adjoint(move, move, shape)
    x = integers(shape)
    assert np.array_equal(move(move(x)), x)


# ---------------------------------------------------------------- groups


def test_groups_of_samples_become_groups_of_channels_by_hand():
    # Samples 0 1 of group A and 2 3 of group B, two channels each: x[sample, channel] = 10*sample + channel.
    x = (10 * np.arange(4)[:, None] + np.arange(2)).reshape(4, 2, 1)
    assert groups_to_channels(x, 2)[..., 0].tolist() == [[0, 1, 20, 21], [10, 11, 30, 31]]


def test_groups_of_channels_become_groups_of_samples_by_hand():
    # x[sample, channel] = 10*sample + channel; channels 0 1 are group A, 2 3 group B.
    x = (10 * np.arange(2)[:, None] + np.arange(4)).reshape(2, 4, 1)
    assert groups_to_batch(x, 2)[..., 0].tolist() == [[0, 1], [10, 11], [2, 3], [12, 13]]


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("rest", [(), (4,), (2, 3)], ids=str)
def test_the_two_group_moves_are_adjoint_and_inverse(groups, rest):
    for many, few in product((0, 1, 2), repeat=2):
        samples, channels = (groups * many, few, *rest), (many, groups * few, *rest)
        assert_adjoint(lambda x: groups_to_channels(x, groups), lambda y: groups_to_batch(y, groups), samples)
        assert_adjoint(
            lambda x: groups_to_batch(x, groups), lambda y: groups_to_channels(y, groups), channels
        )
        x = integers(samples)
        assert np.array_equal(groups_to_batch(groups_to_channels(x, groups), groups), x)


# ---------------------------------------------------------------- all of them

MOVES = {
    "pad": lambda x: pad(x, [(1, 2), (-1, 3)]),
    "pad by nothing": lambda x: pad(x, [(0, 0), (0, 0)]),
    "crop": lambda x: pad(x, [(-1, 0), (0, -1)]),
    "crop everything": lambda x: pad(x, [(-9, 1), (0, 0)]),
    "dilate": lambda x: dilate(x, [2, 3]),
    "dilate by 1": lambda x: dilate(x, [1, 1]),
    "subsample": lambda x: subsample(x, [2, 2]),
    "flip": flip,
    "swap": swap,
    "groups_to_channels": lambda x: groups_to_channels(x, 2),
    "groups_to_batch": lambda x: groups_to_batch(x, 2),
}
DTYPES = [bool, np.int8, np.uint64, np.float16, np.float32, ">f8", np.complex64, object]


@pytest.mark.parametrize("name", MOVES)
def test_moves_read_what_may_not_be_written_and_write_nothing(name):
    x = integers((2, 4, 3, 5))
    before = x.copy()
    MOVES[name](x)
    assert np.array_equal(x, before)
    x.flags.writeable = False
    MOVES[name](x)


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_moves_keep_the_dtype(name, dtype):
    assert MOVES[name](integers((2, 4, 3, 5)).astype(dtype)).dtype == dtype


@pytest.mark.parametrize("name", MOVES)
def test_moves_are_linear(name):
    x, y = integers((2, 4, 3, 5), seed=4), integers((2, 4, 3, 5), seed=5)
    assert np.array_equal(MOVES[name](2 * x - 3 * y), 2 * MOVES[name](x) - 3 * MOVES[name](y))


@pytest.mark.parametrize("name", MOVES)
def test_moves_do_not_care_how_the_memory_lies(name):
    x = integers((2, 4, 3, 5))
    due = MOVES[name](x)
    backwards = x[::-1, ::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1, ::-1]
    for same in (np.asfortranarray(x), backwards, np.repeat(x, 2, axis=3)[..., ::2]):
        assert np.array_equal(MOVES[name](same), due)
    same = np.broadcast_to(integers((1, 1, 3, 5)), (2, 4, 3, 5))
    assert np.array_equal(MOVES[name](same), MOVES[name](same.copy()))


def test_every_move_names_its_adjoint():
    moves = [pad, dilate, subsample, flip, swap, groups_to_channels, groups_to_batch]
    public = {
        name
        for name, value in vars(transforms).items()
        if callable(value) and value.__module__ == transforms.__name__
    }
    assert {move.__name__ for move in moves} == {name for name in public if not name.startswith("_")}
    for move in moves:
        assert "Adjoint:" in move.__doc__, move.__name__
