"""The command line as tests use it: a small layer to ask about, and what a refusal looks like."""

import re

import numpy as np

from npconv.cli import main


def save_layer(path):
    """A small layer of integers; its output by hand is (21, 32)."""
    np.savez(path, input=np.array([[[1, 2, 3]]]), weight=np.array([[[1, 10]]]), output=np.array([[[21, 32]]]))
    return path


def contents(path):
    """The arrays of an .npz file, by name."""
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def refused(capsys, argv, message):
    """One line on stderr that says so, nothing on stdout, exit code 2."""
    code = main([str(word) for word in argv])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and re.search(message, err), err
    return err
