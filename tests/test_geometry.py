"""Sizes, remainders and paddings: by hand, by counting, and by the index equation s*p + d*q = l*m + lo."""

from itertools import product

import numpy as np
import pytest
from geometries import NAMED, TRANSPOSED, random_cases, random_transposed
from messages import saying
from oracle import count_windows, meetings

from npconv.arguments import paddings
from npconv.geometry import Axis, Geometry, convolution, output_size, same_total
from npconv.transposed_geometry import transposed

CASES = [*NAMED, *random_cases(2, 1000, (1, 2, 3))]


def geometry_of(case):
    return convolution(case.input_shape, case.weight_shape, case.stride, case.padding, case.dilation, case.G)


# ---------------------------------------------------------------- one axis


def test_an_axis_worked_out_by_hand():
    # 13 inputs, 2 before and 1 after; taps 1 . . 1 . . 1 cover 7; windows start at 0 4 8; one cell is left.
    axis = Axis(i=13, k=3, o=3, s=4, d=3, lo=2, hi=1)
    assert (axis.extent, axis.remainder) == (7, 1)
    assert axis.input_gradient_padding == (7 - 1 - 2, 7 - 1 - 1 + 1)
    assert axis.weight_gradient_padding == (2, 0)


def test_an_axis_with_input_dilation_worked_out_by_hand():
    # 3 inputs spread over 5 cells; two windows of 2 at 0 and 2; one cell is left.
    axis = Axis(i=3, k=2, o=2, s=2, l=2)
    assert (axis.dilated, axis.remainder) == (5, 1)


def test_the_remainder_may_pass_the_stride_where_the_sizes_say_so():
    assert Axis(i=12, k=2, o=3, s=2, d=4).remainder == 12 - 5 - 4


def test_no_inputs_cover_nothing_however_dilated():
    assert Axis(i=0, k=1, o=1, l=3, lo=2, hi=1).dilated == 0


@pytest.mark.parametrize(
    "padded, extent, s, size",
    [
        (7, 3, 2, 3),
        (6, 3, 2, 2),
        (3, 3, 5, 1),
        (2, 3, 1, 0),
        (2, 3, 2, 0),
        (1, 3, 2, 0),
        (0, 3, 2, -1),
        (-2, 3, 4, -1),
    ],
)
def test_the_output_size_is_floored_toward_minus_infinity(padded, extent, s, size):
    assert output_size(padded, extent, s) == size


def test_sizes_and_remainders_are_those_counted():
    for case in CASES:
        geometry = geometry_of(case)
        assert geometry.output_shape == case.output_shape, case
        assert geometry.remainder == case.remainder, case


def test_each_gradients_padding_gives_exactly_the_size_asked_for():
    for case in CASES:
        for axis in geometry_of(case).axes:
            spread = axis.s * (axis.o - 1) + 1
            # grad_input: the weight slides with stride 1 over the spread and padded grad_output.
            assert count_windows(spread + sum(axis.input_gradient_padding), axis.extent, 1) == axis.i, case
            # grad_weight: grad_output, s apart, slides with stride d over the padded input.
            assert count_windows(axis.i + sum(axis.weight_gradient_padding), spread, axis.d) == axis.k, case


def test_the_inputs_called_unread_take_part_in_no_term():
    for case in CASES:
        for axis in geometry_of(case).axes:
            terms = meetings(axis.i, axis.k, axis.o, axis.s, axis.d, axis.l, axis.lo, "zeros")
            assert set(axis.unread) == set(range(axis.i)) - {m for m, _, _ in terms}, case


def test_unread_inputs_by_hand():
    assert Axis(i=6, k=3, o=2, s=2).unread == (5,)
    assert Axis(i=7, k=2, o=3, s=3, lo=1).unread == (1, 4)
    assert Axis(i=7, k=2, o=2, s=3, d=2).unread == (1, 4, 6)


