"""Who has written the logs of a scenario: the containers of its workloads, as far as they have run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oasis_operator.wire.fields import shown
from oasis_operator.wire.probe_request import StateFault
from oasis_operator.world.manifests import Condition, Expectation, Json, Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oasis_operator.world.entries import Entry

_WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Pod", "Job", "CronJob"})
#: Conditions in which there are containers that have never run, and so have no log.
_NEVER_RAN = frozenset(
    {Condition.IMAGE_PULL, Condition.CONFIG_ERROR, Condition.PENDING, Condition.INIT_ERROR}
)


def images_of(manifests: Iterable[Manifest], namespace: str, name: str) -> dict[str, str]:
    """Give the images of a workload by container, as they are in the end.

    Containers on which several workloads of the same name differ are left out.
    """
    result: dict[str, str] = {}
    differing = set()
    for manifest in manifests:
        body = manifest.next_body or manifest.body
        metadata = body["metadata"]
        if body["kind"] not in _WORKLOADS or (metadata["namespace"], metadata["name"]) != (namespace, name):
            continue
        for container in _containers(body):
            if result.setdefault(container["name"], container["image"]) != container["image"]:
                differing.add(container["name"])
    return {container: image for container, image in result.items() if container not in differing}


def find_silent(entries: Sequence[Entry], expectations: Sequence[Expectation]) -> list[StateFault]:
    """Name the logs of containers that have never run: nobody could read them."""
    silent = {(item.namespace, item.name): item for item in expectations if item.condition in _NEVER_RAN}
    faults = []
    for entry in entries:
        field = "entries" if entry.kind == "logs" else "last_log"
        lines = entry.fields.get(field)
        expected = silent.get((entry.namespace or "default", entry.name))
        if lines and expected is not None and _speaks_of(entry.fields, expected):
            message = (
                f"contradicts status {expected.condition} of {expected.subject}, whose container never ran"
            )
            faults.append(StateFault(entry.index, entry.resource, field, shown(lines), message))
    return faults


def _speaks_of(fields: Mapping[str, object], expected: Expectation) -> bool:
    """Tell whether a log is that of the containers that never ran."""
    if expected.condition is Condition.PENDING:
        return True
    container = fields.get("container")
    # Behind a failing init container it is the others that never ran.
    return container is None or (
        expected.condition is not Condition.INIT_ERROR and container == expected.container
    )


def _containers(body: Json) -> list[Json]:
    spec = body["spec"]
    if body["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    if body["kind"] != "Pod":
        spec = spec["template"]["spec"]
    return [*spec["containers"], *spec.get("initContainers", ())]
