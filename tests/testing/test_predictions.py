"""What a hypothesis predicts is what a kernel with that fault computes: kernels of the zoo are the oracle."""

from itertools import product

import pytest
from npconv.problem import Problem
from npconv.testing.candidate import Declared, adapted
from npconv.testing.diagnose import explains_whole
from npconv.testing.hypotheses import FAULTS
from npconv.testing.observation import exact_case, observe
from npconv.testing.parts import parts_of
from npconv.testing.running import Inside
from zoo import WRONG
from zoo_each import EACH

# All sides, strides, dilations and pads differ; then plain ones, crops, square maps, and many channels.
PROBLEMS = [
    Problem.parse(line)
    for line in (
        "N2C4O6G2_i7x10_k3x2_s2x3_p1:2x2:0_d2x1_bias",
        "N2C2O3_i5x6_k3x2_bias",
        "N2C6O9G3_i8x7_k2x3_s3x2_p-1:2x1:-1_d1x2_bias",
        "C6O3G3_i9x9_k3_s2_p1",
        "N2C2O4_i6x9_k3_s2_p3:1x-1:2",
        "C4O4G2_i6_k3_p1_bias",
        "N2C3O5_i11x9_k3_p1_bias",
        "C5O19_i37x21_k3_p1_bias",
        "transposed_N2C4O6G2_i4x5_k3x2_s2x3_p1:2x2:0_d2x1_op1x2_bias",
        "transposed_N2C2O3_i5x6_k3x2_bias",
        "transposed_N2C6O3G3_i4x3_k3_s3x2_p-1:1x0:2_op2x0_bias",
        "transposed_C4O4G2_i4x7_k3_p1_bias",
    )
]
# Told by other means than a table: sums in fewer bits, numbers of their own, memory left over.
ELSEWHERE = ("fewer bits", "multiplied by", "is added to every", "in place of zeros")
STATED = [
    w
    for w in [*WRONG, *EACH]
    if not any(word in str(w.words) for word in ELSEWHERE) or "border" in str(w.words)
]
STATED = [w for w in STATED if w.name != "last tile not written"]


def observed(wrong):
    """What a wrong kernel makes of the problems, part by part; only what is wrong."""
    declared = Declared(**wrong.declared)
    runner = Inside(adapted(wrong.make(), declared))
    found = {}
    for problem in PROBLEMS:
        for part in (part for part in runner.parts if part in parts_of(problem) or part == "grad_bias"):
            if part == "grad_bias" and problem.transposed:
                continue
            o = observe(runner, exact_case(part, problem, declared))
            if o.kind in ("wrong", "shape"):
                found.setdefault(part, []).append(o)
    runner.close()
    return found


def hypotheses(wrong, part):
    """The faults, or pairs of them, that the words of a wrong kernel name."""
    choices = [
        [
            fault
            for fault in FAULTS
            if part in fault.parts and any(word in f"{part}: {fault.told(part)};" for word in words)
        ]
        for words in (
            (w,) if isinstance(w, str) else w for w in wrong.words if w not in ("grad_input", "grad_bias")
        )
    ]
    return list(product(*choices))


@pytest.mark.parametrize("wrong", STATED, ids=lambda w: w.name)
def test_a_kernel_computes_what_its_hypothesis_predicts(wrong):
    found = observed(wrong)
    assert found, "no problem shows the fault"
    for part, failing in found.items():
        assert any(all(explains_whole(faults, o) for o in failing) for faults in hypotheses(wrong, part))
