from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.api.v1alpha1.agent import AgentSpec
from oasis_operator.resources import requests


def an_agent(**http: Any) -> AgentSpec:
    spec = {"http": {"port": 8080, **http}, "image": "registry.example/agent:1", "mode": "Autonomous"}
    return AgentSpec.model_validate(spec)


@pytest.mark.parametrize(
    ("http", "more"),
    [
        ({}, {}),
        ({"path": "/v2/tasks"}, {"path": "/v2/tasks"}),
        ({"identityPath": "/who"}, {"identity_path": "/who"}),
    ],
)
def test_an_agents_paths_reach_its_adapter(http: dict[str, str], more: dict[str, str]) -> None:
    wanted = {"kind": "http", "url": "http://127.0.0.1:8080", **more}
    assert requests.http_adapter(an_agent(**http)) == wanted
    assert requests.adapter_of(an_agent(**http), "s-1", None) == wanted
