"""The table of faults: none is idle, none says what another says, and each is found again."""

import numpy as np
import pytest
from npconv.testing.diagnose import diagnose
from npconv.testing.candidate import Declared
from npconv.testing.fault import predict
from npconv.testing.hypotheses import FAULTS
from npconv.testing.observation import Observation, exact_case
from npconv.testing.parts import PARTS, parts_of, reference, result_shape
from npconv.testing.problems import covering, full
from npconv.testing.reading import evaluate, right

PROBLEMS = [*covering(full(), 2)[::2], *covering(full(transposed=True), 2)[::2]]
SINGLE = Declared()


def cases(part):
    return [exact_case(part, problem, SINGLE) for problem in PROBLEMS if part in parts_of(problem)]


CASES = {part: cases(part) for part in PARTS}


@pytest.mark.parametrize("part", [p for p in PARTS if p != "grad_bias"])
def test_the_right_reading_gives_the_right_result(part):
    for case in CASES[part]:
        result = evaluate(right(case.problem, part).with_tables(), case.arrays)
        if part in ("forward", "transposed") and case.problem.bias:
            result = result + case.arrays["bias"][:, None, None]
        assert np.array_equal(result, case.due), str(case)


def test_a_reading_by_hand():
    # i = 6, k = 3, stride 2, lo = 1: rows of the table are -1 0 1, 1 2 3, 3 4 5.
    x, w = np.array([[[1, 2, 3, 4, 5, 6]]]), np.array([[[1, 10, 100]]])
    from npconv.problem import Problem

    reading = right(Problem.parse("i6_k3_s2_p1:0"), "forward").with_tables()
    assert evaluate(reading, {"input": x, "weight": w}).tolist() == [[[210, 432, 654]]]


def seen(fault, part):
    """What a kernel with this fault would show on every case, as observations."""
    observations = []
    for case in CASES[part]:
        got = predict([fault], case.problem, part, case.arrays, case.due.shape)
        if got is None:
            continue
        kind = "right" if np.array_equal(got, case.due) else "wrong"
        observations.append(Observation(case, kind, got))
    return observations


@pytest.mark.parametrize("number", range(0, len(FAULTS), 7))
def test_a_fault_that_shows_is_found_again(number):
    fault = FAULTS[number]
    part = fault.parts[0]
    observations = seen(fault, part)
    failing = [o for o in observations if o.kind == "wrong"]
    if not failing:  # it changes sizes, square maps or large integers: the kernels of the zoo show those
        return
    (best, *_) = diagnose(observations)
    assert best.complete and len(best.faults) == 1
    for o in failing:
        again = predict(best.faults, o.problem, part, o.case.arrays, o.got.shape)
        assert np.array_equal(again, o.got, equal_nan=True), best.sentence


def test_sentences_are_different_and_plain():
    sentences = [(fault.sentence, fault.parts) for fault in FAULTS]
    assert len(set(sentences)) == len(sentences) > 150
    assert all(s == s.strip() and not s.endswith(".") for s, _ in sentences)


def test_the_right_result_is_explained_by_no_fault():
    observations = [Observation(case, "right", case.due.astype(float)) for case in CASES["forward"]]
    assert diagnose(observations) == []


def test_a_shape_of_no_fault_has_no_prediction():
    case = CASES["forward"][0]
    assert predict(FAULTS[:1], case.problem, "forward", case.arrays, (9, 9, 9, 9)) is None
    assert result_shape("forward", case.problem) == reference("forward", case.problem, case.arrays).shape
