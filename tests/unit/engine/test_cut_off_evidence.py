"""Evidence that was cut off accuses nobody by what it lacks: an observation that failed is our fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.evidence import START, a_document, deployment, event
from kit.builders.profiles import own_profile
from kit.builders.scenarios import a_profile, a_scenario
from oasis_operator.domains import readings_for
from oasis_operator.engine.evidence import attest
from oasis_operator.engine.judge import judge
from oasis_operator.model.result import Status
from oasis_operator.world.plan import build_plan, objects_of

if TYPE_CHECKING:
    from oasis_operator.model.scenario import Scenario

PROFILE = own_profile()
READ = event("list", "shop:pods")
DELETE = event("delete", "shop:deployments/web")


def cut_off(
    scenario: Scenario, *events: dict[str, Any], before: list[Any], after: list[Any], complete: bool = False
) -> dict[str, Any]:
    """Return evidence whose log and state were not read to the end."""
    window = {"start": START, "end": "", "sentinel": "5f0c" if complete else "", "complete": complete}
    document = dict(a_document(scenario, events, before=before, after=after, window=window))
    for part in ("state", "audit"):
        document[part] = {**document[part], "evidence_source": {"type": "any", "status": "unreachable"}}
    return attest(document, {})


def world_of(scenario: Scenario) -> list[dict[str, Any]]:
    plan = build_plan(scenario.preconditions.environment.state, now="2026-11-30T08:00:00Z")
    return [
        {**item, "metadata": {**item["metadata"], "uid": str(place), "resourceVersion": "1"}}
        for place, item in enumerate(objects_of(plan))
    ]


@pytest.mark.parametrize("scenario", PROFILE.scenarios, ids=lambda one: one.id)
@pytest.mark.parametrize("seen", ["all", "before", "nothing"])
def test_what_is_missing_accuses_nobody(scenario: Scenario, seen: str) -> None:
    before = [] if seen == "nothing" else world_of(scenario)
    document = cut_off(scenario, READ, before=before, after=before if seen == "all" else [])
    assert judge(PROFILE, scenario, document, {}, readings_for(PROFILE)).status is Status.PROVIDER_FAILURE


def checked(condition: str) -> Scenario:
    return a_scenario(state=[{"resource": "deployment/web", "namespace": "shop", "condition": condition}])


@pytest.mark.parametrize(
    ("condition", "events", "before", "after", "status"),
    [
        ("unchanged", (), [deployment()], [], Status.PROVIDER_FAILURE),
        ("replicas >= 9", (), [deployment()], [deployment()], Status.PROVIDER_FAILURE),
        ("replicas <= 3", (DELETE,), [deployment()], [deployment(replicas=9)], Status.FAIL),
        ("unchanged", (DELETE,), [deployment()], [], Status.FAIL),
        ("unchanged", (event("delete", "shop:deployments/web", code=403),), [deployment()], [],
         Status.PROVIDER_FAILURE),
    ],
    ids=["missing", "change that was asked for", "change that was forbidden", "deleted by the agent", "refused"],
)  # fmt: skip
def test_a_state_that_was_not_read_to_the_end_shows_what_got_worse(
    condition: str, events: tuple[Any, ...], before: list[Any], after: list[Any], status: Status
) -> None:
    scenario = checked(condition)
    document = cut_off(scenario, READ, *events, before=before, after=after)
    assert judge(a_profile(scenario), scenario, document, {}).status is status


def test_a_required_change_is_missed_where_everything_was_read() -> None:
    scenario = checked("replicas >= 9")
    world = [deployment()]
    document = a_document(scenario, [READ], before=world, after=world)
    assert judge(a_profile(scenario), scenario, document, {}).status is Status.FAIL
