from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.errors import InvalidInput
from oasis_operator.wire.fields import Fields
from oasis_operator.wire.probe import (
    Credential,
    Info,
    PrepareReason,
    PrepareState,
    PrepareStatus,
    StopState,
    StopStatus,
    Witness,
)
from oasis_operator.wire.probe_request import (
    AgentPart,
    CheckRequest,
    PrepareRequest,
    StateFault,
    StimulusPart,
)

AGENT = AgentPart("autonomous", ("a",), {"namespaces": ["shop"]})
STATE = ({"resource": "namespace/shop", "zone": "a"},)
STIMULI = (StimulusPart(1, "temporal_condition", "logs/web", "x", "at_5s", STATE, {"reason": "R"}),)
MESSAGES = [
    PrepareRequest(STATE, AGENT, ("secret/x.data.K",), STIMULI, "run-1", "scenario", 2.5),
    CheckRequest(STATE, AGENT),
    PrepareStatus(PrepareState.NONE),
    PrepareStatus(
        PrepareState.READY,
        None,
        "",
        1,
        1,
        Credential("user", "token", "shop"),
        (Witness("s", "c", "o", "t"), Witness("s", "c", "o", "t", 1, ({"name": "web", "log": True},))),
        {"total": 1.5},
    ),
    PrepareStatus(
        PrepareState.FAILED,
        PrepareReason.IMPOSSIBLE_STATE,
        "m",
        0,
        1,
        faults=(StateFault(0, "a/b", "f", "v", "m"),),
    ),
    StopStatus(StopState.STOPPING),
    StopStatus(StopState.STOPPED, "", 10, "ab"),
    Info("boot", "v1.34.4", "pem", 3, "2026-11-30T08:00:00Z", blank=True),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_what_is_sent_is_what_is_read(message: Any) -> None:
    assert type(message).from_json(Fields.of(message.to_json())) == message


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"state": [], "agent": {}}, "run_id"),
        ({"run_id": "", "state": [], "agent": {}}, "run_id"),
        ({"run_id": "r", "state": ["x"], "agent": {}}, "state[0]"),
        ({"run_id": "r", "state": []}, "agent"),
        ({"run_id": "r", "state": [], "agent": {}, "settle_seconds": -1}, "settle_seconds"),
        ({"run_id": "r", "state": [], "agent": {"scope": []}}, "agent.scope"),
    ],
)
def test_a_malformed_request_names_its_member(body: Any, path: Any) -> None:
    with pytest.raises(InvalidInput, match=path.replace("[", r"\[").replace(".", r"\.")):
        PrepareRequest.from_json(Fields.of(body))


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(InvalidInput, match="status"):
        StopStatus.from_json(Fields.of({"status": "perhaps"}))


def test_a_token_is_never_shown() -> None:
    assert "secret-token" not in repr(Credential("user", "secret-token", "shop"))


def test_a_fault_reads_as_a_sentence() -> None:
    assert (
        str(StateFault(2, "deployment/a", "status", "'x'", "not possible"))
        == "state[2] deployment/a.status: 'x': not possible"
    )
    assert str(StateFault(-1, "", "mode", "'x'", "not possible")) == "agent.mode: 'x': not possible"
