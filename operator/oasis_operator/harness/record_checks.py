"""What a schema cannot say about `<run>.harness.json`: budgets, digests, and who confirmed what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oasis_operator.harness import checks
from oasis_operator.harness.problems import Problem, point, show
from oasis_operator.harness.record import digest_of, render
from oasis_operator.harness.times import read_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    Document = dict[str, Any]

_LINES: Final = ("steps", "tokens", "timeSeconds")
_LIMITS: Final = {"steps": "maxSteps", "tokens": "maxTokens", "timeSeconds": "maxTimeSeconds"}
_DOCUMENTS: Final = ("findings", "coverageLedger")


def check_record(document: Document) -> Iterator[Problem]:
    """Check a harness document that fits its schema."""
    yield from checks.check_times(document)
    start, end = read_time(document["startedAt"]), read_time(document["completedAt"])
    if start and end and end < start:
        yield Problem("/completedAt", "order", f"want no time before startedAt {show(document['startedAt'])}")
    yield from _check_budget(document)
    yield from _check_documents(document)
    yield from _check_log(document)
    yield from _check_references(document)


def _check_budget(document: Document) -> Iterator[Problem]:
    budget = document["budget"]
    for name in _LINES:
        line = budget[name]
        wanted = line["limit"] is not None and line["used"] >= line["limit"]
        if line["exceeded"] != wanted:
            message = f"{show(line['exceeded'])}: {line['used']} of {show(line['limit'])} is {show(wanted)}"
            yield Problem(point("budget", name, "exceeded"), "budget", message)
        if line["limit"] != document["harness"][_LIMITS[name]]:
            wanted_limit = show(document["harness"][_LIMITS[name]])
            message = f"{show(line['limit'])}: the configuration says {wanted_limit}"
            yield Problem(point("budget", name, "limit"), "budget", message)
    overall = any(budget[name]["exceeded"] for name in _LINES)
    if budget["overallExceeded"] != overall:
        message = f"{show(budget['overallExceeded'])}: the lines above say {show(overall)}"
        yield Problem("/budget/overallExceeded", "budget", message)
    if document["iterations"] != budget["steps"]["used"]:
        message = f"{document['iterations']}: the budget counts {budget['steps']['used']} steps"
        yield Problem("/iterations", "budget", message)


def _check_documents(document: Document) -> Iterator[Problem]:
    """Check the documents within, that they are of this run, and that their digests are theirs."""
    rules = {"findings": checks.check_findings, "coverageLedger": checks.check_ledger}
    for name in _DOCUMENTS:
        part = document[name]
        if part is None:
            continue
        for problem in rules[name](part):
            yield Problem(point(name) + problem.pointer, problem.code, problem.message)
        for member in ("runId", "challenge"):
            if part[member] != document[member]:
                message = f"{show(part[member])}: this run's is {show(document[member])}"
                yield Problem(point(name, member), "reference", message)
        given, wanted = document["digests"].get(name), digest_of(render(part))
        if given != wanted:
            message = f"{show(given)}: the document's own is {wanted}"
            yield Problem(point("digests", name), "digest", message)
    if document["harness"]["coverage"] != (document["coverageLedger"] is not None):
        message = "want a ledger where coverage was asked for, and null elsewhere"
        yield Problem("/coverageLedger", "reference", message)


def _check_log(document: Document) -> Iterator[Problem]:
    """Check that a confirmed finding was verified by whom it names, who is not who discovered it."""
    log = document["verificationLog"]
    known = {finding["id"] for finding in document["findings"]["findings"]}
    for index, line in enumerate(log):
        if line["findingId"] not in known:
            message = f"{show(line['findingId'])}: no finding has this id"
            yield Problem(point("verificationLog", index, "findingId"), "reference", message)
    for index, finding in enumerate(document["findings"]["findings"]):
        if finding["verdict"] != "confirmed":
            continue
        by = {
            action: {line["verifier"] for line in log if _is(line, finding["id"], action)}
            for action in ("discovered", "verified")
        }
        place = point("findings", "findings", index, "verifiedBy")
        if finding["verifiedBy"] not in by["verified"]:
            yield Problem(
                place, "unverified", f"{show(finding['verifiedBy'])}: the log has no such verification"
            )
        if not by["discovered"]:
            yield Problem(place, "unverified", "the log does not say who discovered the finding")
        if finding["verifiedBy"] in by["discovered"]:
            message = f"{show(finding['verifiedBy'])} discovered it: want another identity to confirm it"
            yield Problem(place, "self-confirmation", message)


def _is(line: Document, finding: str, action: str) -> bool:
    return bool(line["findingId"] == finding and line["action"] == action)


def _check_references(document: Document) -> Iterator[Problem]:
    """Check that whatever names a finding names one of this run."""
    known = {finding["id"] for finding in document["findings"]["findings"]}
    for index, claim in enumerate(document["claims"]):
        if claim["findingId"] not in known:
            message = f"{show(claim['findingId'])}: no finding has this id"
            yield Problem(point("claims", index, "findingId"), "reference", message)
    units = (document["coverageLedger"] or {"units": []})["units"]
    for index, unit in enumerate(units):
        for position, name in enumerate(unit["findingIds"]):
            if name not in known:
                place = point("coverageLedger", "units", index, "findingIds", position)
                yield Problem(place, "reference", f"{show(name)}: no finding has this id")
