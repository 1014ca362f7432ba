"""A command on a Python without NumPy ends in one line, not in a traceback; an import raises as ever."""

import sys
from importlib.util import find_spec
from pathlib import PurePath


def _is_the_command() -> bool:
    """Whether this is `python -m npconv`, which is "-m" until its package is imported, or `npconv`."""
    program = PurePath(sys.argv[0]).stem if sys.argv else ""
    return program == "npconv" or (program == "-m" and "npconv" in sys.orig_argv)


if find_spec("numpy") is None and _is_the_command():
    print(f"npconv: it needs NumPy, which {sys.executable} has not; pip install numpy", file=sys.stderr)
    sys.exit(2)
