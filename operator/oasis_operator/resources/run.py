"""What every object of one attempt of one ScenarioRun is built from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.resources import kinds, labels, manifests, names

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class RunObjects:
    """Identity of the objects of one attempt.

    Attributes:
        id: Opaque token shared by all of them.
        namespace: Namespace of the ScenarioRun.
        name: Name of the ScenarioRun.
        owner: Controller reference to it.
        deadline_seconds: After this the kubelet ends each pod, whatever became of the operator.
    """

    id: str
    namespace: str
    name: str
    owner: Mapping[str, Any]
    deadline_seconds: int

    def metadata(self, name: str, role: str) -> dict[str, Any]:
        """Return the metadata of one of the objects."""
        marks = labels.sandbox_labels(self.id, role, scenario_run=self.name)
        return manifests.metadata(name, self.namespace, marks, self.owner)


def run_objects(scenario_run: Mapping[str, Any], attempt: int, deadline_seconds: int) -> RunObjects:
    """Return the identity of the objects of an attempt, counted from 1."""
    meta = scenario_run["metadata"]
    return RunObjects(
        id=names.run_id(meta["uid"], attempt),
        namespace=meta["namespace"],
        name=meta["name"],
        owner=manifests.owner_reference(kinds.SCENARIO_RUN, scenario_run),
        deadline_seconds=deadline_seconds,
    )


def run_secret(run: RunObjects, data: Mapping[str, str]) -> dict[str, Any]:
    """Return the Secret of a run; `data` is base64-encoded."""
    meta = run.metadata(names.secret(run.id), labels.ROLE_ENVIRONMENT)
    # The deny policy selects pods only, but a Secret should not look like a sandbox pod either.
    meta["labels"].pop(labels.SANDBOX)
    meta["labels"].pop(labels.ROLE)
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "metadata": meta,
        "data": dict(data),
    }
