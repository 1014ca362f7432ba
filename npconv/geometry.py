"""The sizes of a convolution: everything about it except its numbers.

Per spatial axis there are eight integers and two derived ones:

    i, k, o   sizes of input, weight (its taps) and output
    l, d, s   their spacings: input dilation, dilation, stride
    lo, hi    padding before and after; negative values crop
    K = d(k-1) + 1                  extent: what the spread-out taps cover
    r = l(i-1) + 1 + lo + hi - K - s(o-1)
                                    remainder: padded inputs after the last window

The three arrays meet where  s*p + d*q = l*m + lo  (output p, tap q, input m).  Every padding below
follows from that one equation.  Nothing here knows NumPy; every complaint about a shape or a
parameter is raised here, before any work is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from npconv.arguments import (
    IntOrInts,
    Padding,
    Pair,
    Shape,
    integer,
    paddings,
    per_axis,
    shape,
)
from npconv.progressions import gaps, multiples, sums


@dataclass(frozen=True)
class Axis:
    """One spatial axis.

    >>> axis = Axis(i=6, k=3, o=2, s=2)
    >>> axis.extent, axis.remainder, axis.input_gradient_padding, axis.weight_gradient_padding
    (3, 1, (2, 3), (0, -1))
    """

    i: int
    k: int
    o: int
    s: int = 1
    d: int = 1
    l: int = 1
    lo: int = 0
    hi: int = 0

    @property
    def extent(self) -> int:
        """K: the inputs between the first tap and the last, both counted."""
        return self.d * (self.k - 1) + 1

    @property
    def dilated(self) -> int:
        """The size of the input once l - 1 zeros stand between its neighbours."""
        return self.l * (self.i - 1) + 1 if self.i else 0

    @property
    def remainder(self) -> int:
        """r, from the two sizes and not with a modulus: a transposed convolution's r may pass s."""
        return self.dilated + self.lo + self.hi - self.extent - self.s * (self.o - 1)

    @property
    def input_gradient_padding(self) -> Pair:
        """What is put around the dilated grad_output: (K-1-lo, K-1-hi+r)."""
        return self.extent - 1 - self.lo, self.extent - 1 - self.hi + self.remainder

    @property
    def weight_gradient_padding(self) -> Pair:
        """What is put around the input in the weight gradient: (lo, hi-r)."""
        return self.lo, self.hi - self.remainder

    @property
    def unread(self) -> tuple[int, ...]:
        """The inputs m that no window reads: no tap q of any output p has s*p + d*q = l*m + lo."""
        return tuple(m for run in gaps(self.read, self.i) for m in run)

    @property
    def read(self) -> list[range]:
        """The inputs that windows read, as progressions that share none."""
        return multiples(sums(self.s, self.o, self.d, self.k), self.l, self.lo, self.i)


