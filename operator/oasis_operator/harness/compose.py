"""Reads a compose file as far as a challenge needs it; what cannot be carried over is a problem.

Keys that change nothing in a sandbox of pods are ignored by name. Any other key that is not read is refused:
whoever wrote it meant something by it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import yaml

from oasis_operator.harness import compose_parts as parts
from oasis_operator.harness.problems import Problem, point, show

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES: Final = ("docker-compose.yml", "docker-compose.yaml", "compose.yaml", "compose.yml")
MAX_BYTES: Final = 1 << 20
MAX_SERVICES: Final = 32

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9_.-]{0,61}[a-z0-9])?", re.IGNORECASE)
_TOP: Final = frozenset({"services", "networks", "volumes", "version", "name"})
_READ: Final = frozenset(
    {
        "image", "build", "hostname", "networks", "healthcheck", "depends_on", "ports", "expose",
        "environment", "volumes", "tmpfs", "command", "entrypoint", "user", "working_dir", "cap_add",
        "cap_drop",
    }
)  # fmt: skip
_IGNORED: Final = frozenset(
    {
        "container_name", "init", "labels", "logging", "platform", "pull_policy", "restart", "stdin_open",
        "stop_grace_period", "stop_signal", "tty",
    }
)  # fmt: skip
_REMEDIES: Final = {
    "privileged": "pods of a sandbox are never privileged",
    "network_mode": "pods of a sandbox have a network of their own; use networks",
    "pid": "pods of a sandbox share no processes",
    "ipc": "pods of a sandbox share no memory",
    "devices": "pods of a sandbox see no devices",
    "env_file": "no files are read beside the compose file; write environment",
    "secrets": "no files are read beside the compose file; write environment",
    "configs": "no files are read beside the compose file; put the file into the image",
    "extends": "no other files are read; write the service out",
}


@dataclass(frozen=True, slots=True)
class Service:
    """One service.

    Attributes:
        name: Unique in the file.
        image: Reference; empty where it has to be built.
        build_context: Folder that the image is built from; empty where there is none.
        hostname: Name that others reach it by, besides its own; empty for none.
        networks: Names with the aliases in each; `default` where it names none.
        healthcheck: None where it has none.
        depends_on: Service to condition: `started`, `healthy` or `completed`.
        ports: TCP ports that it listens on, sorted.
        environment: Values may hold `${NAME}`, which is filled in when the pod is made.
        mounts: Where it writes.
        command: Arguments in place of the image's; None where the image's stand.
        entrypoint: Program in place of the image's; None where the image's stands.
        user: User and group, empty for the image's own.
        working_dir: Empty for the image's own.
        capabilities: Added, sorted.
        dropped: Capabilities dropped, sorted.
    """

    name: str
    image: str = ""
    build_context: str = ""
    hostname: str = ""
    networks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    healthcheck: parts.Healthcheck | None = None
    depends_on: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[parts.Mount, ...] = ()
    command: tuple[str, ...] | None = None
    entrypoint: tuple[str, ...] | None = None
    user: str = ""
    working_dir: str = ""
    capabilities: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compose:
    """A compose file: services in written order, and the networks that they use, sorted."""

    services: tuple[Service, ...]
    networks: tuple[str, ...]


def read_compose(data: bytes) -> tuple[Compose | None, tuple[Problem, ...]]:
    """Read a compose file, or say everything that is wrong with it.

    Returns:
        The file and no problem, or None and the problems in the order of the file.
    """
    if len(data) > MAX_BYTES:
        return None, (Problem("", "size", f"{len(data)} bytes: want at most {MAX_BYTES}"),)
    try:
        # Aliases can make a small file endless, and no compose file of a challenge needs them.
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(data)):
            return None, (Problem("", "yaml", "has an alias (*name): write it out"),)
        document = parts.load_mapping_once(data)
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        seen = " ".join(str(fault).split())
        return None, (Problem("", "yaml", f"no YAML: {seen[:200]}"),)
    reader = parts.Reader()
    compose = _read(document, reader)
    return (None, tuple(reader.problems)) if reader.problems or compose is None else (compose, ())


def _read(document: object, reader: parts.Reader) -> Compose | None:
    top = reader.mapping(document, "")
    for key in top:
        if key not in _TOP and not str(key).startswith("x-"):
            reader.fault(point(key), "unknown", f"not read; known are {', '.join(sorted(_TOP))}")
    bodies = reader.mapping(top.get("services"), point("services"))
    if not bodies or len(bodies) > MAX_SERVICES:
        reader.fault("/services", "services", f"{len(bodies)} services: want 1 to {MAX_SERVICES}")
        return None
    networks = reader.mapping(top.get("networks") or {}, "/networks")
    services = tuple(_service(str(name), body, reader) for name, body in bodies.items())
    for service in services:
        _check_references(service, set(bodies), {*networks, "default"}, reader)
    used = {network for service in services for network in service.networks}
    return Compose(services, tuple(sorted(used)))


def _service(name: str, body: object, reader: parts.Reader) -> Service:
    place = point("services", name)
    if not _NAME.fullmatch(name):
        reader.fault(place, "name", f"{show(name)}: want letters, digits, hyphens, dots and underscores")
    members = reader.mapping(body, place)
    for key in members:
        _check_key(str(key), place, reader)
    at = parts.At(reader, members, place)
    image, context = at.text("image"), parts.read_build(at)
    if not image and not context:
        reader.fault(place, "image", "want image or build")
    return Service(
        name=name,
        image=image,
        build_context=context,
        hostname=at.text("hostname"),
        networks=parts.read_networks(at),
        healthcheck=parts.read_healthcheck(at),
        depends_on=parts.read_dependencies(at),
        ports=parts.read_ports(at),
        environment=parts.read_environment(at),
        mounts=parts.read_mounts(at),
        command=parts.read_words(at, "command"),
        entrypoint=parts.read_words(at, "entrypoint"),
        user=at.text("user"),
        working_dir=at.text("working_dir"),
        capabilities=parts.read_names(at, "cap_add"),
        dropped=parts.read_names(at, "cap_drop"),
    )


def _check_key(key: str, place: str, reader: parts.Reader) -> None:
    if key in _READ or key in _IGNORED or key.startswith("x-"):
        return
    remedy = _REMEDIES.get(key, "cannot be carried over to a pod; remove it")
    reader.fault(f"{place}{point(key)}", "unsupported", remedy)


def _check_references(service: Service, services: set[Any], networks: set[Any], reader: parts.Reader) -> None:
    """Check that a service names what there is."""
    for other in service.depends_on:
        if other not in services:
            reader.fault(point("services", service.name, "depends_on"), "reference", f"no service {other!r}")
    for network in service.networks:
        if network not in networks:
            place = point("services", service.name, "networks")
            reader.fault(place, "reference", f"no network {network!r} under /networks")