# ---------------------------------------------------------------- a whole convolution


def test_a_geometry_names_its_shapes():
    geometry = convolution(
        (2, 4, 6, 7), (8, 2, 3, 5), stride=(2, 1), padding=((0, 1), 2), dilation=(1, 2), groups=2
    )
    assert (geometry.N, geometry.C, geometry.O, geometry.G, geometry.rank) == (2, 4, 8, 2, 2)
    assert geometry.input_shape == (2, 4, 6, 7)
    assert geometry.weight_shape == (8, 2, 3, 5)
    assert geometry.output_shape == (2, 8, 3, 3)
    assert geometry.stride == (2, 1)
    assert geometry.dilation == (1, 2)
    assert geometry.input_dilation == (1, 1)
    assert geometry.padding == ((0, 1), (2, 2))
    assert geometry.remainder == (0, 0)
    assert geometry.input_gradient_padding == ((2, 1), (6, 6))
    assert geometry.weight_gradient_padding == ((0, 1), (2, 2))


def test_a_geometry_cannot_be_changed():
    geometry = convolution((1, 1, 3), (1, 1, 2))
    with pytest.raises(AttributeError):
        geometry.N = 2


def test_without_a_batch_axis_the_shapes_have_none():
    geometry = convolution((4, 6), (8, 4, 3))
    assert (geometry.N, geometry.batched) == (1, False)
    assert (geometry.input_shape, geometry.output_shape) == ((4, 6), (8, 4))


def test_every_size_is_a_python_int_whatever_integers_came_in():
    ints = dict(
        stride=np.int8(2), padding=np.array([[1, 2], [3, 4]], np.uint8), dilation=np.array([1, 2], np.int16)
    )
    geometry = convolution(
        np.array([1, 2, 100, 100], np.int8), (np.uint64(2), 1, 3, 3), **ints, groups=np.int64(2)
    )
    plain = convolution((1, 2, 100, 100), (2, 1, 3, 3), 2, ((1, 2), (3, 4)), (1, 2), 2)
    assert geometry == plain
    for axis in geometry.axes:
        assert {type(value) for value in vars(axis).values()} == {int}


def test_sizes_beyond_every_machine_integer_are_exact():
    geometry = convolution((1, 1, 2**70), (1, 1, 3), stride=3, padding=2**65, dilation=2**64)
    (axis,) = geometry.axes
    assert axis.o == (2**70 + 2**66 - 2**65 - 1) // 3 + 1
    assert axis.remainder == (2**70 + 2**66 - 2**65 - 1) % 3


def test_without_remainder_the_input_ends_with_the_last_window():
    for case in CASES:
        trimmed = geometry_of(case).without_remainder()
        assert trimmed.remainder == (0,) * case.rank
        assert trimmed.output_shape == case.output_shape
        assert [axis.lo for axis in trimmed.axes] == [lo for lo, _ in case.padding]


def test_already_padded_the_border_is_part_of_the_input():
    for case in CASES:
        bordered = geometry_of(case).already_padded()
        assert bordered.input_shape[2:] == case.padded
        assert bordered.padding == ((0, 0),) * case.rank
        assert (bordered.output_shape, bordered.remainder) == (case.output_shape, case.remainder)


# ---------------------------------------------------------------- "same" and "valid"


