"""One record of a check; the terminal text, the JSON and the JUnit file are views of it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any
from xml.etree import ElementTree

from npconv.testing.climb import Rung
from npconv.testing.findings import Finding

EXIT_CODES = {"PASS": 0, "WRONG": 1, "SUSPICIOUS": 1, "UNSUPPORTED": 2, "MISTRUSTED": 2, "INCOMPLETE": 2}
SHOWN = 5  # lines of one kind in the text; the JSON has all
LONGEST = 500  # characters of a line of the text

# Characters that XML 1.0 has no way to write (section 2.2), lone surrogates among them.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass
class Report:
    """What a check found.

    verdict: PASS, WRONG, SUSPICIOUS, UNSUPPORTED, MISTRUSTED or INCOMPLETE.  faults: sentences, the best
    explanation first.  trigger: when the first strikes.  reproduction: code that shows it.
    passport: facts about the arithmetic.  rungs: what was climbed.
    """

    candidate: str
    verdict: str
    why: str
    parts: tuple[str, ...] = ()
    declared: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    rungs: list[Rung] = field(default_factory=list)
    unsupported: dict[str, list[str]] = field(default_factory=dict)
    identity: str = ""
    passport: dict[str, str] = field(default_factory=dict)

    @property
    def faults(self) -> list[str]:
        return [finding.sentence for finding in self.findings]

    @property
    def trigger(self) -> str:
        return self.findings[0].trigger if self.findings else ""

    @property
    def reproduction(self) -> str:
        return self.findings[0].reproduction if self.findings else ""

    @property
    def formula(self) -> list[str]:
        return next((finding.formula for finding in self.findings if finding.formula), [])

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_dict(self) -> dict[str, Any]:
        record = asdict(self)
        for rung, plain in zip(self.rungs, record["rungs"]):
            plain["status"] = rung.status
        return {**record, "faults": self.faults, "trigger": self.trigger, "reproduction": self.reproduction}

    def to_json(self) -> str:
        """The whole record, in ASCII."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_junit(self) -> str:
        """One test case a rung, in ASCII; without a failure or an error only where the exit code is 0."""
        cases = [_junit_case(self, rung) for rung in self.rungs]
        failures, errors = (
            sum(case.find(kind) is not None for case in cases) for kind in ("failure", "error")
        )
        if self.exit_code and not failures + errors:
            errors = 1
            verdict = ElementTree.Element("testcase", classname=_xml(self.candidate), name="verdict")
            ElementTree.SubElement(verdict, "error", message=_xml(f"{self.verdict}: {self.why}"))
            cases.append(verdict)
        counts = dict(tests=len(cases), failures=failures, errors=errors)
        suite = ElementTree.Element("testsuite", {name: str(count) for name, count in counts.items()})
        suite.set("name", _xml(f"npconv check {self.candidate}"))
        suite.extend(cases)
        ElementTree.SubElement(suite, "system-out").text = _xml(str(self))
        return ElementTree.tostring(suite, encoding="us-ascii").decode()


def _junit_case(report: Report, rung: Rung) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_xml(report.candidate), name=_xml(rung.name))
    broken = [*report.faults, *rung.failed, *rung.missing]
    lines = {"broken": broken, "odd": rung.odd}.get(rung.status)
    if lines:
        failure = ElementTree.SubElement(case, "failure", message=_xml(lines[0]))
        failure.text = _xml("\n".join(lines))
    elif rung.missing:
        told = f"{len(rung.missing)} of {counted(rung.cases, 'result')} are missing"
        ElementTree.SubElement(case, "error", message=told).text = _xml("\n".join(rung.missing))
    elif rung.status == "not run":
        ElementTree.SubElement(case, "skipped", message=_xml("; ".join(rung.notes) or "not reached"))
    return case


def _xml(text: str) -> str:
    return FORBIDDEN.sub(lambda found: _escaped(found.group()), text)


def _escaped(text: str) -> str:
    return text.encode("unicode_escape").decode()


def _quotable(line: str) -> str:
    """The line without characters that do something to a terminal."""
    return "".join(c if c.isprintable() else _escaped(c) for c in line).rstrip()


def _short(text: str) -> str:
    """The text, or its beginning and its length where it is a stranger's and has no end."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"


def _lines(report: Report) -> list[str]:
    lines = [f"{report.verdict}  {report.candidate}: {report.why}", ""]
    width = max([20, *(len(rung.name) for rung in report.rungs)]) + 2
    lines += [f"  {rung.name:<{width}}{rung.status:<9}{_outcome(rung)}" for rung in report.rungs]
    for finding in report.findings:
        lines += _told(finding)
    if not report.findings:
        lines += _listed([line for rung in report.rungs for line in rung.failed], "  failed: ")
    if report.identity:
        lines += ["", f"  identity: {report.identity}"]
    lines += _section(
        "unsupported", [f"{part}: {what}" for part, refused in report.unsupported.items() for what in refused]
    )
    lines += _section("odd", [line for rung in report.rungs for line in rung.odd])
    not_run_first = sorted(report.rungs, key=lambda rung: rung.status != "not run")
    notes = dict.fromkeys(line for rung in not_run_first for line in rung.notes)
    lines += _section("notes", list(notes))
    lines += _section("passport", [f"{name}: {fact}" for name, fact in report.passport.items()], limit=20)
    lines = [_short(line) for line in lines]
    if report.reproduction:
        lines += ["", "  to reproduce:"]
        lines += ["    " + line for line in report.reproduction.rstrip().splitlines()]
    return [_quotable(line) for line in lines]


def _told(finding: Finding) -> list[str]:
    lines = ["", f"  {finding.sentence}"]
    lines += [f"    when: {finding.trigger}"] if finding.trigger else []
    lines += [f"    smallest case: {finding.smallest}"] if finding.smallest else []
    lines += ["    observed index formula " + finding.formula[0]] if finding.formula else []
    return lines + ["    " + line for line in finding.formula[1:]]


def _outcome(rung: Rung) -> str:
    """How many cases a rung had, how many of them failed, and how many never came."""
    counts = [counted(rung.cases, "case")] if rung.cases else []
    counts += [f"{len(rung.failed)} failed"] if rung.failed else []
    counts += [f"{len(rung.missing)} missing"] if rung.missing else []
    return ", ".join(counts)


def counted(count: int, noun: str) -> str:
    """A number and what it counts.

    >>> counted(1, "case"), counted(2, "case")
    ('1 case', '2 cases')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _section(title: str, lines: list[str], limit: int = SHOWN) -> list[str]:
    return ["", f"  {title}:", *_listed(lines, "    ", limit)] if lines else []


def _listed(lines: list[str], indent: str, limit: int = SHOWN) -> list[str]:
    more = [f"{indent}and {len(lines) - limit} more"] if len(lines) > limit else []
    return [indent + line for line in lines[:limit]] + more
