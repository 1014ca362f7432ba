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
    print("\n| framework | verdict | rungs passed | unsupported | passport |\n|---|---|---|---|---|")
    for name, report in reports.items():
        print(row(f"{name} {importlib.metadata.version(name)}", report))
    return 0 if reports else 2


def row(title, report):
    """One line of the table."""
    passed = sum(rung.status == "passed" for rung in report.rungs)
    refused = [f"{part}: {told.split(' (')[0]}" for part, lines in report.unsupported.items() for told in lines]
    facts = report.passport
    told = (
        f"{facts.get('input significand', '?').split(',')[0]} in, sums in {facts.get('accumulator', '?')}, "
        f"subnormals {facts.get('subnormals', '?')}"
    )
    told = told if facts else "not asked: an exact result is wrong"
    cells = (title, report.verdict, f"{passed} of {len(RUNGS)}", "; ".join(refused) or "nothing", told)
    return f"| {' | '.join(cells)} |"


def _progress(line):
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="\r", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
