"""One axis of a convolution, and its phases: the outputs that meet the same taps, and no inserted zero.

An input dilated by l has l - 1 zeros between its elements.  Which taps of a window meet an element, and
not a zero, depends on the output's index modulo some P only, so each residue is a convolution of its own.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple


class Axis(NamedTuple):
    """Input size, taps, stride, dilation, input dilation, padding in front, output size."""

    i: int
    k: int
    s: int
    d: int
    l: int
    lo: int
    o: int

    @property
    def P(self) -> int:
        """How many residues of the output's index there are."""
        return self.l // gcd(self.s, self.l)


class Line(NamedTuple):
    """The part of an axis that a phase has; on it, `width` neighbouring outputs may share each window.

    places: for the first outputs of a window, the taps that each meets, and where in the window they stand;
    the next ones meet the same taps `move` places further, and so on.
    """

    outputs: slice
    width: int
    places: tuple[tuple[slice, slice], ...]
    move: int
    i: int
    k: int
    o: int
    s: int
    d: int
    lo: int

    @property
    def axis(self) -> Axis:
        """The convolution that it is."""
        return Axis(self.i, self.k, self.s, self.d, 1, self.lo, self.o)


def phases(axis: Axis) -> list[Line]:
    """The phases of an axis that meet any tap.

    Output p meets tap q at input m where  s*p + d*q - lo = l*m.  With P = l/gcd(s, l) and
    Q = l/gcd(d, l), the taps b + Q*q' meet all outputs a + P*p', if there is such an a < P:

        (s*P/l) * p' + (d*Q/l) * q' - (lo - s*a - d*b)/l  =  m

    >>> [(line.outputs, line.places[0][0]) for line in phases(Axis(i=5, k=3, s=1, d=1, l=2, lo=1, o=9))]
    [(slice(0, 9, 2), slice(1, 3, 2)), (slice(1, 9, 2), slice(0, 3, 2))]
    """
    i, k, s, d, l, lo, o = axis
    P, Q = axis.P, l // gcd(d, l)
    lines = []
    for b in range(min(Q, k)):
        a = (lo - d * b) // gcd(s, l) * pow(s // gcd(s, l), -1, P) % P
        start, apart = divmod(lo - s * a - d * b, l)
        if a < o and not apart:
            outputs, taps = len(range(a, o, P)), len(range(b, k, Q))
            places = ((slice(b, k, Q), slice(0, taps)),)
            lines.append(Line(slice(a, o, P), 1, places, 0, i, taps, outputs, s * P // l, d * Q // l, start))
    return sorted(lines, key=lambda line: line.outputs.start)
