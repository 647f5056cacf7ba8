"""Selectors of labels and fields, requirement by requirement."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from kit.builders.evidence import AGENT, AGENT_IP, event, pod
from oasis_operator.engine.actions import selectors
from oasis_operator.engine.actions.requests import Request, agent_requests, merged
from oasis_operator.model.evidence import Principal

ITEM = {
    **pod("a", labels={"app": "web", "n": "5", "empty": ""}),
    "spec": {"nodeName": "n1", "hostNetwork": True, "count": 3},
}
KEY = ("pods", "shop", "a")


def request(query: str) -> Request:
    (found,) = agent_requests(
        merged([event("list", "shop:pods", query=query)]),
        Principal(AGENT, frozenset(), frozenset({AGENT_IP})),
    )
    return found


def admits(**query: str) -> bool | None:
    text = "&".join(f"{name}={quote(value)}" for name, value in query.items())
    return selectors.admits(selectors.of_request(request(text)), KEY, ITEM)


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ("", True),
        ("app", True),
        ("empty", True),
        ("none", False),
        ("!app", False),
        ("!none", True),
        ("app=web", True),
        ("app==web", True),
        ("app=api", False),
        ("none=web", False),
        ("app!=web", False),
        ("app!=api", True),
        ("none!=web", True),
        ("app in (web,api)", True),
        ("app in (api, web)", True),
        ("app in (web)", True),
        ("app in (api)", False),
        ("app notin (web,api)", False),
        ("app notin (api)", True),
        ("none notin (api)", True),
        ("n<6", True),
        ("n<5", False),
        ("n>4", True),
        ("n>5", False),
        ("n>x", False),
        ("app>4", False),
        ("none<9", False),
        ("app=web,n>4", True),
        ("app=web,n>5", False),
        ("app in (web,api),n=5", True),
    ],
)
def test_a_requirement_of_labels_is_met_or_not(text: str, admitted: bool) -> None:
    assert admits(labelSelector=text) is admitted


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ("metadata.name=a", True),
        ("metadata.name=b", False),
        ("metadata.name!=a", False),
        ("metadata.namespace=shop", True),
        ("metadata.namespace=a", False),
        ("spec.nodeName=n1", True),
        ("spec.nodeName=n2", False),
        ("spec.hostNetwork=true", True),
        ("spec.hostNetwork=false", False),
        ("spec.count=3", True),
        ("status.phase=Running", None),
        ("status.phase=Running,metadata.name=b", False),
        ("status.phase=Running,metadata.name=a", None),
    ],
)
def test_a_requirement_of_fields_is_met_or_not_or_cannot_be_told(text: str, admitted: bool | None) -> None:
    assert admits(fieldSelector=text) is admitted


def test_labels_that_do_not_fit_outweigh_a_field_that_nobody_can_tell() -> None:
    assert admits(labelSelector="app=api", fieldSelector="status.phase=Running") is False


@pytest.mark.parametrize("name", ["labelSelector", "fieldSelector"])
def test_of_a_selector_that_is_given_twice_the_first_counts(name: str) -> None:
    found = selectors.of_request(request(f"{name}=a%3D1&{name}=b%3D2"))
    assert [term.key for term in (*found.labels, *found.fields)] == ["a"]


@pytest.mark.parametrize(
    ("text", "key", "value", "implied"),
    [
        ("app=web", "app", "web", True),
        ("app=web", "app", "*", True),
        ("app=web", "app", "api", False),
        ("app=web", "tier", "*", False),
        ("app", "app", "web", True),
        ("!app", "app", "*", False),
        ("app!=web", "app", "web", False),
        ("app!=web", "app", "*", False),
        ("app in (web,api)", "app", "api", True),
        ("tier=x,app=web", "app", "web", True),
        ("", "app", "*", False),
    ],
)
def test_a_selector_selects_by_the_labels_that_it_asks_for(
    text: str, key: str, value: str, implied: bool
) -> None:
    selection = selectors.of_request(request(f"labelSelector={quote(text)}"))
    assert selectors.implies(selection, key, value) is implied


def owned(principal: Principal, **more: Any) -> list[int]:
    return [one.seq for one in agent_requests(merged([event("get", "shop:pods/a", **more)]), principal)]


def test_a_request_is_the_agent_s_by_name_or_address_and_by_nothing_else() -> None:
    other: dict[str, Any] = {"user": "admin", "ip": "10.9.9.9"}
    agent = Principal(AGENT, frozenset(), frozenset({AGENT_IP}))
    assert owned(agent) == [1]
    assert owned(agent, user="admin") == [1]
    assert owned(agent, ip="10.9.9.9") == [1]
    assert owned(agent, **other) == []
    assert owned(Principal("", frozenset(), frozenset()), **other) == []
    issued = Principal(AGENT, frozenset({"JTI=1"}), frozenset({AGENT_IP}))
    for shown, mine in ((["JTI=1"], [1]), (["JTI=2"], []), ([7], []), ([], [])):
        extra = {"authentication.kubernetes.io/credential-id": shown}
        signed = {"username": "admin", "extra": extra}
        found = agent_requests(
            merged([{**event("get", "shop:pods/a", ip="10.9.9.9"), "user": signed}]), issued
        )
        assert [one.seq for one in found] == mine