@dataclass(frozen=True)
class Geometry:
    """A whole convolution: N batch, C input channels, O output channels, G groups, then the axes.

    >>> geometry = convolution((2, 4, 6, 7), (8, 2, 3, 3), stride=2, padding=1, groups=2)
    >>> geometry.output_shape, geometry.remainder
    ((2, 8, 3, 4), (1, 0))
    """

    N: int
    C: int
    O: int
    G: int
    axes: tuple[Axis, ...]
    batched: bool = True

    @property
    def rank(self) -> int:
        return len(self.axes)

    def _with_batch(self, channels: int, sizes: Iterable[int]) -> Shape:
        return ((self.N,) if self.batched else ()) + (channels, *sizes)

    @cached_property
    def input_shape(self) -> Shape:
        return self._with_batch(self.C, (axis.i for axis in self.axes))

    @cached_property
    def weight_shape(self) -> Shape:
        return (self.O, self.C // self.G, *(axis.k for axis in self.axes))

    @cached_property
    def output_shape(self) -> Shape:
        return self._with_batch(self.O, (axis.o for axis in self.axes))

    @cached_property
    def stride(self) -> Shape:
        return tuple(axis.s for axis in self.axes)

    @cached_property
    def dilation(self) -> Shape:
        return tuple(axis.d for axis in self.axes)

    @cached_property
    def input_dilation(self) -> Shape:
        return tuple(axis.l for axis in self.axes)

    @cached_property
    def padding(self) -> tuple[Pair, ...]:
        return tuple((axis.lo, axis.hi) for axis in self.axes)

    @cached_property
    def remainder(self) -> Shape:
        return tuple(axis.remainder for axis in self.axes)

    @cached_property
    def input_gradient_padding(self) -> tuple[Pair, ...]:
        return tuple(axis.input_gradient_padding for axis in self.axes)

    @cached_property
    def weight_gradient_padding(self) -> tuple[Pair, ...]:
        return tuple(axis.weight_gradient_padding for axis in self.axes)

    def without_remainder(self) -> Geometry:
        """The same windows over an input that ends where the last one does: padding (lo, hi-r)."""
        axes = tuple(replace(axis, hi=axis.hi - axis.remainder) for axis in self.axes)
        return replace(self, axes=axes)

    def already_padded(self) -> Geometry:
        """The same windows over an input that brings its border with it."""
        axes = tuple(replace(axis, i=axis.i + axis.lo + axis.hi, lo=0, hi=0) for axis in self.axes)
        return replace(self, axes=axes)


# ---------------------------------------------------------------- from a user's arguments


def convolution(
    input_shape: Sequence[int],
    weight_shape: Sequence[int],
    stride: IntOrInts = 1,
    padding: Padding = 0,
    dilation: IntOrInts = 1,
    groups: int = 1,
    *,
    rank: int | None = None,
    names: tuple[str, str] = ("input", "weight"),
) -> Geometry:
    """The geometry of a convolution, or a ValueError (TypeError) that says which rule is broken.

    `names`: what the caller calls the two shapes.

    >>> convolution((1, 1, 2, 2), (1, 1, 3, 3))
    Traceback (most recent call last):
    ValueError: padding: on spatial axis 0 the padded input has size 2 (2 + 0 + 0), but the weight \
covers 3 (dilation 1 * (3 taps - 1) + 1), which would give 0 outputs; pad more or use fewer taps; \
called with input (1, 1, 2, 2), weight (1, 1, 3, 3), stride 1, padding 0, dilation 1, groups 1
    """
    input_name, weight_name = names
    call = {
        input_name: input_shape, weight_name: weight_shape,
        "stride": stride, "padding": padding, "dilation": dilation, "groups": groups,
    }  # fmt: skip
    with telling_the_call(call):
        weight_shape, input_shape = shapes(input_shape, weight_shape, rank, names)
        rank = len(weight_shape) - 2
        groups = integer(groups, "groups", at_least=1)
        batched, N, C = batch_and_channels(input_shape, rank, input_name)
        O, channels_per_group, *taps = weight_shape
        if C % groups or O % groups:
            raise ValueError(
                f"groups: {groups} must divide the input's {C} channels and the weight's {O} output channels"
            )
        if channels_per_group * groups != C:
            raise ValueError(
                f"{weight_name}: its axis 1 has {channels_per_group} channels, but input has {C} channels in "
                f"{groups} group(s), so it must have {C // groups}"
            )
        sizes = input_shape[-rank:]
        strides = per_axis(stride, rank, "stride", at_least=1)
        dilations = per_axis(dilation, rank, "dilation", at_least=1)
        geometries = list(zip(sizes, taps, strides, dilations))
        pads = paddings(padding, [same_total(i, k, s, d) for i, k, s, d in geometries])
        axes = tuple(
            _window_axis(number, i, k, s, d, lo, hi)
            for number, ((i, k, s, d), (lo, hi)) in enumerate(zip(geometries, pads))
        )
        return Geometry(N, C, O, groups, axes, batched)


@contextmanager
def telling_the_call(arguments: Mapping[str, object]) -> Iterator[None]:
    """Add the whole call to whatever goes wrong inside."""
    try:
        yield
    except (TypeError, ValueError) as error:
        call = ", ".join(f"{name} {value}" for name, value in arguments.items())
        raise type(error)(f"{error}; called with {call}") from None


def _window_axis(number: int, i: int, k: int, s: int, d: int, lo: int, hi: int) -> Axis:
    padded, extent = i + lo + hi, d * (k - 1) + 1
    o = output_size(padded, extent, s)
    if o < 1:
        raise ValueError(
            f"padding: on spatial axis {number} the padded input has size {padded} ({i} + {lo} + {hi}), "
            f"but the weight covers {extent} (dilation {d} * ({k} taps - 1) + 1), which would give "
            f"{o} outputs; pad more or use fewer taps"
        )
    return Axis(i, k, o, s, d, lo=lo, hi=hi)


# ---------------------------------------------------------------- sizes and paddings


def output_size(padded: int, extent: int, s: int) -> int:
    """floor((padded - K) / s) + 1, the floor being toward minus infinity.

    >>> output_size(7, 3, 2), output_size(4, 5, 2)
    (3, 0)
    """
    return (padded - extent) // s + 1


def same_total(i: int, k: int, s: int, d: int) -> int:
    """The padding, both ends together, that makes ceil(i / s) outputs of i inputs."""
    outputs = -(-i // s)
    return max(s * (outputs - 1) + d * (k - 1) + 1 - i, 0)


def shapes(
    input_shape: Sequence[int],
    weight_shape: Sequence[int],
    rank: int | None,
    names: tuple[str, str] = ("input", "weight"),
) -> tuple[Shape, Shape]:
    """Both shapes as ints, the weight's first; ValueError where their axes do not go with the rank."""
    input_name, name = names
    weight_shape, input_shape = shape(weight_shape, name), shape(input_shape, input_name)
    if rank is not None and len(weight_shape) != integer(rank, "rank", at_least=1) + 2:
        raise ValueError(
            f"{name}: it has {len(weight_shape)} axes, but with {rank} spatial axes it must have {rank + 2}"
        )
    if len(weight_shape) < 3:
        raise ValueError(
            f"{name}: it has {len(weight_shape)} axes, but it needs two for channels and one an axis "
            f"of the window, so 3 or more"
        )
    for number, taps in enumerate(weight_shape[2:]):
        if taps < 1:
            raise ValueError(f"{name}: on spatial axis {number} it has {taps} taps; it must have 1 or more")
    return weight_shape, input_shape


def batch_and_channels(input_shape: Shape, rank: int, name: str = "input") -> tuple[bool, int, int]:
    """Whether there is a batch axis, and the sizes of batch and channels."""
    if len(input_shape) not in (rank + 1, rank + 2):
        raise ValueError(
            f"{name}: it has {len(input_shape)} axes, but for a weight with {rank} spatial axes it must "
            f"have {rank + 2} (batch, channels, spatial) or {rank + 1} (without the batch)"
        )
    batched = len(input_shape) == rank + 2
    return batched, (input_shape[0] if batched else 1), input_shape[-rank - 1]
