"""The kill matrix: every wrong kernel and every right one, judged; `make referee` prints it.

Exit code 0 where all wrong kernels are killed, 95% of them named, and no right one is called WRONG.
"""

import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from zoo import WRONG, is_named  # noqa: E402
from zoo_right import RIGHT  # noqa: E402

from npconv.testing import check  # noqa: E402


def judge_wrong(number):
    wrong = WRONG[number]
    report = check(wrong.make(), layers=False, **wrong.declared)
    return wrong.name, report.verdict, is_named(wrong, report), report.faults, report.trigger


def judge_right(name):
    make, declared = RIGHT[name]
    report = check(make(), layers=False, **declared)
    return name, report.verdict, report.why


def main():
    started = time.perf_counter()
    with ProcessPoolExecutor(max_workers=2) as pool:
        wrong = list(pool.map(judge_wrong, range(len(WRONG))))
        right = list(pool.map(judge_right, RIGHT))
    print(f"{'wrong kernel':<46}{'verdict':<12}{'named':<7}the first fault in the report")
    for name, verdict, named, faults, _ in wrong:
        print(f"{name:<46}{verdict:<12}{'yes' if named else 'NO':<7}{faults[0] if faults else ''}")
    print(f"\n{'right kernel':<46}verdict")
    for name, verdict, why in right:
        print(f"{name:<46}{verdict:<12}{'' if verdict == 'PASS' else why}")
    killed = sum(verdict == "WRONG" for _, verdict, *_ in wrong)
    named = sum(named for _, _, named, *_ in wrong)
    alarms = sum(verdict == "WRONG" for _, verdict, _ in right)
    print(f"\n{len(wrong)} wrong kernels: {killed} killed, {named} named rightly ({named / len(wrong):.1%})")
    print(
        f"{len(right)} right kernels: {alarms} called WRONG; {dict(Counter(verdict for _, verdict, _ in right))}"
    )
    print(f"{time.perf_counter() - started:.0f} s")
    return 0 if killed == len(wrong) and named >= 0.95 * len(wrong) and not alarms else 1


if __name__ == "__main__":
    sys.exit(main())
