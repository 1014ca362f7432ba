"""Phases against the equation that they solve, tried out for every output, tap and input."""

import cuts
import numpy as np
import oracle
import pytest
from cuts import integers, phases_of_input_gradient

from npconv import conv_input, conv_transpose
from npconv.conv import forward
from npconv.phases import Axis, Line, phases
from npconv.record import recording

RNG = np.random.default_rng(3)
AXES = [cuts.random_axis(RNG, most=9) for _ in range(300)]


def meetings_of(line: Line, axis: Axis) -> list[tuple[int, int, int]]:
    """The meetings of the convolution that a phase is, as outputs and taps of its axis."""
    outputs, (taps, _) = range(axis.o)[line.outputs], line.places[0]
    return [(outputs[p], range(axis.k)[taps][q], m) for p, q, m in cuts.meetings(line.axis)]


# ---------------------------------------------------------------- the equation


def test_the_phases_are_convolutions_that_hold_each_meeting_of_their_axis_once():
    for axis in AXES:
        found = [meeting for line in phases(axis) for meeting in meetings_of(line, axis)]
        assert sorted(found) == cuts.meetings(axis), axis


def test_a_phase_has_all_outputs_that_meet_the_same_taps_and_no_other():
    for axis in AXES:
        met = {p: tuple(q for other, q, _ in cuts.meetings(axis) if other == p) for p in range(axis.o)}
        due = {}
        for p, taps in met.items():
            due.setdefault(taps, []).append(p)
        due.pop((), None)
        found = [(tuple(range(axis.k)[x.places[0][0]]), list(range(axis.o)[x.outputs])) for x in phases(axis)]
        assert found == list(due.items()), axis  # both in the order of their first outputs


def test_outputs_meet_the_same_taps_again_after_P_and_no_sooner():
    for axis in AXES:
        again = next(n for n in range(1, axis.l + 1) if axis.s * n % axis.l == 0)
        assert axis.P == again, axis


def test_a_phase_reads_the_whole_input_and_has_a_window_an_output():
    for axis in AXES:
        for line in phases(axis):
            assert (line.i, line.width, line.move, line.places[0][1]) == (axis.i, 1, 0, slice(0, line.k)), (
                axis
            )


def test_without_inserted_zeros_the_axis_is_its_only_phase():
    for axis in AXES:
        plain = axis._replace(l=1)
        assert [line.axis for line in phases(plain)] == [plain]


def test_spacings_times_a_number_that_no_machine_word_holds_have_the_same_phases():
    many = 3**60
    for axis in AXES:
        wide = axis._replace(s=many * axis.s, d=many * axis.d, l=many * axis.l, lo=many * axis.lo)
        assert phases(wide) == phases(axis), axis
        assert phases(wide._replace(lo=many * axis.lo + 1)) == [], axis


# ---------------------------------------------------------------- whole convolutions


@pytest.mark.parametrize("l", [(2, 1), (3, 2), (4, 4)])
@pytest.mark.parametrize("s, d", [((1, 1), (1, 1)), ((2, 3), (1, 2)), ((1, 2), (3, 4)), ((6, 1), (2, 3))])
def test_phases_of_any_three_spacings(s, d, l, cut_small):
    x, w = integers((2, 2, 5, 6)), integers((4, 1, 3, 4))
    parameters = dict(stride=s, padding=[(3, 2), (4, 11)], dilation=d, input_dilation=l, groups=2)
    assert np.array_equal(forward(x, w, **parameters), oracle.output(x, w, **parameters))


def test_no_inserted_zero_is_read():
    g, w = np.ones((1, 32, 40, 40), np.float32), np.ones((32, 32, 3, 3), np.float32)
    with recording() as steps:
        conv_input((1, 32, 81, 81), w, g, stride=2)
    slides = [step for step in steps if step.name == "slide"]
    assert not any(step.name == "dilate" for step in steps)
    # Of the nine taps an output meets four, two, two or one.
    assert sorted(step.arguments[1].shape[2:] for step in slides) == [(1, 1), (1, 2), (2, 1), (2, 2)]


def test_phases_by_hand():
    # Input gradient, stride 2, three taps: even inputs meet taps 0 and 2, odd ones tap 1.
    found = phases_of_input_gradient(i=40001, k=3, s=2, C=40, O=2)
    lines = [phase.lines[1] for phase in found.phases]
    assert [(line.outputs.start, line.outputs.step, line.k) for line in lines] == [(0, 2, 2), (1, 2, 1)]


def test_a_phase_without_a_tap_is_left_out():
    # Stride and dilation 2: an odd input meets no tap at all, and its gradient is zero.
    found = phases_of_input_gradient(i=40001, k=3, s=2, d=2, C=40, O=2)
    assert len(found.phases) == 1
    gradient = conv_input(
        (1, 40, 1, 4001), np.ones((2, 40, 1, 3)), np.ones((1, 2, 1, 1999)), stride=2, dilation=(1, 2)
    )
    assert not gradient[..., 1::2].any()
    assert gradient[..., 4:-4:2].all()


def test_phases_are_as_few_as_taps_however_long_the_stride():
    """Inputs stand 10**9 outputs apart: only those that a tap meets are no zeros."""
    far = phases_of_input_gradient(i=2 * 10**9 + 2, k=2, s=10**9)
    assert [phase.lines[-1].outputs.start for phase in far.phases] == [0, 1]


def test_inserted_zeros_beside_a_nan_may_be_left_out():
    """Even cells of the result meet the taps 0 and 2, odd ones tap 1, which is no NaN."""
    for size in (4, 4000):
        y = conv_transpose(np.ones((1, 1, size)), [[[np.nan, 1.0, 1.0]]], stride=2)[0, 0]
        assert np.isnan(y[:-1:2]).all() and (np.isnan(y[1::2]) | (y[1::2] == 1)).all()
