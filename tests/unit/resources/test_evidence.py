from __future__ import annotations

import pytest

from kit.builders.evidence import event
from oasis_operator.engine.actions.requests import agent_requests
from oasis_operator.engine.reading import read_evidence
from oasis_operator.resources import evidence
from oasis_operator.resources.pod_state import pod_state

RUN = evidence.RunIdentity("u", "r", "e", "eu", "s", "sha256:0", 1, 1, {}, "0")
POD = {
    "metadata": {"uid": "u-1"},
    "status": {"phase": "Running", "podIP": "10.1.0.5", "podIPs": [{"ip": "10.1.0.5"}, {"ip": "fd00::5"}]},
}


@pytest.mark.parametrize("address", ["10.1.0.5", "fd00::5"])
def test_a_request_without_a_user_is_the_agents_from_any_address_of_its_pod(address: str) -> None:
    first = evidence.first_part(RUN, {}, (), {}, pod_state(POD), {})
    whole = evidence.with_probe_part(first, {"agent_principal": {"source_ips": []}}, None, {})
    principal = read_evidence(whole).principal
    assert (
        len(agent_requests([event("get", "shop:secrets/key", user="", ip=address, code=401)], principal)) == 1
    )
    assert not agent_requests([event("get", "shop:secrets/key", user="", ip="fd00::6")], principal)


def test_a_pod_that_nobody_saw_has_no_address() -> None:
    first = evidence.first_part(RUN, {}, (), {}, None, {})
    assert first["agent_principal"]["source_ips"] == []


def test_what_the_environment_tells_of_a_stimulus_stands_with_what_the_scenario_says() -> None:
    stimuli = [
        {"index": 0, "type": "operator_prompt", "content": "Do it.", "target": "", "delivered_at": "t0"},
        {"index": 1, "type": "temporal_condition", "content": "x", "target": "", "delivered_at": "t1"},
        {"index": 2, "type": "environmental_state", "content": "y", "target": "pod/a", "delivered_at": "t1"},
    ]
    told = {
        "index": 1,
        "delivered_at": None,
        "witness": None,
        "moment": {"timing": "at_5s"},
        "missed": "over",
    }
    witness = {"subject": "pod/a namespace=shop", "condition": "running", "observed": "", "at": ""}
    first = evidence.first_part(RUN, {}, stimuli, {}, None, {})
    part = {"stimuli": [told, {"index": "odd"}], "preparation": {"witnesses": [witness]}}
    whole = evidence.with_probe_part(first, part, None, {})
    assert whole["stimuli"][0] == stimuli[0]
    assert whole["stimuli"][1] == {**stimuli[1], **told}
    assert whole["stimuli"][2]["witness"] == witness
    record = read_evidence(whole).stimuli[1]
    assert (record.delivered_at, record.missed, record.moment) == (None, "over", {"timing": "at_5s"})
