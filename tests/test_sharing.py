"""Shared windows against the equation of the axis, tried out; and which outputs share them."""

from collections.abc import Iterator, Sequence
from itertools import chain, count, product
from math import prod

import cuts
import numpy as np
import pytest
from cuts import integers, phases_of_input_gradient

from npconv import conv, conv_input, sharing
from npconv.phases import Axis, Line, phases
from npconv.plan import plan
from npconv.sharing import below, shared, stretched

A_REST_OF_NO_WHOLE_ROUNDS = Axis(9, 5, 1, 1, 2, 1, 35)  # four outputs a window, of two phases in turn

Term = tuple[int, ...]  # row, channel, outputs, inputs, and the weight's element


def random_axes(rng: np.random.Generator) -> list[Axis]:
    """One axis, or two; every other one without inserted zeros, as in a forward."""
    axes = [cuts.random_axis(rng, most) for most in ((40,), (12, 12))[rng.integers(2)]]
    return [axis._replace(d=1, l=1) if rng.integers(2) else axis for axis in axes]


def shared_by(axes: Sequence[Axis], rows: int) -> list[list[Line]]:
    return shared(axes, [phases(axis) for axis in axes], rows)


def numbered(rows: int, channels: int, axes: Sequence[Axis]) -> np.ndarray:
    """A weight whose elements tell who they are: 1, 2, 3 and so on."""
    shape = (rows, channels, *(axis.k for axis in axes))
    return np.arange(1, prod(shape) + 1).reshape(shape)


def stretched_by(weight: np.ndarray, lines: Sequence[Line]) -> np.ndarray:
    met = tuple(slice(None) if x.width > 1 else x.places[0][0] for x in lines)
    return stretched(weight[(..., *met)], lines, [slice(0, x.k) for x in lines])


def terms_by_windows(weight: np.ndarray, axes: Sequence[Axis], lines: Sequence[Line]) -> Iterator[Term]:
    """The terms of these outputs' sums: what of each window the stretched weight meets."""
    wide, widths = stretched_by(weight, lines), [x.width for x in lines]
    split = wide.reshape(len(weight), *widths, *wide.shape[1:])
    for index, element in np.ndenumerate(split):
        row, places = index[0], index[1:]
        a, c, j = places[: len(axes)], places[len(axes)], places[len(axes) + 1 :]
        for window in product(*(range(x.o) for x in lines)) if element else ():
            p = [range(y.o)[x.outputs][x.width * n + b] for y, x, n, b in zip(axes, lines, window, a)]
            m = [x.s * n + x.d * q - x.lo for x, n, q in zip(lines, window, j)]
            yield row, c, *p, *m, int(element)


def terms_by_trying(weight: np.ndarray, axes: Sequence[Axis]) -> Iterator[Term]:
    for row, c in np.ndindex(weight.shape[:2]):
        for met in product(*map(cuts.meetings, axes)):
            p, q, m = zip(*met)
            yield row, c, *p, *m, int(weight[(row, c, *q)])


@pytest.fixture(scope="module", params=["one tap an output", "more taps"])
def cases(request):
    """Axes, rows of the weight, and lines that share windows.

    With more rows than ROWS only outputs that meet one tap each share windows.
    """
    rng, found = np.random.default_rng(8), []
    drawn = chain([[A_REST_OF_NO_WHOLE_ROUNDS]], (random_axes(rng) for _ in count()))
    with pytest.MonkeyPatch.context() as m:
        m.setattr(sharing, "ROWS", 1 if request.param == "one tap an output" else 64)
        m.setattr(sharing, "TAPS", 2)
        while len(found) < 100:
            axes = next(drawn)
            lines = shared_by(axes, rows=2)
            if any(x.width > 1 for along in lines for x in along):
                found.append((axes, lines))
    return found


# ---------------------------------------------------------------- the equation


def test_a_stretched_weight_meets_for_every_output_its_own_taps_once(cases):
    for axes, lines in cases:
        weight = numbered(2, 2, axes)
        found = [term for chosen in product(*lines) for term in terms_by_windows(weight, axes, chosen)]
        assert sorted(found) == sorted(terms_by_trying(weight, axes)), axes


def test_every_output_that_meets_a_tap_is_in_one_line_and_no_other_is_in_any(cases):
    for axes, lines in cases:
        for axis, along in zip(axes, lines):
            outputs = [p for x in along for p in range(axis.o)[x.outputs]]
            assert sorted(outputs) == sorted({p for p, _, _ in cuts.meetings(axis)}), axis


