"""check: put a candidate through the ladder, and say what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import TIMEOUT_MAX
from typing import Any

from npconv.problem import Problem
from npconv.testing.candidate import adapted, declared_by
from npconv.testing.climb import Climb, Rung
from npconv.testing.findings import Finding, find
from npconv.testing.further import further
from npconv.testing.ladder import climb_up, gather_evidence
from npconv.testing.observation import REFUSED, Observation, could_show
from npconv.testing.parts import parts_of
from npconv.testing.passport import passport
from npconv.testing.problems import full
from npconv.testing.repeat_rungs import in_company
from npconv.testing.report import Report
from npconv.testing.reproduction import in_python, in_shell, of_candidate
from npconv.testing.running import Apart, Inside, Runner
from npconv.testing.special_rungs import facts as special_facts
from npconv.testing.verdict import concluded


def check(
    candidate: Any,
    *,
    only: str | Problem | None = None,
    rank: int = 2,
    layers: bool = True,
    time_limit: float = 10.0,
    progress: Callable[[str], None] | None = None,
    **declared: str,
) -> Report:
    """Judge a convolution kernel: is it right, and if not, what exactly is wrong with it.

    candidate: a callable (a forward), an object or module with any part of the protocol (forward,
    grad_input, grad_weight, grad_bias, backward, transposed, on NumPy arrays), or a string
    "FILE.py:NAME" or "module:NAME", which is run in a process of its own.  What it cannot do it
    refuses with NotImplementedError or ValueError.

    declared: input, accumulate, output (formats such as "float32", "float16", "bfloat16", "tf32",
    "int8"), layout ("NCHW", "NHWC"), weight_layout ("OIHW", "OHWI", "HWIO").  only: one descriptor
    to try, in place of the ladder.  rank: the number of spatial axes.  layers: whether real layers
    come last.  time_limit: seconds for one call; a candidate that hangs gets a verdict.

    The report has .verdict, .faults, .trigger, .reproduction, .passport, .rungs; its str is the text.

    >>> import npconv
    >>> report = check(npconv.conv, layers=False)
    >>> report.verdict, report.faults
    ('PASS', [])
    >>> def without_padding(input, weight, bias, *, stride, padding, dilation, groups):
    ...     padded = npconv.pad(input, [(lo + hi, 0) for lo, hi in padding])
    ...     return npconv.conv(padded, weight, bias, stride, 0, dilation, groups)
    >>> report = check(without_padding)
    >>> report.verdict, report.faults[0].split(";")[0], report.trigger
    ('WRONG', 'forward: the padding is put at the begin only', 'hi is not 0')
    """
    if rank not in (1, 2, 3):
        raise ValueError(f"rank: {rank!r} spatial axes; give 1, 2 or 3")
    if isinstance(time_limit, str):
        raise TypeError(f"time_limit: it is the text {time_limit!r}; give a number of seconds")
    if not 0 < time_limit <= TIMEOUT_MAX:
        raise ValueError(f"time_limit: {time_limit:g} s; give a number of seconds greater than 0")
    problem = None if only is None else _asked_for(only)
    runner, name = _runner(candidate, declared, time_limit)
    try:
        return judge(runner, name, only=problem, rank=rank, layers=layers, progress=progress)
    finally:
        runner.close()


def _runner(candidate: Any, declared: dict[str, str], time_limit: float) -> tuple[Runner, str]:
    if isinstance(candidate, str):
        return Apart(candidate, dict(declared), time_limit), candidate
    own = declared_by(candidate, declared)
    name = getattr(candidate, "__name__", type(candidate).__name__ + "()")
    return Inside(adapted(candidate, own), time_limit), name


def judge(
    runner: Runner,
    name: str,
    *,
    only: Problem | None = None,
    rank: int = 2,
    layers: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """The report on whoever answers calls."""
    climb = Climb(runner, rank, layers, progress or (lambda line: None))
    if only is not None:
        _one(climb, only)
    else:
        climb_up(climb)
    exact = not any(o.failed for o in climb.observations + climb.index_maps)
    unexplained = any(rung.failed for rung in climb.rungs) and not any(rung.told for rung in climb.rungs)
    if unexplained and only is None and not exact:
        gather_evidence(climb)
    findings = []
    if unexplained:
        pool = (lambda part: further(climb.domains[part])) if only is None else (lambda part: ())
        findings = find(climb.observations, runner, runner.declared, partial(_again, runner, name), pool)
    facts = (
        {**passport(runner, rank), **special_facts(climb)} if only is None and exact and _alive(climb) else {}
    )
    findings += _findings_of_rungs(climb, findings, facts)
    return concluded(climb, name, findings, facts)


def _again(runner: Runner, name: str, o: Observation) -> str:
    """What lets the author see a case again."""
    apart = isinstance(runner, Apart)
    ask = (in_shell if apart else in_python)(name, runner.declared, o.problem)
    return of_candidate(o, runner.declared, runner.offers, ask, name if apart else "")


def _asked_for(line: str | Problem) -> Problem:
    """The one problem that is asked for; ValueError where the protocol has no such thing."""
    try:
        problem = (line if isinstance(line, Problem) else Problem.parse(line)).canonical()
    except (ValueError, TypeError) as error:
        raise type(error)(f"only: {str(error).removeprefix('problem: ')}") from None
    if problem.padding_mode != "zeros":
        raise ValueError(
            f"only: {line} pads by {problem.padding_mode!r}, but candidates pad with zeros; leave it out"
        )
    return problem


def _one(climb: Climb, problem: Problem) -> None:
    """The parts of a single problem."""
    rung = Rung(f"only {problem}")
    climb.rungs.append(rung)
    climb.rank = problem.rank
    asked = [part for part in climb.runner.parts if part in parts_of(problem)]
    if not asked:
        offers = f"not offered; there is {', '.join(climb.runner.parts)}"
        climb.unsupported = dict.fromkeys(parts_of(problem), [offers])
    for part in asked:
        climb.domains[part] = full(problem.rank, problem.transposed)
        if not could_show(part, problem, climb.runner.declared):
            rung.notes.append(f"{part}: more terms than exact data allow in the declared formats")
        elif (o := climb.ask(part, problem)).kind != REFUSED:
            climb.take(rung, o)
            if told := in_company(climb, rung, o.case):
                rung.failed.append(f"{part}: {told}")
                rung.told[f"{part}: {told}"] = ""


def _alive(climb: Climb) -> bool:
    return (
        "forward" in climb.domains
        and "forward" not in climb.stopped
        and not any(o.kind in ("crashed", "hung") for o in climb.observations)
    )


def _findings_of_rungs(climb: Climb, findings: Sequence[Finding], facts: Mapping[str, str]) -> list[Finding]:
    """Rungs above the exact ones speak for themselves; of rounding the passport knows more."""
    if findings:
        return []
    broken = [rung for rung in climb.rungs if rung.failed]
    narrow = [
        f"{name}: {facts[name]}" for name in facts if "significand" in name and ", declared" in facts[name]
    ]
    known = "; " + "; ".join(narrow) if narrow and broken and broken[0].name == "numerics" else ""
    told = {
        line: when for rung in broken for line, when in (rung.told or dict.fromkeys(rung.failed, "")).items()
    }
    return [
        Finding(line.split(":")[0].split(",")[0], line + known, True, when)
        for line, when in list(told.items())[:5]
    ]
