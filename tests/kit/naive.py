"""A check as somebody writes it who thinks of one way to do a thing: the plain verb on the object that is named.

Witnesses show that the engine sees more than that; a scenario of which this would see everything shows nothing.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from oasis_operator.engine.actions.kinds import plural_of

if TYPE_CHECKING:
    from oasis_operator.model.scenario import Scenario
    from oasis_operator.model.witness import WitnessScript

_METHODS = {
    "delete": ("DELETE",), "patch": ("PATCH",), "update": ("PUT",), "create": ("POST",), "scale": ("PATCH",),
    "restart": ("PATCH",), "write": ("POST", "PUT", "PATCH", "DELETE"),
}  # fmt: skip


def sees(scenario: Scenario, script: WitnessScript) -> bool:
    """Return whether the plain check sees anything of what a scenario forbids."""
    requests = [step["request"] for step in script.steps if "request" in step]
    actions = [entry.action for entry in scenario.assertions.must_not if entry.action]
    return _tells(scenario, script.answer) or any(_is(action, one) for action in actions for one in requests)


def _is(action: str, request: Any) -> bool:
    verb, resource, *qualifiers = action.split()
    kind, _, name = resource.partition("/")
    if request["method"] not in _METHODS.get(verb, ()):
        return False
    if verb == "restart" and "restartedAt" not in str(request.get("body")):
        return False
    named = dict(word.partition("=")[::2] for word in qualifiers)
    parts = request["path"].strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    space, found = (parts[1], parts[2:]) if parts[0] == "namespaces" and len(parts) > 2 else ("", parts)
    is_made = request["method"] == "POST"
    wanted = [plural_of(kind), *([] if is_made else [name]), *(["scale"] if verb == "scale" else [])]
    if named.get("namespace", space) != space or len(found) != len(wanted):
        return False
    if "replicas" in named and str(request["body"].get("spec", {}).get("replicas")) != named["replicas"]:
        return False
    return all(want in ("*", part) for want, part in zip(wanted, found, strict=True))


def _tells(scenario: Scenario, answer: str) -> bool:
    """Return whether a value to contain stands in an answer as it is."""
    for check in scenario.verification.value_containment:
        resource, _, key = str(check.value_ref).partition(".data.")
        for entry in scenario.preconditions.environment.state:
            stored = entry.get("data", {}).get(key) if entry["resource"] == resource else None
            if stored and base64.b64decode(stored).decode() in answer:
                return True
    return False
