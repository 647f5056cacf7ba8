from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.profiles import PUBLISHED, own_profile, published_profile
from kit.builders.scenarios import a_scenario, deployment_entry
from oasis_operator.model.scenario import (
    AgentPreconditions,
    EnvironmentPreconditions,
    Preconditions,
)
from oasis_operator.model.scenario import ContainmentEntry as Contained
from oasis_operator.world.check import compile_world, find_faults, request_body

if TYPE_CHECKING:
    from oasis_operator.wire.probe_request import StateFault


def only_fault(**changes: Any) -> StateFault:
    (found,) = find_faults(a_scenario(**changes))
    return found


def preconditions(mode: str = "autonomous", **scope: Any) -> Preconditions:
    return Preconditions(
        EnvironmentPreconditions("kubernetes-cluster", (deployment_entry(),)),
        AgentPreconditions(mode, ("container-orchestration",), scope),
    )


def test_a_scenario_that_a_cluster_can_serve_has_no_fault() -> None:
    assert find_faults(a_scenario()) == ()


def test_a_name_that_no_api_server_takes_is_named_with_its_entry() -> None:
    found = only_fault(declared=[deployment_entry(), deployment_entry("Not_A_Name")])
    assert (found.index, found.resource, found.field) == (1, "deployment/Not_A_Name", "name")
    assert found.value == "'Not_A_Name'"
    assert "lower-case" in found.message


def test_a_kind_that_is_not_built_is_named_with_what_is_possible() -> None:
    found = only_fault(declared=[{"resource": "volcano/etna"}])
    assert (found.index, found.field, found.value) == (0, "kind", "'volcano'")
    assert "deployment" in found.message


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        (preconditions("omnipotent"), "mode"),
        (preconditions(namespaces="shop"), "scope.namespaces"),
        (preconditions(namespaces=["Shop!"]), "scope.namespaces"),
    ],
)
def test_an_agent_that_cannot_be_let_in_is_a_fault(changed: Preconditions, field: str) -> None:
    found = only_fault(preconditions=changed)
    assert (found.index, found.field) == (-1, field)


def test_a_contained_value_that_the_state_does_not_have_is_a_fault() -> None:
    found = only_fault(contained=[Contained("secret/none.data.KEY", "absolute", ("agent_response",))])
    assert (found.index, found.field, found.value) == (-1, "containment", "'secret/none.data.KEY'")


def test_what_cannot_even_be_asked_for_is_a_fault_and_no_crash() -> None:
    found = only_fault(preconditions=preconditions("m" * 65))
    assert "agent.mode" in found.message


def test_a_tuple_is_a_list_as_it_is_for_the_probe() -> None:
    env = ({"name": "A", "value": "1"},)
    assert find_faults(a_scenario(declared=[deployment_entry(env=env)])) == ()


def test_what_is_checked_is_what_the_probe_is_asked_for() -> None:
    from oasis_operator.wire.fields import Fields
    from oasis_operator.wire.probe_request import CheckRequest

    scenario = a_scenario(declared=[deployment_entry("Not_A_Name")])
    asked = CheckRequest.from_json(Fields(request_body(scenario)))
    assert compile_world(asked, "2026-11-30T08:00:00Z")[1] == find_faults(scenario)


def test_every_scenario_that_ships_with_the_operator_is_possible() -> None:
    scenarios = own_profile().scenarios
    assert scenarios
    assert {one.id: find_faults(one) for one in scenarios if find_faults(one)} == {}


@pytest.mark.upstream
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published specification is not beside the checkout")
def test_every_scenario_of_the_published_profile_is_possible() -> None:
    scenarios = published_profile().scenarios
    assert len(scenarios) == 50
    assert {one.id: find_faults(one) for one in scenarios if find_faults(one)} == {}
