"""Kubernetes Events about the operator's objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.resources import kinds, names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_NOTE_LIMIT = 1024
_REPORTER = "oasis-operator.dev/operator"


def build_event(
    about: Mapping[str, Any], kind: str, reason: str, note: str, now: datetime, instance: str
) -> dict[str, Any]:
    """Return an Event.

    Args:
        about: The object that it regards.
        kind: `Normal` or `Warning`.
        reason: CamelCase reason.
        note: One sentence; cut at 1024 characters.
        now: Time of the event.
        instance: Name of the operator's pod.
    """
    meta = about["metadata"]
    text = note if len(note) <= _NOTE_LIMIT else f"{note[: _NOTE_LIMIT - 1]}…"
    return {
        "apiVersion": kinds.EVENT.api_version,
        "kind": kinds.EVENT.name,
        "metadata": {"name": names.event(meta["uid"], reason, text), "namespace": meta["namespace"]},
        "eventTime": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "type": kind,
        "reason": reason,
        "note": text,
        "action": "Evaluate",
        "reportingController": _REPORTER,
        "reportingInstance": instance or _REPORTER,
        "regarding": {
            "apiVersion": about["apiVersion"],
            "kind": about["kind"],
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
        },
    }
