"""Problems and results as files: emitted, answered by a C program and by hand, judged."""

import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from npconv.cli import main
from npconv.testing.array_files import Unreadable, read_npy, read_safetensors, write_safetensors
from npconv.testing.exchange import COLUMNS, emit, questions, read_manifest
from npconv.testing.judging import judge_files
from npconv.testing.parts import PARTS, TAKES, reference, result_shape

SOURCE = Path(__file__).with_name("emitted_kernel.c")
CC = shutil.which("cc")


def answer(folder, change=lambda part, result: result):
    """Write all results as a right program would, or one with a fault."""
    for number, part, problem in read_manifest(folder):
        arrays = {
            path.name.split(".")[1]: np.load(path).astype(np.int64) for path in folder.glob(f"{number}.*.npy")
        }
        arrays = {name: a for name, a in arrays.items() if name not in PARTS}
        result = change(part, reference(part, problem, arrays))
        result.astype("<f4").tofile(folder / f"{number}.{part}.f32")


def test_right_results_pass(tmp_path):
    emit(tmp_path)
    answer(tmp_path)
    report = judge_files(tmp_path)
    assert report.verdict == "PASS" and report.exit_code == 0
    assert report.parts == PARTS and not report.unsupported


def test_a_fault_in_the_files_is_named(tmp_path):
    emit(tmp_path, ["grad_weight"])
    answer(tmp_path, lambda part, result: result[:, :, ::-1, ::-1])
    report = judge_files(tmp_path)
    assert report.verdict == "WRONG"
    assert report.faults[0].startswith("grad_weight: the result is flipped")


def test_a_program_that_ends_early_does_not_pass(tmp_path):
    asked = emit(tmp_path, ["forward"])
    answer(tmp_path)
    for number, part, _ in read_manifest(tmp_path)[5:]:
        (tmp_path / f"{number}.{part}.f32").unlink()
    report = judge_files(tmp_path)
    assert report.verdict == "INCOMPLETE" and report.exit_code == 2
    assert report.why == f"{asked - 5} of {asked} results are missing"
    lost = read_manifest(tmp_path)[5]
    assert report.faults == [
        f"forward: {asked - 5} of {asked} results are missing, the first of problem {lost.number}"
    ]
    text = str(report)
    assert f" partial  {asked} cases, {asked - 5} missing\n" in text
    assert "failed" not in text and "smallest case" not in text
    (rung,) = report.to_dict()["rungs"]
    assert rung["status"] == "partial" and len(rung["missing"]) == asked - 5 and not rung["failed"]
    suite = ElementTree.fromstring(report.to_junit())
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "1")
    assert suite.find(".//error").get("message") == f"{asked - 5} of {asked} results are missing"
    assert not report.unsupported


def test_no_results_at_all_are_incomplete(tmp_path):
    asked = emit(tmp_path)
    report = judge_files(tmp_path)
    assert report.why == f"{asked} of {asked} results are missing"
    first = str(report.rungs[0].missing[0])
    assert first == "problem 0: forward of N2C2O3_i5x6_k3x2_bias: there is no 0.forward.f32 or .npy"


def test_a_wrong_result_beside_missing_ones_is_wrong(tmp_path):
    asked = emit(tmp_path, ["forward"])
    answer(tmp_path, lambda part, result: -result)
    (tmp_path / "0.forward.f32").unlink()
    report = judge_files(tmp_path)
    assert report.verdict == "WRONG" and report.why.endswith(f"1 of {asked} results are missing")
    assert report.faults[0].startswith("forward: the sign is wrong")
    assert report.faults[1] == f"forward: 1 of {asked} results are missing, the first of problem 0"
    assert f" broken   {asked} cases, {asked - 1} failed, 1 missing\n" in str(report)
    suite = ElementTree.fromstring(report.to_junit())
    assert (suite.get("failures"), suite.get("errors")) == ("1", "0")
    assert "there is no 0.forward.f32" in suite.find(".//failure").text


def test_a_refusal_is_written_and_unsupported(tmp_path):
    emit(tmp_path, ["forward"])
    answer(tmp_path)
    for number, part, problem in read_manifest(tmp_path):
        if problem.G > 1:
            (tmp_path / f"{number}.{part}.f32").unlink()
            (tmp_path / f"{number}.{part}.refused").touch()
    report = judge_files(tmp_path)
    assert report.verdict == "PASS" and report.unsupported["forward"][0].startswith("groups > 1")


