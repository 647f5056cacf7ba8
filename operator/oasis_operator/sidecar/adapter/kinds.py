"""The kinds of adapter: one module and one entry here for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.sidecar.adapter.http_agent import HttpAgent
from oasis_operator.sidecar.adapter.scripted import ScriptedAgent
from oasis_operator.wire.fields import Fields, fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.sidecar.adapter.task import Kind

KINDS: Mapping[str, Kind] = {
    "http": HttpAgent(),
    "scripted": ScriptedAgent(),
}


def find_kind(adapter: Mapping[str, Any]) -> Kind:
    """Give the kind that an adapter names, after that kind has checked it.

    Raises:
        InvalidInput: The kind is unknown, or the kind refuses the rest.
    """
    name = Fields(adapter, "adapter").text("kind")
    kind = KINDS.get(name)
    if kind is None:
        raise fault("adapter.kind", name, f"want one of {', '.join(KINDS)}")
    kind.check(adapter)
    return kind
