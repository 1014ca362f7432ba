"""`npconv grad`: what it prints, writes and refuses."""

import os
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from commandline import contents, refused, save_layer

from npconv.cli import main
from npconv.job.layer import Layer
from npconv.record import recording

DATA = Path(__file__).parents[1] / "data"
LAYERS = {"ocr_stem": [], "ocr_depthwise_s2": [], "ocr_transpose": ["--transposed"]}


@pytest.fixture
def layer(tmp_path):
    return save_layer(tmp_path / "layer.npz")


# ---------------------------------------------------------------- the real layers


@pytest.mark.parametrize("name, flags", LAYERS.items())
def test_a_real_layer_is_within_its_rounding_bound(capsys, tmp_path, name, flags):
    out = tmp_path / "out.npz"
    assert main(["grad", str(DATA / f"{name}.npz"), "-o", str(out), *flags]) == 0
    text = capsys.readouterr().out
    (fraction,) = re.findall(r"output agrees: its worst difference is (\S+) of the rounding bound", text)
    assert 0 < float(fraction) < 1
    (fraction,) = re.findall(r"they differ by \S+, (\S+) of the most it can do", text)
    assert float(fraction) < 1
    assert max(map(len, text.splitlines()[:-2])) <= 80  # the last two lines hold a path
    assert list(contents(out)) == ["output", "grad_input", "grad_weight", "grad_bias"]


@pytest.mark.parametrize("name, flags", LAYERS.items())
def test_the_gradients_of_a_real_layer_are_those_of_autograd(capsys, tmp_path, name, flags):
    """torch in float64 is exact beside float32; n*u/(1-n*u) of the absolute sums is what may differ."""
    given, out = contents(DATA / f"{name}.npz"), tmp_path / "out.npz"
    g = np.random.default_rng(1).normal(size=given["output"].shape).astype("f4")
    np.save(tmp_path / "g.npy", g)
    main(
        ["grad", str(DATA / f"{name}.npz"), "-o", str(out), "--grad-output", str(tmp_path / "g.npy"), *flags]
    )
    function = torch.nn.functional.conv_transpose2d if flags else torch.nn.functional.conv2d

    def gradients(change):
        arrays = [change(a.astype("f8")) for a in (given["input"], given["weight"], g)]
        x, w, g64 = (torch.tensor(a, requires_grad=True) for a in arrays)
        b = torch.zeros(g.shape[1], dtype=torch.float64, requires_grad=True)
        padding = tuple(int(lo) for lo, _ in given["padding"])
        y = function(x, w, b, stride=2, padding=padding, groups=int(given["groups"]))
        return torch.autograd.grad(y, (x, w, b), g64)

    found, n = contents(out), max(g[:, 0].size, given["weight"].size)  # no sum has more terms
    results = ("grad_input", "grad_weight", "grad_bias")
    for result, due, magnitude in zip(results, gradients(lambda a: a), gradients(np.abs)):
        bound = n * 2.0**-24 / (1 - n * 2.0**-24) * magnitude.numpy()
        assert (np.abs(found[result] - due.numpy()) <= bound).all() and found[result].dtype == np.float32


# ---------------------------------------------------------------- grad


@pytest.mark.parametrize("kind, wider", [("f2", "f4"), ("f4", "f8")])
def test_a_bias_of_a_wider_kind_is_no_fault(capsys, tmp_path, kind, wider):
    random = np.random.default_rng(0)
    x, w, b = (random.standard_normal(shape) for shape in ((1, 2, 5), (3, 2, 2), (3,)))
    np.savez(tmp_path / "a.npz", input=x.astype(kind), weight=w.astype(kind), bias=b.astype(wider))
    assert main(["grad", str(tmp_path / "a.npz")]) == 0
    assert "equal but for rounding" in capsys.readouterr().out