def test_refusing_every_question_is_unsupported(tmp_path):
    emit(tmp_path, ["forward"])
    for number, part, _ in read_manifest(tmp_path):
        (tmp_path / f"{number}.{part}.refused").touch()
    assert judge_files(tmp_path).verdict == "UNSUPPORTED"


@pytest.mark.parametrize("change", [lambda data: data + b"ab", lambda data: data[:-1], lambda data: data * 2])
def test_a_file_of_another_size_is_a_verdict(change, tmp_path):
    emit(tmp_path, ["forward"])
    answer(tmp_path)
    path = tmp_path / "0.forward.f32"
    data = change(path.read_bytes())
    path.write_bytes(data)
    report = judge_files(tmp_path)
    assert report.verdict == "WRONG"
    told = f"forward: writes a file of the wrong size: 0.forward.f32 holds {len(data)} bytes, due 360: "
    assert report.faults[0].startswith(told + "90 float32 as (2, 3, 3, 5)")


def test_bytes_behind_an_array_are_bad_input(tmp_path):
    emit(tmp_path, ["forward"])
    path = tmp_path / "0.forward.npy"
    np.save(path, np.zeros((2, 3, 3, 5), "f4"))
    path.write_bytes(path.read_bytes() + b"xyz")
    with pytest.raises(Unreadable, match="0.forward.npy: .* 3 bytes follow its array of shape"):
        judge_files(tmp_path)


@pytest.mark.parametrize("other", ["0.forward.npy", "0.forward.refused", "results.safetensors"])
def test_two_files_for_one_result_are_named_and_neither_is_taken(other, tmp_path):
    emit(tmp_path, ["forward"])
    answer(tmp_path)
    old = np.zeros((2, 3, 3, 5), "f4")
    if other.endswith("npy"):
        np.save(tmp_path / other, old)
    elif other.endswith("refused"):
        (tmp_path / other).touch()
    else:
        write_safetensors(tmp_path / other, {"0.forward": old})
    with pytest.raises(Unreadable) as error:
        judge_files(tmp_path)
    assert "0.forward.f32" in str(error.value) and other in str(error.value)
    assert str(error.value).endswith("both answer it, and one may be old; remove all but one")


