"""Real frameworks as candidates: `make crosscheck` prints what the referee finds in each.

A framework that is not installed is left out.  Arguments: names of frameworks; default all.
"""

import importlib.metadata
import importlib.util
import os
import sys
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
sys.path.insert(0, str(Path(__file__).parent))

import adapters  # noqa: E402

from npconv.testing import check  # noqa: E402
from npconv.testing.ladder import RUNGS  # noqa: E402

FRAMEWORKS = {
    "jax": adapters.Jax,
    "onnxruntime": adapters.OnnxRuntime,
    "openvino": adapters.OpenVino,
    "mlx": adapters.Mlx,
}


def main(names):
    reports = {}
    for name in names or FRAMEWORKS:
        if importlib.util.find_spec(name) is None:
            print(f"{name} is not installed: left out")
            continue
        reports[name] = check(FRAMEWORKS[name], time_limit=60.0, progress=_progress)
        print(f"\n---- {name} {importlib.metadata.version(name)}\n{reports[name]}", flush=True)
    print(f"\n{'framework':<24}{'verdict':<13}{'rungs passed':<14}parts")
    for name, report in reports.items():
        passed = sum(rung.status == "passed" for rung in report.rungs)
        version = f"{name} {importlib.metadata.version(name)}"
        print(f"{version:<24}{report.verdict:<13}{f'{passed} of {len(RUNGS)}':<14}{', '.join(report.parts)}")
    return 0 if reports else 2


def _progress(line):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="\r", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
