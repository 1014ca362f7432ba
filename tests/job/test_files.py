"""What is read is whole and never unpickled; what is written is whole or not there."""

import os
import stat
import zipfile

import numpy as np
import pytest

from npconv.job import files

OLD = {"x": np.arange(3)}
NEW = {"x": np.arange(5.0), "y": np.ones((2, 2), np.float32)}


class Trap:
    """Unpickling it makes a directory."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.fixture
def old(tmp_path):
    np.savez(tmp_path / "old.npz", **OLD)
    return tmp_path / "old.npz"


def contents(path):
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


# ---------------------------------------------------------------- reading


def test_only_the_named_members_are_read(tmp_path, old):
    found, others = files.read_npz(str(old), ["x", "absent"])
    assert found["x"].tolist() == [0, 1, 2] and list(found) == ["x"] and others == []
    np.savez(tmp_path / "trap.npz", trap=np.array([Trap(tmp_path / "sprung")], object), **OLD)
    found, others = files.read_npz(str(tmp_path / "trap.npz"), ["x"])
    assert list(found) == ["x"] and others == ["trap"]


@pytest.mark.parametrize("suffix", ["npz", "npy"])
def test_a_pickle_is_refused_and_not_run(tmp_path, suffix):
    trap, path = np.array([Trap(tmp_path / "sprung")], object), tmp_path / f"trap.{suffix}"
    np.savez(path, weight=trap) if suffix == "npz" else np.save(path, trap)
    with pytest.raises(ValueError, match="weight holds Python objects.*never loaded"):
        files.read_npz(str(path), ["weight"]) if suffix == "npz" else files.read_npy(str(path), "weight")
    assert not (tmp_path / "sprung").exists()


def test_a_long_header_is_not_called_a_pickle(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3, [(f"field{n}", "f4") for n in range(1000)]))
    with pytest.raises(ValueError, match="x.npy: input has a header of more than 10000 bytes, which is not read"):
        files.read_npy(str(tmp_path / "x.npy"), "input")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_file_cut_anywhere_is_refused(tmp_path, save):
    save(tmp_path / "whole.npz", x=np.arange(50), y=np.arange(3))
    whole = (tmp_path / "whole.npz").read_bytes()
    for size in range(0, len(whole), 7):
        (tmp_path / "cut.npz").write_bytes(whole[:size])
        with pytest.raises(ValueError, match="cut.npz: .*(not an .npz file|the file is damaged)"):
            files.read_npz(str(tmp_path / "cut.npz"), ["x", "y"])


def test_a_cut_npy_file_is_refused(tmp_path):
    np.save(tmp_path / "whole.npy", np.arange(50))
    whole = (tmp_path / "whole.npy").read_bytes()
    for size in range(0, len(whole), 7):
        (tmp_path / "cut.npy").write_bytes(whole[:size])
        with pytest.raises(ValueError, match="cut.npy: .*(not a .npy file|the file is damaged)"):
            files.read_npy(str(tmp_path / "cut.npy"), "input")


def test_a_flipped_bit_is_noticed(tmp_path, old):
    data = bytearray(old.read_bytes())
    data[data.index(b"\x02\0\0\0\0\0\0\0")] ^= 1  # the last of the three integers
    old.write_bytes(data)
    with pytest.raises(ValueError, match="x cannot be read, the file is damaged .*CRC"):
        files.read_npz(str(old), ["x"])


def test_another_kind_of_file_is_named(tmp_path, old):
    np.save(tmp_path / "x.npy", np.arange(3))
    (tmp_path / "x.txt").write_text("1 2 3")
    with zipfile.ZipFile(tmp_path / "plain.zip", "w") as archive:
        archive.writestr("x", "1 2 3")
    with pytest.raises(ValueError, match="it is one .npy array; give it by its name, as in --input"):
        files.read_npz(str(tmp_path / "x.npy"), ["x"])
    with pytest.raises(ValueError, match="it is not an .npz file"):
        files.read_npz(str(tmp_path / "x.txt"), ["x"])
    with pytest.raises(ValueError, match="x is not an array"):
        files.read_npz(str(tmp_path / "plain.zip"), ["x"])
    with pytest.raises(ValueError, match="it is not a .npy file.*input"):
        files.read_npy(str(old), "input")


@pytest.mark.parametrize("read", [files.read_npz, files.read_npy])
def test_what_cannot_be_opened_is_named(tmp_path, read):
    with pytest.raises(OSError, match="nowhere: it cannot be read: No such file"):
        read(str(tmp_path / "nowhere"), "x")
    with pytest.raises(OSError, match="it cannot be read: Is a directory"):
        read(str(tmp_path), "x")


def test_a_header_that_claims_too_much_is_an_error_not_a_crash(tmp_path):
    with open(tmp_path / "x.npy", "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**17,)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises((MemoryError, ValueError), match="x.npy: input"):
        files.read_npy(str(tmp_path / "x.npy"), "input")


# ---------------------------------------------------------------- writing


def test_what_is_written_is_read_back(tmp_path):
    files.write_npz(str(tmp_path / "out.npz"), NEW)
    written = contents(tmp_path / "out.npz")
    assert list(written) == ["x", "y"]
    for name, array in NEW.items():
        assert written[name].dtype == array.dtype
        np.testing.assert_array_equal(written[name], array)
    assert os.listdir(tmp_path) == ["out.npz"]


def test_the_name_is_taken_as_it_is(tmp_path):
    files.write_npz(str(tmp_path / "out"), NEW)
    assert os.listdir(tmp_path) == ["out"]


def test_the_same_arrays_give_the_same_bytes(tmp_path, monkeypatch):
    files.write_npz(str(tmp_path / "a.npz"), NEW)
    monkeypatch.setattr("time.localtime", lambda *_: (2001, 2, 3, 4, 5, 6, 0, 0, 0))
    files.write_npz(str(tmp_path / "b.npz"), NEW)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("function", ["os.fsync", "os.replace", "os.chmod", "numpy.lib.format.write_array"])
@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()]
)
def test_a_failure_leaves_everything_as_it_was(old, monkeypatch, function, error):
    def fail(*args, **kwargs):
        raise error

    before = old.read_bytes()
    monkeypatch.setattr(function, fail)
    with pytest.raises(type(error)):
        files.write_npz(str(old), NEW)
    assert old.read_bytes() == before and os.listdir(old.parent) == ["old.npz"]


def test_a_full_disk_is_named_with_the_file_that_the_user_gave(old, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="old.npz: it cannot be written: No space left on device"):
        files.write_npz(str(old), NEW)


def test_the_new_file_is_complete_before_it_takes_the_name(old, monkeypatch):
    replace, seen = os.replace, []

    def look_then_replace(source, target):
        seen.append((sorted(contents(source)), sorted(contents(target))))
        replace(source, target)

    monkeypatch.setattr(os, "replace", look_then_replace)
    files.write_npz(str(old), NEW)
    assert seen == [(["x", "y"], ["x"])]


def test_permissions_are_those_of_the_old_file_or_of_the_umask(tmp_path, old):
    mask = os.umask(0o027)
    try:
        files.write_npz(str(tmp_path / "new.npz"), NEW)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(os.stat(tmp_path / "new.npz").st_mode) == 0o640
    old.chmod(0o604)
    files.write_npz(str(old), NEW)
    assert stat.S_IMODE(os.stat(old).st_mode) == 0o604


def test_a_link_goes_on_pointing_to_the_file(tmp_path, old):
    (tmp_path / "link.npz").symlink_to(old)
    files.write_npz(str(tmp_path / "link.npz"), NEW)
    assert (tmp_path / "link.npz").is_symlink() and sorted(contents(old)) == ["x", "y"]


def test_where_nothing_can_be_written_is_said_before_the_work(tmp_path, old):
    with pytest.raises(OSError, match="there is no directory .*none"):
        files.check_destination(str(tmp_path / "none" / "out.npz"))
    with pytest.raises(OSError, match="there is no directory .*old.npz"):
        files.check_destination(str(old / "out.npz"))
    with pytest.raises(OSError, match="it is a directory; name a file in it"):
        files.check_destination(str(tmp_path))
    with pytest.raises(OSError, match="it is not a regular file"):
        files.check_destination(os.devnull)
    old.chmod(0o444)
    with pytest.raises(OSError, match="the file is read-only"):
        files.check_destination(str(old))
    with pytest.raises(OSError, match="the file is read-only"):
        files.write_npz(str(old), NEW)


def test_a_read_only_directory_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(OSError, match="the directory .* is read-only"):
        files.check_destination(str(tmp_path / "out.npz"))


def test_kept_members_come_along_unread(tmp_path):
    trap = np.array([Trap(tmp_path / "sprung")], object)
    np.savez(tmp_path / "f.npz", x=np.arange(3), trap=trap, z=np.arange(7))
    members = {i.filename: i.CRC for i in zipfile.ZipFile(tmp_path / "f.npz").infolist()}
    files.write_npz(str(tmp_path / "f.npz"), NEW, keep=str(tmp_path / "f.npz"))
    with zipfile.ZipFile(tmp_path / "f.npz") as archive:
        assert archive.namelist() == ["x.npy", "y.npy", "trap.npy", "z.npy"]
        assert {n: archive.getinfo(n).CRC for n in ("trap.npy", "z.npy")} == {
            n: members[n] for n in ("trap.npy", "z.npy")
        }
    found, _ = files.read_npz(str(tmp_path / "f.npz"), ["x", "z"])
    assert found["x"].tolist() == [0, 1, 2, 3, 4] and found["z"].tolist() == list(range(7))
    assert not (tmp_path / "sprung").exists()


def test_a_damaged_member_that_was_to_be_kept_stops_the_writing(tmp_path):
    np.savez(tmp_path / "f.npz", x=np.arange(3), z=np.arange(7))
    data = bytearray((tmp_path / "f.npz").read_bytes())
    data[data.index(b"\x06\0\0\0\0\0\0\0")] ^= 1
    (tmp_path / "f.npz").write_bytes(data)
    with pytest.raises(ValueError, match="f.npz: what is to be kept cannot be read, the file is damaged"):
        files.write_npz(str(tmp_path / "f.npz"), NEW, keep=str(tmp_path / "f.npz"))
    assert (tmp_path / "f.npz").read_bytes() == data and os.listdir(tmp_path) == ["f.npz"]