@pytest.mark.parametrize(
    "name", ["0.forward.f32", "28.grad_bias.npy", "3.transposed.refused", "results.safetensors"]
)
def test_emit_does_not_write_below_old_results(name, tmp_path):
    (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(ValueError, match=f"holds results \\({name}\\), which would be taken for answers"):
        emit(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]  # nothing written, nothing removed


def test_emit_over_problems_without_results_is_emit(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    emit(tmp_path)
    emit(tmp_path, ["forward"])
    answer(tmp_path)
    assert judge_files(tmp_path).verdict == "PASS"
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_emit_knows_its_parts_and_wants_a_folder(tmp_path):
    with pytest.raises(ValueError, match="parts: sideways unknown; there are forward"):
        emit(tmp_path / "new", ["sideways"])
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="file is a file; name a folder"):
        emit(tmp_path / "file")


def test_results_without_a_question_are_noted(tmp_path):
    emit(tmp_path, ["forward"])
    answer(tmp_path)
    (tmp_path / "999.forward.f32").touch()
    (tmp_path / "0.grad_input.npy").touch()
    (note,) = judge_files(tmp_path).rungs[0].notes
    assert note == "2 results answer no question of the manifest: 0.grad_input.npy, 999.forward.f32"


def test_results_in_npy_and_in_one_safetensors_file_are_read(tmp_path):
    emit(tmp_path, ["forward"])
    answer(tmp_path)
    results = {}
    for path in tmp_path.glob("*.f32"):
        results[path.name[:-4]] = np.fromfile(path, "<f4")
        path.unlink()
    shaped = {
        f"{number}.{part}": results[f"{number}.{part}"].reshape(problem.output_shape)
        for number, part, problem in read_manifest(tmp_path)
    }
    np.save(tmp_path / "0.forward.npy", shaped.pop("0.forward"))
    write_safetensors(tmp_path / "results.safetensors", shaped)
    report = judge_files(tmp_path)
    assert report.verdict == "PASS" and not report.unsupported


def test_numbers_begin_at_byte_128_and_numpy_reads_them(tmp_path):
    emit(tmp_path, ["forward"])
    path = tmp_path / "0.input.npy"
    array = np.load(path)
    assert array.dtype == np.float32 and array.shape == (2, 2, 5, 6)
    assert np.array_equal(np.frombuffer(path.read_bytes()[128:], "<f4"), array.reshape(-1))


def test_safetensors_are_laid_out_by_the_format(tmp_path):
    # Worked out by hand: 8 bytes of length, the JSON padded to 8, then the numbers.
    write_safetensors(tmp_path / "x.safetensors", {"a": np.array([[1.0, 2.0]], "<f4")})
    data = (tmp_path / "x.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    assert size % 8 == 0 and header == {"a": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}
    assert struct.unpack("<2f", data[8 + size :]) == (1.0, 2.0)


def test_bfloat16_tensors_are_read(tmp_path):
    header = json.dumps({"a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}).encode()
    data = struct.pack("<Q", len(header)) + header + struct.pack("<2H", 0x3F80, 0xC040)
    (tmp_path / "x.safetensors").write_bytes(data)
    assert read_safetensors(tmp_path / "x.safetensors")["a"].tolist() == [1.0, -3.0]


def tensors(header, numbers):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


A = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


@pytest.mark.parametrize(
    "content, told",
    [
        (struct.pack("<Q", 2**63 - 1) + b"{}", "its header takes 9223372036854775807 bytes, but 2 are there"),
        (struct.pack("<Q", 3) + b"{}", "its header takes 3 bytes, but 2 are there"),
        (b"\x10", "unpack_from requires a buffer of at least 8 bytes"),
        (tensors({"a": A}, b""), "cannot reshape|its tensors take 4 bytes, but 0 are there"),
        (tensors({"a": A}, bytes(6)), "its tensors take 4 bytes, but 6 are there"),
        (tensors({"a": A, "b": A}, bytes(4)), "its tensors take 8 bytes, but 4 are there"),
        (
            tensors({"a": {**A, "dtype": "F8_E5M2"}}, bytes(4)),
            "a has dtype F8_E5M2, which is not one of BF16, F64",
        ),
        (tensors({"a": {"dtype": "F32", "shape": [1]}}, bytes(4)), "'data_offsets' is missing"),
        (tensors({"a": {**A, "shape": [3]}}, bytes(4)), "cannot reshape"),
        (tensors({"a": 3}, bytes(4)), "not subscriptable"),
    ],
)
def test_a_broken_safetensors_file_is_one_line(content, told, tmp_path):
    (tmp_path / "x.safetensors").write_bytes(content)
    with pytest.raises(
        Unreadable, match=f"x.safetensors: it is no safetensors file that can be read: .*({told})"
    ):
        read_safetensors(tmp_path / "x.safetensors")


def test_metadata_are_no_array(tmp_path):
    (tmp_path / "x.safetensors").write_bytes(tensors({"__metadata__": {"format": "np"}, "a": A}, bytes(4)))
    assert read_safetensors(tmp_path / "x.safetensors")["a"].tolist() == [0.0]


def test_an_archive_is_no_array(tmp_path):
    np.savez(tmp_path / "x.npz", np.zeros(1))
    with pytest.raises(Unreadable, match="that can be read: it is an archive .*; write one array a file$"):
        read_npy(tmp_path / "x.npz")


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


NAMELESS = np.zeros(1, [("x" * 20_000, "f4")])


@pytest.mark.parametrize(
    "content, told",
    [
        (b"", "it is empty$"),
        (b"junk", r"it begins with b'junk', due b'\\x93NUMPY'$"),
        (b"\x80\x04\x95rest of a pickle", "it begins with .*, due"),
        (saved(np.zeros(3, np.float32))[:-1], "cannot reshape|read"),
        (saved(np.array([None])), "it holds Python objects; write numbers$"),
        (saved(NAMELESS), "its header is longer than that of an array of numbers$"),
    ],
)
def test_a_broken_npy_file_is_told_without_advice_to_trust_it(content, told, tmp_path):
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(Unreadable, match=f"^x.npy: it is no .npy file that can be read: .*({told})") as error:
        read_npy(tmp_path / "x.npy")
    assert "pickle=" not in str(error.value)


@pytest.mark.parametrize(
    "name", ["0.forward.f32", "0.forward.npy", "0.forward.refused", "results.safetensors"]
)
def test_a_folder_in_place_of_a_result_is_told_as_one(name, tmp_path):
    emit(tmp_path, ["forward"])
    (tmp_path / name).mkdir()
    with pytest.raises(Unreadable, match=f"^{name}: it is a folder, where a file with a result is due"):
        judge_files(tmp_path)


def test_a_link_to_nowhere_is_no_missing_result(tmp_path):
    emit(tmp_path, ["forward"])
    (tmp_path / "0.forward.f32").symlink_to("0.forward.f32")
    with pytest.raises(Unreadable, match="^0.forward.f32: it is no plain file"):
        judge_files(tmp_path)


def test_a_refusal_with_something_in_it_is_none(tmp_path):
    emit(tmp_path, ["forward"])
    (tmp_path / "0.forward.refused").write_bytes(bytes(360))
    told = "^0.forward.refused: it holds 360 bytes, but a refusal is an empty file; write a result to 0.forw"
    with pytest.raises(Unreadable, match=told):
        judge_files(tmp_path)


def test_all_emitted_numbers_are_exact_in_bfloat16(tmp_path):
    emit(tmp_path)
    arrays = read_safetensors(tmp_path / "problems.safetensors")
    assert len(arrays) > 100 and max(abs(a).max() for a in arrays.values()) <= 16
    bits = np.concatenate([a.reshape(-1) for a in arrays.values()]).view(np.uint32)
    assert not (bits & 0xFFFF).any()  # the lower half of a float32 is what bfloat16 drops


def test_the_manifest_has_a_line_a_question(tmp_path):
    count = emit(tmp_path, ["forward", "transposed"])
    lines = (tmp_path / "manifest.txt").read_text().splitlines()
    assert len(lines) == count + 1 == len(list(questions(["forward", "transposed"]))) + 1
    assert {len(line.split()) for line in lines[1:]} == {len(lines[0].split()) - 1}


MANIFESTS = {
    "too few columns": (
        lambda lines: ["0 forward 1 2"],
        "the line '0 forward 1 2' does not have the columns",
    ),
    "no such part": (lambda lines: [lines[1].replace("forward", "sideways")], "does not have the columns"),
    "another size": (
        lambda lines: [lines[1].replace(" 5 6 ", " 5 7 ", 1)],
        "line 1: W is 7, but N2C2O3_.* has 6",
    ),
    "another descriptor": (
        lambda lines: [lines[1].rsplit(" ", 1)[0] + " i5x6_k3x2"],
        "line 1: N is 2, but i5x6_k3x2 has 1; write it again",
    ),
    "no descriptor": (lambda lines: [lines[1] + "_oops"], "line 1: .*'oops'"),
    "twice": (lambda lines: [*lines, lines[3]], "it asks for 2.forward twice"),
    "nothing": (lambda lines: lines[:1], "asks nothing"),
    "no text": (lambda lines: ["\udcff"], "does not have the columns"),
}


@pytest.mark.parametrize("change, told", MANIFESTS.values(), ids=MANIFESTS)
def test_a_manifest_that_was_changed_is_refused(change, told, tmp_path):
    emit(tmp_path, ["forward"])
    path = tmp_path / "manifest.txt"
    lines = change(path.read_text().splitlines())
    path.write_text("\n".join(lines) + "\n", errors="surrogateescape")
    with pytest.raises(ValueError, match=f"^manifest: .*{told}"):
        judge_files(tmp_path)


def test_fewer_questions_may_be_asked(tmp_path):
    emit(tmp_path, ["forward"])
    path = tmp_path / "manifest.txt"
    path.write_text("\r\n".join(path.read_text().splitlines()[:4]))  # as an editor elsewhere leaves it
    answer(tmp_path)
    assert judge_files(tmp_path).why == "forward: 3 exact results equal"


@pytest.mark.parametrize("stored", ["0.weight.npy", "0.weight in problems.safetensors"])
def test_a_problem_that_was_changed_is_refused(stored, tmp_path):
    emit(tmp_path, ["forward"])
    if stored.endswith("npy"):
        np.save(tmp_path / stored, 2 * np.load(tmp_path / stored))
    else:
        arrays = read_safetensors(tmp_path / "problems.safetensors")
        write_safetensors(tmp_path / "problems.safetensors", {**arrays, "0.weight": 2 * arrays["0.weight"]})
    with pytest.raises(Unreadable, match=f"^{stored}: it does not hold the array of the problem"):
        judge_files(tmp_path)


def test_a_number_of_another_problem_is_refused(tmp_path):
    emit(tmp_path, ["forward"])
    path = tmp_path / "manifest.txt"
    path.write_text("7" + path.read_text().splitlines()[1][1:] + "\n")
    with pytest.raises(Unreadable, match="^7.input.npy: it does not hold the array"):
        judge_files(tmp_path)


def test_results_alone_are_judged(tmp_path):
    emit(tmp_path, ["forward"])
    answer(tmp_path)
    for path in [*tmp_path.glob("*.npy"), tmp_path / "problems.safetensors"]:
        path.unlink()
    assert judge_files(tmp_path).verdict == "PASS"


def compiled(tmp_path, *flags):
    program = tmp_path / "kernel"
    subprocess.run([CC, "-O2", *flags, "-o", program, SOURCE], check=True)
    return program


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_a_c_program_is_judged_right(tmp_path, capsys):
    folder = tmp_path / "problems"
    assert main(["emit", str(folder), "forward"]) == 0
    subprocess.run([compiled(tmp_path), folder], check=True)
    assert main(["judge", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("PASS")


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_a_fault_in_a_c_program_is_named(tmp_path, capsys):
    folder = tmp_path / "problems"
    assert main(["emit", str(folder), "forward"]) == 0
    subprocess.run([compiled(tmp_path, "-DFAULT"), folder], check=True)
    assert main(["judge", str(folder)]) == 1
    assert "forward: the input channels of the groups are interleaved" in capsys.readouterr().out


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_the_lines_of_the_readme_run_as_they_stand(tmp_path):
    root = Path(__file__).parents[2]
    section = (root / "README.md").read_text().split("### No Python in the build\n")[1]
    script = "".join(re.findall("^    (.*\n)", section.split("\n\n")[0] + "\n", re.MULTILINE))
    (tmp_path / "tests").symlink_to(root / "tests")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(root), "PATH": path}
    run = subprocess.run(["sh", "-ec", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0 and not run.stderr
    assert "PASS  problems: forward: " in run.stdout


def test_the_readme_has_the_columns_and_shapes_of_the_manifest():
    text = (Path(__file__).parents[2] / "README.md").read_text()
    assert f"`{COLUMNS}`" in text.replace("\n", " ")
    rows = dict(re.findall(r"^\| (\w+) \| .* \| (\([^|]*\)) \|$", text, re.MULTILINE))
    assert set(PARTS) <= set(rows)
    for question in questions():
        p = question.problem
        H, W = p.i
        OH, OW = p.output_shape[2:]
        sizes = dict(N=p.N, C=p.C, O=p.O, G=p.G, H=H, W=W, KH=p.k[0], KW=p.k[1], OH=OH, OW=OW)
        axes = [axis.split("/") for axis in rows[question.part].strip("()").split(", ")]
        due = tuple(sizes[axis[0]] // (sizes[axis[1]] if axis[1:] else 1) for axis in axes)
        assert due == result_shape(question.part, p)


@pytest.mark.parametrize("part", PARTS)
def test_only_what_a_question_takes_is_written(part, tmp_path):
    emit(tmp_path, [part])
    names = {path.name.split(".")[1] for path in tmp_path.glob("*.npy")}
    assert names == set(TAKES[part])
    assert {name.split(".")[1] for name in read_safetensors(tmp_path / "problems.safetensors")} == names
    answer(tmp_path)
    assert judge_files(tmp_path).verdict == "PASS"
