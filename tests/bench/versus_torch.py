"""npconv's speed against PyTorch's: `make bench`, or `python tests/bench/versus_torch.py --help`.

Two worker processes, one for each library, take turns: neither ever runs while the other's threads
are busy, and no process holds both.  Each measures with the same number of threads (--threads), in
float32.  A round times every case once in both workers; what is shown is the median over the rounds.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from npconv.layers import LAYERS  # noqa: E402

DIRECTIONS = ("forward", "input", "weight")
LIBRARIES = ("npconv", "torch")
SMALL = "i4x4_k3_p1"
LINEAR = ("resnet50_v1.5/res2_3x3", "resnet50_v1.5/res4_1x1_expand", "mobilenet_v1/dw8")


# ---------------------------------------------------------------- inside a worker


def npconv_calls(line: str) -> dict[str, Callable[[], object]]:
    """The three maps of a problem, and all of them in a row, as calls without arguments."""
    import npconv
    from npconv.problem import Problem

    problem = Problem.parse(line)
    x, w, g = arrays(problem)
    p = problem.parameters

    def small() -> None:
        npconv.conv2d(x, w, **p)
        npconv.conv2d_input(x.shape, w, g, **p)
        npconv.conv2d_weight(x, w.shape, g, **p)

    return {
        "forward": lambda: npconv.conv2d(x, w, **p),
        "input": lambda: npconv.conv2d_input(x.shape, w, g, **p),
        "weight": lambda: npconv.conv2d_weight(x, w.shape, g, **p),
        "all": small,
    }


def torch_calls(line: str) -> dict[str, Callable[[], object]]:
    """The same four in PyTorch; its own gradients, without the forward, and for `all` its autograd."""
    import torch
    from npconv.problem import Problem

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    problem = Problem.parse(line)
    x, w, g = map(torch.from_numpy, arrays(problem))
    stride, dilation, groups = problem.stride, problem.dilation, problem.G
    padding = tuple(lo for lo, hi in problem.padding)
    tracked_x, tracked_w = x.clone().requires_grad_(), w.clone().requires_grad_()

    def forward() -> object:
        with torch.no_grad():
            return torch.nn.functional.conv2d(x, w, None, stride, padding, dilation, groups)

    def gradient(*mask: bool) -> Callable[[], object]:
        return lambda: torch.ops.aten.convolution_backward(
            g, x, w, None, stride, padding, dilation, False, (0, 0), groups, mask
        )

    def autograd() -> None:
        y = torch.nn.functional.conv2d(tracked_x, tracked_w, None, stride, padding, dilation, groups)
        torch.autograd.grad(y, (tracked_x, tracked_w), g)

    return {
        "forward": forward,
        "input": gradient(True, False, False),
        "weight": gradient(False, True, False),
        "all": autograd,
    }


def arrays(problem) -> list:
    import numpy as np

    random = np.random.default_rng(0)
    shapes = (problem.input_shape, problem.weight_shape, problem.output_shape)
    return [random.standard_normal(shape, np.float32) for shape in shapes]


def worker(library: str) -> None:
    """Answer each request, one line of JSON, with the seconds that a call takes."""
    calls_of = {"npconv": npconv_calls, "torch": torch_calls}[library]
    current, calls = "", {}
    for request in map(json.loads, sys.stdin):
        if request["problem"] != current:
            current, calls = request["problem"], {}
            calls = calls_of(current)
        clock = time.process_time if request["cpu"] else time.perf_counter
        print(json.dumps(seconds(calls[request["direction"]], request["atleast"], clock)), flush=True)


def seconds(call: Callable[[], object], atleast: float, clock: Callable[[], float]) -> float:
    """The time of the least disturbed call, of as many as fill so many seconds, and of three or more."""
    call()
    taken: list[float] = []
    while len(taken) < 3 or sum(taken) < atleast:
        start = clock()
        call()
        taken.append(clock() - start)
    return min(taken)


# ---------------------------------------------------------------- the driver


class Worker:
    """A library in a process of its own."""

    def __init__(self, library: str, threads: int, cpu: bool) -> None:
        self.cpu = cpu
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", library],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def time(self, problem: str, direction: str, atleast: float) -> float:
        request = {"problem": problem, "direction": direction, "atleast": atleast, "cpu": self.cpu}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the worker died on {problem} {direction}")
        return json.loads(answer)


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


class Contest:
    """Both workers, and what they measured."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.workers = [Worker(library, options.threads, options.cpu_time) for library in LIBRARIES]

    def times(self, line: str, direction: str) -> tuple[float, float, float]:
        """npconv's seconds, PyTorch's, and their ratio: medians over the rounds."""
        options = self.options
        rounds = [[w.time(line, direction, options.atleast) for w in self.workers] for _ in range(options.rounds)]
        ours, theirs = (statistics.median(times) for times in zip(*rounds))
        return ours, theirs, statistics.median(a / b for a, b in rounds)

    def table(self, title: str, layers: dict[str, str]) -> None:
        """One row a layer, then the means and the worst."""
        directions = self.options.directions
        print(f"\n{title}\n" + f"{'ms, npconv / torch':32}" + "".join(f"{d:>28}" for d in directions))
        ratios: dict[str, list[float]] = {direction: [] for direction in directions}
        for name, line in layers.items():
            row = f"{name:32}"
            for direction in directions:
                ours, theirs, ratio = self.times(line, direction)
                ratios[direction].append(ratio)
                row += f"{ours * 1e3:11.3f} {theirs * 1e3:9.3f} {ratio:6.2f}"
            print(row, flush=True)
        ratios["all"] = [ratio for values in ratios.values() for ratio in values]
        for direction, values in ratios.items():
            print(f"{direction:10} geometric mean {geometric_mean(values):.2f}, worst {max(values):.2f}")

    def small(self) -> None:
        """Forward and both gradients of one small case; PyTorch: forward and autograd's backward."""
        ours, theirs, ratio = self.times(SMALL, "all")
        print(f"\n{SMALL}, forward and both gradients: {ours * 1e6:.0f} / {theirs * 1e6:.0f} us, {ratio:.2f}")

    def linear(self) -> None:
        """npconv's own time for four times the batch."""
        print("\ntime of batch 32 over time of batch 8")
        for name in LINEAR:
            few, many = (
                statistics.median(
                    sum(self.workers[0].time(with_batch(LAYERS[name], N), d, self.options.atleast) for d in DIRECTIONS)
                    for _ in range(self.options.rounds)
                )
                for N in (8, 32)
            )
            print(f"{name:32}{many / few:6.2f}", flush=True)


