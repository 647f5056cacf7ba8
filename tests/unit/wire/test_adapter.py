from __future__ import annotations

import json

import pytest

from oasis_operator.errors import InvalidInput
from oasis_operator.wire.adapter import (
    AdapterState,
    CancelRequest,
    Outcome,
    Phase,
    RunRequest,
    RunState,
    RunStatus,
    Transcript,
)
from oasis_operator.wire.agent import Action
from oasis_operator.wire.release import Check, Credential, Expect, ReleaseRequest, Target

CREDENTIAL = Credential("s3cr3t", "-----BEGIN-----", "shop", "https://kubernetes.default.svc:6443")
RELEASE = ReleaseRequest((Target("api", "10.0.0.1", 443),), (Target("world", "w", 6443),), CREDENTIAL)
RUN = RunRequest(
    run_id="r-1",
    adapter={"kind": "http", "url": "http://127.0.0.1:8080"},
    prompt="do it",
    timeout_seconds=60.5,
    tools=("kubectl",),
    mode="supervised",
    scope={"namespaces": ["a"]},
    context=({"role": "user", "content": "hi"},),
    boot_id="b",
)
STATE = AdapterState(
    boot_id="b",
    phase=Phase.RELEASED,
    isolation=(Check("api", Expect.DENY, reached=False, detail="refused"),),
    message="",
    run=RunState("r-1", RunStatus.FINISHED, Outcome.TIMEOUT, "late", "t1", "t2", 3),
)


@pytest.mark.parametrize(
    "body",
    [
        RELEASE,
        ReleaseRequest((), ()),
        RUN,
        STATE,
        AdapterState("b", Phase.WAITING),
        CancelRequest(Outcome.BUDGET, "x"),
    ],
)
def test_bodies_survive_the_wire(
    body: ReleaseRequest | RunRequest | AdapterState | CancelRequest,
) -> None:
    assert type(body).from_json(json.loads(json.dumps(body.to_json()))) == body


def test_a_credential_is_not_shown() -> None:
    assert "s3cr3t" not in repr(RELEASE)
    assert RELEASE.to_json()["credential"]["token"] == "s3cr3t"


@pytest.mark.parametrize(
    ("expect", "reached", "holds"),
    [
        (Expect.DENY, False, True),
        (Expect.DENY, True, False),
        (Expect.ALLOW, True, True),
        (Expect.ALLOW, False, False),
    ],
)
def test_a_check_holds_where_it_shows_what_it_must(expect: Expect, reached: bool, holds: bool) -> None:
    assert Check("t", expect, reached=reached, detail="").holds is holds


def test_an_empty_cancel_means_cancelled() -> None:
    assert CancelRequest.from_json({}) == CancelRequest(Outcome.CANCELLED, "")


def test_only_the_operator_s_own_outcomes_cancel() -> None:
    with pytest.raises(InvalidInput, match="outcome: 'answered': want cancelled or budget"):
        CancelRequest.from_json({"outcome": "answered"})


@pytest.mark.parametrize("host", ["kubernetes.default.svc", "", "10.0.0.256", "10.0.0.1/24"])
def test_a_denied_host_is_an_address(host: str) -> None:
    body = {"deny": [{"name": "a", "host": host, "port": 443}]}
    with pytest.raises(InvalidInput, match=r"deny\[0\].host: .*: want an IP address"):
        ReleaseRequest.from_json(body)
    assert ReleaseRequest.from_json({"allow": body["deny"]}).allow[0].host == host


def test_a_transcript_has_the_members_of_the_evidence_document() -> None:
    transcript = Transcript(
        Outcome.ANSWERED, "", "t1", "t2", actions=(Action("1", "t", {"a": 1}),), final_answer="done"
    )
    assert transcript.to_json() == {
        "evidence_source": {"type": "agent_transcript", "status": "available"},
        "outcome": "answered",
        "detail": "",
        "delivered_at": "t1",
        "finished_at": "t2",
        "actions": [
            {"id": "1", "tool": "t", "arguments": {"a": 1}, "result": "", "error": "", "duration_ms": 0}
        ],
        "reasoning": "",
        "final_answer": "done",
        "model": "",
        "truncated": False,
        "received": None,
    }


def test_an_answer_as_it_came_survives_the_wire_whatever_its_bytes() -> None:
    told = Transcript(Outcome.MALFORMED, "", "t1", "t2", received=b"\xff\x00", cut=True).to_json()
    assert json.loads(json.dumps(told))["received"] == {"base64": "/wA=", "cut": True}


def test_a_broken_adapter_makes_the_transcript_unreachable() -> None:
    broken = Transcript(Outcome.CANCELLED, "", None, "t", available=False)
    assert broken.to_json()["evidence_source"]["status"] == "unreachable"
