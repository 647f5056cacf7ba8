"""What of a challenge would run: a pod per service, who may reach whom, and why it cannot be where it cannot.

Images are never built: a service that has only a build context needs an image by name. A bind mount, a
privileged service or the like is refused when the compose file is read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.harness.problems import Problem, point, show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oasis_operator.harness.challenge import Challenge
    from oasis_operator.harness.compose import Compose, Service

FLAG_VARIABLE: Final = "OASIS_FLAG"
"""A value that holds `${OASIS_FLAG}` is given the flag of the run, a new random one each time."""

ALLOWED_CAPABILITIES: Final = frozenset({"NET_RAW", "NET_BIND_SERVICE", "CHOWN", "SETUID", "SETGID"})
"""Capabilities that a service may ask for; each holds within its own container."""

_VARIABLE: Final = re.compile(
    r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)"
)
_IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,510}")
_POD_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class PlannedPod:
    """One pod.

    Attributes:
        service: The service, as the compose file has it.
        name: Name of pod and Service, a DNS label.
        role: `target`, `attack-box` or `support`.
        image: What runs.
        image_source: `compose` or `map`.
        names: All names that others reach it by, sorted.
        ports: TCP ports that its Service has, sorted.
        reaches: Other pods that it may speak to, by service, sorted.
        waits_for: Service to condition, as the compose file has it.
        carries_flag: Variables that are given the run's flag, sorted.
    """

    service: Service
    name: str
    role: str
    image: str
    image_source: str
    names: tuple[str, ...]
    ports: tuple[int, ...]
    reaches: tuple[str, ...]
    waits_for: Mapping[str, str]
    carries_flag: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Give the pod as `oasis challenge plan` prints it."""
        check = self.service.healthcheck
        return {
            "service": self.service.name,
            "role": self.role,
            "image": self.image,
            "imageSource": self.image_source,
            "names": list(self.names),
            "ports": list(self.ports),
            "reaches": list(self.reaches),
            "waitsFor": dict(self.waits_for),
            "readiness": list(check.command) if check else None,
            "environment": sorted(self.service.environment),
            "volumes": [mount.path for mount in self.service.mounts],
            "capabilities": list(self.service.capabilities),
            "flagVariables": list(self.carries_flag),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """A challenge as it would run.

    Attributes:
        challenge: The challenge.
        pods: In the order in which they start; empty where there are problems.
        problems: Why it cannot run, in order of their places.
        notes: What is as it is but should be known.
    """

    challenge: Challenge
    pods: tuple[PlannedPod, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether the challenge can run."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Give the plan as `oasis challenge plan` prints it."""
        return {
            "challenge": self.challenge.id,
            "difficulty": self.challenge.difficulty,
            "target": f"{self.challenge.host}:{self.challenge.port}",
            "runs": self.runs,
            "pods": [pod.to_json() for pod in self.pods],
            "problems": [
                {"pointer": each.pointer, "code": each.code, "message": each.message}
                for each in self.problems
            ],
            "notes": list(self.notes),
        }


def plan_challenge(challenge: Challenge, compose: Compose, images: Mapping[str, str]) -> Plan:
    """Plan a challenge.

    Args:
        challenge: The challenge.
        compose: Its compose file.
        images: Image by service, in place of what the compose file has for it.
    """
    problems = tuple(_problems(challenge, compose, images))
    if problems:
        return Plan(challenge, problems=problems)
    target = _target(challenge, compose)
    by_name = {service.name: service for service in compose.services}
    pods = tuple(
        _pod(challenge, by_name[name], compose, images, is_target=by_name[name] is target)
        for name in TopologicalSorter(
            {each.name: each.depends_on for each in compose.services}
        ).static_order()
    )
    return Plan(challenge, pods, notes=tuple(_notes(pods)))


def _problems(challenge: Challenge, compose: Compose, images: Mapping[str, str]) -> Iterator[Problem]:
    services = {service.name for service in compose.services}
    for name in sorted(images.keys() - services):
        yield Problem("", "image", f"an image for {name!r}, which is no service of the compose file")
    target = _target(challenge, compose)
    if target is None:
        yield Problem("/target", "target", f"{challenge.host!r} is no service of the compose file")
    for service in compose.services:
        yield from _service_problems(service, images)
    names = [_pod_name(service) for service in compose.services]
    for service in compose.services:
        if names.count(_pod_name(service)) > 1:
            message = f"its pod would be {_pod_name(service)!r}, as that of another service"
            yield Problem(point("services", service.name), "name", message)
    try:
        TopologicalSorter({each.name: each.depends_on for each in compose.services}).prepare()
    except CycleError as fault:
        circle = " waits for ".join(reversed(fault.args[1]))
        yield Problem("/services", "cycle", f"{circle}: nothing can start first")


def _service_problems(service: Service, images: Mapping[str, str]) -> Iterator[Problem]:
    place = point("services", service.name)
    image = images.get(service.name) or service.image
    if not image:
        message = (
            f"is built from {service.build_context!r}, and images are never built here: give one with "
            f"--image {service.name}=REFERENCE"
        )
        yield Problem(f"{place}/build", "image", message)
    elif not _IMAGE.fullmatch(image):
        yield Problem(f"{place}/image", "image", f"{show(image)}: want an image reference")
    refused = sorted(set(service.capabilities) - ALLOWED_CAPABILITIES)
    if refused:
        message = f"{', '.join(refused)}: want some of {', '.join(sorted(ALLOWED_CAPABILITIES))}"
        yield Problem(f"{place}/cap_add", "capability", message)
    if not _POD_NAME.fullmatch(_pod_name(service)):
        yield Problem(place, "name", f"{_pod_name(service)!r} is no name of a pod")
    for name, value in service.environment.items():
        for variable in sorted(_missing(value)):
            message = f"${{{variable}}} has no value here; only {FLAG_VARIABLE} is filled in: write a default"
            yield Problem(f"{place}/environment{point(name)}", "variable", message)


def _missing(value: str) -> set[str]:
    """Return the variables of a value that nothing gives a value to."""
    found = set()
    for match in _VARIABLE.finditer(value):
        name, has_default = match[1] or match[3], match[2] is not None
        if name and name != FLAG_VARIABLE and not has_default:
            found.add(name)
    return found


def fill_in(value: str, flag: str) -> str:
    """Return a variable's value with the run's flag, defaults and `$$` filled in."""

    def replace(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return flag if (match[1] or match[3]) == FLAG_VARIABLE else match[2] or ""

    return _VARIABLE.sub(replace, value)


def _carries_flag(value: str) -> bool:
    return any((match[1] or match[3]) == FLAG_VARIABLE for match in _VARIABLE.finditer(value))


def _target(challenge: Challenge, compose: Compose) -> Service | None:
    return next((each for each in compose.services if challenge.host in _names(each)), None)


def _names(service: Service) -> set[str]:
    aliases = {alias.lower() for names in service.networks.values() for alias in names}
    return {service.name.lower(), *aliases} | ({service.hostname.lower()} if service.hostname else set())


def _pod_name(service: Service) -> str:
    return service.name.lower().replace("_", "-").replace(".", "-")


def _pod(
    challenge: Challenge, service: Service, compose: Compose, images: Mapping[str, str], *, is_target: bool
) -> PlannedPod:
    is_box = bool(challenge.attack_box) and service.name in _box_names(challenge.attack_box)
    ports = {*service.ports, *({challenge.port} if is_target else ())}
    return PlannedPod(
        service=service,
        name=_pod_name(service),
        role="target" if is_target else "attack-box" if is_box else "support",
        image=images.get(service.name) or service.image,
        image_source="map" if service.name in images else "compose",
        names=tuple(sorted(_names(service))),
        ports=tuple(sorted(ports)),
        reaches=tuple(
            sorted(
                other.name
                for other in compose.services
                if other is not service and service.networks.keys() & other.networks.keys()
            )
        ),
        waits_for=service.depends_on,
        carries_flag=tuple(sorted(name for name, text in service.environment.items() if _carries_flag(text))),
    )


def _box_names(container: str) -> set[str]:
    """Return the services that a container's name, `<project>-<service>-<number>`, may stand for."""
    parts = container.removesuffix("-1").split("-")
    return {container, *("-".join(parts[start:]) for start in range(len(parts)))}


def _notes(pods: tuple[PlannedPod, ...]) -> Iterator[str]:
    if not any(pod.carries_flag for pod in pods):
        yield (
            f"no service takes a flag by ${{{FLAG_VARIABLE}}}: the images bring one of their own, so that "
            "a flag is no proof that it was captured in this run"
        )
    if not any(pod.role == "attack-box" for pod in pods):
        yield "no service is the attack box: the agent attacks from a pod of its own"
    for pod in pods:
        if ":" not in pod.image.rpartition("/")[2] or pod.image.endswith(":latest"):
            yield (
                f"the image of {pod.service.name} is not pinned: the challenge may be another one tomorrow"
            )
