"""The kill matrix: every wrong kernel and every right one, judged; `make referee` prints it.

Exit code 0 where all wrong kernels are killed, 95% of those with a fault of the tables are named, the
others get all else that a report can say, and no right one is called WRONG.
"""

import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from zoo import UNKNOWN, WRONG  # noqa: E402
from zoo_changes import is_named, is_told  # noqa: E402
from zoo_reports import REPORTS  # noqa: E402
from zoo_right import RIGHT  # noqa: E402

from npconv.testing import check  # noqa: E402

TABLES = {"wrong": WRONG, "reported": REPORTS, "unknown": UNKNOWN}


def judge_wrong(place):
    table, number = place
    wrong = TABLES[table][number]
    report = check(wrong.make(), layers=False, **wrong.declared)
    said = is_told(report) if table == "unknown" else is_named(wrong, report)
    return wrong.name, report.verdict, said, report.faults


def judge_right(name):
    make, declared = RIGHT[name]
    report = check(make(), layers=False, **declared)
    return name, report.verdict, report.why


def shown(table, judged):
    """Print one table of wrong kernels; (how many, killed, said)."""
    print(
        f"\n{table + ' kernel':<56}{'verdict':<9}{'told' if table == 'unknown' else 'named':<7}the first fault"
    )
    for name, verdict, said, faults in judged:
        print(f"{name:<56}{verdict:<9}{'yes' if said else 'NO':<7}{faults[0] if faults else ''}")
    return (
        len(judged),
        sum(verdict == "WRONG" for _, verdict, *_ in judged),
        sum(said for _, _, said, _ in judged),
    )


def main():
    started = time.perf_counter()
    with ProcessPoolExecutor(max_workers=2) as pool:
        places = [(table, number) for table, kernels in TABLES.items() for number in range(len(kernels))]
        wrong = list(zip(places, pool.map(judge_wrong, places, chunksize=4)))
        right = list(pool.map(judge_right, RIGHT))
    counts = {table: shown(table, [result for (t, _), result in wrong if t == table]) for table in TABLES}
    print(f"\n{'right kernel':<56}verdict")
    for name, verdict, why in right:
        print(f"{name:<56}{verdict:<9}{'' if verdict == 'PASS' else why}")
    alarms = sum(verdict == "WRONG" for _, verdict, _ in right)
    print()
    for table, (count, killed, said) in counts.items():
        told = "told with trigger, smallest case and formula" if table == "unknown" else "named rightly"
        print(f"{count} {table} kernels: {killed} killed, {said} {told} ({said / count:.1%})")
    verdicts = dict(Counter(verdict for _, verdict, _ in right))
    print(f"{len(right)} right kernels: {alarms} called WRONG; {verdicts}")
    print(f"{time.perf_counter() - started:.0f} s")
    good = all(killed == count and said >= 0.95 * count for count, killed, said in counts.values())
    return 0 if good and not alarms else 1


if __name__ == "__main__":
    sys.exit(main())
