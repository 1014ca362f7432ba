"""What the evidence proves, and how a sentence says so."""

import numpy as np
import pytest
from npconv.problem import Problem
from npconv.testing.candidate import Declared
from npconv.testing.diagnose import diagnose, explains_whole, possible_faults
from npconv.testing.fitted import fitted
from npconv.testing.hypotheses import FAULTS
from npconv.testing.leftover import left_over
from npconv.testing.matching import same
from npconv.testing.narrow import saturated
from npconv.testing.observation import Case, Observation, exact_case
from npconv.testing.parts import reference

LINES = (
    "C2O3_i5x6_k3x2_bias",
    "N2C2O3_i7x4_k2x3_bias",
    "C2O4_i6x9_k3_p1_bias",
    "N2C3O2_i8x7_k2_s2_bias",
    "C2_i5x7_k3x2",
)


def case(line):
    return exact_case("forward", Problem.parse(line), Declared())


def observation(c, got):
    got = np.asarray(got, float)
    return Observation(c, "right" if np.array_equal(got, c.due) else "wrong", got)


def of_kernel(kernel, lines=LINES):
    """What a kernel, a function of a case, makes of some problems."""
    return [observation(c, kernel(c)) for c in map(case, lines)]


def changed(c, **arrays):
    return reference("forward", c.problem, {**c.arrays, **arrays})


def flipped(c):
    return changed(c, weight=c.arrays["weight"][..., ::-1, ::-1])


def flipped_without_bias(c):
    bias = {"bias": 0 * c.arrays["bias"]} if c.problem.bias else {}
    return changed(c, weight=c.arrays["weight"][..., ::-1, ::-1], **bias)


def test_one_fault_on_many_cases_is_a_fact():
    (best,) = diagnose(of_kernel(flipped))
    assert str(best).startswith("forward: the weight is flipped; explains ") and not best.rivals


def test_one_case_has_no_pair_and_no_fact():
    assert diagnose(of_kernel(flipped_without_bias, LINES[:1])) == []
    (best,) = diagnose(of_kernel(flipped, LINES[:1]))
    total = case(LINES[0]).due.size
    assert str(best).startswith("forward: consistent with: the weight is flipped")
    assert str(best).endswith(f"explains all {total} wrong elements")


def test_a_pair_on_two_cases_is_still_no_fact():
    (best,) = diagnose(of_kernel(flipped_without_bias, LINES[:2]))
    assert len(best.faults) == 2
    assert str(best).startswith("forward: consistent with: ")
    assert "the weight is flipped and the bias is missing" in best.rivals


def test_what_explains_less_than_half_is_not_the_nearest():
    lines = [line for line in LINES if case(line).problem.N == 1]  # of 3 cases, the smallest

    def kernel(share):
        strange = lambda c: c.due + 7 + np.arange(c.due.size).reshape(c.due.shape) ** 2  # noqa: E731
        return lambda c: flipped(c) if str(c.problem) in share else strange(c)

    elements = {line: case(line).due.size for line in lines}
    least = min(lines, key=elements.__getitem__)
    assert 2 * elements[least] < sum(elements.values())
    assert diagnose(of_kernel(kernel({least}), lines)) == []
    most = set(lines) - {least}
    told = diagnose(of_kernel(kernel(most), lines))
    assert told and "the weight is flipped" in str(told[0]) and 2 * told[0].explained >= told[0].wrong


def test_a_pair_that_four_cases_show_is_a_fact():
    (best,) = diagnose(of_kernel(flipped_without_bias))
    assert str(best).startswith("forward: the weight is flipped and the bias is missing; explains ")


def test_cases_that_one_of_a_pair_explains_alone_do_not_prove_the_pair():
    plain = ("C2_i5x7_k3x2", "C3_i5x7_k3x2", "C2O2_i6x7_k2x3", "C2O3_i4x7_k3x2")  # no bias to be missing
    assert diagnose(of_kernel(flipped_without_bias, (LINES[0], *plain)))[0].rivals


