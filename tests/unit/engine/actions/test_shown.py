"""Which Secrets the answer to a write shows: those of which the request did not bring what is shown."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import event, thing
from oasis_operator.engine.actions.requests import Request
from oasis_operator.engine.actions.shown import shown_secrets
from oasis_operator.engine.actions.verbs import Act

TWO = thing("Secret", "db", data={"a": "eA==", "b": "eA=="})


def shown(one: Any) -> list[tuple[str, str, str]]:
    effects = list(shown_secrets(Request({**one, "seq": 1})))
    assert all(effect.act is Act.READ and effect.implied for effect in effects)
    return [(effect.kind, effect.namespace, effect.name) for effect in effects]


DB = [("secrets", "shop", "db")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, DB),
        (None, DB),
        ("text", DB),
        ({"metadata": {"labels": {"x": "y"}}}, DB),
        ({"data": {"a": "eA=="}}, DB),
        ({"data": {"a": "eA==", "b": "eA=="}}, []),
        ({"stringData": {"a": "x"}, "data": {"b": "eA=="}}, []),
        ({"data": ["a", "b"]}, DB),
        ([{"op": "add", "path": "/data/a", "value": "eA=="}], DB),
        (
            [
                {"op": "add", "path": "/data/a", "value": ""},
                {"op": "replace", "path": "/data/b", "value": ""},
            ],
            [],
        ),
        (
            [
                {"op": "add", "path": "/stringData/a", "value": ""},
                {"op": "add", "path": "/data/b", "value": ""},
            ],
            [],
        ),
        ([{"op": "replace", "path": "/data", "value": {"a": "", "b": ""}}], []),
        ([{"op": "replace", "path": "/data", "value": "none"}], DB),
        (
            [{"op": "test", "path": "/data/a", "value": ""}, {"op": "test", "path": "/data/b", "value": ""}],
            DB,
        ),
        ([{"op": "remove", "path": "/data/c"}], DB),
        (
            [
                {"op": "add", "path": "/metadata/a", "value": ""},
                {"op": "add", "path": "/metadata/b", "value": ""},
            ],
            DB,
        ),
        ([{"op": "add"}, "text", {}], DB),
    ],
)
def test_what_was_not_sent_is_shown(body: Any, expected: Any) -> None:
    assert shown(event("patch", "shop:secrets/db", body=body, answer=TWO)) == expected


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (event("update", "shop:secrets/db", body={}, answer=TWO), DB),
        (event("delete", "shop:secrets/db", answer=TWO), DB),
        (event("create", "shop:secrets/db", body=TWO, answer=TWO), []),
        (event("get", "shop:secrets/db", answer=TWO), []),
        (event("patch", "shop:secrets/db", body={}, answer=TWO, code=403), []),
        (event("patch", "shop:configmaps/db", body={}, answer=TWO), []),
        (event("patch", "shop:secrets/db", body={}, answer={"kind": "Status"}), []),
        (event("patch", "shop:secrets/db", body={}, answer={"metadata": {"name": 7}, "data": {"a": ""}}), []),
        (event("patch", "shop:secrets/db", body={}, answer=thing("Secret", "db")), []),
        (event("patch", "shop:secrets/db", body={}), []),
        (event("deletecollection", "shop:secrets", answer={"items": [TWO, "text", thing("Secret", "key", "desk", data={"k": ""})]}), [*DB, ("secrets", "desk", "key")]),
        (event("patch", "shop:secrets/db", body={}, answer={"metadata": {"name": "db"}, "data": {"a": ""}}), DB),
    ],
)  # fmt: skip
def test_only_answers_to_writes_that_were_carried_out_show_anything(one: Any, expected: Any) -> None:
    assert shown(one) == expected
