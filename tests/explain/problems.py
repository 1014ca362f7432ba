"""Random small problems, and the index formula written out in loops: the oracle of the pictures."""

from __future__ import annotations

import random
from itertools import product

from npconv.problem import Problem

PADDINGS = ((0, 0), (1, 1), (2, 0), (0, 3), (-1, 1), (1, -1), (4, 4))


def random_problem(seed, transposed=False):
    """A small problem of one or two axes, its padding of either sign; the first legal one that is drawn."""
    generator = random.Random(seed)
    while True:
        rank, G = generator.choice((1, 2)), generator.choice((1, 1, 2))
        pairs = [generator.choice(PADDINGS) for _ in range(rank)]
        problem = Problem(
            i=tuple(generator.randint(1, 6) for _ in range(rank)),
            k=tuple(generator.randint(1, 3) for _ in range(rank)),
            N=generator.choice((1, 1, 2)),
            C=G * generator.choice((1, 2)),
            O=G * generator.choice((1, 2)),
            G=G,
            stride=tuple(generator.randint(1, 3) for _ in range(rank)),
            padding=tuple(pairs),
            dilation=tuple(generator.randint(1, 3) for _ in range(rank)),
            output_padding=tuple(generator.randint(0, 2) for _ in range(rank)) if transposed else 0,
            transposed=transposed,
        )
        try:
            problem.canonical()
        except ValueError:
            continue
        return problem


def meetings(geometry):
    """Every (n, o, c, p, q, m) that the form multiplies: s*p + d*q = m + lo, in one group.

    c counts within the group, as the weight's second axis does; m is inside the input.
    """
    channels, outputs = geometry.C // geometry.G, geometry.O // geometry.G
    ranges = [range(a.o) for a in geometry.axes], [range(a.k) for a in geometry.axes]
    for n, o, c in product(range(geometry.N), range(geometry.O), range(channels)):
        for p, q in product(product(*ranges[0]), product(*ranges[1])):
            m = tuple(a.s * pp + a.d * qq - a.lo for a, pp, qq in zip(geometry.axes, p, q))
            if all(0 <= mm < a.i for a, mm in zip(geometry.axes, m)):
                yield (n, o // outputs * channels + c, *m), (o, c, *q), (n, o, *p)


def expected(geometry, gives):
    """For each cell of one array of the form, the pairs of cells of the other two that make it up.

    A pair is (cell of the array under the window, cell of the window).
    """
    order = {"output": (2, 0, 1), "input": (0, 2, 1), "weight": (1, 0, 2)}[gives]
    pairs = {}
    for meeting in meetings(geometry):
        result, under, window = (meeting[position] for position in order)
        pairs.setdefault(result, []).append((under, window))
    return {cell: sorted(found) for cell, found in pairs.items()}
