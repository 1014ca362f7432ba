"""Verdicts on candidates of every temper, and what a report says."""

import json
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import npconv
import numpy as np
import pytest
from npconv.problem import Problem
from npconv.testing import check
from npconv.testing.report import EXIT_CODES
from zoo_kernels import build


def conv(input, weight, bias, **p):
    return npconv.conv(input, weight, bias, **p)


def test_a_callable_is_a_forward():
    report = check(conv, layers=False)
    assert report.verdict == "PASS" and report.parts == ("forward",) and report.exit_code == 0
    assert [rung.status for rung in report.rungs[:8]] == ["passed"] * 8


def test_a_hang_is_a_verdict():
    def hangs(input, weight, bias, **p):
        while True:
            pass

    report = check(hangs, layers=False, time_limit=0.2)
    assert report.verdict == "WRONG" and "does not come back" in report.faults[0]


def test_a_crash_of_python_is_a_verdict():
    def crashes(input, weight, bias, **p):
        if p["groups"] > 1:
            raise IndexError("out of range")
        return conv(input, weight, bias, **p)

    report = check(crashes, layers=False)
    assert report.verdict == "WRONG" and "raises IndexError: out of range" in report.faults[0]
    assert report.trigger == "groups > 1"


def test_a_crash_of_the_process_is_a_verdict(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text("import os\ndef f(input, weight, bias, **p):\n    os.abort()\n")
    report = check(f"{path}:f", layers=False)
    assert report.verdict == "WRONG" and "the process died of SIGABRT" in report.faults[0]


def test_a_crash_of_the_process_has_a_small_case(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(
        "import os, npconv\ndef f(input, weight, bias, **p):\n"
        "    os.abort() if p['groups'] > 1 else None\n    return npconv.conv(input, weight, bias, **p)\n"
    )
    report = check(f"{path}:f", layers=False)
    assert report.trigger == "groups > 1" and report.findings[0].smallest.startswith("C2O2G2_i")
    assert "due" in report.reproduction


def test_a_file_that_dies_while_it_is_loaded_is_bad_input(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text("import os\nos.abort()\n")
    with pytest.raises(ValueError, match="kernel.py:f cannot be loaded: the process died of SIGABRT"):
        check(f"{path}:f")


def test_a_kernel_in_a_process_of_its_own_is_judged_like_any(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(
        "import npconv\nprint('noise')\ndef f(input, weight, bias, **p):\n    print('more')\n"
        "    return npconv.conv(input, weight, None, **p)\n"
    )
    report = check(f"{path}:f", layers=False)
    assert report.verdict == "WRONG" and report.faults[0].startswith("forward: the bias is missing")
    assert report.trigger == "bias"


def test_a_slip_inside_numpy_is_no_refusal():
    def slips(input, weight, bias, **p):
        return np.zeros((2, 3)) + np.zeros((4, 5))

    assert "raises ValueError: operands could not be broadcast" in check(slips, layers=False).faults[0]


def test_refusing_everything_is_unsupported():
    def refuses(input, weight, bias, **p):
        raise NotImplementedError("not yet")

    report = check(refuses)
    assert report.verdict == "UNSUPPORTED" and report.exit_code == 2
    assert report.unsupported == {"forward": ["everything (NotImplementedError: not yet)"]}


def test_what_is_refused_is_listed_and_no_fault():
    def some(input, weight, bias, *, stride, padding, dilation, groups):
        if groups > 1 or any(lo != hi for lo, hi in padding):
            raise ValueError("not this")
        return npconv.conv(input, weight, bias, stride, padding, dilation, groups)

    report = check(some, layers=False)
    assert report.verdict == "PASS"
    told = " ".join(report.unsupported["forward"])
    assert "uneven padding" in told and "groups 2" in told and "dilation" not in told


def test_a_refusal_of_a_combination_has_its_trigger():
    def some(input, weight, bias, *, stride, padding, dilation, groups):
        if groups > 1 and max(dilation) > 1:
            raise NotImplementedError("both")
        return npconv.conv(input, weight, bias, stride, padding, dilation, groups)

    (line,) = check(some, layers=False).unsupported["forward"]
    assert line.startswith("groups > 1 and dilation > 1 (NotImplementedError: both)")


def test_writing_into_an_input_is_a_verdict():
    def writes(input, weight, bias, **p):
        y = conv(input, weight, bias, **p)
        weight[...] = 0
        return y

    assert "writes into its input weight" in check(writes, layers=False).faults[0]


@pytest.mark.parametrize(
    "result, told",
    [
        (lambda y: y.tolist(), "the result is a list, not an array"),
        (lambda y: None, "the result is a NoneType, not an array"),
        (lambda y: y.astype(str), "holds no real numbers"),
    ],
)
def test_a_wrong_type_is_a_verdict(result, told):
    report = check(lambda *arrays, **p: result(conv(*arrays, **p)), layers=False)
    assert report.verdict == "WRONG" and told in report.faults[0]


def test_a_declared_dtype_must_be_kept():
    report = check(lambda *a, **p: conv(*a, **p).astype(np.float16), layers=False, output="float32")
    assert "the result has dtype float16, declared float32" in report.faults[0]


def test_adding_to_the_old_content_of_out_is_found():
    def adds(input, weight, bias, *, out=None, **p):
        y = conv(input, weight, bias, **p)
        if out is None:
            return y
        out += y
        return out

    report = check(adds, layers=False)
    assert report.verdict == "WRONG" and "added to what the output held before" in report.faults[0]


def test_adding_to_an_earlier_result_is_found():
    held = {}

    def accumulates(input, weight, bias, **p):
        key = (input.shape, weight.shape, str(p), None if bias is None else 1)
        held[key] = held.get(key, 0) + conv(input, weight, bias, **p)
        return held[key].copy()

    report = check(accumulates, layers=False)
    assert report.verdict == "WRONG" and "the second call adds to the result of the first" in report.faults[0]


def test_unwritten_elements_of_out_are_found():
    def forgets(input, weight, bias, *, out=None, **p):
        y = conv(input, weight, bias, **p)
        if out is None:
            return y
        out[..., :-1] = y[..., :-1]
        return out

    assert "elements of the output are not written" in check(forgets, layers=False).faults[0]


def test_a_kernel_that_ignores_strides_in_memory_is_found():
    def flat(input, weight, bias, **p):
        raw = np.lib.stride_tricks.as_strided(input, input.shape, np.zeros(input.shape, input.dtype).strides)
        return conv(raw if input.base is not None and min(input.strides) > 0 else input, weight, bias, **p)

    report = check(flat, layers=False)
    assert report.verdict == "WRONG" and "every second element of a larger array" in report.faults[0]


def test_chance_is_suspicious():
    state = [0]

    def drifts(input, weight, bias, **p):
        state[0] += 1
        y = conv(input, weight, bias, **p)
        exact = np.array_equal(y, np.rint(y), equal_nan=True)
        return y if exact else y * np.float32(1 + 2.0**-23 * (state[0] % 2))

    report = check(drifts, layers=False)
    assert report.verdict == "SUSPICIOUS" and report.exit_code == 1
    assert "three equal calls gave different bits" in report.why


def test_a_fault_of_no_kind_still_gets_trigger_case_and_formula():
    def odd(input, weight, bias, *, stride, padding, dilation, groups):
        if max(stride) > 1 and groups > 1:
            input = np.roll(input, 2, axis=-1) + 3 * np.roll(input, 1, axis=-2)
        return npconv.conv(input, weight, bias, stride, padding, dilation, groups)

    report = check(odd, layers=False)
    assert report.verdict == "WRONG"
    assert "no known fault, alone or with another, explains all" in report.faults[0]
    assert report.trigger == "groups > 1 and stride > 1"
    assert report.findings[0].smallest.startswith("C2O2G2") and "_s" in report.findings[0].smallest
    assert report.formula and "readings differ" in " ".join(report.formula)


def test_two_faults_under_two_conditions_have_two_triggers():
    def both(input, weight, bias, *, stride, padding, dilation, groups):
        if groups > 1:
            weight = weight[..., ::-1, ::-1]
        elif max(stride) > 1 and bias is not None:
            bias = 2 * bias
        return npconv.conv(input, weight, bias, stride, padding, dilation, groups)

    report = check(both, layers=False)
    told = {f.sentence.split(";")[0]: f.trigger for f in report.findings}
    assert told["forward: the weight is flipped"] == "groups > 1"
    assert told["forward: the bias is added twice"].startswith("stride > 1 and bias")


def test_a_crash_beside_wrong_values_is_told_too():
    def worse(input, weight, bias, *, stride, padding, dilation, groups):
        if max(dilation) > 1:
            raise KeyError("dilation")
        return npconv.conv(input, weight, None, stride, padding, dilation, groups)

    told = " | ".join(check(worse, layers=False).faults)
    assert "raises KeyError" in told and "the bias is missing" in told


def test_an_unknown_index_formula_is_read_out():
    changes = (
        ("rows = SH * np.arange(OH) + DH * kh - top", "rows = 3 * np.arange(OH) + DH * kh - top - kw"),
    )
    report = check(build("taps", changes), layers=False)
    assert "no known fault" in report.faults[0]
    formula = " ".join(report.formula)
    assert "3*oh" in formula and "- kw" in formula and "due: " in formula


def test_the_identity_names_who_disagrees():
    kernel = build(
        "composed",
        (
            (
                "dw = np.zeros(weight_size, input.dtype)",
                "dw = np.zeros(weight_size, input.dtype); input = input[:, ::-1]; x = x[:, ::-1]",
            ),
        ),
    )
    report = check(kernel, layers=False)
    assert "grad_weight differs from the other two in" in report.identity
    assert "forward" not in report.identity and "grad_input" not in report.identity


def test_data_that_could_not_show_a_fault_are_mistrusted():
    report = check(conv, only="i1x1_k1_p4")  # 80 of 81 outputs are zero
    assert report.verdict == "MISTRUSTED" and report.exit_code == 2
    assert "only 1 of 81 elements" in report.why


def test_sums_too_long_for_exact_data_are_mistrusted():
    report = check(conv, only="C600_i3x3_k2", input="float16")  # 2400 products, exact up to 2048
    assert report.verdict == "MISTRUSTED" and "more terms than exact data allow" in report.why


def test_only_runs_one_problem():
    report = check(build("taps", (("- left", "- right"),)), only="C2O3_i5x6_k3_p1:2x0:1")
    assert report.verdict == "WRONG" and len(report.rungs) == 1


@pytest.mark.parametrize(
    "line", ["i7_k3_s2_p1:0", "N2C2O4G2_i5x6_k3x2", "C2_i3x4x5_k2x1x3_s2_bias", "i5x5_k3_psame"]
)
def test_only_takes_any_rank_and_any_spelling(line):
    report = check(conv, only=line)
    assert report.verdict == "PASS" and report.why == "forward: 1 exact result equal"
    (rung,) = report.rungs
    assert rung.name == f"only {Problem.parse(line)}" and str(check(conv, only=Problem.parse(line))) == str(
        report
    )


@pytest.mark.parametrize("line", ["transposed_C2O3_i4_k3_s2_op1", "transposed_C4O2G2_i3x4_k2_bias"])
def test_only_asks_a_transposed_problem_of_what_is_transposed(line):
    def transposed(input, weight, bias, **p):
        return npconv.conv_transpose(input, weight, bias, **p)

    report = check(SimpleNamespace(transposed=transposed, forward=conv), only=line)
    assert report.verdict == "PASS" and report.why == "transposed: 1 exact result equal"
    wrong = SimpleNamespace(transposed=lambda x, w, b, **p: transposed(x, w[..., ::-1], b, **p))
    assert check(wrong, only=line).verdict == "WRONG"


def test_only_of_a_part_that_is_not_offered_is_unsupported():
    report = check(conv, only="transposed_i4_k3")
    assert report.verdict == "UNSUPPORTED" and report.exit_code == 2
    assert report.why == "it offers none of the parts that it was asked for"
    assert report.unsupported == {"transposed": ["not offered; there is forward"]}
    assert report.rungs[0].status == "not run" and "only transposed_i4_k3  not run" in str(report)


def test_only_of_what_is_refused_is_unsupported():
    def refuses(input, weight, bias, *, groups, **p):
        if groups > 1:
            raise NotImplementedError("no groups")
        return conv(input, weight, bias, groups=groups, **p)

    report = check(refuses, only="C2O2G2_i4_k3")
    assert report.verdict == "UNSUPPORTED" and report.rungs[0].status == "not run"
    assert report.unsupported == {"forward": ["every case (NotImplementedError: no groups), 1 case"]}


@pytest.mark.parametrize(
    "line, told",
    [
        ("C2_i5x6_k3_t2", "'t2' in 'C2_i5x6_k3_t2' is not understood"),
        ("C2_i5x6", "'C2_i5x6' lacks k"),
        ("", "'' in '' is not understood"),
        ("C3G2_i5_k3", "G 2 must divide C 3"),
        ("i5x5_k3x3x3", "k: 3 values for 2 spatial axes"),
        ("i3_k9", "padding: on spatial axis 0 the padded input has size 3"),
        ("i5_k3_s0", "stride of spatial axis 0: it is 0"),
        (
            "i5_k3_p1_reflect",
            "i5_k3_p1_reflect pads by 'reflect', but candidates pad with zeros; leave it out",
        ),
    ],
)
def test_what_only_cannot_ask_is_said_before_the_candidate_is_looked_at(line, told):
    with pytest.raises(ValueError, match=f"^only: {told}"):
        check("nowhere.py:f", only=line)


def test_only_wants_a_line():
    with pytest.raises(TypeError, match="^only: it is 3, a int; it must be a line of text"):
        check(conv, only=3)


def test_no_samples_show_nothing():
    report = check(conv, only="N0_i5_k3")
    assert report.verdict == "MISTRUSTED" and report.why == "forward: the right results have no elements"


def test_real_layers_are_contracted():
    report = check(conv)
    assert report.verdict == "PASS" and report.rungs[-1].name == "real layers" and report.rungs[-1].cases == 6


def test_a_fault_that_only_real_layers_show_is_found():
    def large(input, weight, bias, **p):
        y = conv(input, weight, bias, **p)
        if y.shape[1] > 500:
            y[:, 500] = 0
        return y

    report = check(large)
    assert report.verdict == "WRONG" and report.why == "breaks at 'real layers'"
    assert "res4 1x1" in report.faults[0]


def test_one_record_three_views():
    report = check(lambda *a, **p: conv(a[0], a[1], None, **p), layers=False)
    record = json.loads(report.to_json())
    assert record["verdict"] == report.verdict == "WRONG" and record["faults"] == report.faults
    assert record["rungs"][0]["status"] == "passed"
    suite = ElementTree.fromstring(report.to_junit())
    assert suite.get("failures") == "1" and suite.find("testcase/failure").get("message") == report.faults[0]
    assert report.faults[0] in str(report) and str(report).startswith("WRONG")


def test_the_same_text_every_time():
    kernel = build("taps", (("- left", "- right"),))
    assert str(check(kernel, layers=False)) == str(check(kernel, layers=False))


def test_every_verdict_has_an_exit_code():
    failures = {"WRONG": 1, "SUSPICIOUS": 1, "UNSUPPORTED": 2, "MISTRUSTED": 2, "INCOMPLETE": 2}
    assert EXIT_CODES == {"PASS": 0, **failures}


def test_nhwc_and_hwio_are_declared():
    def nhwc(input, weight, bias, *, stride, padding, dilation, groups):
        y = npconv.conv(
            input.transpose(0, 3, 1, 2), weight.transpose(3, 2, 0, 1), bias, stride, padding, dilation, groups
        )
        return y.transpose(0, 2, 3, 1)

    assert check(nhwc, layers=False, layout="NHWC", weight_layout="HWIO").verdict == "PASS"
    assert check(nhwc, layers=False).verdict == "UNSUPPORTED"  # npconv refuses channels that do not fit


@pytest.mark.parametrize("rank", [1, 3])
def test_other_ranks(rank):
    assert check(conv, rank=rank, layers=False).verdict == "PASS"
    report = check(lambda x, w, b, **p: conv(x, w[..., ::-1], b, **p), rank=rank, layers=False)
    assert report.verdict == "WRONG" and "flipped" in report.faults[0]


def test_what_is_no_candidate_is_a_type_error():
    with pytest.raises(TypeError, match="not callable and has none of forward"):
        check(3)
    with pytest.raises(TypeError, match="colour unknown"):
        check(conv, colour="red")
    with pytest.raises(ValueError, match="there is no file"):
        check("nowhere.py:f")


def test_a_shape_that_no_fault_gives_is_told():
    def nhwc(input, weight, bias, **p):
        return conv(input, weight, bias, **p).transpose(0, 2, 3, 1)

    report = check(nhwc, only="C2O3_i5x6_k2")
    assert "got (1, 4, 5, 3), due (1, 3, 4, 5)" in report.faults[0]
    assert "explains 0" not in str(report)


def test_a_single_case_is_consistent_with_several_faults():
    def flipped(input, weight, bias, **p):
        return conv(input, weight[..., ::-1, ::-1], bias, **p)

    report = check(flipped, only="i3x4_k1x2")  # flipped along the width, or altogether
    assert report.faults[0].startswith("forward: consistent with: the weight is flipped; or the taps")
    assert report.trigger == "" and "when:" not in str(report)


def test_a_kernel_that_is_wrong_on_integers_has_no_passport():
    assert check(lambda x, w, b, **p: conv(x, w[..., ::-1], b, **p), layers=False).passport == {}
    assert check(conv, layers=False).passport["subnormals"] == "kept"


def test_numbers_given_as_text_are_refused_as_text():
    with pytest.raises(ValueError, match="rank: '2' spatial axes; give 1, 2 or 3"):
        check(npconv.conv, rank="2")
    with pytest.raises(TypeError, match="time_limit: it is the text '1'; give a number of seconds"):
        check(npconv.conv, time_limit="1")