def test_integers_by_hand(capsys, tmp_path, layer):
    np.save(tmp_path / "g.npy", np.array([[[1, 100]]]))
    assert (
        main(["grad", str(layer), "--grad-output", str(tmp_path / "g.npy"), "-o", str(tmp_path / "out.npz")])
        == 0
    )
    assert {name: array.tolist() for name, array in contents(tmp_path / "out.npz").items()} == {
        "output": [[[21, 32]]],
        "grad_input": [[[1, 110, 1000]]],
        "grad_weight": [[[201, 302]]],
        "grad_bias": [101],
    }
    text = capsys.readouterr().out
    assert text.count("= 3221") == 3 and "exactly equal" in text
    assert "output agrees: all 2 integers are equal" in text
    assert f"written to {tmp_path / 'out.npz'}:\n  output, grad_input, grad_weight, grad_bias\n" in text


def test_without_grad_output_it_is_ones(capsys, layer):
    assert main(["grad", str(layer)]) == 0
    out = capsys.readouterr().out
    assert "note: grad_output: none is given, so it is ones" in out
    assert out.count("= 53") == 3  # 21 + 32


def test_a_wrong_output_is_shown_and_exits_1(capsys, tmp_path, layer):
    np.save(tmp_path / "y.npy", np.array([[[21, 33]]]))
    assert (
        main(["grad", str(layer), "--output", str(tmp_path / "y.npy"), "-o", str(tmp_path / "out.npz")]) == 1
    )
    out, err = capsys.readouterr()
    assert (
        "output DISAGREES: 1 of 2 integers differ, the first\n  at (0, 0, 1)\n  given  33\n  npconv 32" in out
    )
    assert err == "" and contents(tmp_path / "out.npz")["output"].tolist() == [[[21, 32]]]


def test_gradients_that_break_the_identity_exit_1(capsys, monkeypatch, layer):
    gradients = Layer.gradients
    monkeypatch.setattr(Layer, "gradients", lambda self: {n: a + 1 for n, a in gradients(self).items()})
    assert main(["grad", str(layer)]) == 1
    assert "they DIFFER by" in capsys.readouterr().out


def test_a_suspicious_result_exits_1(capsys, tmp_path):
    """All zeros for a float16 grad_weight of 25088 terms: within the worst case, which is beyond 1 there."""
    random = np.random.default_rng(0)
    x, w, g = (random.normal(size=s).astype("f2") for s in ((2, 1, 112, 112), (1, 1, 3, 3), (2, 1, 112, 112)))
    given = dict(input=x, weight=w, grad_output=g, padding=1)
    np.savez(tmp_path / "f.npz", **given, grad_weight=np.zeros_like(w))
    assert main(["grad", str(tmp_path / "f.npz")]) == 1
    assert "grad_weight SUSPICIOUS: 9 of 9 values are beyond usual rounding" in capsys.readouterr().out
    np.savez(tmp_path / "f.npz", **given, grad_weight=np.float16(by_torch_in_float32(x, w, g)))
    assert main(["grad", str(tmp_path / "f.npz")]) == 0
    assert "grad_weight agrees" in capsys.readouterr().out


def by_torch_in_float32(x, w, g):
    x, w, g = (torch.tensor(a.astype("f4")) for a in (x, w, g))
    return torch.nn.grad.conv2d_weight(x, w.shape, g, padding=1).numpy()


def test_warnings_of_numpy_stay_inside(capsys, monkeypatch, layer):
    results = Layer.results

    def loud(self, *names):
        warnings.warn("invalid value encountered", RuntimeWarning)
        np.array([np.inf]) - np.array([np.inf])
        return results(self, *names)

    monkeypatch.setattr(Layer, "results", loud)
    assert main(["grad", str(layer)]) == 0
    assert capsys.readouterr().err == ""


