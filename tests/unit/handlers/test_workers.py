from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kit.fakes.clock import FakeClock
from kit.fakes.cluster import NAMESPACE, SCRIPTED
from kit.fakes.kube import Call, FakeKube
from oasis_operator import errors
from oasis_operator.handlers import probes, watches
from oasis_operator.handlers.intake import Intake
from oasis_operator.handlers.workers import Resync, Workers
from oasis_operator.reconcile.active import ActiveRuns
from oasis_operator.reconcile.outcome import Requeue
from oasis_operator.reconcile.queue import Key, KeyQueue
from oasis_operator.resources import kinds, labels

AGENT = Key("agents", NAMESPACE, "helper")


class Scripted:
    """A reconciler that does what its test says."""

    def __init__(self, *results: Requeue | Exception) -> None:
        self.results = list(results)

    async def reconcile(self, namespace: str, name: str) -> Requeue:
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


class Passes:
    def __init__(self) -> None:
        self.results: list[str] = []

    def passed(self, plural: str, result: str, seconds: float) -> None:
        self.results.append(result)


def an_agent(kube: FakeKube, name: str = "helper") -> dict[str, Any]:
    return kube.seed(kinds.AGENT, {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": SCRIPTED})


def workers(kube: FakeKube, reconciler: Scripted) -> tuple[Workers, KeyQueue, Passes]:
    queue, passes = KeyQueue(asyncio.get_running_loop().time), Passes()
    return Workers(queue, {"agents": reconciler}, kube, FakeClock(), passes, 1), queue, passes


@pytest.mark.parametrize(
    ("error", "result", "reason"),
    [
        (errors.InvalidSpec("spec.mode: wrong"), "invalid", "InvalidSpec"),
        (errors.NotReady("no Secret"), "not_ready", "NotReady"),
        (errors.ProviderFault("disk full", reason="ArtifactStoreFault"), "error", "ArtifactStoreFault"),
        (KeyError("surprise"), "error", "InternalError"),
    ],
)
async def test_an_object_that_cannot_be_handled_says_so_itself(
    error: Exception, result: str, reason: str
) -> None:
    kube = FakeKube()
    an_agent(kube)
    pool, queue, passes = workers(kube, Scripted(error))
    queue.add(AGENT)
    await pool.one(await queue.get())
    ready = kube.one(kinds.AGENT, NAMESPACE, "helper")["status"]["conditions"][0]
    assert (ready["type"], ready["status"], ready["reason"]) == ("Ready", "False", reason)
    assert passes.results == [result]


def shown(kube: FakeKube, kind: kinds.Kind = kinds.AGENT, name: str = "helper") -> dict[str, str]:
    """Return the conditions of an object, by type."""
    conditions = kube.one(kind, NAMESPACE, name)["status"]["conditions"]
    return {item["type"]: item["status"] for item in conditions}


async def test_what_a_person_must_edit_is_stalled_and_what_passes_by_itself_is_a_wait() -> None:
    kube = FakeKube()
    an_agent(kube)
    busy = [errors.Transient("busy")] * 5
    pool, queue, _ = workers(kube, Scripted(errors.InvalidSpec("spec.mode: wrong"), *busy))
    await pool.one(AGENT)
    assert shown(kube) == {"Ready": "False", "Stalled": "True"}
    assert kube.one(kinds.AGENT, NAMESPACE, "helper")["status"]["observedGeneration"] == 1
    for _ in busy:
        await pool.one(AGENT)
    assert shown(kube) == {"Ready": "False"}
    assert queue.failures(AGENT) == len(busy)


async def test_an_object_that_stays_wrong_through_an_edit_is_told_of_the_edit() -> None:
    kube = FakeKube()
    an_agent(kube)
    error = errors.InvalidSpec("spec.mode: wrong")
    pool, _, _ = workers(kube, Scripted(error, error))
    await pool.one(AGENT)
    kube.edit(kinds.AGENT, NAMESPACE, "helper", lambda item: item.update(spec={"mode": "worse"}))
    await pool.one(AGENT)
    status = kube.one(kinds.AGENT, NAMESPACE, "helper")["status"]
    assert status["observedGeneration"] == 2
    assert {item["observedGeneration"] for item in status["conditions"]} == {2}


async def test_an_end_stays_as_it_was_told_though_nobody_can_look_at_it_again() -> None:
    kube = FakeKube()
    an_agent(kube)
    noon = "2026-01-05T12:00:00Z"
    over = [
        {"type": name, "status": "True", "reason": "Finished", "message": "", "lastTransitionTime": noon}
        for name in ("Complete", "Ready")
    ]
    kube.edit(kinds.AGENT, NAMESPACE, "helper", lambda item: item.update(status={"conditions": over}))
    pool, _, _ = workers(kube, Scripted(*[errors.Transient("busy")] * 9))
    for _ in range(9):
        await pool.one(AGENT)
    assert shown(kube) == {"Complete": "True", "Ready": "True"}


async def test_a_condition_that_is_no_news_is_not_written_again() -> None:
    kube = FakeKube()
    an_agent(kube)
    error = errors.InvalidSpec("spec.mode: wrong")
    pool, queue, _ = workers(kube, Scripted(error, error))
    for _ in range(2):
        queue.add(AGENT)
        await pool.one(await queue.get())
    assert len(kube.writes) == 1


async def test_a_passing_trouble_shows_only_when_it_lasts() -> None:
    kube = FakeKube()
    an_agent(kube)
    pool, queue, passes = workers(kube, Scripted(*[errors.Transient("busy")] * 5))
    for number in range(5):
        await pool.one(AGENT)
        is_shown = "status" in kube.one(kinds.AGENT, NAMESPACE, "helper")
        assert is_shown is (number == 4)
    assert queue.failures(AGENT) == 5
    assert passes.results == ["transient"] * 5


async def test_one_bad_object_does_not_stop_the_others() -> None:
    kube = FakeKube()
    pool, queue, passes = workers(kube, Scripted(RuntimeError("bad"), Requeue(), Requeue()))
    for name in ("a", "b", "c"):
        queue.add(Key("agents", NAMESPACE, name))
    running = asyncio.create_task(pool.run())
    while len(passes.results) < 3:  # noqa: ASYNC110 - polls a plain list
        await asyncio.sleep(0.01)
    running.cancel()
    assert sorted(passes.results) == ["error", "success", "success"]


async def test_the_first_look_finds_everything_unfinished() -> None:
    kube = FakeKube()
    an_agent(kube)
    for name, stage in (("done", "Completed"), ("open", "Running")):
        meta = {"name": name, "namespace": NAMESPACE}
        kube.seed(kinds.SCENARIO_RUN, {"metadata": meta, "status": {"stage": stage}})
    queue, active = KeyQueue(asyncio.get_running_loop().time), ActiveRuns()
    await Resync(queue, kube, active, ()).first()
    found = {await queue.get(), await queue.get()}
    assert found == {AGENT, Key("scenarioruns", NAMESPACE, "open")}
    assert queue.depth == 0
    assert active.total == 1


def an_evaluation(agent: str) -> dict[str, Any]:
    spec = {"agentRef": {"name": agent}, "environmentRef": {"name": "small"}}
    return {"metadata": {"name": "check", "namespace": NAMESPACE}, "spec": spec}


async def due(queue: KeyQueue) -> set[Key]:
    """Return all keys that are due."""
    found = set()
    while queue.depth:
        key = await queue.get()
        queue.done(key)
        found.add(key)
    return found


async def test_a_changed_agent_wakes_the_evaluations_that_use_it_and_no_longer_those_that_did() -> None:
    queue = KeyQueue(asyncio.get_running_loop().time)
    intake = Intake(queue, ActiveRuns())
    intake.evaluation(an_evaluation("helper"), "ADDED")
    await due(queue)
    agent = {"metadata": {"name": "helper", "namespace": NAMESPACE}}
    intake.referenced(kinds.AGENT, agent)
    assert await due(queue) == {AGENT, Key("evaluations", NAMESPACE, "check")}
    intake.evaluation(an_evaluation("other"), "MODIFIED")
    await due(queue)
    intake.referenced(kinds.AGENT, agent)
    assert await due(queue) == {AGENT}


async def test_an_environment_is_looked_at_once_somebody_refers_to_it_anew() -> None:
    queue = KeyQueue(asyncio.get_running_loop().time)
    intake = Intake(queue, ActiveRuns())
    environment, evaluation = Key("environments", NAMESPACE, "small"), Key("evaluations", NAMESPACE, "check")
    intake.evaluation(an_evaluation("helper"), "ADDED")
    assert await due(queue) == {environment, evaluation}
    intake.evaluation(an_evaluation("other"), "MODIFIED")
    assert await due(queue) == {evaluation}
    intake.evaluation(an_evaluation("other"), "DELETED")
    intake.evaluation(an_evaluation("other"), "ADDED")
    assert await due(queue) == {environment, evaluation}


async def test_a_pod_of_a_pool_wakes_its_environment_and_once_claimed_also_its_run() -> None:
    queue = KeyQueue(asyncio.get_running_loop().time)
    intake = Intake(queue, ActiveRuns())
    owner = {"kind": "Environment", "name": "small", "controller": True}
    notes = {labels.ENVIRONMENT: "small"}
    pod = {"metadata": {"namespace": NAMESPACE, "annotations": notes, "ownerReferences": [owner]}}
    intake.pod(pod)
    environment = Key("environments", NAMESPACE, "small")
    assert await due(queue) == {environment}
    pod["metadata"]["ownerReferences"] = [{"kind": "ScenarioRun", "name": "run", "controller": True}]
    intake.pod(pod)
    assert await due(queue) == {environment, Key("scenarioruns", NAMESPACE, "run")}


EVALUATION = Key("evaluations", NAMESPACE, "check")


def a_namespace(name: str, **marks: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": marks}}


async def test_a_policy_wakes_every_evaluation_since_nobody_knows_whom_it_was_for() -> None:
    queue = KeyQueue(asyncio.get_running_loop().time)
    intake = Intake(queue, ActiveRuns())
    intake.evaluation(an_evaluation("helper"), "ADDED")
    await due(queue)
    intake.policy()
    assert await due(queue) == {EVALUATION}
    intake.evaluation(an_evaluation("helper"), "DELETED")
    await due(queue)
    intake.policy()
    assert await due(queue) == set()


async def test_changed_labels_of_a_namespace_wake_its_evaluations_and_no_other_change_does() -> None:
    queue = KeyQueue(asyncio.get_running_loop().time)
    intake = Intake(queue, ActiveRuns())
    intake.evaluation(an_evaluation("helper"), "ADDED")
    await due(queue)
    for body, type_, woken in (
        (a_namespace(NAMESPACE, team="a"), "ADDED", {EVALUATION}),
        (a_namespace(NAMESPACE, team="a"), "MODIFIED", set()),
        (a_namespace(NAMESPACE, team="b"), "MODIFIED", {EVALUATION}),
        (a_namespace("elsewhere", team="a"), "ADDED", set()),
        (a_namespace(NAMESPACE, team="b"), "DELETED", set()),
        (a_namespace(NAMESPACE, team="b"), "ADDED", {EVALUATION}),
    ):
        intake.namespace(body, type_)
        assert await due(queue) == woken


def handled(*, reads_policies: bool) -> set[str]:
    """Return the plurals for which there are handlers."""
    registry = watches.build_registry(
        Intake(KeyQueue(lambda: 0.0), ActiveRuns()), reads_policies=reads_policies
    )
    selectors = [handler.selector for handler in registry._watching.get_all_handlers()]
    return {str(one.any_name or one.plural) for one in selectors if one is not None}


def test_policies_and_namespaces_are_watched_where_the_operator_has_the_right() -> None:
    assert handled(reads_policies=True) - handled(reads_policies=False) == {
        "evaluationpolicies",
        "namespaces",
    }


async def test_nothing_begins_before_policies_are_served() -> None:
    kube = FakeKube()

    def missing(call: Call) -> None:
        if call.kind == "EvaluationPolicy":
            raise errors.Transient("list evaluationpolicies: 404")

    kube.faults = missing
    queue = KeyQueue(asyncio.get_running_loop().time)
    with pytest.raises(errors.Transient, match="evaluationpolicies"):
        await Resync(queue, kube, ActiveRuns(), (), reads_policies=True).first()
    await Resync(queue, kube, ActiveRuns(), ()).first()


async def test_a_pod_wakes_its_owner_and_a_finished_run_only_its_evaluation() -> None:
    queue = KeyQueue(asyncio.get_running_loop().time)
    intake = Intake(queue, ActiveRuns())
    owner = {"kind": "ScenarioRun", "name": "r", "controller": True}
    intake.pod({"metadata": {"name": "w-1", "namespace": NAMESPACE, "ownerReferences": [owner]}})
    assert await due(queue) == {Key("scenarioruns", NAMESPACE, "r")}
    run = {
        "metadata": {"name": "r", "namespace": NAMESPACE},
        "spec": {"evaluation": {"name": "check", "uid": "u"}},
        "status": {"stage": "Completed"},
    }
    intake.scenario_run(run, "MODIFIED")
    assert await due(queue) == {Key("evaluations", NAMESPACE, "check")}


@pytest.mark.parametrize(
    "body", [{}, {"spec": None}, {"spec": {"agentRef": "text"}}, {"spec": {"agentRef": {}}}]
)
async def test_a_malformed_evaluation_stops_nothing(body: dict[str, Any]) -> None:
    queue = KeyQueue(asyncio.get_running_loop().time)
    Intake(queue, ActiveRuns()).evaluation({"metadata": {"name": "x", "namespace": "n"}, **body}, None)
    assert await due(queue) == {Key("evaluations", "n", "x")}


@pytest.mark.parametrize(("moment", "told"), [(9.0, ""), (11.0, "the event loop hangs")])
def test_probes_tell_a_hanging_loop_and_an_unready_operator(moment: float, told: str) -> None:
    moments = iter((0.0, moment))
    health = probes.Health(lambda: next(moments))
    assert not health.is_ready
    assert health.ailment == told
