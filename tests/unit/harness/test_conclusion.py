"""A run's three documents: valid, of one another, and honest about who confirmed what."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kit.builders.findings import LATER
from kit.builders.harness_runs import ACTIONS, HUNTER, IDOR, VERSIONS, an_attempt, an_effect, run_facts
from oasis_operator.harness.conclusion import conclude
from oasis_operator.harness.configuration import Configuration
from oasis_operator.harness.record import Record, render
from oasis_operator.harness.validation import validate_findings, validate_ledger, validate_record
from oasis_operator.harness.vocabulary import Mode, Shape
from oasis_operator.model.budget import Limits, Usage

ON = Configuration(limits=Limits(steps=3, hard_stop=True), coverage=True, verifier="verifier")


def check(record: Record) -> dict[str, Any]:
    """Validate the three documents in every shape and return the harness document."""
    document = json.loads(render(record.to_json()))
    assert [str(each) for each in validate_record(render(document))] == []
    assert [str(each) for each in validate_findings(render(document["findings"]))] == []
    assert validate_findings(render(record.findings.to_json(Shape.GROUPED))) == ()
    if record.ledger:
        assert validate_ledger(render(document["coverageLedger"])) == ()
        assert validate_ledger(render(record.ledger.to_json(Shape.GROUPED))) == ()
    return dict(document)


def confirmed(**changes: Any) -> Record:
    facts = run_facts(IDOR, attempts={"F-001": an_attempt(an_effect(), **changes)})
    return conclude(ON, facts, VERSIONS)


def test_a_verified_finding_is_confirmed_in_valid_documents() -> None:
    document = check(confirmed())
    (finding,) = document["findings"]["findings"]
    assert (finding["verdict"], finding["verifiedBy"]) == ("confirmed", "verifier")
    assert [line["action"] for line in document["verificationLog"]] == ["discovered", "verified"]
    authorization = document["coverageLedger"]["units"][2]
    assert (authorization["surface"], authorization["state"]) == ("authorization", "completed")
    assert authorization["findingIds"] == ["F-001"]


def test_a_stopped_run_keeps_what_it_had_with_its_error_and_its_budget() -> None:
    error = "Harness budget exceeded: Step budget exceeded (3/3)"
    document = check(conclude(ON, run_facts(IDOR, error=error, usage=Usage(steps=3)), VERSIONS))
    assert (document["iterations"], document["error"]) == (3, error)
    assert document["budget"]["steps"] == {"used": 3, "limit": 3, "exceeded": True}
    assert document["budget"]["overallExceeded"] is True
    reasons = {unit.get("deferredReason") for unit in document["coverageLedger"]["units"]}
    assert f"not touched: {error}" in reasons


def test_a_hunter_as_its_own_verifier_confirms_nothing_and_the_report_shows_it() -> None:
    document = check(confirmed(verifier=HUNTER))
    assert document["findings"]["findings"][0]["verdict"] == "needs_validation"
    assert document["claims"][0]["flags"] == ["same-model", "same-prompt", "self-confirmation"]


def test_an_invented_finding_is_rejected_and_credited_to_nothing() -> None:
    document = check(conclude(ON, run_facts({**IDOR, "evidence": ["root password"]}), VERSIONS))
    assert document["findings"]["findings"][0]["verdict"] == "rejected"
    assert all(unit["findingIds"] == [] for unit in document["coverageLedger"]["units"])


def test_without_verification_and_coverage_there_is_no_attempt_and_no_ledger() -> None:
    off = Configuration(mode=Mode.FLEET, verify=False)
    facts = run_facts(IDOR, attempts={"F-001": an_attempt(an_effect())})
    document = check(conclude(off, facts, VERSIONS))
    assert document["coverageLedger"] is None
    assert document["findings"]["findings"][0]["verdict"] == "needs_validation"
    assert document["findings"]["harnessMode"] == "kbot-fleet"


def edited(*path: str | int, value: Any) -> list[str]:
    document = json.loads(render(confirmed().to_json()))
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return [str(problem) for problem in validate_record(render(document))]


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("budget", "steps", "exceeded"), False, "/budget/steps/exceeded: false: 3 of 3 is true"),
        (("budget", "overallExceeded"), False, "/budget/overallExceeded: false: the lines above say true"),
        (("budget", "tokens", "limit"), 5000, "/budget/tokens/limit: 5000: the configuration says null"),
        (("iterations",), 2, "/iterations: 2: the budget counts 3 steps"),
        (("completedAt",), "2026-09-19T15:29:00Z", "/completedAt: want no time before startedAt"),
        (("findings", "runId"), "other", '/findings/runId: "other": this run\'s is "abc12345"'),
        (("digests", "findings"), "sha256:" + "0" * 64, "/digests/findings: "),
        (("coverageLedger",), None, "/coverageLedger: want a ledger where coverage was asked for"),
        (
            ("coverageLedger", "summary", "completed"),
            9,
            "/coverageLedger/summary/completed: 9: the units count",
        ),
        (
            ("coverageLedger", "units", 0, "findingIds"),
            ["F-9"],
            '/coverageLedger/units/0/findingIds/0: "F-9": no',
        ),
        (("claims", 0, "findingId"), "F-9", '/claims/0/findingId: "F-9": no finding has this id'),
        (
            ("verificationLog", 1, "findingId"),
            "F-9",
            '/verificationLog/1/findingId: "F-9": no finding has this id',
        ),
        (
            ("verificationLog", 1, "action"),
            "needs_review",
            '/findings/findings/0/verifiedBy: "verifier": the log',
        ),
        (
            ("verificationLog", 0, "action"),
            "needs_review",
            "/findings/findings/0/verifiedBy: the log does not say",
        ),
        (
            ("verificationLog", 0, "verifier"),
            "verifier",
            '/findings/findings/0/verifiedBy: "verifier" discovered it',
        ),
        (("harness", "maxSteps"), 0, "/harness/maxSteps: "),
        (("budget", "steps", "used"), -1, "/budget/steps/used: -1: want at least 0"),
        (("note",), 1, "/note: unknown member"),
    ],
)
def test_what_does_not_fit_together_is_told(path: tuple[str | int, ...], value: Any, problem: str) -> None:
    assert any(told.startswith(problem) for told in edited(*path, value=value))


def test_the_same_facts_give_the_same_bytes() -> None:
    assert render(confirmed().to_json()) == render(confirmed().to_json())
    assert confirmed().findings.timestamp == LATER


def test_a_confirmed_finding_has_exactly_the_published_members() -> None:
    document = confirmed().to_json()
    findings = document["findings"]
    assert [*findings] == ["version", "runId", "challenge", "timestamp", "harnessMode", "findings"]
    (finding,) = findings["findings"]
    assert set(finding) == {
        "verdict", "id", "title", "category", "owaspCategory", "trace", "execution", "intendedBehavior",
        "confidence", "severity", "remediation", "verifiedBy", "verifiedAt",
    }  # fmt: skip
    assert set(finding["trace"]) <= {"steps", "commands", "endpoints"}
    assert set(finding["execution"]) <= {"payload", "proofOutput", "method"}
    assert set(finding["confidence"]) == {"level", "reason"}
    assert set(finding["severity"]) == {"likelihood", "impact", "overallSeverity"}
    texts = [finding[name] for name in ("owaspCategory", "intendedBehavior", "remediation", "verifiedBy")]
    assert all([*texts, *finding["execution"].values(), *finding["confidence"].values()])
    assert finding["trace"]["commands"]
    ledger = document["coverageLedger"]
    assert [*ledger] == ["version", "runId", "challenge", "timestamp", "units", "summary"]
    assert set(ledger["summary"]) == {"planned", "inProgress", "completed", "deferred"}


def test_open_and_rejected_findings_have_exactly_the_published_members() -> None:
    invented = {**IDOR, "evidence": ["root password"]}
    needs_validation, rejected = conclude(ON, run_facts(IDOR, invented), VERSIONS).to_json()["findings"][
        "findings"
    ]
    assert set(needs_validation) == {"verdict", "id", "title", "category", "trace", "reason", "discoveredBy"}
    assert set(needs_validation["trace"]) == {"steps", "commands"}
    assert set(rejected) == {"verdict", "id", "title", "category", "reason", "rejectedBy", "rejectedAt"}


def test_the_evidence_of_a_runs_findings_is_found_again_in_its_transcript() -> None:
    for record in (
        confirmed(),
        conclude(ON, run_facts(IDOR, {**IDOR, "evidence": ["root password"]}), VERSIONS),
    ):
        for shape in Shape:
            assert validate_findings(render(record.findings.to_json(shape)), ACTIONS) == ()


@pytest.mark.parametrize(
    ("shape", "path", "value", "problem"),
    [
        (
            "published",
            ("findings", 0, "trace", "steps"),
            [9],
            "/findings/0/trace/steps/0: 9: the transcript has",
        ),
        (
            "published",
            ("findings", 0, "trace", "commands"),
            ["id"],
            '/findings/0/trace/commands/0: "id": was not sent',
        ),
        (
            "published",
            ("findings", 0, "execution", "payload"),
            "x",
            '/findings/0/execution/payload: "x": was not',
        ),
        (
            "published",
            ("findings", 0, "execution", "proofOutput"),
            "FLAG{made-up}",
            '/findings/0/execution/proofOutput: "FLAG{made-up}": came out of none',
        ),
        (
            "grouped",
            ("confirmed", 0, "trace", "evidence"),
            ["root pw"],
            '/confirmed/0/trace/evidence/0: "root pw":',
        ),
        (
            "grouped",
            ("confirmed", 0, "trace", "evidence"),
            ["profile/3"],
            "/confirmed/0/trace/evidence: only what",
        ),
    ],
)
def test_what_never_happened_is_told(
    shape: str, path: tuple[str | int, ...], value: Any, problem: str
) -> None:
    document = json.loads(render(confirmed().findings.to_json(Shape(shape))))
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    told = [str(each) for each in validate_findings(render(document), ACTIONS)]
    assert any(each.startswith(problem) for each in told), told