@pytest.mark.parametrize("s", [1, 2, 3, 4])
def test_same_gives_one_output_for_every_stride_inputs(s):
    for i, k, d in product(range(1, 12), range(1, 5), range(1, 4)):
        for padding in ("same", "same_lower"):
            geometry = convolution((1, 1, i), (1, 1, k), stride=s, padding=padding, dilation=d)
            assert geometry.output_shape[2] == -(-i // s)


def test_same_pads_no_more_than_it_must():
    for i, k, s, d in product(range(1, 12), range(1, 5), range(1, 5), range(1, 4)):
        total = same_total(i, k, s, d)
        assert count_windows(i + total, d * (k - 1) + 1, s) >= -(-i // s)
        assert total == 0 or count_windows(i + total - 1, d * (k - 1) + 1, s) < -(-i // s)


def test_the_odd_cell_of_same_is_at_the_end_and_of_same_lower_at_the_start():
    assert convolution((1, 1, 6), (1, 1, 3), stride=2, padding="same").padding == ((0, 1),)
    assert convolution((1, 1, 6), (1, 1, 3), stride=2, padding="same_lower").padding == ((1, 0),)
    assert convolution((1, 1, 6), (1, 1, 4), padding="same").padding == ((1, 2),)
    assert convolution((1, 1, 6), (1, 1, 4), padding="same_lower").padding == ((2, 1),)


def test_same_never_crops():
    assert convolution((1, 1, 7), (1, 1, 1), stride=3, padding="same").padding == ((0, 0),)


def test_valid_pads_nothing():
    assert convolution((1, 1, 6, 6), (1, 1, 3, 3), padding="valid").padding == ((0, 0), (0, 0))


@pytest.mark.parametrize(
    "written, pairs",
    [
        (1, ((1, 1), (1, 1))),
        (-1, ((-1, -1), (-1, -1))),
        ([2], ((2, 2), (2, 2))),
        ((1, 2), ((1, 1), (2, 2))),
        ([(1, 2), 3], ((1, 2), (3, 3))),
        ([[1, 2], [3, 4]], ((1, 2), (3, 4))),
        (np.array(3), ((3, 3), (3, 3))),
        (np.array([1, 2]), ((1, 1), (2, 2))),
        (np.array([[1, 2], [3, 4]]), ((1, 2), (3, 4))),
        ([np.array(1), np.int8(2)], ((1, 1), (2, 2))),
    ],
)
def test_every_way_to_write_a_padding(written, pairs):
    assert paddings(written, [0, 0]) == pairs


# ---------------------------------------------------------------- transposed convolutions


def test_a_transposed_geometry_is_the_convolutions_whose_gradient_it_is():
    for case in (*TRANSPOSED, *random_transposed(3, 1000, (1, 2, 3))):
        geometry = transposed(case.input_shape, case.weight_shape, **case.parameters)
        assert geometry.input_shape == case.output_shape, case
        assert geometry.output_shape == case.input_shape, case
        assert geometry.weight_shape == case.weight_shape, case
        assert geometry.remainder == case.output_padding, case
        for axis in geometry.axes:
            padded = axis.i + sum(axis.weight_gradient_padding)
            assert count_windows(padded, axis.extent, axis.s) == axis.o, case


def test_a_wanted_size_is_reached_through_the_remainder():
    for size in (7, 8):
        geometry = transposed((1, 2, 4), (2, 3, 3), stride=2, padding=1, output_size=size)
        assert (geometry.input_shape, geometry.remainder) == ((1, 3, size), (size - 7,))
    assert transposed((1, 2, 4), (2, 3, 3), stride=2, padding=1, output_size=(1, 3, 8)) == geometry
    assert transposed((2, 4), (2, 3, 3), stride=2, padding=1, output_size=(3, 8)).input_shape == (3, 8)


def test_a_transposed_same_has_stride_times_the_inputs():
    for o, k, s, d in product(range(1, 6), range(1, 5), range(1, 4), range(1, 3)):
        geometry = transposed((1, 1, o), (1, 1, k), stride=s, padding="same", dilation=d)
        assert geometry.input_shape[2] == s * o
        assert geometry.padding == convolution((1, 1, s * o), (1, 1, k), s, "same", d).padding


# ---------------------------------------------------------------- what is refused

SHAPES = ((2, 4, 5, 6), (6, 2, 3, 3))
HALVES = {"groups": 2}


@pytest.mark.parametrize(
    "shapes, parameters, kind, text",
    [
        # the shapes themselves
        (((2, 4, 5, 6), (6, 2)), {}, ValueError, "weight: it has 2 axes ... 3 or more"),
        (((2, 4, 5, 6), ()), {}, ValueError, "weight: it has 0 axes"),
        (
            ((4,), (6, 4, 3, 3)),
            {},
            ValueError,
            "input: it has 1 axes ... 2 spatial axes ... 4 (batch ... 3 (without",
        ),
        (((1, 2, 4, 5, 6), (6, 4, 3, 3)), {}, ValueError, "input: it has 5 axes ... 2 spatial axes"),
        (
            SHAPES,
            {**HALVES, "rank": 1},
            ValueError,
            "weight: it has 4 axes ... 1 spatial axes it must have 3",
        ),
        (
            ((2, 4, 5, 6), (6, 4, 0, 3)),
            {},
            ValueError,
            "weight: on spatial axis 0 it has 0 taps ... 1 or more",
        ),
        (((2, 4, 5, 6), (6, 4, 3, 0)), {}, ValueError, "weight: on spatial axis 1 it has 0 taps"),
        (((2, 4, 5, -6), (6, 4, 3, 3)), {}, ValueError, "input axis 3: it is -6 ... 0 or more"),
        (((2, 4, 5, 6), (6, 4, 3.0, 3)), {}, TypeError, "weight axis 2: it is 3.0, a float"),
        ((5, (6, 4, 3)), {}, TypeError, "input: it is 5, a int ... sequence of integers"),
        (("abc", (6, 4, 3)), {}, TypeError, "input: it is 'abc', a str"),
        # channels and groups
        (
            SHAPES,
            {},
            ValueError,
            "weight: its axis 1 has 2 channels ... input has 4 channels ... 1 group(s) ... have 4",
        ),
        (
            SHAPES,
            {"groups": 3},
            ValueError,
            "groups: 3 must divide ... input's 4 channels ... weight's 6 output channels",
        ),
        (SHAPES, {"groups": 4}, ValueError, "groups: 4 must divide ... 6 output channels"),
        (SHAPES, {"groups": 0}, ValueError, "groups: it is 0 ... 1 or more"),
        (SHAPES, {"groups": -2}, ValueError, "groups: it is -2 ... 1 or more"),
        (SHAPES, {"groups": 2.0}, TypeError, "groups: it is 2.0, a float; it must be an integer"),
        (SHAPES, {"groups": True}, TypeError, "groups: it is True, a bool"),
        (SHAPES, {"groups": (2,)}, TypeError, "groups: it is (2,), a tuple"),
        (SHAPES, {"groups": None}, TypeError, "groups: it is None, a NoneType"),
        # stride and dilation
        (SHAPES, {**HALVES, "stride": 0}, ValueError, "stride: it is 0 ... 1 or more"),
        (
            SHAPES,
            {**HALVES, "stride": (1, -1)},
            ValueError,
            "stride of spatial axis 1: it is -1 ... 1 or more",
        ),
        (SHAPES, {**HALVES, "stride": (1, 2, 3)}, ValueError, "stride: 3 values for 2 spatial axes"),
        (SHAPES, {**HALVES, "stride": ()}, ValueError, "stride: 0 values for 2 spatial axes"),
        (SHAPES, {**HALVES, "stride": 1.5}, TypeError, "stride: it is 1.5, a float"),
        (SHAPES, {**HALVES, "stride": "2"}, TypeError, "stride: it is '2', a str ... one integer an axis"),
        (SHAPES, {**HALVES, "stride": None}, TypeError, "stride: it is None"),
        (SHAPES, {**HALVES, "stride": np.bool_(True)}, TypeError, "stride: ... bool"),
        (
            SHAPES,
            {**HALVES, "stride": np.array([1.0, 2.0])},
            TypeError,
            "stride of spatial axis 0: ... float64",
        ),
        (SHAPES, {**HALVES, "dilation": 0}, ValueError, "dilation: it is 0 ... 1 or more"),
        (SHAPES, {**HALVES, "dilation": (0, 1)}, ValueError, "dilation of spatial axis 0: it is 0"),
        (SHAPES, {**HALVES, "dilation": (1, 1, 1)}, ValueError, "dilation: 3 values for 2 spatial axes"),
        (SHAPES, {**HALVES, "dilation": 1j}, TypeError, "dilation: it is 1j, a complex"),
        # padding
        (
            SHAPES,
            {**HALVES, "padding": "full"},
            ValueError,
            "padding: 'full' ... 'valid' ... 'same' ... 'same_lower'",
        ),
        (
            SHAPES,
            {**HALVES, "padding": (1, 2, 3)},
            ValueError,
            "padding: 3 entries for 2 spatial axes ... ((1, 2), (1, 2))",
        ),
        (SHAPES, {**HALVES, "padding": [(1, 2)]}, ValueError, "padding: 1 entries for 2 spatial axes"),
        (
            SHAPES,
            {**HALVES, "padding": [(1, 2), (1, 2, 3)]},
            ValueError,
            "padding: on spatial axis 1 ... (1, 2, 3) ... (lo, hi)",
        ),
        (SHAPES, {**HALVES, "padding": ["ab", 1]}, ValueError, "padding: on spatial axis 0 ... 'ab'"),
        (SHAPES, {**HALVES, "padding": 0.5}, TypeError, "padding: it is 0.5, a float"),
        (SHAPES, {**HALVES, "padding": (1, 0.5)}, TypeError, "padding of spatial axis 1: it is 0.5"),
        (
            SHAPES,
            {**HALVES, "padding": [(0, 1), (True, 1)]},
            TypeError,
            "padding of spatial axis 1: it is True, a bool",
        ),
        (SHAPES, {**HALVES, "padding": None}, TypeError, "padding: it is None"),
        # no window fits
        (
            ((1, 1, 2, 5), (1, 1, 3, 3)),
            {},
            ValueError,
            "padding: on spatial axis 0 ... size 2 (2 + 0 + 0) ... covers 3 (dilation 1 ... give 0 outputs",
        ),
        (
            ((1, 1, 9, 4), (1, 1, 3, 3)),
            {"stride": (1, 2), "dilation": 2, "padding": ((0, 0), (-2, 1))},
            ValueError,
            "padding: on spatial axis 1 ... size 3 (4 + -2 + 1) ... covers 5 (dilation 2 ... give 0 outputs",
        ),
        (
            ((1, 1, 4), (1, 1, 3)),
            {"stride": 2, "padding": -3},
            ValueError,
            "size -2 (4 + -3 + -3) ... would give -2 outputs",
        ),
        (
            ((1, 1, 4), (1, 1, 3)),
            {"stride": 2, "dilation": 2},
            ValueError,
            "size 4 ... covers 5 ... would give 0 outputs",
        ),
    ],
)
def test_convolution_refuses(shapes, parameters, kind, text):
    with pytest.raises(kind, match=saying(text)):
        convolution(*shapes, **parameters)


def test_every_complaint_of_a_convolution_carries_the_whole_call():
    call = (
        "called with input (1, 3, 5), weight (2, 4, 3), stride (7,), padding ((1, 2),), dilation 5, groups 1"
    )
    with pytest.raises(ValueError, match=saying(call)):
        convolution((1, 3, 5), (2, 4, 3), stride=(7,), padding=((1, 2),), dilation=5, groups=1)


TRANSPOSED_SHAPES = ((2, 4, 5), (4, 3, 3))


@pytest.mark.parametrize(
    "shapes, parameters, kind, text",
    [
        (((2, 4, 5), (3, 3, 3)), {}, ValueError, "weight: its axis 0 has size 3 ... input has 4 channels"),
        (TRANSPOSED_SHAPES, {"groups": 3}, ValueError, "groups: 3 must divide the input's 4 channels"),
        (TRANSPOSED_SHAPES, {"groups": 0}, ValueError, "groups: it is 0"),
        (TRANSPOSED_SHAPES, {"stride": 0}, ValueError, "stride: it is 0"),
        (TRANSPOSED_SHAPES, {"dilation": (1, 2)}, ValueError, "dilation: 2 values for 1 spatial axes"),
        (TRANSPOSED_SHAPES, {"padding": "mirror"}, ValueError, "padding: 'mirror'"),
        (TRANSPOSED_SHAPES, {"output_padding": -1}, ValueError, "output_padding: it is -1 ... 0 or more"),
        (TRANSPOSED_SHAPES, {"output_padding": 1.0}, TypeError, "output_padding: it is 1.0, a float"),
        (
            TRANSPOSED_SHAPES,
            {"stride": 2, "output_padding": 2},
            ValueError,
            "output_padding: on spatial axis 0 it is 2 ... larger of stride and dilation, 2",
        ),
        (
            TRANSPOSED_SHAPES,
            {"stride": 2, "dilation": 3, "output_padding": 3},
            ValueError,
            "output_padding: on spatial axis 0 it is 3 ... larger of stride and dilation, 3",
        ),
        (
            TRANSPOSED_SHAPES,
            {"stride": 2, "output_padding": 1, "output_size": 12},
            ValueError,
            "output_padding: 1 cannot be given together with output_size",
        ),
        (
            TRANSPOSED_SHAPES,
            {"stride": 2, "output_padding": 1, "padding": "same"},
            ValueError,
            "output_padding: 1 cannot be given together ... padding 'same'",
        ),
        (
            TRANSPOSED_SHAPES,
            {"stride": 3, "output_size": 18},
            ValueError,
            "output_size: on spatial axis 0 it is 18 ... only sizes 15 to 17",
        ),
        (
            TRANSPOSED_SHAPES,
            {"stride": 3, "output_size": 14},
            ValueError,
            "output_size: on spatial axis 0 it is 14",
        ),
        (TRANSPOSED_SHAPES, {"output_size": (7, 7)}, ValueError, "output_size: 2 values for 1 spatial axes"),
        (TRANSPOSED_SHAPES, {"output_size": 7.0}, TypeError, "output_size ... it is 7.0, a float"),
        (TRANSPOSED_SHAPES, {"output_size": "7"}, TypeError, "output_size: it is '7', a str"),
        (
            TRANSPOSED_SHAPES,
            {"padding": 4},
            ValueError,
            "padding: on spatial axis 0 the output would have size -1",
        ),
        (((4, 5, 5, 5), (4, 3, 3)), {}, ValueError, "input: it has 4 axes ... 1 spatial axes"),
        (
            TRANSPOSED_SHAPES,
            {"rank": 2},
            ValueError,
            "weight: it has 3 axes ... 2 spatial axes it must have 4",
        ),
    ],
)
def test_transposed_refuses(shapes, parameters, kind, text):
    with pytest.raises(kind, match=saying(text)):
        transposed(*shapes, **parameters)


def test_every_complaint_of_a_transposed_convolution_carries_the_whole_call():
    call = (
        "called with input (1, 3, 5), weight (3, 4, 3), stride 2, padding 1, output_padding 5, "
        "output_size None, dilation 3, groups 1"
    )
    with pytest.raises(ValueError, match=saying(call)):
        transposed((1, 3, 5), (3, 4, 3), 2, 1, 5, 1, 3)


def test_an_axis_and_a_geometry_are_compared_by_value():
    assert Axis(5, 3, 3) == Axis(5, 3, 3, s=1, d=1, l=1, lo=0, hi=0) != Axis(5, 3, 3, s=2)
    assert Geometry(1, 1, 1, 1, (Axis(5, 3, 3),)) == convolution((1, 1, 5), (1, 1, 3))
