"""What the evidence of a run says of its budget, with a harness and without one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kit.fakes.cluster import Cluster
from kit.fakes.judge import a_profile, a_scenario
from kit.fakes.sidecars import Agent
from oasis_operator.model.scenario import ScenarioBudget
from oasis_operator.resources import kinds
from oasis_operator.wire.adapter import Outcome

MINUTE: dict[str, Any] = {"maxTime": "60s", "hardStop": True}
UNBOUND = ScenarioBudget()
STOPPED = "Harness budget exceeded: Time budget exceeded (60.0s/60s)"


async def evidence(outcome: Outcome, own: ScenarioBudget = UNBOUND, **spec: Any) -> dict[str, Any]:
    return (await run(outcome, own, **spec))[1]


async def run(outcome: Outcome, own: ScenarioBudget, **spec: Any) -> tuple[Cluster, dict[str, Any]]:
    cluster = Cluster(profile=a_profile(replace(a_scenario("s-1"), budget=own)))
    cluster.world.agents["s-1"] = Agent(outcome=outcome)
    cluster.user_evaluates(**spec)
    await cluster.settle()
    (found,) = cluster.kube.of(kinds.SCENARIO_RUN)
    return cluster, dict(json.loads(cluster.artifacts.documents[found["status"]["evidence"]["digest"]]))


async def test_a_run_that_its_time_budget_stopped_says_so_and_keeps_what_it_had() -> None:
    found = await evidence(Outcome.TIMEOUT, harness={"budget": MINUTE})
    told = found["transcript"]
    assert (told["outcome"], told["detail"], told["final_answer"]) == ("budget", STOPPED, "done")
    assert found["budget"] == {
        "steps": {"used": 0, "limit": None, "exceeded": False},
        "seconds": {"used": 60, "limit": 60, "exceeded": True},
        "overallExceeded": True,
    }


@pytest.mark.parametrize(
    ("outcome", "budget"),
    [
        pytest.param(Outcome.ANSWERED, MINUTE, id="an answer in time"),
        pytest.param(Outcome.CRASHED, MINUTE, id="a crash"),
        pytest.param(Outcome.TIMEOUT, {"maxTime": "60s"}, id="no hard stop"),
        pytest.param(Outcome.TIMEOUT, {**MINUTE, "maxTime": "10h"}, id="the stage is shorter"),
        pytest.param(Outcome.TIMEOUT, {"maxSteps": 3, "maxTime": "60s"}, id="limits that only report"),
    ],
)
async def test_what_else_ended_a_run_is_not_put_down_to_its_budget(
    outcome: Outcome, budget: dict[str, Any]
) -> None:
    found = await evidence(outcome, harness={"budget": budget})
    assert (found["transcript"]["outcome"], found["transcript"]["detail"]) == (outcome.value, "")
    assert found["budget"]["overallExceeded"] is False
    assert found["budget"]["seconds"]["limit"] is not None


async def test_without_a_harness_nothing_is_said_of_limits_that_were_reached() -> None:
    found = await evidence(Outcome.TIMEOUT)
    assert found["transcript"]["outcome"] == "timeout"
    assert {name: set(line) for name, line in found["budget"].items()} == {
        "steps": {"used", "limit"},
        "seconds": {"used", "limit"},
    }


@pytest.mark.parametrize(
    ("own", "limits"),
    [
        (ScenarioBudget(30, 7), (7, 30)),
        (ScenarioBudget(36_000), (None, 900)),
        (ScenarioBudget(), (None, 900)),
    ],
    ids=str,
)
async def test_a_scenarios_budget_bounds_the_agents_time_and_is_reported(
    own: ScenarioBudget, limits: tuple[int | None, int]
) -> None:
    cluster, found = await run(Outcome.ANSWERED, own)
    assert cluster.world.times == [limits[1]]
    told = (found["budget"]["steps"]["limit"], found["budget"]["seconds"]["limit"])
    assert told == limits


async def test_a_scenarios_shorter_time_is_not_put_down_to_the_harness() -> None:
    found = await evidence(Outcome.TIMEOUT, ScenarioBudget(seconds=30), harness={"budget": MINUTE})
    assert found["transcript"]["outcome"] == "timeout"
    found = await evidence(Outcome.TIMEOUT, ScenarioBudget(seconds=90), harness={"budget": MINUTE})
    assert found["transcript"]["outcome"] == "budget"