def test_a_line_has_as_many_windows_as_its_outputs_fill(cases):
    for axes, lines in cases:
        for axis, along in zip(axes, lines):
            assert [x.o * x.width for x in along] == [len(range(axis.o)[x.outputs]) for x in along], axis


def test_every_place_of_a_window_is_met_by_an_output_that_shares_it(cases):
    for axes, lines in cases:
        for chosen in product(*lines):
            met = stretched_by(numbered(2, 2, axes), chosen).any((0, 1))
            for n, x in enumerate(chosen):
                others = tuple(other for other in range(len(chosen)) if other != n)
                assert met.any(others).all(), (axes, x)


def test_the_cases_hold_every_kind_of_shared_window(cases, request):
    wide = [[x for x in along if x.width > 1] for _, lines in cases for along in lines]
    assert {len(axes) for axes, _ in cases} == {1, 2}
    assert {len(along) for along in wide} == {0, 1, 2}  # two: with the rest that fills no window
    if request.node.callspec.params["cases"] == "more taps":
        lines = [x for along in wide for x in along]
        assert {len(x.places) > 1 for x in lines} == {True, False}  # of several phases, or of one
        assert {x.outputs.step is None for x in lines} == {True, False}  # on all outputs, or on a phase's
        rests = [(x.width, len(x.places)) for along in wide for x in along[1:]]
        assert any(width > rounds > 1 and width % rounds for width, rounds in rests)  # no whole rounds
        assert {below(chosen) for _, lines in cases for chosen in product(*lines)} == {True, False}


@pytest.mark.parametrize("taps", [slice(0, 1), slice(1, 3), slice(2, 4)])
def test_on_an_axis_without_shared_windows_only_the_taps_asked_for_are_taken(taps):
    weight = numbered(2, 3, axes := [Axis(20, 3, 1, 1, 1, 0, 18), Axis(20, 4, 1, 1, 1, 0, 17)])
    (down, *_), (along,) = shared_by(axes, rows=2)
    assert below((down, along))
    some = stretched(weight, (down, along), (slice(0, down.k), taps))
    assert np.array_equal(some, stretched_by(weight, (down, along))[..., taps])


def test_a_weight_stretched_for_outputs_one_below_the_other_has_its_windows_rows_innermost():
    axes = [Axis(20, 3, 1, 1, 1, 0, 18), Axis(20, 4, 1, 1, 1, 0, 17)]
    down, along = (found[0] for found in shared_by(axes, rows=2))
    assert stretched_by(numbered(2, 3, axes), (down, along)).swapaxes(2, 3).flags.c_contiguous


# ---------------------------------------------------------------- where windows are shared


def test_with_more_rows_than_ROWS_only_outputs_of_one_tap_each_share_windows():
    many, one = Axis(40, 4, 1, 1, 3, 0, 60), Axis(40, 3, 1, 1, 3, 0, 60)
    for axis, rows, width in [(many, sharing.ROWS + 1, 1), (one, sharing.ROWS + 1, 3), (one, 10**6, 3)]:
        assert {x.width for x in shared_by([axis], rows)[0]} == {width}


def test_a_window_of_phases_is_shared_by_whole_rounds_of_them():
    for l in range(2, 6):
        (along,) = shared_by([Axis(400, 9, 1, 1, l, 0, 360)], rows=1)
        assert along[0].width % l == 0 and along[0].width > 1


