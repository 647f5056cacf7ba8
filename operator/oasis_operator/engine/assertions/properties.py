"""Members of a state check other than its condition: what each word means on an API object."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, Final

from oasis_operator.engine.actions.changes import value_at

Object = Mapping[str, Any]
Holds = Callable[[Object, Any], bool]

_ROOTS: Final = ("metadata.", "spec.", "status.", "data.")
_RUNNING: Final = frozenset({"running", "available", "ready", "healthy"})


def reader_of(name: str, expected: Any) -> Holds | None:
    """Return what tells whether an object has a property, None for a word without a known meaning.

    Args:
        name: Member of the state check, such as `replicas`, or a path such as `spec.paused`.
        expected: Its value; a few words have a meaning for some values only.
    """
    if name == "status":
        return _status if str(expected).lower() in _RUNNING else None
    if name in _READERS:
        return _READERS[name]
    if name.startswith(_ROOTS):
        path = tuple(name.split("."))
        return lambda item, value: _is_equal(value_at(item, path), value)
    return None


def containers(item: Object) -> list[Object]:
    """Return the containers of a pod or of a workload's template, init containers left out."""
    return _containers(item, "containers")


def images(item: Object) -> list[tuple[str, str, object]]:
    """Return member, name and image of all containers of a pod or of a workload's template, of every kind."""
    kinds = ("containers", "initContainers", "ephemeralContainers")
    return [
        (kind, str(one.get("name")), one.get("image")) for kind in kinds for one in _containers(item, kind)
    ]


def _containers(item: Object, member: str) -> list[Object]:
    spec = item.get("spec") or {}
    template = (
        value_at(spec, ("template", "spec"))
        or value_at(spec, ("jobTemplate", "spec", "template", "spec"))
        or spec
    )
    found = template.get(member) if isinstance(template, dict) else None
    return [one for one in found or () if isinstance(one, dict)]


def replicas_of(item: Object) -> int:
    """Return the replicas that a workload asks for; the API's default is one."""
    number = value_at(item, ("spec", "replicas"))
    return number if isinstance(number, int) else 1


def is_running(item: Object) -> bool:
    """Return whether a workload has all its pods ready, or a pod runs with all containers ready."""
    status = item.get("status") or {}
    if item.get("kind") == "Pod":
        ready = [one.get("ready") for one in status.get("containerStatuses") or ()]
        return bool(status.get("phase") == "Running" and ready and all(ready))
    if status.get("observedGeneration") not in (None, (item.get("metadata") or {}).get("generation")):
        return False
    if item.get("kind") == "DaemonSet":
        return _is_on_all_nodes(status)
    wanted = replicas_of(item)
    return int(status.get("readyReplicas") or 0) >= wanted and not status.get("unavailableReplicas")


def _is_on_all_nodes(status: Mapping[str, Any]) -> bool:
    """Return whether a DaemonSet is ready wherever it is to be; it counts nodes and not replicas."""
    wanted = int(status.get("desiredNumberScheduled") or 0)
    ready = int(status.get("numberReady") or 0)
    return 0 < wanted <= ready and not status.get("numberUnavailable")


def plain_data(item: Object) -> dict[str, str]:
    """Return the data of a ConfigMap or a Secret as text; the data of a Secret both as stored and decoded."""
    data = item.get("data")
    return {str(key): str(value) for key, value in data.items()} if isinstance(data, dict) else {}


def _replicas(item: Object, expected: Any) -> bool:
    return isinstance(expected, int) and replicas_of(item) == expected


def _image(item: Object, expected: Any) -> bool:
    return str(expected) in [str(one.get("image")) for one in containers(item)]


def _data(item: Object, expected: Any) -> bool:
    data = plain_data(item)
    if not isinstance(expected, Mapping):
        return False
    secret = item.get("kind") == "Secret"
    return all(
        str(key) in data
        and (_is_equal(data[str(key)], value) or (secret and _is_decoded(data[str(key)], value)))
        for key, value in expected.items()
    )


def _within(*path: str) -> Holds:
    """Return a reader that wants every expected member among the members at a path."""

    def holds(item: Object, expected: Any) -> bool:
        there = value_at(item, path)
        if not isinstance(there, dict) or not isinstance(expected, Mapping):
            return not expected and not there
        return all(key in there and _is_equal(there[key], value) for key, value in expected.items())

    return holds


def _selector(item: Object, expected: Any) -> bool:
    """Return whether a Service or a workload, which says it one level deeper, selects by some labels."""
    deeper = value_at(item, ("spec", "selector", "matchLabels"))
    path = ("spec", "selector") if deeper is None else ("spec", "selector", "matchLabels")
    return _within(*path)(item, expected)


def _type(item: Object, expected: Any) -> bool:
    """Return whether a Secret, or a Service, which says it in its spec, is of a type."""
    path = ("spec", "type") if item.get("kind") == "Service" else ("type",)
    return _is_equal(value_at(item, path), expected)


def _at(*path: str) -> Holds:
    return lambda item, expected: _is_equal(value_at(item, path), expected)


def _status(item: Object, _: Any) -> bool:
    return is_running(item)


def _sync_status(item: Object, expected: Any) -> bool:
    there = value_at(item, ("status", "sync", "status"))
    return str(there).lower() == str(expected).lower()


def _storage(item: Object, expected: Any) -> bool:
    return _is_equal(value_at(item, ("spec", "resources", "requests", "storage")), expected)


def _bound(item: Object, expected: Any) -> bool:
    return bool(value_at(item, ("status", "phase")) == "Bound") is bool(expected)


def _is_decoded(stored: str, expected: Any) -> bool:
    """Return whether a value of a Secret is the stored form of an expected one."""
    try:
        text = base64.b64decode(stored, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return _is_equal(text, expected)


def _is_equal(there: Any, expected: Any) -> bool:
    """Compare a value of the API with one from YAML, where text may have become a number or a boolean."""
    if there == expected and type(there) is type(expected):
        return True
    if isinstance(there, str):
        text = str(expected).lower() if isinstance(expected, bool) else str(expected)
        return there == text
    if isinstance(there, bool) or isinstance(expected, bool):
        return False
    return bool(there == expected)


_READERS: Final[dict[str, Holds]] = {
    "replicas": _replicas,
    "image": _image,
    "data": _data,
    "labels": _within("metadata", "labels"),
    "annotations": _within("metadata", "annotations"),
    "selector": _selector,
    "type": _type,
    "sync_status": _sync_status,
    "storage": _storage,
    "bound": _bound,
    "min_replicas": _at("spec", "minReplicas"),
    "max_replicas": _at("spec", "maxReplicas"),
    "schedulable": lambda item, expected: (not value_at(item, ("spec", "unschedulable"))) == bool(expected),
    "phase": _at("status", "phase"),
}
