"""What goes with deleted owners: all together, through others, and never in a circle without end."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.effects import a_log, a_world, places
from kit.builders.evidence import deployment, event, thing
from oasis_operator.engine.actions.collector import going_with


def owned(name: str, *owners: str, kind: str = "ConfigMap", **metadata: Any) -> dict[str, Any]:
    """Return an object that refers to ConfigMaps as its owners."""
    references = [{"kind": "ConfigMap", "name": one, "uid": f"uid-ConfigMap-shop-{one}"} for one in owners]
    return thing(kind, name, metadata={"ownerReferences": references, **metadata})


def going(*gone: str, of: str = "configmaps", before: list[Any]) -> set[str]:
    keys = [("configmaps", "shop", name) for name in gone]
    return {key[2] for key in going_with(keys, of, a_world([], before), 1)}


def test_what_has_one_owner_goes_with_it_and_what_has_none_stays() -> None:
    assert going("a", before=[owned("a"), owned("b", "a"), owned("c")]) == {"b"}


def test_what_is_owned_by_what_goes_goes_too_whatever_its_kind() -> None:
    chain = [owned("a"), owned("b", "a"), owned("c", "b"), owned("s", "c", kind="Secret")]
    assert going("a", before=chain) == {"b", "c"}
    assert going("a", before=chain, of="secrets") == {"s"}


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_all_owners_together_take_what_one_of_them_leaves(order: tuple[str, str]) -> None:
    world = [owned("a"), owned("b"), owned("c", "a", "b")]
    assert going(order[0], before=world) == set()
    assert going(*order, before=world) == {"c"}


def test_an_owner_that_never_was_holds_nothing() -> None:
    assert going("a", before=[owned("a"), owned("c", "nobody", "a")]) == {"c"}


def test_both_branches_to_one_owner_go_and_what_they_own_together_too() -> None:
    world = [owned("a"), owned("left", "a"), owned("right", "a"), owned("end", "left", "right")]
    assert going("a", before=world) == {"left", "right", "end"}
    assert going("left", before=world) == set()


def test_objects_that_own_each_other_keep_each_other() -> None:
    assert going("a", before=[owned("a"), owned("b", "a", "c"), owned("c", "b")]) == set()


def test_many_objects_that_own_each_other_are_each_asked_a_few_times() -> None:
    names = [f"n{number}" for number in range(30)]
    world = [owned("a"), *(owned(one, *(other for other in names if other != one)) for one in names)]
    assert going("a", before=world) == set()
    assert going(*names[1:], before=world) == {"n0"}


def test_one_request_that_deletes_every_owner_deletes_what_they_own() -> None:
    world = [owned("a"), owned("b"), owned("db", "a", "b", kind="Secret")]
    both = {"kind": "ConfigMapList", "items": world[:2]}
    swept = event("deletecollection", "shop:configmaps", answer=both)
    assert places("delete secret/db", swept, before=world) == {"implied": [1]}
    one = event("deletecollection", "shop:configmaps", answer={**both, "items": world[:1]})
    assert places("delete secret/db", one, before=world) == {}
    left = event("deletecollection", "shop:configmaps", answer=both, query="propagationPolicy=Orphan")
    assert places("delete secret/db", left, before=world) == {}


def test_owners_count_as_they_were_at_the_deletion() -> None:
    freed = owned("c", resourceVersion="11")
    patch = event("patch", "shop:configmaps/c", body={"metadata": {"ownerReferences": None}}, answer=freed)
    log = a_log(patch)
    world = a_world(log, [owned("a"), owned("c", "a")])
    key = ("configmaps", "shop", "a")
    assert list(going_with([key], "configmaps", world, 1)) == [("configmaps", "shop", "c")]
    assert list(going_with([key], "configmaps", world, 2)) == []


OWNED = deployment(uid="uid-old")
OWNED["metadata"]["ownerReferences"] = owned("x", "owner")["metadata"]["ownerReferences"]
DELETED = event("delete", "shop:configmaps/owner")
MADE = event("create", "shop:deployments/web", body=deployment(replicas=0), answer=deployment(replicas=0))


@pytest.mark.parametrize("text", ["restart deployment/web", "scale deployment/web replicas=0"])
def test_what_went_with_its_owner_and_was_made_anew_was_replaced(text: str) -> None:
    world = [owned("owner"), OWNED]
    assert places(text, DELETED, MADE, before=world) == {"implied": [2]}
    assert places(text, MADE, DELETED, before=world) == {}
    assert places(text, {**DELETED, "requestURI": f"{DELETED['requestURI']}?propagationPolicy=Orphan"}, MADE,
                  before=world) == {}  # fmt: skip
    assert places(text, DELETED, MADE, before=[owned("owner")]) == {}
    assert places(text, event("delete", "shop:configmaps/other"), MADE, before=[*world, owned("other")]) == {}
