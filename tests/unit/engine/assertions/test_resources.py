"""Which objects a scenario speaks of."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import a_document, deployment, thing
from kit.builders.scenarios import a_scenario
from oasis_operator.engine.actions.ledger import Ledger
from oasis_operator.engine.assertions import resources
from oasis_operator.engine.reading import read_evidence

STATE = [
    {"resource": "deployment/web"},
    {"resource": "deployment/web", "namespace": "orders"},
    {"resource": "deployment/web", "namespace": "shop"},
    {"resource": "namespace/shop"},
    {"resource": "wobbly/x", "namespace": "attic"},
    {"description": "prose", "namespace": "attic"},
]
CHECKED = [
    {"resource": "svc/web"},
    {"resource": "deploy/web"},
    {"resource": "service/web"},
    {"description": "x"},
]
SCENARIO = a_scenario(declared=STATE, state=CHECKED)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("deployment/web", ("deployments", "web")),
        ("deploy/web", ("deployments", "web")),
        ("Pod/a/b", ("pods", "a/b")),
        ("deployment", None),
        ("deployment/", None),
        ("/web", None),
        ("wobbly/web", None),
        ("*/web", None),
        ("resource/web", None),
        (None, None),
        (7, None),
    ],
)
def test_a_reference_is_a_known_kind_and_a_name(reference: Any, expected: tuple[str, str] | None) -> None:
    assert resources.split(reference) == expected


def test_a_namespace_is_the_first_that_the_state_gives_the_object() -> None:
    assert resources.namespace_of("deploy/web", SCENARIO) == "orders"
    assert resources.namespace_of("deployment/api", SCENARIO) == ""
    assert resources.namespace_of("namespace/shop", SCENARIO) == ""


@pytest.mark.parametrize("reference", ["wobbly/x", "prose", ""])
def test_what_is_no_reference_has_no_namespace(reference: str) -> None:
    assert resources.namespace_of(reference, SCENARIO) == ""


def test_objects_of_the_state_are_declared() -> None:
    assert resources.is_declared("deploy/web", SCENARIO)
    assert not resources.is_declared("deployment/api", SCENARIO)
    assert not resources.is_declared("service/web", SCENARIO)


def test_checks_come_before_the_state_and_each_object_once() -> None:
    assert resources.mentioned(SCENARIO) == (
        ("services", "web"),
        ("deployments", "web"),
        ("namespaces", "shop"),
    )
    assert resources.asserted(SCENARIO) == (("services", "web"), ("deployments", "web"))


def test_candidates_were_there_before_or_after() -> None:
    before = [
        deployment(),
        deployment(namespace="orders"),
        thing("ConfigMap", "web"),
        thing("Namespace", "shop", ""),
    ]
    after = [deployment("api"), deployment(namespace="attic")]
    world = Ledger(read_evidence(a_document(SCENARIO, before=before, after=after))).world
    web = [("deployments", place, "web") for place in ("attic", "orders", "shop")]
    assert resources.candidates(world, "deployments", "web", "") == web
    assert resources.candidates(world, "deployments", "web", "orders") == web[1:2]
    assert resources.candidates(world, "deployments", "web", "nowhere") == []
    assert resources.candidates(world, "deployments", "api", "shop") == [("deployments", "shop", "api")]
    assert resources.candidates(world, "configmaps", "web", "") == [("configmaps", "shop", "web")]
    assert resources.candidates(world, "namespaces", "shop", "orders") == [("namespaces", "", "shop")]
