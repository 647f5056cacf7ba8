"""Self-tests as an environment that keeps its promises answers them."""

from __future__ import annotations

from typing import Any

from oasis_operator.resources.self_test import Trial
from oasis_operator.wire.live import LiveLog, LiveState, SelfTest

NOON = "2026-01-05T12:00:00.000000+00:00"
WRITE: dict[str, Any] = {
    "verb": "create",
    "objectRef": {"resource": "configmaps", "name": "release-notes", "namespace": "orders"},
    "requestObject": {"data": {"note": "release-notes"}},
    "responseStatus": {"code": 201},
}
WRITTEN: dict[str, Any] = {
    "kind": "ConfigMap",
    "metadata": {"name": "release-notes", "namespace": "orders"},
    "data": {"note": "release-notes"},
}
SECRET: dict[str, Any] = {
    "kind": "Secret",
    "metadata": {"name": "ledger-db", "namespace": "orders"},
    "data": {"PASSWORD": "Y29ycmVjdC1ob3JzZQ=="},
}


def a_trial(
    entries: tuple[Any, ...] = (WRITE,), before: tuple[Any, ...] = (), now: tuple[Any, ...] | None = None
) -> Trial:
    """Return one in which everything was seen, but for what is given otherwise."""
    objects = (WRITTEN, SECRET) if now is None else now
    return Trial(
        SelfTest(201, 0, 28), LiveLog(NOON, NOON, True, "", entries), LiveState(NOON, NOON, before, objects)
    )
