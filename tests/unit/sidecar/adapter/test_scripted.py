from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.errors import InvalidInput
from oasis_operator.sidecar.adapter.kinds import KINDS, find_kind
from oasis_operator.sidecar.adapter.scripted import Request, Script, parse_script


def test_a_script_is_read_step_by_step() -> None:
    script = parse_script(
        {
            "kind": "scripted",
            "steps": [
                {"request": {"method": "patch", "path": "/a", "body": {"b": 1}}},
                {"pause_seconds": 2},
                {"request": {"method": "GET", "path": "/a", "query": {"limit": 1, "watch": True, "x": "y"}}},
            ],
            "answer": "done",
            "stop_on_error": True,
        }
    )
    assert script == Script(
        steps=(
            Request("PATCH", "/a", "", {"b": 1}, "application/strategic-merge-patch+json"),
            2,
            Request("GET", "/a", "limit=1&watch=true&x=y", None, "application/json"),
        ),
        answer="done",
        stop_on_error=True,
    )


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("x", "adapter.steps[1]: 'x': want an object"),
        ({}, "adapter.steps[1]: []: want exactly one of request and pause_seconds"),
        (
            {"request": {}, "pause_seconds": 1},
            "adapter.steps[1]: ['pause_seconds', 'request']: want exactly one of request and pause_seconds",
        ),
        ({"pause_seconds": 4000}, "adapter.steps[1].pause_seconds: 4000: want 0 to 3600"),
        ({"request": {"path": "/"}}, "adapter.steps[1].request.method: required"),
        (
            {"request": {"method": "FETCH", "path": "/"}},
            "adapter.steps[1].request.method: 'FETCH': want one of GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS",
        ),
        (
            {"request": {"method": "GET", "path": "https://elsewhere/"}},
            "adapter.steps[1].request.path: 'https://elsewhere/': want a path from / without a fragment",
        ),
        (
            {"request": {"method": "GET", "path": "/a?b#c"}},
            "adapter.steps[1].request.path: '/a?b#c': want a path from / without a fragment",
        ),
        (
            {"request": {"method": "GET", "path": "/a?b=1", "query": {"c": 1}}},
            "adapter.steps[1].request.path: '/a?b=1': has a query, and so has adapter.steps[1].request.query; give it in one of them",
        ),
        (
            {"request": {"method": "GET", "path": "/", "query": 1}},
            "adapter.steps[1].request.query: 1: want an object",
        ),
        (
            {"request": {"method": "GET", "path": "/", "query": {"a": []}}},
            "adapter.steps[1].request.query.a: []: want a string, a whole number or a boolean, or a list of them",
        ),
    ],
)
def test_a_bad_step_is_named_by_index_member_and_value(step: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        find_kind({"kind": "scripted", "steps": [{"pause_seconds": 0}, step]})
    assert caught.value.message == message


def test_an_unknown_kind_is_told_which_there_are() -> None:
    with pytest.raises(InvalidInput) as caught:
        find_kind({"kind": "telepathy"})
    assert caught.value.message == f"adapter.kind: 'telepathy': want one of {', '.join(KINDS)}"


@pytest.mark.parametrize(
    ("members", "query", "values"),
    [
        ({"query": "limit=1&watch=true"}, "limit=1&watch=true", {"limit": "1", "watch": "true"}),
        ({"query": "?limit=1"}, "limit=1", {"limit": "1"}),
        ({"path": "/a?limit=1"}, "limit=1", {"limit": "1"}),
        ({"path": "/a?"}, "", {}),
        ({"query": "s=app%3Dweb,b%20c d"}, "s=app%3Dweb,b%20c%20d", {"s": "app=web,b c d"}),
        ({"query": "dryRun"}, "dryRun", {"dryRun": ""}),
        ({"query": {"dryRun": ["All", "All"], "n": 1}}, "dryRun=All&dryRun=All&n=1", {"dryRun": ["All", "All"], "n": "1"}),
        ({"query": {"s": "a=b&c"}}, "s=a%3Db%26c", {"s": "a=b&c"}),
        ({"query": ""}, "", {}),
    ],
)  # fmt: skip
def test_a_query_may_be_text_or_values_beside_the_path_or_in_it(
    members: dict[str, Any], query: str, values: dict[str, Any]
) -> None:
    step = {"request": {"method": "GET", "path": "/a", **members}}
    (request,) = parse_script({"kind": "scripted", "steps": [step]}).steps
    assert isinstance(request, Request)
    assert (request.path, request.query) == ("/a", query)
    assert str(request.url("https://h:6443/")) == f"https://h:6443/a{f'?{query}' if query else ''}"
    assert request.arguments() == {"method": "GET", "path": "/a", **({"query": values} if values else {})}
