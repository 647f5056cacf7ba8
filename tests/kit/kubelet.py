"""A kubelet for the fake API server: it places pods, starts their containers and takes deleted ones away."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator.resources import labels
from oasis_operator.resources.kinds import POD

if TYPE_CHECKING:
    from collections.abc import Callable

    from kit.fakes.kube import FakeKube
    from kit.fakes.sidecars import World

NODE_IP = "192.0.2.10"
TARGETS = ("operator", "api-server", "node")


def image_id_of(image: str) -> str:
    """Return what a node says of an image as really run: its name without the tag, and a digest."""
    return f"{image.rpartition(':')[0]}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"


@dataclass
class Kubelet:
    """Plays every node.

    Attributes:
        holds: Tells of a pod that it must not be started.
        breaks: Returns the status of a pod that cannot start, or None.
        reached: Names that the control pod and the canary reach, by role.
        image_id: Returns what the node says of the image that it ran.
    """

    kube: FakeKube
    world: World
    holds: Callable[[dict[str, Any]], bool] = lambda pod: False
    breaks: Callable[[dict[str, Any]], dict[str, Any] | None] = lambda pod: None
    reached: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {labels.ROLE_CONTROL: TARGETS, labels.ROLE_CANARY: ()}
    )
    image_id: Callable[[str], str] = image_id_of
    _addresses: itertools.count[int] = field(default_factory=lambda: itertools.count(2))

    def tick(self) -> bool:
        """Do one round; tells whether anything changed."""
        changes = [self._round(pod) for pod in self.kube.of(POD)]
        return any(changes)

    def _round(self, pod: dict[str, Any]) -> bool:  # noqa: PLR0911 - one return for each state
        meta = pod["metadata"]
        key = (POD.plural, meta["namespace"], meta["name"])
        if "deletionTimestamp" in meta:
            self.world.kill((pod.get("status") or {}).get("podIP", ""))
            self.kube.remove(key)
            return True
        if self.holds(pod):
            return False
        if not pod["spec"].get("nodeName"):
            self.kube.edit(POD, meta["namespace"], meta["name"], self._place)
            return True
        if (pod.get("status") or {}).get("phase") != "Pending":
            return False
        broken = self.breaks(pod)
        if broken is not None:
            if all(pod["status"].get(name) == value for name, value in broken.items()):
                return False
            self.kube.edit(POD, meta["namespace"], meta["name"], lambda item: item["status"].update(broken))
            return True
        self.kube.edit(POD, meta["namespace"], meta["name"], self._start)
        return True

    def _place(self, pod: dict[str, Any]) -> None:
        pod["spec"]["nodeName"] = "node-1"
        now = self.kube.clock().strftime("%Y-%m-%dT%H:%M:%SZ")
        pod["status"] = {
            "phase": "Pending",
            "hostIP": NODE_IP,
            "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": now}],
        }

    def _start(self, pod: dict[str, Any]) -> None:
        number = next(self._addresses)
        ip = f"10.1.{number // 250}.{number % 250}"
        role = pod["metadata"]["labels"][labels.ROLE]
        pod["status"] |= {"phase": "Running", "podIP": ip}
        running = {"running": {"startedAt": "2026-01-05T12:00:00Z"}}
        pod["status"]["containerStatuses"] = [
            _container(item["name"], running, self.image_id(item["image"]))
            for item in pod["spec"]["containers"]
        ]
        pod["status"]["initContainerStatuses"] = [
            _container(item["name"], running, self.image_id(item["image"]))
            for item in pod["spec"].get("initContainers") or ()
        ]
        if role == labels.ROLE_ENVIRONMENT:
            self.world.boot_probe(ip)
        elif role in (labels.ROLE_AGENT, labels.ROLE_IDENTITY):
            aliases = pod["spec"].get("hostAliases") or [{"ip": ""}]
            self.world.boot_adapter(ip, aliases[0]["ip"])
        elif role != labels.ROLE_GATEWAY:
            self._reach(pod, role)

    def _reach(self, pod: dict[str, Any], role: str) -> None:
        results = [{"name": name, "reached": name in self.reached[role], "detail": ""} for name in TARGETS]
        ended = {"exitCode": 0, "reason": "Completed", "message": json.dumps({"results": results})}
        pod["status"] |= {"phase": "Succeeded"}
        pod["status"]["containerStatuses"] = [_container("reach", {"terminated": ended})]


def _container(name: str, state: dict[str, Any], image: str = "") -> dict[str, Any]:
    return {
        "name": name,
        "state": state,
        "ready": "running" in state,
        "restartCount": 0,
        "imageID": image,
    }


def image_missing(container: str) -> dict[str, Any]:
    """Return the status of a pod whose container's image cannot be pulled."""
    waiting = {"reason": "ErrImagePull", "message": 'pull of "nowhere/agent:1" failed: not found'}
    return {"containerStatuses": [_container(container, {"waiting": waiting})]}
