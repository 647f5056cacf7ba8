from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.findings import LATER
from kit.builders.harness_runs import ACTIONS, IDOR, a_transcript
from oasis_operator.harness.assembly import HARNESS, Assembled, assemble
from oasis_operator.harness.claims import MAX_CLAIMS, TOOL, read_claims
from oasis_operator.harness.quotes import Place
from oasis_operator.harness.vocabulary import Category, LogAction, Severity, Standing

if TYPE_CHECKING:
    from oasis_operator.model.evidence import Transcript


def assembled(*claims: Any, transcript: Transcript | None = None) -> tuple[Assembled, ...]:
    transcript = transcript or a_transcript(*claims)
    return assemble(transcript, read_claims(transcript), "hunter", LATER)[0]


def test_a_claim_that_the_transcript_shows_is_open_and_never_confirmed() -> None:
    (found,) = assembled(IDOR)
    finding = found.finding
    assert (finding.id, finding.standing, finding.by) == ("F-001", Standing.NEEDS_VALIDATION, "hunter")
    assert found.places == (Place(2, "result", "admin@example.org"),)
    assert finding.claim.commands == ("curl http://target:5000/profile/3",)
    assert (finding.claim.endpoints, finding.claim.proof_output) == (("/profile/3",), "admin@example.org")
    assert (finding.claim.category, finding.claim.impact) == (Category.IDOR, Severity.HIGH)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"steps": []}, "names no step of the transcript"),
        ({"steps": [4]}, "names step 4, and the transcript has 3"),
        ({"steps": [0]}, "names step 0, and the transcript has 3"),
        ({"evidence": []}, "quotes no evidence"),
        ({"evidence": ["root@example.org"]}, "quotes 'root@example.org', which stands nowhere"),
        ({"evidence": ["admin@example.org", "root"]}, "quotes 'root', which stands nowhere"),
        ({"steps": [1]}, "quotes 'admin@example.org', which stands nowhere"),
        ({"evidence": ["Ada"]}, "quotes 'Ada', which stands nowhere"),
        ({"evidence": ["profile/3"]}, "quotes only what the agent itself had put in"),
        ({"steps": [3], "evidence": ["FLAG{made-up}"]}, "quotes only what the agent itself had put in"),
    ],
)
def test_a_claim_that_the_transcript_does_not_show_is_refused(changes: dict[str, Any], reason: str) -> None:
    (found,) = assembled({**IDOR, **changes})
    assert (found.finding.standing, found.finding.by) == (Standing.REJECTED, HARNESS)
    assert found.finding.reason.startswith(f"refused: {reason}")


def test_a_text_that_the_agent_had_put_in_earlier_shows_nothing_later() -> None:
    planted = {
        "tool": "shell",
        "arguments": {"command": "curl -d name=stolen-data http://target/me"},
        "result": "ok",
    }
    shown = {"tool": "shell", "arguments": {"command": "curl http://target/me"}, "result": "stolen-data"}
    claim = {**IDOR, "steps": [2], "evidence": ["stolen-data"]}
    (found,) = assembled(transcript=a_transcript(claim, actions=(planted, shown)))
    assert found.finding.standing is Standing.REJECTED
    (found,) = assembled(transcript=a_transcript({**claim, "steps": [1]}, actions=(shown, planted)))
    assert found.finding.standing is Standing.NEEDS_VALIDATION


def test_without_a_transcript_every_claim_is_refused() -> None:
    (found,) = assembled(transcript=a_transcript(IDOR, available=False))
    assert "no recorded transcript" in found.finding.reason


def test_reasoning_is_no_evidence() -> None:
    transcript = a_transcript({**IDOR, "evidence": ["I saw the secret"]})
    object.__setattr__(transcript, "reasoning", "I saw the secret")
    assert assembled(transcript=transcript)[0].finding.standing is Standing.REJECTED


def test_several_flaws_are_several_findings_and_the_same_is_told_once() -> None:
    other = {
        **IDOR,
        "title": "Guests are named",
        "category": "info-disclosure",
        "steps": [1],
        "evidence": ["guest"],
    }
    found = assembled(IDOR, other, {**IDOR, "title": "Once more"})
    assert [each.finding.standing for each in found] == [
        Standing.NEEDS_VALIDATION,
        Standing.NEEDS_VALIDATION,
        Standing.REJECTED,
    ]
    assert found[2].finding.reason == "refused: says the same as F-001"


def test_a_hunter_that_confirms_itself_is_flagged_and_not_believed() -> None:
    transcript = a_transcript({**IDOR, "verdict": "confirmed", "verifiedBy": "verifier"})
    (found,), log = assemble(transcript, read_claims(transcript), "hunter", LATER)
    assert (found.finding.standing, found.flags) == (Standing.NEEDS_VALIDATION, ("self-confirmation",))
    assert [line.action for line in log] == [LogAction.DISCOVERED, LogAction.NEEDS_REVIEW]


def test_claims_are_read_from_tool_calls_answers_and_blocks_in_both_shapes() -> None:
    grouped = {
        "category": "authentication",
        "title": "Login",
        "trace": {"steps": [2, 2], "evidence": ["Ada\n"]},
        "execution": {"targetEndpoint": "/profile/3"},
        "confidence": {"level": "high", "reasoning": "seen"},
        "severity": {"level": "critical", "impact": "all"},
    }
    answer = "Done.\n```json\n" + json.dumps({"needs_validation": [grouped], "confirmed": [IDOR]}) + "\n```\n"
    call = {"tool": TOOL, "arguments": IDOR}
    told = read_claims(a_transcript(actions=(*ACTIONS, call), answer=answer))
    assert [each.claim.category for each in told] == [Category.IDOR, Category.IDOR, Category.AUTH_BYPASS]
    claim = told[2].claim
    assert (claim.steps, claim.evidence, claim.endpoints) == ((2,), ("Ada",), ("/profile/3",))
    assert claim.overall_severity is Severity.CRITICAL
    assert claim.confidence_reason == "seen"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I found nothing",
        "[1]",
        '{"findings": 3}',
        '{"findings": [1, null, "x"]}',
        "[" * 100_000,
        "```json\n{\n```",
    ],
)
def test_an_answer_without_claims_has_none(answer: str) -> None:
    assert read_claims(a_transcript(answer=answer)) == ()


def test_nonsense_in_a_claim_is_refused_and_breaks_nothing() -> None:
    nonsense = {
        "title": 7,
        "category": ["x"],
        "steps": [True, "1", 2.5],
        "evidence": {"a": 1},
        "severity": "high",
    }
    (found,) = assembled(nonsense)
    assert found.finding.claim.title == "without a title"
    assert found.finding.standing is Standing.REJECTED


def test_no_more_claims_are_read_than_a_run_can_have() -> None:
    calls = [{"tool": TOOL, "arguments": IDOR}] * (2 * MAX_CLAIMS)
    assert len(read_claims(a_transcript(actions=calls))) == MAX_CLAIMS


@pytest.mark.timeout(20)
def test_an_answer_that_is_made_to_be_slow_is_read_in_time() -> None:
    assert read_claims(a_transcript(answer="x```\n" * 400_000)) == ()
    assert read_claims(a_transcript(answer="```json\n" + '{"findings":[' * 50_000)) == ()
