"""Compare as many random geometries as wanted with PyTorch: every number equal, on integers.

    python tests/sweep.py --count 10000 --seed 1 --ranks 2 --directions convolution

Output, three gradients and the gradients of those, of convolutions (with every padding mode) and of
transposed convolutions.  It prints the seed and the counts; the exit code is 1 where any differ.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain

import numpy as np
import torch_oracle
from geometries import Case, random_cases, random_transposed, small_integers

import npconv

DIRECTIONS = ("convolution", "transposed")
NAMES = ("output", "input", "weight", "bias", "grad_output's", "input's", "weight's")


def results(
    case: Case, arrays: tuple[np.ndarray, ...], cotangents: tuple[np.ndarray, ...]
) -> list[np.ndarray]:
    """npconv's output, gradients, and gradients of gradients."""
    x, w, bias, g = arrays
    if not case.is_transposed:
        y = npconv.conv(x, w, bias, **case.parameters)
        first = npconv.conv_backward(g, x, w, **case.parameters)
        second = npconv.conv_double_backward(*cotangents, g, x, w, **case.parameters)
        return [y, *first, *second]
    y = npconv.conv_transpose(x, w, bias, **case.parameters)
    first, pullback = npconv.vjp(npconv.conv_transpose_backward, g, x, w, **case.parameters)
    return [y, *first, *pullback(*cotangents)]


def complaint(case: Case, seed: int) -> str:
    """What is wrong with any of a case's seven arrays; nothing where all are torch's to the last number."""
    arrays = case.arrays(seed)
    rng = np.random.default_rng([seed, 1])
    cotangents = tuple(small_integers(rng, a.shape) for a in arrays[:3])
    due = torch_oracle.answers(case, arrays, cotangents)
    try:
        found = results(case, arrays, cotangents)
    except Exception as error:  # whatever it is, torch has an answer here
        return f"{type(error).__name__}: {error}"
    expected = [due.output, *due.gradients, *due.second]
    wrong = [name for name, a, b in zip(NAMES, found, expected, strict=True) if not np.array_equal(a, b)]
    return ", ".join(wrong)


def cases(seed: int, count: int, ranks: tuple[int, ...], directions: list[str]) -> Iterator[Case]:
    """`count` cases, shared out evenly between the directions."""
    shares = [count // len(directions) + (n < count % len(directions)) for n in range(len(directions))]
    makers = {
        "convolution": lambda share: random_cases(seed, share, ranks, modes=True),
        "transposed": lambda share: random_transposed(seed, share, ranks),
    }
    return chain.from_iterable(makers[name](share) for name, share in zip(directions, shares))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many geometries (1000)")
    parser.add_argument("--seed", type=int, default=0, help="the seed of geometries and numbers (0)")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3], choices=(1, 2, 3))
    parser.add_argument("--directions", nargs="+", default=DIRECTIONS, choices=DIRECTIONS)
    options = parser.parse_args()
    started, counts, wrong = time.perf_counter(), Counter(), 0
    for number, case in enumerate(
        cases(options.seed, options.count, tuple(options.ranks), options.directions)
    ):
        counts[f"{case.rank}-D {'transposed' if case.is_transposed else 'convolution'}"] += 1
        if said := complaint(case, options.seed + number):
            wrong += 1
            print(f"{case}: {said}")
    print(f"seed {options.seed}: {sum(counts.values())} geometries in {time.perf_counter() - started:.0f} s")
    for kind in sorted(counts):
        print(f"  {counts[kind]:6} {kind}")
    print(f"{wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
