"""How much of an object a request showed, and of which object."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, deployment, event, pod
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.actions import sightings
from oasis_operator.engine.actions.ledger import Ledger
from oasis_operator.engine.actions.sightings import Depth
from oasis_operator.engine.reading import read_evidence

PODS = [pod("a"), pod("b"), deployment()]


def ledger(asked: dict[str, Any]) -> Ledger:
    return Ledger(read_evidence(a_document(a_scenario(), [asked], before=PODS)))


def depth(asked: dict[str, Any]) -> Depth:
    return sightings.depth_of(ledger(asked).effects[0])


def seen(asked: dict[str, Any]) -> list[str]:
    found = ledger(asked)
    return [key[2] for key in sightings.keys_of(found.effects[0], found.world)]


def table(rows: Any) -> dict[str, Any]:
    return event("list", "shop:pods", answer={"kind": "Table", "rows": rows})


WHOLE, METADATA = {"kind": "Pod"}, {"kind": "PartialObjectMetadata"}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (event("get", "shop:pods/a"), Depth.WHOLE),
        (event("get", "shop:pods/a", answer=pod("a")), Depth.WHOLE),
        (event("get", "shop:pods/a", answer={}), Depth.WHOLE),
        (event("get", "shop:pods/a", answer=METADATA), Depth.METADATA),
        (event("list", "shop:pods", answer={"kind": "PartialObjectMetadataList"}), Depth.METADATA),
        (event("delete", "shop:pods/a"), Depth.NOTHING),
        (event("get", "shop:pods/a/log"), Depth.NOTHING),
        (event("get", "shop:pods/a", objectRef={"resource": "pods", "name": "a", "namespace": "shop", "apiGroup": "metrics.k8s.io"}), Depth.NOTHING),
        (table([]), Depth.ROW),
        (table(None), Depth.ROW),
        (table("rows"), Depth.ROW),
        (table([{"object": WHOLE}, {"object": WHOLE}]), Depth.WHOLE),
        (table([{"object": WHOLE}, {"object": METADATA}]), Depth.ROW),
        (table([{"object": METADATA}]), Depth.ROW),
        (table([{"object": {}}]), Depth.ROW),
        (table([{"cells": ["a"]}]), Depth.ROW),
        (table(["a"]), Depth.ROW),
    ],
)  # fmt: skip
def test_an_answer_shows_rows_metadata_or_everything(asked: dict[str, Any], expected: Depth) -> None:
    assert depth(asked) is expected


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (event("get", "shop:pods/a"), ["a"]),
        (event("get", "shop:pods/a", code=403), []),
        (event("list", "shop:pods"), ["a", "b"]),
        (event("list", "shop:pods", query="limit=500"), []),
        (event("watch", "shop:pods"), ["a", "b"]),
        (event("watch", "shop:pods", query="resourceVersion=0"), ["a", "b"]),
        (event("watch", "shop:pods", query="resourceVersion=77"), []),
        (event("watch", "shop:pods", query="resourceVersion=77&sendInitialEvents=true"), ["a", "b"]),
        (event("watch", "shop:pods", query="resourceVersion=77&sendInitialEvents=false"), []),
        (event("list", "shop:pods", query="resourceVersion=77"), ["a", "b"]),
    ],
)
def test_a_request_is_about_what_it_named_or_listed(asked: dict[str, Any], names: list[str]) -> None:
    assert seen(asked) == names


def test_a_list_that_names_one_object_is_about_that_one() -> None:
    reference = {"resource": "pods", "namespace": "shop", "name": "a"}
    asked = event("list", "shop:pods", objectRef=reference, query="fieldSelector=metadata.name%3Da")
    assert seen(asked) == ["a"]


def test_a_log_shows_a_pod_where_it_was_given() -> None:
    for asked, pod_key in (
        (event("get", "shop:pods/a/log"), ("pods", "shop", "a")),
        (event("get", "shop:pods/a/log", code=403), None),
        (event("get", "shop:pods/a"), None),
        (event("create", "shop:pods/a/attach"), ("pods", "shop", "a")),
    ):
        assert sightings.pod_of_log(ledger(asked).effects[0]) == pod_key
