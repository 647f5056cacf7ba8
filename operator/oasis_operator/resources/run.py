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
        world: Opaque token that names the environment pod and the Secret with the keys of both pods; the id,
            or another one where the environment was claimed from a warm pool.
    """

    id: str
    namespace: str
    name: str
    owner: Mapping[str, Any]
    deadline_seconds: int
    world: str

    def metadata(self, name: str, role: str) -> dict[str, Any]:
        """Return the metadata of one of the objects."""
        marks = labels.sandbox_labels(self.id, role, scenario_run=self.name)
        return manifests.metadata(name, self.namespace, marks, self.owner)


def run_objects(
    scenario_run: Mapping[str, Any], attempt: int, deadline_seconds: int, world: str = ""
) -> RunObjects:
    """Return the identity of the objects of an attempt, counted from 1, in its own world or a claimed one."""
    meta = scenario_run["metadata"]
    run_id = names.run_id(meta["uid"], attempt)
    return RunObjects(
        id=run_id,
        namespace=meta["namespace"],
        name=meta["name"],
        owner=manifests.owner_reference(kinds.SCENARIO_RUN, scenario_run),
        deadline_seconds=deadline_seconds,
        world=world or run_id,
    )


def run_secret(run: RunObjects, data: Mapping[str, str]) -> dict[str, Any]:
    """Return the Secret of a run; `data` is base64-encoded."""
    meta = run.metadata(names.secret(run.id), labels.ROLE_ENVIRONMENT)
    # The deny policy selects pods only, but a Secret should not look like a sandbox pod either.
    meta["labels"].pop(labels.SANDBOX)
    meta["labels"].pop(labels.ROLE)
    return keys_secret(meta, data)


def keys_secret(meta: Mapping[str, Any], data: Mapping[str, str]) -> dict[str, Any]:
    """Return a Secret with the keys of an environment; `data` is base64-encoded."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "immutable": True,
        "metadata": dict(meta),
        "data": dict(data),
    }
