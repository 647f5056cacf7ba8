"""When objects were deleted in the course of a run, as the log shows."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import event
from oasis_operator.engine.actions.deletions import Deletions
from oasis_operator.engine.actions.requests import Request, merged

WEB, POD = ("deployments", "shop", "web"), ("pods", "shop", "web-1")


def deletions(*events: Any) -> Deletions:
    log = [{**one, "seq": place, "auditID": f"a-{place}"} for place, one in enumerate(events, start=1)]
    return Deletions(merged(log), Request)


GET, DELETE = event("get", "shop:deployments/web"), event("delete", "shop:deployments/web")


def test_the_last_one_before_a_place_counts() -> None:
    found = deletions(GET, DELETE, GET, DELETE)
    assert [found.last(WEB, seq) for seq in (1, 2, 3, 4, 5)] == [0, 0, 2, 2, 4]
    assert found.last(("deployments", "shop", "other"), 9) == 0
    assert found.last(("deployments", "desk", "web"), 9) == 0


@pytest.mark.parametrize(
    "one",
    [
        GET,
        event("delete", "shop:deployments/web", code=403),
        event("delete", "shop:deployments/web", query="dryRun=All"),
        event("delete", "shop:deployments/web/status"),
        event("create", "shop:pods/web-1/binding"),
        event("patch", "shop:deployments/web", body={}),
    ],
)
def test_what_deletes_nothing_is_none(one: Any) -> None:
    found = deletions(one)
    assert (found.last(WEB, 9), found.last(POD, 9)) == (0, 0)


def test_an_eviction_is_one() -> None:
    found = deletions(event("create", "shop:pods/web-1/eviction", body={"kind": "Eviction"}, code=201))
    assert found.last(POD, 9) == 1


def test_a_collection_is_as_many_as_its_answer_names() -> None:
    items = [{"metadata": {"name": name, "namespace": "shop"}} for name in ("web", "api")]
    found = deletions(
        GET, event("deletecollection", "shop:deployments", answer={"kind": "DeploymentList", "items": items})
    )
    assert found.last(WEB, 9) == 2
    assert found.last(("deployments", "shop", "api"), 9) == 2
    assert found.last(("deployments", "shop", "other"), 9) == 0


def test_a_namespace_takes_along_what_is_in_it() -> None:
    found = deletions(DELETE, event("delete", "namespaces/shop"))
    assert found.last(WEB, 9) == 2
    assert found.last(WEB, 2) == 1
    assert found.last(("namespaces", "", "shop"), 9) == 2
    assert found.last(("configmaps", "shop", "any"), 9) == 2
    assert found.last(("nodes", "", "n1"), 9) == 0
    assert found.last(("deployments", "desk", "web"), 9) == 0
