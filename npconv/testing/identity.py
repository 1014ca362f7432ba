"""<output, g> = <x, grad_input> = <w, grad_weight>: who disagrees, without a reference.

The three maps are the derivatives of one trilinear number, so on integers the three inner products
are equal.  Of three numbers, the one that differs from two equal ones belongs to the culprit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from npconv.testing.observation import Observation

# Each map, and the array that its result is multiplied with.
SIDES = {"forward": "grad_output", "grad_input": "input", "grad_weight": "weight"}


def inner(a: np.ndarray, b: np.ndarray) -> float:
    """The sum of products; exact on integers below 2^53."""
    with np.errstate(invalid="ignore"):  # a wrong result may hold infinities
        return float((a.astype(np.float64) * b).sum())


def disagreement(observations: Mapping[str, Observation]) -> str | None:
    """Of one problem's three results: "" where they agree, the culprit, or "all three"; None where
    they cannot be compared."""
    numbers = {}
    for part, other in SIDES.items():
        o = observations.get(part)
        if o is None or o.got is None or o.got.shape != o.case.due.shape:
            return None
        result = o.got
        arrays = o.case.arrays
        if part == "forward" and "bias" in arrays:  # the identity is about the product alone
            result = result - arrays["bias"].reshape(1, -1, *(1 for _ in o.problem.k))
        numbers[part] = inner(result, arrays[other])
    culprits = [
        part for part in numbers if len({number for name, number in numbers.items() if name != part}) == 1
    ]
    if len(set(numbers.values())) == 1:
        return ""
    return culprits[0] if culprits else "all three"


def verdict(observations: Iterable[Observation]) -> str:
    """One line for all problems whose three maps were observed."""
    by_problem: dict[str, dict[str, Observation]] = {}
    for o in observations:
        by_problem.setdefault(str(o.problem), {})[o.part] = o
    found = [d for d in map(disagreement, by_problem.values()) if d is not None]
    if not found:
        return ""
    if not any(found):
        return f"<output, g> = <x, grad_input> = <w, grad_weight> in all {len(found)} problems"
    counts = {name: found.count(name) for name in (*SIDES, "all three") if name in found}
    told = ", ".join(
        f"all three differ in {count}"
        if name == "all three"
        else f"{name} differs from the other two in {count}"
        for name, count in counts.items()
    )
    return f"of {len(found)} problems, {told}"
