"""The kinds of adapter: one module and one entry here for each.

A kind is imported when it is asked for: an adapter's start, which holds the agent back, pays for none.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.wire.fields import Fields, fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.sidecar.adapter.task import Kind

# Module and class of each kind, and what the class is made with.
KINDS: Final[Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    "anthropic": ("model_agent", "ModelAgent", ("anthropic",)),
    "cli": ("command_agent", "CommandAgent", ()),
    "http": ("http_agent", "HttpAgent", ()),
    "openai": ("model_agent", "ModelAgent", ("openai",)),
    "scripted": ("scripted", "ScriptedAgent", ()),
    "webhook": ("webhook_agent", "WebhookAgent", ()),
}


def find_kind(adapter: Mapping[str, Any]) -> Kind:
    """Give the kind that an adapter names, after that kind has checked it.

    Raises:
        InvalidInput: The kind is unknown, or the kind refuses the rest.
    """
    name = Fields(adapter, "adapter").text("kind")
    if name not in KINDS:
        raise fault("adapter.kind", name, f"want one of {', '.join(KINDS)}")
    kind = _load(name)
    kind.check(adapter)
    return kind


@cache
def _load(name: str) -> Kind:
    module, made, arguments = KINDS[name]
    kind: Kind = getattr(importlib.import_module(f"oasis_operator.sidecar.adapter.{module}"), made)(
        *arguments
    )
    return kind
