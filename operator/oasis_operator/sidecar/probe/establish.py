"""Carrying out a plan: objects rank by rank, failing conditions, the wait until each condition is seen."""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from oasis_operator.errors import ProviderFault
from oasis_operator.sidecar.probe import moments, symptoms
from oasis_operator.sidecar.probe.api import (
    MERGE,
    NODE,
    PEOPLE,
    STRATEGIC,
    Api,
    ApiError,
    collection_path,
    gather_all,
    is_defined,
    path_of,
)
from oasis_operator.sidecar.probe.cluster import ensure, wait_for
from oasis_operator.sidecar.probe.measuring import measure
from oasis_operator.sidecar.probe.stages import ONCE, build_stages, containers_that_decide, is_failing
from oasis_operator.sidecar.probe.symptoms import Observation, World
from oasis_operator.wire.probe import Witness
from oasis_operator.world.definitions import DEFINITION, KINDS
from oasis_operator.world.manifests import Condition, Expectation, Json, Kind, Manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from oasis_operator.world.plan import Plan

_RESTART_SECONDS = 15.0
_HISTORY_SECONDS = 20.0
_DEFINITION_SECONDS = 20.0
#: Unknown still, or its storage is being set up.
_NOT_YET_SERVED = frozenset({404, 429, 503})
_LOOK_EVERY = 0.1
#: How often a container has failed already when it is first seen to.
_FIRST_RESTARTS = 1
_API_KINDS = {
    "deployment": "Deployment",
    "statefulset": "StatefulSet",
    "daemonset": "DaemonSet",
    "pod": "Pod",
    "job": "Job",
}


class NotEstablished(Exception):  # noqa: N818  # it is a finding about the state, not an error of ours
    """An object of the state was refused, or a condition was not seen; the text says which and why."""


class SymptomNotSeen(NotEstablished):
    """A declared condition was not observed, or did not hold."""


async def create_rank(api: Api, rank: Sequence[Manifest], done: Callable[[Manifest], None]) -> None:
    """Create the objects of one rank side by side.

    Raises:
        NotEstablished: The API server refused one of them.
        ProviderFault: It did not answer.
    """

    async def one(manifest: Manifest) -> None:
        body = manifest.body
        try:
            await _place(api, body)
            if manifest.next_body is not None:
                await _roll_out(api, manifest)
        except ApiError as error:
            where = f"{body['kind']} {body['metadata']['name']}"
            raise NotEstablished(f"state[{manifest.index}]: {where}: refused: {error.message}") from error
        done(manifest)

    try:
        await gather_all(*(one(manifest) for manifest in rank))
    except* NotEstablished as group:
        raise group.exceptions[0] from group
    except* ProviderFault as group:
        raise group.exceptions[0] from group


async def _place(api: Api, body: Json) -> None:
    """Create an object as whoever makes such objects, with its status; wait until a new kind is served."""
    kind = KINDS.get(body["kind"])
    writer = kind.writer if kind else NODE if body["kind"] in ("Node", "Event") else PEOPLE
    if is_defined(body["kind"]):
        await api.apply(body, writer=writer)
    else:
        await ensure(api, body, writer=writer)
    if kind is not None and kind.status and "status" in body:
        await api.patch(body, {"status": body["status"]}, subresource="status", writer=writer)
    if body["kind"] == DEFINITION:
        group, versions = body["spec"]["group"], body["spec"]["versions"]
        path = f"/apis/{group}/{versions[0]['name']}/{body['spec']['names']['plural']}"
        await wait_for(
            f"kind {body['metadata']['name']}",
            lambda: _is_served(api, path),
            patience_seconds=_DEFINITION_SECONDS,
        )


async def _is_served(api: Api, path: str) -> bool:
    try:
        await api.get(path)
    except ApiError as error:
        if error.status in _NOT_YET_SERVED:
            return False
        raise
    return True


async def _roll_out(api: Api, manifest: Manifest) -> None:
    """Wait until the first revision runs, then change to the next, as a deployment in the past did."""
    body, following = manifest.body, manifest.next_body or {}
    path = f"/apis/apps/v1/namespaces/{body['metadata']['namespace']}/deployments/{body['metadata']['name']}"

    async def runs() -> bool:
        status = (await api.get(path)).get("status", {})
        return bool(status.get("readyReplicas", 0) >= body["spec"]["replicas"])

    await wait_for(f"first revision of {body['metadata']['name']}", runs, patience_seconds=_HISTORY_SECONDS)
    change = {key: value for key, value in following["spec"].items() if value != body["spec"].get(key)}
    strategy = change.pop("strategy", None)
    await api.patch(body, {"spec": change})
    if strategy is None:
        return

    async def is_replaced() -> bool:
        live = await api.get(path)
        status, wanted = live.get("status", {}), body["spec"]["replicas"]
        current = status.get("observedGeneration", 0) >= live["metadata"]["generation"]
        return bool(current and status.get("updatedReplicas", 0) == status.get("replicas", 0) == wanted)

    await wait_for(
        f"next revision of {body['metadata']['name']}", is_replaced, patience_seconds=_HISTORY_SECONDS
    )
    await api.patch(body, {"spec": {"strategy": strategy}})


