"""What follows by itself from what an agent does, for as long as the run lasts.

Nodes tell of pods that start and fail. Monitoring reports the usual values again once a workload runs as
something else than what was declared to be at fault, and the declared ones where it is put back. A GitOps
controller sees that what it manages differs from its source, and puts it right where it is told to.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from oasis_operator.errors import ProviderFault
from oasis_operator.sidecar.probe import moments, symptoms
from oasis_operator.sidecar.probe.api import NODE, Api, ApiError, collection_path, path_of
from oasis_operator.sidecar.probe.narration import build_event, is_told
from oasis_operator.sidecar.probe.stages import identity
from oasis_operator.sidecar.probe.symptoms import World
from oasis_operator.world.definitions import APPLICATION, METRIC
from oasis_operator.world.manifests import Expectation, Json, Recovery, build_object
from oasis_operator.world.plan import objects_of
from oasis_operator.world.series import answered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from oasis_operator.world.plan import Plan

_RETRY_SECONDS = 1.0
_DECLARES = {"ConfigMap": "data"}
#: A member that objects of a watch get here: whether they were deleted.
_GONE = "gone"


class Consequences:
    """Watches the world of a run until it ends."""

    def __init__(self, api: Api, plan: Plan, failing: Sequence[tuple[Expectation, Sequence[Json]]]) -> None:
        """Know the plan that was carried out, and the failures that are in force."""
        self._api = api
        self._failing = [expectation for expectation, _ in failing if is_told(expectation)]
        self._recoveries = plan.recoveries
        self._applications = [body for body in objects_of(plan) if body["kind"] == APPLICATION.kind]
        self._first: dict[tuple[str, str, str], Json] = {}
        self._reported: dict[Recovery, bool] = {}

    async def begin(self) -> None:
        """Take in how things are before anybody changes them.

        Raises:
            ApiError: The API server refused a list.
            ProviderFault: It did not answer.
        """
        for kind in self._kinds():
            for item in await self._api.list(kind):
                self._first[kind, item["metadata"]["namespace"], item["metadata"]["name"]] = item

    def go_on_from(self, earlier: Consequences, rewritten: Collection[tuple[str, str, str]]) -> None:
        """Take over how things were at the beginning.

        Args:
            earlier: Who watched so far.
            rewritten: Objects that were declared anew since, as (kind, namespace, name).
        """
        self._first |= {key: item for key, item in earlier._first.items() if key not in rewritten}
        self._reported = dict(earlier._reported)

    async def watch(self) -> None:
        """Let everything take its course; ends only when cancelled."""
        courses = [self._follow(kind, self._changed) for kind in self._kinds()]
        if self._failing:
            courses.append(self._follow("Pod", self._tell))
        await asyncio.gather(*courses)

    def _kinds(self) -> list[str]:
        managed = {item["kind"] for body in self._applications for item in body["status"]["resources"]}
        return sorted(managed | ({"Deployment"} if self._recoveries else set()))

    async def _follow(self, kind: str, react: Callable[[Json], Awaitable[None]]) -> None:
        while True:
            try:
                async for change in self._api.watch(collection_path(kind)):
                    if change["type"] in ("ADDED", "MODIFIED", "DELETED"):
                        await react({**change["object"], "kind": kind, _GONE: change["type"] == "DELETED"})
            except (ProviderFault, ApiError):
                # Watches end now and then; were the API server gone for good, the end of the run would tell.
                pass
            await asyncio.sleep(_RETRY_SECONDS)

    async def _tell(self, pod: Json) -> None:
        """Write the event of a pod that fails; one that was written before stays as it is."""
        if pod[_GONE]:
            return
        for expectation in self._failing:
            state = symptoms.container_state(pod, expectation.container)
            if state.get("ready") is False and World({"Pod": [pod]}).pods_of(expectation):
                try:
                    await self._api.create(build_event(expectation, pod, moments.this_second()), writer=NODE)
                except ApiError as error:
                    if error.status != 409:
                        raise

    async def _changed(self, item: Json) -> None:
        metadata = item["metadata"]
        key = (item["kind"], metadata["namespace"], metadata["name"])
        first = self._first.get(key)
        if first is None:
            return
        if item["kind"] == "Deployment" and not item[_GONE]:
            await self._report(item, first)
        for application in self._applications:
            resources = application["status"]["resources"]
            if any((each["kind"], each["namespace"], each["name"]) == key for each in resources):
                await self._compare(application, item, first)

    async def _report(self, item: Json, first: Json) -> None:
        """Report what fits to the containers that run, once a rollout is over."""
        for recovery in self._recoveries:
            if (recovery.namespace, recovery.workload) != (
                first["metadata"]["namespace"],
                first["metadata"]["name"],
            ):
                continue
            cured = _containers(item) != _containers(first)
            if is_rolled_out(item) and self._reported.get(recovery, False) != cured:
                self._reported[recovery] = cured
                await self._write(recovery, recovery.usual if cured else recovery.declared)

    async def _write(self, recovery: Recovery, value: str) -> None:
        status = answered(value, moments.this_second())
        metric = build_object(METRIC.api_version, METRIC.kind, recovery.metric, recovery.namespace)
        await self._api.patch(metric, {"status": status}, subresource="status", writer=METRIC.writer)

    async def _compare(self, application: Json, item: Json, first: Json) -> None:
        """Say whether what is managed differs from its source, and put it right where that is wanted."""
        part = _DECLARES.get(item["kind"], "spec")
        drifted = item[_GONE] or item.get(part) != first.get(part)
        declared = application["status"]["sync"]["status"]
        policy = application["spec"].get("syncPolicy", {}).get("automated") or {}
        if drifted and policy.get("selfHeal"):
            await self._put_back(item, first, part)
            return
        await self._say(application, item, "OutOfSync" if drifted else declared)

    async def _say(self, application: Json, item: Json, sync: str) -> None:
        live = await self._api.get(path_of(application, named=True))
        resources = [
            {**each, "status": sync}
            if (each["kind"], each["name"]) == (item["kind"], item["metadata"]["name"])
            else each
            for each in live["status"]["resources"]
        ]
        together = next((each["status"] for each in resources if each["status"] != "Synced"), sync)
        if live["status"]["sync"]["status"] == together and live["status"]["resources"] == resources:
            return
        status = {
            "sync": {"status": together},
            "resources": resources,
            "reconciledAt": moments.this_second(),
        }
        await self._api.patch(application, {"status": status}, writer=APPLICATION.writer)

    async def _put_back(self, item: Json, first: Json, part: str) -> None:
        # A patch of members could not take away what was added, so the part is replaced as a whole.
        metadata = {
            key: value
            for key, value in first["metadata"].items()
            if key in ("name", "namespace", "labels", "annotations")
        }
        body = {
            "apiVersion": item["apiVersion"],
            "kind": item["kind"],
            "metadata": metadata,
            part: first.get(part),
        }
        if item[_GONE]:
            await self._api.create(body, writer=APPLICATION.writer)
            return
        live = await self._api.get(path_of(body, named=True))
        await self._api.request(
            "PUT", path_of(body, named=True), {**live, part: first.get(part)},
            params={"fieldManager": APPLICATION.writer},
        )  # fmt: skip


def is_rolled_out(deployment: Json) -> bool:
    """Tell whether every pod of a Deployment is of its newest revision and ready."""
    status, wanted = deployment.get("status", {}), deployment["spec"].get("replicas", 1)
    current = status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
    counts = {int(status.get(each, 0)) for each in ("replicas", "updatedReplicas", "readyReplicas")}
    return bool(current and counts == {wanted})


def _containers(deployment: Json) -> list[Json]:
    return identity(deployment["spec"]["template"]["spec"]["containers"])
