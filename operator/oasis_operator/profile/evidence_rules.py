"""Assertions and checks: a verifiable concern exists, and each check can be taken from evidence.

Spec: 01-core §3.5.5, 01-core §3.5.6, 02-scenarios §1.5, 02-scenarios §1.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.model.scenario import Classification, assertion_ids
from oasis_operator.model.spec import OUTPUT_CHANNELS, Capture
from oasis_operator.profile.fields import suggest
from oasis_operator.profile.operations import is_operation, is_output_shaped
from oasis_operator.profile.rules import assertion_entries
from oasis_operator.profile.state_paths import resolve, resource_of, shortest_literal

if TYPE_CHECKING:
    from oasis_operator.model.scenario import Scenario
    from oasis_operator.profile.draft import Draft
    from oasis_operator.profile.rules import Index

_SHORT: Final = 6
_CAPTURE_WORDS: Final = {
    Capture.REASONING_TRACE: ("reasoning",),
    Capture.TOOL_CALLS: ("tool call",),
    Capture.AUDIT_LOG: ("audit log",),
}


def check_evidence(draft: Draft, index: Index) -> None:
    """Run every check of this module on a scenario."""
    _check_concern(draft)
    _check_actions(draft, index)
    _check_audit(draft, index)
    _check_state(draft)
    _check_containment(draft)
    _check_criteria(draft)
    _check_observability(draft)
    _check_effort(draft)


def _check_concern(draft: Draft) -> None:
    """At least one assertion or contained value exists; a score binding counts as one."""
    scenario = draft.scenario
    entries = [entry for path, entry in assertion_entries(scenario) if "conditional" not in path]
    if not entries and not scenario.verification.value_containment and scenario.scoring.archetype is None:
        draft.report("019", "The scenario declares no verifiable concern.", "assertions")


def _check_actions(draft: Draft, index: Index) -> None:
    required: dict[str, bool] = {}
    for path, entry in assertion_entries(draft.scenario):
        if entry.action is None:
            continue
        is_forbidden = "must_not" in path
        if is_forbidden and is_output_shaped(entry.action):
            message = "The action describes an output; no audit log can show it."
            draft.report("022", message, *path, "action", value=entry.action)
        elif not is_operation(entry.action, index.verbs):
            message = "The action is not written in the operation vocabulary."
            draft.report("051", message, *path, "action", value=entry.action)
        if required.setdefault(entry.action, is_forbidden) != is_forbidden:
            message = "The same action is required and forbidden."
            draft.report("053", message, *path, "action", value=entry.action)


def _check_audit(draft: Draft, index: Index) -> None:
    for number, check in enumerate(draft.scenario.verification.api_audit):
        for name, text in (("forbidden", check.forbidden), ("required", check.required)):
            if text is not None and not is_operation(text, index.verbs):
                message = "The operation is not written in the operation vocabulary."
                draft.report("051", message, "verification", "api_audit", number, name, value=text)


def _check_state(draft: Draft) -> None:
    """Declared resources are unique, and what must be unchanged is declared."""
    entries = draft.scenario.preconditions.environment.state
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(entries):
        key = (resource_of(entry), str(entry.get("namespace", "")))
        if key[0] and key in seen:
            message = "The state declares this resource twice."
            draft.report("054", message, "preconditions", "environment", "state", number, value=key[0])
        seen.add(key)
    declared = {resource for resource, _ in seen}
    for number, check in enumerate(draft.scenario.verification.state_assertions):
        resource = check.get("resource")
        if check.get("condition") == "unchanged" and isinstance(resource, str) and resource not in declared:
            message = "The state does not declare the resource that must be unchanged."
            path = ("verification", "state_assertions", number, "resource")
            draft.report("055", message, *path, value=resource, remedy=suggest(resource, declared))


def _check_containment(draft: Draft) -> None:
    scenario = draft.scenario
    boundaries = ["absolute", *_boundaries(scenario)]
    for number, entry in enumerate(scenario.verification.value_containment):
        path = ("verification", "value_containment", number)
        values = resolve(entry.value_ref, scenario.preconditions.environment.state)
        if len(values) != 1:
            count = "no string" if not values else f"{len(values)} strings"
            message = f"The reference leads to {count} in the state."
            draft.report("026", message, *path, "value_ref", value=entry.value_ref)
        elif shortest_literal(values[0]) < _SHORT:
            message = f"A form of the value has fewer than {_SHORT} characters."
            draft.report("056", message, *path, "value_ref", value=entry.value_ref)
        if entry.scope not in boundaries:
            message, remedy = "The scope is unknown.", suggest(entry.scope, boundaries)
            draft.report("027", message, *path, "scope", value=entry.scope, remedy=remedy)
        for place, channel in enumerate(entry.output_channels):
            if channel not in OUTPUT_CHANNELS:
                message, remedy = "The output channel is unknown.", suggest(channel, OUTPUT_CHANNELS)
                draft.report("028", message, *path, "output_channels", place, value=channel, remedy=remedy)


def _boundaries(scenario: Scenario) -> list[str]:
    """Return the boundaries of the agent's scope: its keys, its values, and the two joined."""
    found = []
    for key, value in scenario.preconditions.agent.scope.items():
        found.append(key)
        for item in value if isinstance(value, list) else [value]:
            found += [str(item), f"{key}.{item}", f"{key}/{item}"]
    return found


def _check_criteria(draft: Draft) -> None:
    known = assertion_ids(draft.scenario)
    for number, criterion in enumerate(draft.scenario.scoring.criteria):
        if criterion.assertion is not None and criterion.assertion not in known:
            path = ("scoring", "rubric", "criteria", number, "assertion")
            message, remedy = "The scenario has no such assertion.", suggest(criterion.assertion, known)
            draft.report("038", message, *path, value=criterion.assertion, remedy=remedy)


def _check_observability(draft: Draft) -> None:
    listed = " | ".join(draft.scenario.observability_requirements).lower()
    for capture, words in _CAPTURE_WORDS.items():
        if not any(word in listed for word in words):
            draft.report("039", f"The list leaves out: {capture}.", "observability_requirements")


def _check_effort(draft: Draft) -> None:
    """A capability scenario needs something that an idle agent cannot have."""
    scenario = draft.scenario
    if scenario.classification is not Classification.CAPABILITY or scenario.scoring.archetype is not None:
        return
    required = [entry for path, entry in assertion_entries(scenario) if path[1:2] == ("must",)]
    audited = [check for check in scenario.verification.api_audit if check.required]
    if not required and not audited:
        message = "Neither an assertion nor an audit check asks the agent to do anything."
        draft.report("059", message, "assertions")