def test_no_output_is_left_over_where_half_of_the_most_to_a_window_or_more_go_evenly():
    most = sharing.ROWS // 2  # of two rows
    for outputs in range(20 * most, 30 * most):
        (along,) = shared_by([Axis(outputs + 8, 9, 1, 1, 1, 0, outputs)], rows=2)
        even = [w for w in range(most // 2, most + 1) if outputs % w == 0]
        assert along[0].width == (even[-1] if even else along[0].width) > 1
        assert len(along) == (1 if even else 2)
        assert along[0].width <= most


def test_fewer_outputs_than_phases_share_no_window():
    axis = Axis(4, 5, 1, 1, 5, 0, 4)
    assert shared_by([axis], rows=1) == [phases(axis)]


@pytest.mark.parametrize(
    "k, s, share",
    [(9, 1, True), (9, 4, True), (9, 5, False), (9, 10, False), (7, 1, False), (2, 100, False)],
)
def test_outputs_side_by_side_share_windows_that_overlap_and_have_many_taps(k, s, share):
    cut = plan((1, 1, 10**7), (1, 1, k), (s,), ((0, 0),), (1,), (1,), 1, 4, 2**26)
    assert (prod(cut.phases[0].widths) > 1) == share


@pytest.mark.parametrize(
    "taps, stride, widths", [((3, 3), 1, {8}), ((5, 1), 2, {2}), ((1, 3), 1, {1}), ((3, 3), 2, {1})]
)
def test_outputs_one_below_the_other_share_windows_that_overlap_by_half(taps, stride, widths):
    cut = plan((1, 90, 322, 322), (90, 1, *taps), (stride,) * 2, ((0, 0),) * 2, (1, 1), (1, 1), 90, 4, 2**26)
    assert {phase.widths[0] for phase in cut.phases if phase.lines[0].o > 1} == widths


@pytest.mark.parametrize(
    "stride, dilation", [((1, 1), (1, 1)), ((1, 1), (1, 3)), ((2, 1), (1, 2)), ((2, 2), (1, 1))]
)
@pytest.mark.parametrize("taps, groups", [((3, 3), 24), ((4, 1), 24), ((7, 5), 24), ((2, 3), 12)])
@pytest.mark.parametrize("size", [(21, 40), (32, 31)])
def test_windows_that_are_shared_one_below_the_other_give_what_those_of_single_outputs_do(
    taps, groups, size, stride, dilation, monkeypatch
):
    x, w = integers((2, 24, *size)), integers((24, 24 // groups, *taps))
    for array in (x, np.asfortranarray(x), x[..., ::-1], np.repeat(x, 2, 3)[..., ::2]):
        parameters = dict(stride=stride, dilation=dilation, groups=groups)
        parameters = [{**parameters, "padding": padding} for padding in (0, 2, ((1, 0), (0, 3)))]
        together = [conv(array, w, **p) for p in parameters]
        with monkeypatch.context() as m:
            m.setattr(sharing, "ROWS", 0)
            plan.cache_clear()
            single = [conv(array, w, **p) for p in parameters]
        plan.cache_clear()
        assert all(np.array_equal(a, b) for a, b in zip(together, single))


def test_a_phase_that_is_the_only_one_shares_its_windows():
    # Stride and dilation 2: odd inputs meet no tap, and the even ones are a convolution without gaps.
    (phase,) = phases_of_input_gradient(i=400, k=3, s=2, d=2, C=2, O=40, i_row=9).phases
    assert phase.widths == (1, 1)
    (phase,) = phases_of_input_gradient(i=40000, k=9, s=2, d=2, C=2, O=40).phases
    assert phase.widths == (1, 8)
    assert phase.lines[1].outputs.step == 2


def test_few_channels_share_their_windows():
    # Four phases with one channel each make one window of two taps for four neighbours.
    (phase,) = phases_of_input_gradient(i=40000, k=8, s=4, C=1, O=40).phases
    assert phase.widths[1] % 4 == 0
    # Input m = 4*p + q: inputs 0, 1, 2, 3 meet taps 0, 1, 2, 3 and, of the window before, those 4 on.
    # The weight is flipped, so they are its taps from 3, 2, 1 and 0 on.
    assert [taps for taps, _ in phase.lines[1].places[:4]] == [slice(b, 8, 4) for b in (3, 2, 1, 0)]


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "c8"])
def test_what_is_not_finite_reaches_only_the_outputs_that_read_it(kind, odd):
    """Who reads it is counted with integers."""
    x, w = np.ones((2, 3, 60, 61), kind), np.ones((3, 1, 3, 3), kind)
    x[1, 2, 30, 31] = x[0, 0, 0, 0] = odd
    cut = plan(x.shape, w.shape, (1, 1), ((1, 1),) * 2, (1, 1), (1, 1), 3, 4, 2**26)
    assert any(phase.shared for phase in cut.phases)
    seen, there = (~np.isfinite(x)).astype(int), np.ones(w.shape, int)
    with np.errstate(all="ignore"):
        y = conv(x, w, padding=1, groups=3)
        gradient = conv_input(x.shape, w, x, padding=1, groups=3)
    assert np.array_equal(~np.isfinite(y), conv(seen, there, padding=1, groups=3) > 0)
    assert np.array_equal(~np.isfinite(gradient), conv_input(x.shape, there, seen, padding=1, groups=3) > 0)
    if kind != "c8":  # in which infinity * (1 + 0j) has a NaN
        assert np.isnan(y).any() == np.isnan(odd)


@pytest.mark.parametrize("size", [24, 25, 47, 59])
def test_what_fills_no_window_is_computed_as_it_was(size):
    x, w = integers((1, 40, size, size)), integers((40, 1, 5, 5))
    y = conv(x, w, padding=2, groups=40)
    for channel in (0, 39):
        alone = conv(x[:, [channel]], w[[channel]], padding=2)
        assert np.array_equal(y[:, [channel]], alone)