def test_faults_that_one_case_cannot_tell_apart_are_all_told():
    (best,) = diagnose(of_kernel(flipped, ("C2_i3x3_k1x2",)))
    assert str(best).startswith(
        "forward: consistent with: the weight is flipped; or the taps are flipped along"
    )
    assert str(best).endswith("each explains all 6 wrong elements")


def test_a_fault_that_spares_cases_says_in_how_many_it_shows():
    (best,) = diagnose(of_kernel(lambda c: flipped(c) if c.problem.N == 1 else c.due))
    assert best.complete and best.spoilt == 2
    assert str(best).endswith("; it shows in 3 of the 5 cases where it could")


def test_where_two_faults_strike_apart_each_says_how_much_it_explains():
    observations = of_kernel(
        lambda c: flipped(c) if c.problem.N == 1 else changed(c, bias=2 * c.arrays["bias"])
    )
    told = [str(e) for e in diagnose(observations)]
    total = sum(int(o.wrong.sum()) for o in observations)
    assert any("the weight is flipped" in line for line in told) and any(
        "added twice" in line for line in told
    )
    assert all(f" of {total} wrong elements" in line and f"explains {total} of" not in line for line in told)


def test_a_case_counts_only_as_a_whole():
    def half(c):
        got = np.array(flipped(c))
        got.reshape(-1)[0] += 1  # one element that the fault does not give
        return got

    assert not any(e.explained for e in diagnose(of_kernel(half)))


# ---------------------------------------------------------------- a number of its own


def test_the_factor_is_found_and_told_in_as_few_digits_as_explain():
    (best,) = diagnose(of_kernel(lambda c: np.float32(c.due) * np.float32(1.001)))
    assert str(best).startswith("forward: every element is multiplied by 1.001; explains")


def test_a_factor_that_differs_from_case_to_case_is_no_factor():
    factors = iter((1.5, 2.5, 3.5, 4.5, 5.5))
    told = [str(e) for e in diagnose(of_kernel(lambda c: c.due * next(factors)))]
    assert not any("explains all" in line or line.startswith("consistent") for line in told)
    assert len(fitted("forward", of_kernel(lambda c: 1.5 * c.due))) == 1


CHANGES = {
    "multiplied": lambda c: 1.5 * c.due,
    "added": lambda c: c.due + 5673.0,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    "line, stated", [("i1_k1", False), ("i7_k1", False), ("i8_k1", True), ("i9_k1", True)]
)
def test_a_number_is_stated_from_8_wrong_elements_on(change, line, stated):
    assert bool(fitted("forward", of_kernel(change, [line]))) == stated


def test_equal_elements_are_one_equation():
    c = case("i9_k1")
    ones = Case("forward", c.problem, {name: 0 * a + 1 for name, a in c.arrays.items()}, 0 * c.due + 1)
    assert fitted("forward", [observation(ones, 7.0 * ones.due)]) == []


@pytest.mark.parametrize("line, stated", [("i7_k1", False), ("i12_k1", True)])
def test_an_end_of_the_range_is_stated_from_8_wrong_elements_on(line, stated):
    observations = of_kernel(lambda c: np.clip(c.due, -1, 1), [line])
    told = f"forward: consistent with: results saturate at -1 and 1; explains all {line[1:-3]} wrong elements"
    assert saturated("forward", observations) == (told if stated else "")


def test_a_quotient_is_compared_at_the_precision_of_the_result():
    y = np.float64([1000.5, 3.25, 7.125])
    close = y * (1 + 2.0**-9)  # within a bfloat16 rounding, far beyond a float32 one
    assert not same(close, y).any() and same(np.float32(y / 3).astype(float), y / 3).all()


# ---------------------------------------------------------------- what is not written


def test_what_is_left_unwritten_holds_no_other_number():
    unwritten = np.array([np.nan, np.nan, np.nan, 5.0])
    assert same(np.array([np.nan, 0.0, 7.0, 5.0]), unwritten).tolist() == [True, True, False, True]