def with_batch(line: str, N: int) -> str:
    return f"N{N}" + line.lstrip("N0123456789")


def machine(threads: int) -> str:
    """What was measured on what."""
    code = "import numpy, torch; print('NumPy', numpy.__version__ + ', PyTorch', torch.__version__)"
    versions = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    try:
        models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        model = models[0].split(":")[1].strip()
    except (OSError, IndexError):
        model = platform.processor() or platform.machine()
    return f"{model}, {threads} thread(s), Python {platform.python_version()}, {versions}, float32"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--worker", choices=LIBRARIES, help=argparse.SUPPRESS)
    parser.add_argument("--layers", help="only these: parts of names, with commas between; no other tables")
    parser.add_argument("--batch", type=int, help="with --layers: this batch size in place of each layer's own")
    parser.add_argument("--directions", nargs="+", choices=DIRECTIONS, default=DIRECTIONS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--cpu-time", action="store_true", help="of one thread, on a machine that others use as well")
    parser.add_argument("--atleast", type=float, default=0.1, help="seconds spent on a case in a round")
    options = parser.parse_args()
    if options.worker:
        return worker(options.worker)
    if options.cpu_time:
        options.threads = 1
    contest = Contest(options)
    print(machine(options.threads) + ", CPU time" * options.cpu_time)
    if options.layers:
        found = {name: line for name, line in LAYERS.items() if any(part in name for part in options.layers.split(","))}
        if options.batch:
            found = {name: with_batch(line, options.batch) for name, line in found.items()}
        return contest.table(options.layers, found)
    resnet = {name: line for name, line in LAYERS.items() if name.startswith("resnet50")}
    contest.small()
    contest.table("ResNet-50, batch 1", resnet)
    contest.table("ResNet-50, batch 8", {name: with_batch(line, 8) for name, line in resnet.items()})
    contest.table("all layers, each at its own batch size", LAYERS)
    contest.linear()


if __name__ == "__main__":
    main()
