"""Problems and results as files: emitted, answered by a C program and by hand, judged."""

import json
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from npconv.cli import main
from npconv.testing.checking import judge_files
from npconv.testing.exchange import emit, questions, read_manifest, read_safetensors, write_safetensors
from npconv.testing.parts import PARTS, reference

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
    assert report.faults == [f"forward: {asked - 5} of {asked} results are missing"]
    assert not report.unsupported


def test_no_results_at_all_are_incomplete(tmp_path):
    asked = emit(tmp_path)
    assert judge_files(tmp_path).why == f"{asked} of {asked} results are missing"


def test_a_wrong_result_beside_missing_ones_is_wrong(tmp_path):
    asked = emit(tmp_path, ["forward"])
    answer(tmp_path, lambda part, result: -result)
    (tmp_path / "0.forward.f32").unlink()
    report = judge_files(tmp_path)
    assert report.verdict == "WRONG" and report.why.endswith(f"1 of {asked} results are missing")
    assert report.faults[0].startswith("forward: the sign is wrong")


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


def test_a_result_of_the_wrong_length_is_a_verdict(tmp_path):
    emit(tmp_path, ["forward"])
    answer(tmp_path)
    np.zeros(3, "<f4").tofile(tmp_path / "0.forward.f32")
    report = judge_files(tmp_path)
    assert report.verdict == "WRONG" and "0.forward.f32 holds 3 numbers, due 90" in report.faults[0]


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


def test_a_broken_safetensors_file_is_one_line(tmp_path):
    (tmp_path / "x.safetensors").write_bytes(b"\x10")
    with pytest.raises(ValueError, match="no safetensors file"):
        read_safetensors(tmp_path / "x.safetensors")


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


def test_a_spoilt_manifest_is_refused(tmp_path):
    (tmp_path / "manifest.txt").write_text("0 forward 1 2\n")
    with pytest.raises(ValueError, match="manifest: the line '0 forward 1 2'"):
        judge_files(tmp_path)


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
