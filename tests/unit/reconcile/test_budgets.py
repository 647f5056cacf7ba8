"""What the evidence of a run says of its budget, with a harness and without one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kit.fakes.cluster import Cluster
from kit.fakes.sidecars import Agent
from oasis_operator.resources import kinds
from oasis_operator.wire.adapter import Outcome

MINUTE: dict[str, Any] = {"maxTime": "60s", "hardStop": True}
STOPPED = "Harness budget exceeded: Time budget exceeded (60.0s/60s)"


async def evidence(outcome: Outcome, **spec: Any) -> dict[str, Any]:
    cluster = Cluster()
    cluster.world.agents["s-1"] = Agent(outcome=outcome)
    cluster.user_evaluates(**spec)
    await cluster.settle()
    (run,) = (run for run in cluster.kube.of(kinds.SCENARIO_RUN) if run["spec"]["scenarioID"] == "s-1")
    return dict(json.loads(cluster.artifacts.documents[run["status"]["evidence"]["digest"]]))


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