def test_numbers_that_overflow_are_remarked_on(capsys, tmp_path):
    """300 * 300 is more than float16 holds, and infinity * 0 is no number."""
    x, w = np.array([[[300, 0, 1]]], "f2"), np.array([[[300, 0]]], "f2")
    np.savez(tmp_path / "f.npz", input=x, weight=w, output=np.array([[[np.inf, 0]]], "f2"))
    assert main(["grad", str(tmp_path / "f.npz")]) == 0
    out, err = capsys.readouterr()
    assert "note: output: 1 of 2 values are not finite" in out and err == ""
    np.savez(tmp_path / "g.npz", input=x, weight=np.array([[[np.inf, 1]]]))
    assert main(["grad", str(tmp_path / "g.npz")]) == 0
    assert "no evidence: not everything is finite" in capsys.readouterr().out


def test_separate_files_and_flags_are_enough(capsys, tmp_path):
    """Unbatched, by hand: a zero before (1, 2, 3, 4), windows (0, 1) and (2, 3)."""
    np.save(tmp_path / "x.npy", np.array([[1, 2, 3, 4]]))
    np.save(tmp_path / "w.npy", np.array([[[1, 10]]]))
    np.save(tmp_path / "b.npy", np.array([100]))
    arrays = ["--input", tmp_path / "x.npy", "--weight", tmp_path / "w.npy", "--bias", tmp_path / "b.npy"]
    flags = [*map(str, arrays), "--stride", "2", "--padding", "1:0"]
    assert main(["grad", *flags, "-o", str(tmp_path / "out.npz")]) == 0
    assert contents(tmp_path / "out.npz")["output"].tolist() == [[110, 132]]


PARSED = {
    "--stride 2": dict(stride=2),
    "--stride 2,1": dict(stride=(2, 1)),
    "--padding 1": dict(padding=1),
    "--padding 1,2": dict(padding=(1, 2)),
    "--padding 1:2,0:1": dict(padding=((1, 2), (0, 1))),
    "--padding 1:2": dict(padding=((1, 2),)),
    "--padding 1,0:1": dict(padding=(1, (0, 1))),
    "--padding -1": dict(padding=-1),
    "--padding -1:2,-3": dict(padding=((-1, 2), -3)),
    "--padding=-1:2": dict(padding=((-1, 2),)),
    "--padding same": dict(padding="same"),
    "--padding same_lower": dict(padding="same_lower"),
    "--padding valid": dict(padding="valid"),
    "--dilation 2,2": dict(dilation=(2, 2)),
    "--groups 4": dict(groups=4),
    "--output-padding 1": dict(output_padding=1),
    "--transposed": dict(transposed=True),
    "--no-transposed": dict(transposed=False),
    "--padding-mode reflect": dict(padding_mode="reflect"),
    "--input a --weight b --bias c": dict(input="a", weight="b", bias="c"),
    "--grad-output a --output b": dict(grad_output="a", output="b"),
    "--grad-input a --grad-weight b --grad-bias c": dict(grad_input="a", grad_weight="b", grad_bias="c"),
}


@pytest.mark.parametrize("flags, parsed", PARSED.items(), ids=PARSED)
def test_flags_mean(monkeypatch, flags, parsed):
    seen = []
    monkeypatch.setattr("npconv.job.run", lambda *arguments: seen.append(arguments) or 0)
    assert main(["grad", "f.npz", "-o", "out.npz", *flags.split()]) == 0
    assert main(["grad", *flags.split()]) == 0
    assert seen == [("f.npz", "out.npz", parsed), (None, None, parsed)]


# ---------------------------------------------------------------- bad input


def test_a_missing_file(capsys, tmp_path):
    refused(capsys, ["grad", tmp_path / "no.npz"], r"^npconv grad: .*no.npz: it cannot be read: No such file")


def test_no_input_at_all(capsys):
    refused(
        capsys,
        ["grad"],
        "^npconv grad: input: there is none; put it into the .npz file, or give --input X.npy",
    )


