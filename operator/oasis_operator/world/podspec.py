"""Pod specifications from the fields that every workload kind shares."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oasis_operator.world.entries import Reader, is_label, scalar
from oasis_operator.world.manifests import Condition, Json, LogLines, Reference, Surroundings

_CONTAINER_FIELDS = frozenset(
    [
        "args",
        "command",
        "env",
        "envFrom",
        "image",
        "imagePullPolicy",
        "lifecycle",
        "livenessProbe",
        "name",
        "ports",
        "readinessProbe",
        "resources",
        "restartPolicy",
        "securityContext",
        "startupProbe",
        "volumeMounts",
        "workingDir",
    ]
)
_SOURCES = ("configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef")
#: A registry with its port, names in lower case, a tag and a digest; of these only a name must be there.
_REFERENCE = re.compile(
    r"(?:[a-zA-Z0-9](?:[-a-zA-Z0-9.]*[a-zA-Z0-9])?(?::\d{1,5})?/)?"
    r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
    r"(?::\w[-\w.]{0,127})?(?:@sha256:[0-9a-f]{64})?",
    re.ASCII,
)
_LONGEST_IMAGE = 512
_REF_KINDS = {"configMapKeyRef": "configmap", "secretKeyRef": "secret"}


@dataclass(frozen=True, slots=True)
class PodParts:
    """A pod specification and what its condition depends on.

    Attributes:
        spec: The specification.
        labels: Labels of the pods; ``app`` is always among them.
        references: Values taken from ConfigMaps and Secrets by the main containers.
        failed_init: Name of the init container that is declared to fail, empty for none.
        logs: What init containers are declared to have logged.
    """

    spec: Json
    labels: dict[str, str]
    references: tuple[Reference, ...]
    failed_init: str
    logs: tuple[LogLines, ...]


def default_image(name: str) -> str:
    """Give a plausible image for a workload whose scenario names none; the same one every time."""
    digest = hashlib.sha256(name.encode()).digest()
    return f"{name}:v{1 + digest[0] % 4}.{digest[1] % 12}.{digest[2] % 10}"


def read_pod(reader: Reader, around: Surroundings) -> PodParts:
    """Take the fields of a pod: labels, containers, environment, volumes and resources."""
    name = reader.entry.name
    image = _image(reader, name)
    labels = reader.texts("labels")
    if team := reader.text("owner_team"):
        labels["team"] = team
    containers = [_container(reader, item, name, image) for item in reader.items("containers")]
    if not containers:
        containers = [{"name": name if is_label(name) else "main", "image": image}]
    init, failed_init, logs = _init_containers(reader, name)
    _with_environment(reader, containers[0])
    _with_resources(reader, containers[0])
    spec: Json = {"containers": containers}
    if init:
        spec["initContainers"] = init
    _with_volumes(reader, around, spec)
    if account := reader.text("service_account"):
        spec["serviceAccountName"] = account
    references = _references(reader.namespace, containers)
    return PodParts(spec, {"app": name, **labels}, references, failed_init, logs)


def refuse_images(reader: Reader, spec: Json, status: Condition) -> None:
    """Refuse images that no runtime can pull, unless that is what is declared of their pod."""
    if status is Condition.IMAGE_PULL:
        return
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        image = container["image"]
        if not isinstance(image, str) or not _REFERENCE.fullmatch(image) or len(image) > _LONGEST_IMAGE:
            text = (
                f"no such image can exist, which contradicts status {status}; want one such as team/app:v1.2"
            )
            reader.refuse("image", image, text)


def _image(reader: Reader, name: str) -> str:
    if reader.entry.fields.get("image") == "":
        reader.refuse("image", "", "want an image such as team/app:v1.2, or no such field")
    image, current = reader.text("image"), reader.text("current_image")
    if image and current and image != current:
        reader.refuse("current_image", current, f"contradicts image {image}")
    return image or current or default_image(name)


def _container(reader: Reader, item: object, name: str, image: str) -> Json:
    if not isinstance(item, Mapping):
        reader.refuse("containers", item, "want a container with at least a name")
        return {"name": name, "image": image}
    container: Json = {"name": name, "image": image, **item}
    for field in sorted(set(container) - _CONTAINER_FIELDS):
        reader.refuse(f"containers.{field}", container[field], "not a field of a container")
    if not is_label(container["name"]):
        reader.refuse("containers.name", container["name"], "want a name of at most 63 characters")
    if isinstance(container.get("env"), Mapping):
        container["env"] = _environment(reader, "containers.env", container["env"])
    return container


def _init_containers(reader: Reader, name: str) -> tuple[list[Json], str, tuple[LogLines, ...]]:
    """Take init containers; of these, ``status`` and ``logs`` are ours and not part of the container."""
    result, failed, logs = [], "", []
    for position, item in enumerate(reader.items("init_containers")):
        raw: Json = dict(item) if isinstance(item, Mapping) else {}
        status = raw.pop("status", "completed")
        if status not in ("completed", "error"):
            reader.refuse("init_containers.status", status, "possible are completed, error")
        lines = raw.pop("logs", ())
        raw.setdefault("name", f"init-{position}")
        container = _container(reader, raw, name, default_image(str(raw["name"])))
        failed = failed or (container["name"] if status == "error" else "")
        if lines:
            told = (lines,) if isinstance(lines, str) else tuple(str(line) for line in lines)
            logs.append(LogLines(name, reader.namespace, told, container["name"]))
        result.append(container)
    return result, failed, tuple(logs)


def _with_environment(reader: Reader, container: Json) -> None:
    value = reader.take("env")
    if value is None:
        return
    if container.get("env"):
        reader.refuse("env", value, "contradicts the environment of the container")
    elif isinstance(value, Mapping):
        container["env"] = _environment(reader, "env", value)
    elif isinstance(value, list):
        container["env"] = value
    else:
        reader.refuse("env", value, "want a mapping of names to values")


def _environment(reader: Reader, field: str, values: Mapping[str, Any]) -> list[Json]:
    result: list[Json] = []
    for key, value in values.items():
        text = scalar(value)
        if text is not None:
            result.append({"name": key, "value": text})
        elif (source := _source(str(key), value)) is not None:
            result.append({"name": key, "valueFrom": source})
        else:
            reader.refuse(
                f"{field}.{key}", value, "want a text, or valueFrom with a configMapKeyRef or secretKeyRef"
            )
    return result


def _source(key: str, value: object) -> Json | None:
    """Read where a value comes from; a bare name stands for the key of the same name in that object."""
    if not isinstance(value, Mapping):
        return None
    source = value.get("valueFrom", value)
    if not isinstance(source, Mapping) or len(source) != 1 or next(iter(source)) not in _SOURCES:
        return None
    kind, reference = next(iter(source.items()))
    if isinstance(reference, str):
        return {kind: {"name": reference, "key": key}}
    return {kind: dict(reference)} if isinstance(reference, Mapping) else None


def _with_resources(reader: Reader, container: Json) -> None:
    resources = reader.mapping("resources")
    for field, part in (("resource_limits", "limits"), ("resource_requests", "requests")):
        if values := reader.texts(field):
            resources[part] = {**resources.get(part, {}), **values}
    for field, resource in (("memory_limit", "memory"), ("cpu_limit", "cpu")):
        if amount := reader.quantity(field):
            resources.setdefault("limits", {})[resource] = amount
    if not resources:
        return
    if "resources" in container:
        reader.refuse("resources", resources, "contradicts the resources of the container")
    container["resources"] = resources


def _with_volumes(reader: Reader, around: Surroundings, spec: Json) -> None:
    volumes: list[Json] = []
    mounts: list[Json] = []
    for item in reader.items("volumes"):
        if isinstance(item, Mapping) and is_label(item.get("name")):
            volumes.append(dict(item))
        elif is_label(item):
            volumes.append({"name": item, "persistentVolumeClaim": {"claimName": item}})
            mounts.append({"name": item, "mountPath": f"/var/lib/{item}"})
        else:
            reader.refuse("volumes", item, "want a claim's name or a volume")
    for written in reader.names("volumes_from"):
        kind, name = _volume_source(reader, around, written)
        source = {"configMap": {"name": name}} if kind == "configmap" else {"secret": {"secretName": name}}
        volumes.append({"name": f"from-{name}"[:63].rstrip("-."), **source})
        mounts.append({"name": volumes[-1]["name"], "mountPath": f"/etc/{name}", "readOnly": True})
    if volumes:
        spec["volumes"] = volumes
    if mounts:
        first = spec["containers"][0]
        first["volumeMounts"] = [*first.get("volumeMounts", []), *mounts]


def _volume_source(reader: Reader, around: Surroundings, written: str) -> tuple[str, str]:
    """Read ``configmap/name``, ``secret/name`` or a bare name: a ConfigMap unless only a Secret has it."""
    kind, slash, name = written.partition("/")
    if slash and kind in ("configmap", "secret"):
        return kind, name
    if slash:
        reader.refuse(
            "volumes_from", written, "possible are configmap/name, secret/name or a ConfigMap's name"
        )
        return "configmap", name
    only_secret = ("secret", reader.namespace, written) in around.names and (
        ("configmap", reader.namespace, written) not in around.names
    )
    return ("secret" if only_secret else "configmap"), written


def _references(namespace: str, containers: list[Json]) -> tuple[Reference, ...]:
    found = []
    for container in containers:
        variables = container.get("env")
        for variable in variables if isinstance(variables, list) else ():
            source = variable.get("valueFrom") if isinstance(variable, Mapping) else None
            for member, kind in _REF_KINDS.items():
                reference = source.get(member) if isinstance(source, Mapping) else None
                if isinstance(reference, Mapping) and not reference.get("optional"):
                    found.append(
                        Reference(kind, namespace, str(reference.get("name")), str(reference.get("key")))
                    )
    return tuple(found)
