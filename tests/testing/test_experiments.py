"""Conditions that fit by accident do not outlast the questions that tell them apart."""

import numpy as np
import npconv
import pytest
from npconv.problem import Problem
from npconv.testing import check
from npconv.testing.experiments import QUESTIONS, told_apart
from npconv.testing.further import further
from npconv.testing.problems import full
from npconv.testing.trigger import rivals, trigger

POOL = further(full())


def problems(text):
    return [Problem.parse(line) for line in text.split()]


def test_the_problem_on_which_half_of_the_rivals_hold_is_asked_first():
    """groups > 1, bias and batch > 1 fit; a problem with two of three parts them best."""
    asked = []
    pool = problems("N2C2O2G2_i9_k3_bias i9_k2 C2O2G2_i9_k3")
    told_apart(problems("N2C2O2G2_i8_k3_bias"), problems("i8_k3"), pool, lambda p: asked.append(str(p)) or p.G > 1)
    assert asked[0] == "C2O2G2_i9_k3"


def test_what_cannot_be_asked_is_no_evidence():
    failing, passing = problems("C2O2G2_i8_k3_bias"), problems("i8_k3")
    asked = []
    assert told_apart(failing, passing, POOL, lambda p: asked.append(p)) == (failing, passing)
    assert 1 < len(asked) <= QUESTIONS and len(set(asked)) == len(asked)


RULES = {
    "height and width of the taps differ": lambda p: p.k[0] != p.k[1],
    "bottom padding > 0": lambda p: p.padding[0][1] > 0,
    "groups > 2": lambda p: p.G > 2,
    "stride > 1 on the width": lambda p: p.stride[1] > 1,
    "an even number of taps on every axis": lambda p: p.k[0] % 2 == p.k[1] % 2 == 0,
}


@pytest.mark.parametrize("told", RULES)
def test_of_two_first_cases_the_questions_leave_the_right_condition(told):
    fails = RULES[told]
    failing = [next(filter(fails, POOL))]
    passing = [next(p for p in POOL if not fails(p))]
    assert len(rivals(failing, passing, 100)) > 3
    assert trigger(*told_apart(failing, passing, POOL, fails)) == told


def damaged(when):
    """A right forward whose first element is one too large where the parameters meet a condition."""

    def forward(input, weight, bias, *, stride, padding, dilation, groups):
        y = np.array(npconv.conv(input, weight, bias, stride, padding, dilation, groups))
        if y.size and when(input, weight, y, stride, padding, dilation, groups):
            y.flat[0] += 1
        return y

    return forward


@pytest.mark.parametrize(
    "told, when",
    [
        ("height and width of the taps differ", lambda x, w, y, s, p, d, G: w.shape[2] != w.shape[3]),
        ("bottom padding > 0", lambda x, w, y, s, p, d, G: p[0][1] > 0),
        ("output width > 16", lambda x, w, y, s, p, d, G: y.shape[3] > 16),
        ("output channels > 16", lambda x, w, y, s, p, d, G: y.shape[1] > 16),
    ],
)
def test_check_tells_the_condition_and_no_accident(told, when):
    report = check(damaged(when), layers=False)
    assert report.verdict == "WRONG" and report.trigger == told


def test_a_gradient_is_given_no_bias_and_so_no_condition_speaks_of_it():
    class Kernel:
        @staticmethod
        def grad_input(grad_output, weight, input_size, *, stride, padding, dilation, groups):
            y = np.array(npconv.conv_input(input_size, weight, grad_output, stride, padding, dilation, groups))
            if y.size and stride[0] == 2 and padding[0][0] > 0 == padding[0][1]:
                y.flat[0] += 1
            return y

    report = check(Kernel, layers=False)
    assert report.verdict == "WRONG" and "bias" not in report.trigger


def test_one_hang_has_no_condition():
    def forward(input, weight, bias, **parameters):
        while parameters["groups"] == 3:
            pass
        return npconv.conv(input, weight, bias, **parameters)

    report = check(forward, layers=False, time_limit=0.5)
    assert report.verdict == "WRONG" and "does not come back" in report.faults[0] and not report.trigger