def test_a_truncated_file(capsys, tmp_path):
    whole = (DATA / "ocr_stem.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    refused(capsys, ["grad", tmp_path / "cut.npz"], "cut.npz: it cannot be read, the file is damaged")


def test_a_pickled_array(capsys, tmp_path):
    np.savez(tmp_path / "p.npz", input=np.array([None], object), weight=np.ones((1, 1, 1)))
    refused(
        capsys, ["grad", tmp_path / "p.npz"], "input holds Python objects .a pickle., which are never loaded"
    )


BAD_FLAGS = {
    "--strid 2": "^npconv grad: unrecognized .*: --strid 2; did you mean --stride[?] see npconv grad --help",
    "--stride two": "argument --stride: 'two' is not an integer, or one an axis as in 2,1; see npconv grad",
    "--stride 1.5": "'1.5' is not an integer",
    "--stride": "argument --stride: expected one argument",
    "--stride 0": "stride: it is 0, but it must be 1 or more",
    "--stride 1,1": "stride: 2 values for 1 spatial axes",
    "--padding full": "argument --padding: 'full' is not an integer, one an axis as in 1,2, lo:hi an axis",
    "--padding 1:": "argument --padding: '1:' is not an integer",
    "--padding 1:2:3": "padding: on spatial axis 0 it is",
    "--padding -3": "padding: on spatial axis 0 the padded input has size -3",
    "--groups two": "argument --groups: invalid int value: 'two'",
    "--groups 2": "groups: 2 must divide the input's 1 channels",
    "--padding-mode mirror": "padding_mode: 'mirror' is not one of",
    "--output-padding 1": "output_padding: it is 1, but only a transposed convolution has one",
    "--weight no.npy": "no.npy: it cannot be read: No such file",
    "--padding 1000000000000000": "not enough memory: Unable to allocate|array is too big|too large",
    "--padding 1000000000000000000000": "output: its shape would be .*, which no memory can hold",
}


@pytest.mark.parametrize("flags, message", BAD_FLAGS.items(), ids=BAD_FLAGS)
def test_a_wrong_flag(capsys, layer, flags, message):
    np.savez(layer, **{name: array for name, array in contents(layer).items() if name != "output"})
    refused(capsys, ["grad", layer, *flags.split()], message)


HUGE = [
    "--padding {}",
    "--transposed --stride {}",
    "--transposed --dilation {}",
    "--transposed --padding -{}",
]


@pytest.mark.parametrize("flags", HUGE)
@pytest.mark.parametrize("number", [2**62, 2**63 - 1, 2**63, 10**23])
def test_an_output_that_no_memory_can_hold(capsys, layer, flags, number):
    np.savez(layer, input=np.array([[[1, 2, 3]]]), weight=np.array([[[1, 10]]]))
    message = (
        r"output: its shape would be \(1, 1, \d{19,}\), which no memory can hold; give a smaller padding"
    )
    refused(capsys, ["grad", layer, *flags.format(number).split()], message)


FAR = [
    "--stride {0} --padding {0}",
    "--dilation {0} --padding {1}",
    "--transposed --stride {0} --padding {0} --output-padding 4",
]


@pytest.mark.parametrize("flags", FAR)
@pytest.mark.parametrize("number", [2**41, 2**62, 10**23])
def test_an_input_that_no_memory_can_hold_once_it_is_padded(capsys, layer, flags, number):
    """Though its output has a few elements."""
    np.savez(layer, input=np.array([[[1, 2, 3]]]), weight=np.array([[[1, 10]]]))
    message = (
        r"not enough memory: the padded input would have \d{13,} elements; this is more than 2\*\*40 bytes"
    )
    refused(capsys, ["grad", layer, *flags.format(number, number // 2).split()], message)


def test_a_pipe_is_named(capsys, layer):
    ends = os.pipe()
    try:
        for argv in (["grad", f"/dev/fd/{ends[0]}"], ["grad", layer, "--weight", f"/dev/fd/{ends[0]}"]):
            refused(
                capsys, argv, r"/dev/fd/\d+: it cannot be read: it is a pipe, not a file; save it as a file"
            )
    finally:
        for end in ends:
            os.close(end)


def test_numbers_that_int64_cannot_hold(capsys, tmp_path):
    big = np.array([[[2**62]]])
    np.savez(tmp_path / "big.npz", input=big, weight=big)
    refused(capsys, ["grad", tmp_path / "big.npz"], "a sum is .*, but int64 holds only")


def test_a_name_with_a_line_end_stays_on_one_line(capsys, tmp_path):
    assert r"a\nb\x1b.npz" in refused(capsys, ["grad", tmp_path / "a\nb\x1b.npz"], "it cannot be read")


def test_an_output_that_cannot_be_written(capsys, tmp_path, layer):
    refused(
        capsys,
        ["grad", layer, "-o", tmp_path / "no" / "out.npz"],
        "out.npz: it cannot be written: there is no dir",
    )
    refused(capsys, ["grad", layer, "-o", tmp_path], "it cannot be written: it is a directory")
    (tmp_path / "ro.npz").write_bytes(b"old")
    (tmp_path / "ro.npz").chmod(0o444)
    refused(capsys, ["grad", layer, "-o", tmp_path / "ro.npz"], "it cannot be written: the file is read-only")
    assert (tmp_path / "ro.npz").read_bytes() == b"old"


def test_where_nothing_can_be_written_nothing_is_computed(capsys, tmp_path, layer):
    with recording() as steps:
        refused(capsys, ["grad", layer, "-o", tmp_path], "it is a directory")
    assert steps == []


def test_bad_input_leaves_an_old_output_as_it_was(capsys, tmp_path, layer):
    (tmp_path / "out.npz").write_bytes(b"old")
    refused(capsys, ["grad", layer, "-o", tmp_path / "out.npz", "--stride", "0"], "stride: it is 0")
    assert (tmp_path / "out.npz").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["layer.npz", "out.npz"]


def test_an_array_that_was_read_is_not_written_over(capsys, tmp_path, layer):
    np.save(tmp_path / "w.npy", np.array([[[1, 10]]]))
    before = (tmp_path / "w.npy").read_bytes()
    refused(
        capsys,
        ["grad", layer, "--weight", tmp_path / "w.npy", "-o", tmp_path / "." / "w.npy"],
        "it cannot be written: it is the file of --weight",
    )
    assert (tmp_path / "w.npy").read_bytes() == before


def test_the_file_itself_may_take_the_results_and_keeps_the_rest(capsys, layer):
    for _ in range(2):  # the second time, the gradients of the first are compared
        assert main(["grad", str(layer), "-o", str(layer)]) == 0
    found = contents(layer)
    assert found["input"].tolist() == [[[1, 2, 3]]] and found["grad_weight"].tolist() == [[[3, 5]]]
    text = capsys.readouterr().out
    assert all(f"{name} agrees" in text for name in ("output", "grad_input", "grad_weight", "grad_bias"))


@pytest.mark.parametrize("flags", ["--stride 2", "--padding 1:2", "--padding same", "--stride 2 --padding 1"])
def test_the_file_itself_then_holds_what_flags_put_in_its_place(capsys, tmp_path, layer, flags):
    """The results and the parameters and arrays that they come from: a second run agrees."""
    np.save(tmp_path / "w.npy", np.array([[[3, 5]]]))
    os.truncate(layer, 0)
    np.savez(layer, input=np.array([[[1, 2, 3]]]), weight=np.array([[[1, 10]]]), stride=1, other=7)
    weight = ["--weight", str(tmp_path / "w.npy")]
    assert main(["grad", str(layer), *weight, *flags.split(), "-o", str(layer)]) == 0
    first = contents(layer)
    assert first["weight"].tolist() == [[[3, 5]]] and first["other"] == 7
    assert "\n  output, grad_input, grad_weight, grad_bias, weight" in capsys.readouterr().out
    assert main(["grad", str(layer), "-o", str(tmp_path / "again.npz")]) == 0
    assert capsys.readouterr().out.count(" agrees: all ") == 4
    again = contents(tmp_path / "again.npz")
    assert all(again[name].tolist() == first[name].tolist() for name in again)


@pytest.mark.parametrize("flags", ["", "--stride 1"])
@pytest.mark.parametrize("dtype", [int, np.float32])
def test_a_result_that_disagrees_is_not_written_over(capsys, tmp_path, dtype, flags):
    """Else the next run would compare npconv with itself, and agree."""
    x, w, y = (np.array([[row]], dtype) for row in ([1, 2, 3], [1, 10], [21, 33]))
    np.savez(tmp_path / "wrong.npz", input=x, weight=w, output=y)
    before = (tmp_path / "wrong.npz").read_bytes()
    (tmp_path / "link.npz").symlink_to(tmp_path / "wrong.npz")
    for name in ("wrong.npz", "link.npz"):
        argv = ["grad", str(tmp_path / "wrong.npz"), "-o", str(tmp_path / name), *flags.split()]
        assert main(argv) == 1
        text = capsys.readouterr().out
        assert "not written: output would be lost; give -o another name" in text and "written to" not in text
        assert (tmp_path / "wrong.npz").read_bytes() == before
    assert main(["grad", str(tmp_path / "wrong.npz"), "-o", str(tmp_path / "other.npz")]) == 1
    assert contents(tmp_path / "other.npz")["output"].tolist() == [[[21, 32]]]


def test_nor_is_a_suspicious_one(tmp_path):
    one = np.float32([[[1]]])
    np.savez(tmp_path / "f.npz", input=one, weight=one, output=np.nextafter(one, np.float32(0)))
    before = (tmp_path / "f.npz").read_bytes()
    assert main(["grad", str(tmp_path / "f.npz"), "-o", str(tmp_path / "f.npz")]) == 1
    assert (tmp_path / "f.npz").read_bytes() == before


def test_a_file_that_was_brought_to_compare_is_not_written_over(capsys, tmp_path, layer):
    """Its name need not end in .npy."""
    with open(tmp_path / "ref", "wb") as file:
        np.save(file, np.array([[[21, 33]]]))
    before = (tmp_path / "ref").read_bytes()
    with recording() as steps:
        argv = ["grad", layer, "--output", tmp_path / "ref", "-o", tmp_path / "ref"]
        refused(capsys, argv, "ref: it cannot be written: it is the file of --output$")
    assert (tmp_path / "ref").read_bytes() == before and steps == []


@pytest.mark.parametrize("result", ["output", "grad_input", "grad_weight", "grad_bias"])
def test_a_result_that_a_flag_keeps_from_being_compared_is_not_written_over(capsys, tmp_path, layer, result):
    """What the file holds may be wrong: nobody has looked at it."""
    assert main(["grad", str(layer), "-o", str(tmp_path / "right.npz")]) == 0
    right, flag = contents(tmp_path / "right.npz")[result], f"--{result.replace('_', '-')}"
    capsys.readouterr()
    np.save(tmp_path / "ref.npy", right)
    np.savez(layer, **{**contents(layer), result: right + 1})
    before = layer.read_bytes()
    message = f"its own {result} would be lost, and {flag} keeps it from being compared; leave {flag} out, or"
    with recording() as steps:
        refused(capsys, ["grad", layer, flag, tmp_path / "ref.npy", "-o", layer], message)
    assert layer.read_bytes() == before and steps == []
    assert main(["grad", str(layer), flag, str(tmp_path / "ref.npy"), "-o", str(tmp_path / "out.npz")]) == 0
    assert contents(tmp_path / "out.npz")[result].tolist() == right.tolist()


def test_a_name_that_is_written_stays_on_one_line(capsys, tmp_path, layer):
    assert main(["grad", str(layer), "-o", str(tmp_path / "a\nb\x1b.npz")]) == 0
    assert capsys.readouterr().out.splitlines()[-2].endswith(r"a\nb\x1b.npz':")
    assert (tmp_path / "a\nb\x1b.npz").exists()


def test_several_arrays_are_not_written_under_the_name_of_one(capsys, tmp_path, layer):
    refused(capsys, ["grad", layer, "-o", tmp_path / "out.npy"], "out.npy: .*npy file holds one array.*npz")
    assert os.listdir(tmp_path) == ["layer.npz"]