async def play_failures(
    api: Api, plan: Plan, folder: Path, boot_stages: str
) -> list[tuple[Expectation, list[Json]]]:
    """Load the stages of the failing conditions, before the pods that they are about exist.

    Returns:
        The failing conditions, each with the containers of its pods as the API server completes them.

    Raises:
        NotEstablished: The API server refused one of the workloads.
        ProviderFault: The stages were not taken up.
    """
    pairs = await find_failures(api, plan)
    if pairs:
        await load_stages(folder, build_stages(boot_stages, pairs))
    return pairs


async def find_failures(api: Api, plan: Plan) -> list[tuple[Expectation, list[Json]]]:
    """Give the failing conditions, each with the containers of its pods as the API server completes them.

    Raises:
        NotEstablished: The API server refused one of the workloads.
    """
    failing = [expectation for expectation in plan.expectations if is_failing(expectation)]
    bodies = {
        (
            manifest.body["kind"],
            manifest.body["metadata"].get("namespace"),
            manifest.body["metadata"]["name"],
        ): (manifest.next_body or manifest.body)
        for rank in plan.ranks
        for manifest in rank
    }
    pairs = []
    for expectation in failing:
        key = (_API_KINDS[expectation.kind], expectation.namespace, expectation.name)
        pairs.append((expectation, await _completed_containers(api, expectation, bodies[key])))
    return pairs


async def _completed_containers(api: Api, expectation: Expectation, body: Json) -> list[Json]:
    """Ask the API server for the containers as it would store them, defaults included."""
    try:
        completed = await _tried(api, body)
    except ApiError as error:
        raise NotEstablished(f"{expectation.subject}: refused: {error.message}") from error
    spec = completed["spec"] if completed["kind"] == "Pod" else completed["spec"]["template"]["spec"]
    return list(spec[containers_that_decide(expectation)])


async def _tried(api: Api, body: Json) -> Json:
    """Give an object as it would be stored, whether it is there already or not; nothing is changed."""
    try:
        return dict(await api.create(body, dry_run=True))
    except ApiError as error:
        if error.status != 409:
            raise
    change = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "status")}
    params, headers = {"dryRun": "All"}, {"Content-Type": MERGE}
    tried = await api.request("PATCH", path_of(body, named=True), change, params=params, headers=headers)
    return dict(tried)


async def load_stages(folder: Path, text: str) -> None:
    """Replace the stages and wait until the nodes are played by them.

    Raises:
        ProviderFault: They were not taken up.
    """
    target, draft, loaded = (
        folder / "kwok" / "kwok.yaml",
        folder / "kwok" / "kwok.yaml.draft",
        folder / "kwok" / "loaded",
    )
    draft.write_text(text)
    draft.replace(target)
    digest = hashlib.sha256(text.encode()).hexdigest()

    async def taken_up() -> bool:
        return loaded.exists() and loaded.read_text().strip() == digest

    await wait_for("stages", taken_up, patience_seconds=_RESTART_SECONDS, every=0.02)


async def arm(
    api: Api,
    plan: Plan,
    failing: Sequence[tuple[Expectation, list[Json]]],
    folder: Path,
    boot_stages: str,
) -> list[tuple[Expectation, list[Json]]]:
    """Load the failures that lie ahead, of pods that start after the preparation; end what happens once.

    Returns:
        The failures that are in force from now on.

    Raises:
        ApiError: The API server refused to give one of the workloads.
        ProviderFault: The stages were not taken up.
    """
    kept = await remaining(api, plan, failing)
    if kept != list(failing):
        await load_stages(folder, build_stages(boot_stages, kept))
    return kept


async def remaining(
    api: Api, plan: Plan, failing: Sequence[tuple[Expectation, list[Json]]]
) -> list[tuple[Expectation, list[Json]]]:
    """Give the failures that are in force once all was seen: those that go on, and those that lie ahead.

    Raises:
        ApiError: The API server refused to give one of the workloads.
    """
    kept = [pair for pair in failing if pair[0].condition not in ONCE]
    for expectation in plan.expectations:
        if expectation.on_restart is None:
            continue
        base = collection_path(_API_KINDS[expectation.kind], expectation.namespace)
        containers = (await api.get(f"{base}/{expectation.name}"))["spec"]["template"]["spec"]["containers"]
        kept.append(
            (replace(expectation, condition=expectation.on_restart, restarts=_FIRST_RESTARTS), containers)
        )
    return kept


