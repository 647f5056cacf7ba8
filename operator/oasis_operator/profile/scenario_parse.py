"""One YAML document to a scenario: shapes and types, nothing that needs the rest of the profile.

Spec: 02-scenarios §1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.model.scenario import (
    PLACING,
    AgentPreconditions,
    Approvals,
    AssertionEntry,
    Assertions,
    Classification,
    ConditionalAssertions,
    EnvironmentPreconditions,
    JsonMap,
    Preconditions,
    Quality,
    Scenario,
    ScenarioBudget,
    SourceLocation,
    Stimulus,
    StimulusType,
)
from oasis_operator.profile.digests import digest_of
from oasis_operator.profile.fields import Fields
from oasis_operator.profile.scoring_parse import parse_scoring
from oasis_operator.profile.variants import read_variants
from oasis_operator.profile.verification_parse import parse_verification
from oasis_operator.profile.yaml_nodes import Kind, Node

if TYPE_CHECKING:
    from oasis_operator.profile.collector import Reporter

FAMILY = "SCN"
_AXES = ("plausibility", "detection_complexity", "contextual_embedding")
_LEVELS = ("low", "medium", "high")


def parse_scenario(node: Node, reporter: Reporter) -> Scenario | None:
    """Return the scenario of a document; None where so much is missing that nothing can be checked further.

    `version` is empty where the document gives none; library references are not resolved yet.
    """
    if node.kind is not Kind.MAPPING:
        reporter.report("SCN002", "A scenario should be a mapping.", at=node.at)
        return None
    fields = Fields(node, reporter, FAMILY)
    essential: dict[str, Any] = {name: fields.text(name, required=True) for name in _REQUIRED_TEXTS}
    essential |= {
        "classification": fields.choice("classification", Classification, required=True),
        "tier": fields.integer("tier", required=True),
        "preconditions": _preconditions(fields),
        "scoring": parse_scoring(fields),
    }
    stimuli = _stimuli(fields)
    optional: dict[str, Any] = {
        "version": fields.text("version") or "",
        "intent": fields.text("intent"),
        "subcategory": fields.text("subcategory"),
        "quality": _quality(fields),
        "assertions": _assertions(fields),
        "verification": parse_verification(fields),
        "observability_requirements": fields.texts("observability_requirements", required=True),
        "applicability": fields.json("applicability") or {},
        "injection": _injection(fields),
        "budget": _budget(fields),
        "custom": bool(fields.boolean("custom")),
    }
    reserved = fields.boolean("reserved")
    extra = fields.rest()
    if reserved:
        extra = {**extra, "reserved": True}
    if None in essential.values() or stimuli is None:
        return None
    raw = node.plain()
    provenance = {"raw": raw, "digest": digest_of(raw), "source": SourceLocation(reporter.file, *node.at)}
    return Scenario(**essential, stimuli=stimuli, **optional, extra=extra, **provenance)


_REQUIRED_TEXTS = ("id", "name", "category", "archetype", "description")


def _preconditions(parent: Fields) -> Preconditions | None:
    fields = parent.mapping("preconditions", required=True)
    if fields is None:
        return None
    environment, agent = fields.mapping("environment", required=True), fields.mapping("agent", required=True)
    fields.rest()
    if environment is None or agent is None:
        return None
    kind, entries = environment.text("type", required=True), environment.mappings("state", required=True)
    environment.rest()
    mode, tools = agent.text("mode", required=True), agent.texts("tools", required=True)
    scope = agent.json("scope") or {}
    approvals = agent.choice("approvals", Approvals) or Approvals.DENY
    agent.rest()
    if kind is None or mode is None:
        return None
    for entry in entries:
        _check_state_entry(entry)
    state = tuple(entry.node.plain() for entry in entries)
    setting = AgentPreconditions(mode, tools, scope, approvals)
    return Preconditions(EnvironmentPreconditions(kind, state), setting)


def _check_state_entry(entry: Fields) -> None:
    resource = entry.node.get("resource")
    has_parts = entry.node.get("kind") is not None and entry.node.get("name") is not None
    if resource is None and not has_parts:
        entry.report("045", "A state entry has no `resource`.", at=entry.node.at, path=entry.path)
    elif resource is not None and not isinstance(resource.value, str):
        entry.wrong("resource", resource, "a string")


def _stimuli(parent: Fields) -> tuple[Stimulus, ...] | None:
    """Return the stimuli, or None where one of them cannot be read."""
    entries = parent.mappings("stimuli", required=True)
    node = parent.node.get("stimuli")
    if node is not None and node.items == []:
        parent.report("015", "`stimuli` is empty.", at=node.at, path="stimuli")
    found = [stimulus for stimulus in map(_stimulus, entries) if stimulus is not None]
    return tuple(found) if len(found) == len(entries) else None


def _stimulus(fields: Fields) -> Stimulus | None:
    kind = fields.choice("type", StimulusType, required=fields.node.get("library_ref") is None)
    found = {name: fields.text(name) for name in ("value", "description", "target", "timing", "library_ref")}
    parameters = fields.json("parameters") or {}
    variants = read_variants(fields, kind, "063")
    if parameters and found["library_ref"] is None:
        message = "`parameters` fill a library stimulus, and `library_ref` is missing."
        fields.report("017", message, at=fields.at("parameters"), path=fields.where("parameters"))
    extra = {**_placed(fields), **fields.rest()}
    if kind is None and found["library_ref"] is None:
        return None
    return Stimulus(
        kind or StimulusType.OPERATOR_PROMPT, **found, parameters=parameters, variants=variants, extra=extra
    )


def _placed(fields: Fields) -> JsonMap:
    """Return the members by which a stimulus says exactly what it places, where it has them.

    `state` are entries as those of `preconditions.environment.state`; the others say more of a target.
    """
    found = {name: fields.find(name) for name in PLACING}
    return {name: node.plain() for name, node in found.items() if node is not None}


def _assertions(parent: Fields) -> Assertions:
    fields = parent.mapping("assertions")
    if fields is None:
        return Assertions()
    must, must_not = _entries(fields, "must"), _entries(fields, "must_not")
    conditional = tuple(_conditional(entry) for entry in fields.mappings("conditional"))
    fields.rest()
    return Assertions(must, must_not, conditional)


def _conditional(fields: Fields) -> ConditionalAssertions:
    when = fields.json("when", required=True) or {}
    entry = ConditionalAssertions(when, _entries(fields, "must"), _entries(fields, "must_not"))
    fields.rest()
    return entry


def _entries(parent: Fields, name: str) -> tuple[AssertionEntry, ...]:
    found = []
    for fields in parent.mappings(name):
        behavior, action, hint = fields.text("behavior"), fields.text("action"), fields.text("tool_hint")
        if behavior is None and action is None:
            message = "An assertion needs `behavior` or `action`."
            fields.report("020", message, at=fields.node.at, path=fields.path)
        source = SourceLocation(fields.reporter.file, *fields.node.at)
        found.append(AssertionEntry(behavior, action, hint, fields.rest(free=True), source))
    return tuple(found)


def _quality(parent: Fields) -> Quality:
    fields = parent.mapping("quality")
    if fields is None:
        return Quality()
    surface, companion = fields.text("attack_surface"), fields.text("companion_scenario")
    axes = fields.mapping("difficulty")
    difficulty = _difficulty(axes) if axes else {}
    return Quality(surface, difficulty, companion, fields.rest(free=True))


def _difficulty(axes: Fields) -> dict[str, str]:
    found: dict[str, str] = {}
    for axis in _AXES:
        level = axes.text(axis)
        if level is None:
            continue
        if level not in _LEVELS:
            message = f"`{axis}` should be low, medium or high."
            axes.report("004", message, at=axes.at(axis), value=level, path=axes.where(axis))
        found[axis] = level
    axes.rest()
    return found


def _budget(parent: Fields) -> ScenarioBudget:
    """Return what an agent may use; each number is 1 at least."""
    fields = parent.mapping("budget")
    if fields is None:
        return ScenarioBudget()
    found: dict[str, int | None] = {}
    for name in ("seconds", "steps"):
        number = fields.integer(name)
        if number is not None and number < 1:
            message = f"`{name}` of a budget should be 1 or more; leave it out for no limit."
            fields.report("065", message, at=fields.at(name), value=number, path=fields.where(name))
            number = None
        found[name] = number
    fields.rest()
    return ScenarioBudget(**found)


def _injection(parent: Fields) -> JsonMap | None:
    """Return the manifest of what was injected; each deviation needs an identifier of its own."""
    fields = parent.mapping("injection")
    if fields is None:
        return None
    seen: set[str] = set()
    for entry in fields.mappings("deviations", required=True):
        identifier = entry.text("id", required=True)
        if identifier in seen:
            message = "Two deviations have the same id."
            entry.report("049", message, at=entry.at("id"), value=identifier, path=entry.where("id"))
        seen.add(identifier or "")
    for name in ("baseline", "symptom", "counterfactual"):
        fields.find(name)
    fields.rest()
    found: JsonMap = fields.node.plain()
    return found
