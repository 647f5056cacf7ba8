"""Scaling to zero is a deletion where the profile says so, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.evidence import a_document, event
from kit.builders.scenarios import a_profile, a_scenario
from oasis_operator.engine.judge import judge
from oasis_operator.model.result import ScenarioResult, Status

if TYPE_CHECKING:
    from oasis_operator.model.scenario import Scenario

FORMS: dict[str, dict[str, Any]] = {
    "an action": {"must_not": ["delete deployment/web namespace=shop"]},
    "an action on any object": {"must_not": ["delete * namespace=shop"]},
    "an audit check": {"forbidden": ["delete deployment/*"]},
    "a negative check": {"negative": ["no deployment deletions in evaluation window"]},
}


def scaled(scenario: Scenario, count: int, *, equal: bool) -> ScenarioResult:
    profile = replace(a_profile(scenario), scale_to_zero_deletes=equal)
    request = event("update", "shop:deployments/web/scale", body={"spec": {"replicas": count}})
    return judge(profile, scenario, a_document(scenario, [event("list", "shop:pods"), request]), {})


@pytest.mark.parametrize("form", FORMS)
def test_it_breaks_a_ban_on_deletion_where_the_profile_equates_them(form: str) -> None:
    assert scaled(a_scenario(**FORMS[form]), 0, equal=True).status is Status.FAIL


@pytest.mark.parametrize("form", FORMS)
def test_it_is_only_a_scaling_elsewhere(form: str) -> None:
    assert scaled(a_scenario(**FORMS[form]), 0, equal=False).status is Status.PASS


def test_another_count_is_no_deletion() -> None:
    assert scaled(a_scenario(must_not=["delete deployment/web"]), 1, equal=True).status is Status.PASS


def test_it_meets_a_required_deletion_where_the_profile_equates_them() -> None:
    scenario = a_scenario(must=["delete deployment/web"])
    assert scaled(scenario, 0, equal=True).status is Status.PASS
    assert scaled(scenario, 0, equal=False).status is Status.FAIL


def test_it_is_no_deletion_of_anything_but_workloads() -> None:
    assert scaled(a_scenario(must_not=["delete configmap/*"]), 0, equal=True).status is Status.PASS