async def look(api: Api, expectations: Sequence[Expectation]) -> list[Observation]:
    """Look once for every condition."""
    kinds = symptoms.kinds_of(expectations)
    lists = await gather_all(*(api.list(kind) for kind in kinds))
    world = World(dict(zip(kinds, lists, strict=True)))
    await _unsettle(api, expectations, world)
    return [symptoms.observe(expectation, world) for expectation in expectations]


async def _unsettle(api: Api, expectations: Sequence[Expectation], world: World) -> None:
    """Let one pod of each degraded workload fail its readiness probe, once all of them have started."""
    for expectation in expectations:
        pods = world.pods_of(expectation) if expectation.condition is Condition.DEGRADED else []
        if len(pods) == expectation.replicas and pods and all(symptoms.is_ready(pod) for pod in pods):
            body = {"kind": "Pod", "metadata": pods[-1]["metadata"]}
            await api.patch(body, _unready(pods[-1]), subresource="status", writer=NODE, kind=STRATEGIC)


def _unready(pod: Json) -> Json:
    first, *others = pod["status"]["containerStatuses"]
    message = f"containers with unready status: [{first['name']}]"
    conditions = [
        {
            "type": kind,
            "status": "False",
            "reason": "ContainersNotReady",
            "message": message,
            "lastTransitionTime": moments.this_second(),
        }
        for kind in ("Ready", "ContainersReady")
    ]
    return {"status": {"conditions": conditions, "containerStatuses": [{**first, "ready": False}, *others]}}


async def prove_plan(
    api: Api, plan: Plan, *, patience_seconds: float, settle_seconds: float
) -> tuple[Witness, ...]:
    """Wait until every condition of a plan is seen and holds, with the use of CPU and memory reported.

    Autoscalers measure for themselves, so they are looked at once there is something to measure.

    Returns:
        A witness for each condition, in their order.

    Raises:
        SymptomNotSeen: One was not seen, or did not hold.
        ApiError: A report of use was refused.
        ProviderFault: The API server did not answer.
    """
    scaled = [item for item in plan.expectations if item.kind is Kind.AUTOSCALER]
    others = [item for item in plan.expectations if item.kind is not Kind.AUTOSCALER]
    seen = await prove(api, others, patience_seconds=patience_seconds, settle_seconds=settle_seconds)
    await measure(api, plan.usage)
    last = await prove(api, scaled, patience_seconds=patience_seconds, settle_seconds=0) if scaled else ()
    witnesses = {
        id(expectation): witness
        for expectation, witness in zip((*others, *scaled), (*seen, *last), strict=True)
    }
    return tuple(witnesses[id(expectation)] for expectation in plan.expectations)


async def prove(
    api: Api, expectations: Sequence[Expectation], *, patience_seconds: float, settle_seconds: float
) -> tuple[Witness, ...]:
    """Wait until every condition is seen and holds.

    Args:
        api: The nested API server.
        expectations: The declared conditions.
        patience_seconds: How long they may take to appear.
        settle_seconds: How long all of them must hold without a break.

    Returns:
        A witness for each condition, in their order.

    Raises:
        SymptomNotSeen: One was not seen, or did not hold.
    """
    if not expectations:
        await asyncio.sleep(settle_seconds)
        return ()
    deadline = time.monotonic() + patience_seconds
    held_since: float | None = None
    while True:
        seen = await look(api, expectations)
        present = time.monotonic()
        if all(observation.seen for observation in seen):
            held_since = present if held_since is None else held_since
            if present - held_since >= settle_seconds:
                return _witnesses(expectations, seen)
        elif held_since is not None or present > deadline:
            raise SymptomNotSeen(_what_is_missing(expectations, seen, held=held_since is not None))
        await asyncio.sleep(_LOOK_EVERY if held_since is None else min(1.0, max(0.05, settle_seconds / 10)))


def _witnesses(expectations: Sequence[Expectation], seen: Sequence[Observation]) -> tuple[Witness, ...]:
    at = moments.now()
    return tuple(
        Witness(expectation.subject, expectation.condition.value, observation.text, at)
        for expectation, observation in zip(expectations, seen, strict=True)
    )


def _what_is_missing(expectations: Sequence[Expectation], seen: Sequence[Observation], *, held: bool) -> str:
    how = "did not hold" if held else "was not seen"
    parts = [
        f"{expectation.subject}: {expectation.condition} {how}: {observation.text}"
        for expectation, observation in zip(expectations, seen, strict=True)
        if not observation.seen
    ]
    return "; ".join(parts)