def test_a_result_with_other_numbers_is_not_called_unwritten():
    def half(c):
        return np.where(np.arange(c.due.size) % 2, 0.0, 10007.0).reshape(c.due.shape)

    explanations = diagnose(of_kernel(half))
    assert not any("written" in e.sentence or e.explained == 0 for e in explanations)
    assert left_over("forward", of_kernel(half), []) == ""


WIDE = ("O2_i3x7_k1", "O2_i3x6_k1", "O2_i4x9_k1")  # widths 7, 6, 9: tiles of 4 leave 3, 2 and 1


def tail(c, *numbers):
    """The last incomplete tile of 4 holds these numbers."""
    got = np.array(c.due, float)
    rest = got[..., got.shape[-1] // 4 * 4 :]
    rest[...] = np.resize(numbers, rest.shape)
    return got


def test_old_numbers_are_called_left_over_only_where_nan_is_among_them():
    old = of_kernel(lambda c: tail(c, np.nan, 7.0, 8.0), WIDE)
    assert "incomplete tile of 4 along the width is not written" in left_over("forward", old, [])
    assert left_over("forward", of_kernel(lambda c: tail(c, 6.0, 7.0, 8.0), WIDE), []) == ""


def test_one_case_is_only_consistent_with_what_is_left_over():
    told = [left_over("forward", of_kernel(lambda c: tail(c, np.nan, 7.0), WIDE[:n]), []) for n in (1, 2)]
    assert told[0].startswith("forward: consistent with: ") and told[0].endswith(
        "explains all 18 wrong elements"
    )
    assert "consistent" not in told[1] and told[1].endswith("explains 30 of 30 wrong elements")


def test_a_wrong_element_outside_the_tile_is_not_left_over():
    observations = of_kernel(lambda c: tail(c, np.nan, 7.0, 8.0) + (np.arange(c.due.shape[-1]) == 0), WIDE)
    assert left_over("forward", observations, []) == ""


def test_each_right_case_with_such_a_tile_refutes_it():
    told = "the last incomplete tile of {} along the {} is not written"
    for line, axis, name in (
        ("O2_i3x7_k1", -1, "width"),
        ("O2_i7x3_k1", -2, "height"),
        ("O7_i2x2_k1", 1, "channels"),
    ):
        c = case(line)
        left = [fault.sentence for fault in possible_faults("forward", [observation(c, c.due)])]
        for tile in (2, 4, 8):
            assert (told.format(tile, name) in left) == (c.due.shape[axis] % tile == 0)
        old = of_kernel(lambda c: tail(c, np.nan, 7.0, 8.0), WIDE)
        assert (
            left_over("forward", old, [observation(c, c.due)]) == ""
        )  # 7, 3 and 2 columns are not whole tiles


def test_a_right_case_that_holds_no_such_tile_refutes_nothing():
    c = case("O2_i4x8_k1")
    assert all(
        f"the last incomplete tile of {tile} along the width is not written"
        in [fault.sentence for fault in possible_faults("forward", [observation(c, c.due)])]
        for tile in (2, 4, 8)
    )


@pytest.mark.parametrize("part", ("forward", "grad_weight", "transposed"))
def test_a_size_from_numbers_that_another_fault_made_impossible_explains_nothing(part):
    problem = Problem.parse(("transposed_" if part == "transposed" else "") + "C2O3_i9x8_k3x2_s2_d2x1")
    due = exact_case(part, problem, Declared())
    grown = Observation(due, "shape", np.zeros(tuple(size + 1 for size in due.due.shape)))
    of_part = [fault for fault in FAULTS if part in fault.parts]
    sizes, numbers = ([f for f in of_part if getattr(f, name)] for name in ("size", "believe"))
    assert sizes and numbers
    assert not any(explains_whole((size, number), grown) for size in sizes for number in numbers)
