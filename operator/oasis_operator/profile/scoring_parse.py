"""The `scoring` block of a scenario: binary, weighted, or a binding to the archetype's score table.

Spec: 02-scenarios §1.7.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oasis_operator.model.scoring import ALL_MET, Criterion, Scoring, ScoringType
from oasis_operator.model.spec import CoreDimension
from oasis_operator.profile.cel import find_syntax_fault
from oasis_operator.profile.fields import suggest
from oasis_operator.profile.yaml_nodes import Kind, Node

if TYPE_CHECKING:
    from oasis_operator.model.scenario import JsonMap
    from oasis_operator.profile.fields import Fields

_DIMENSIONS = tuple(str(item) for item in CoreDimension)
_RUBRIC_FORM = ("type", "rubric", "dimensions", "safety_tolerance", "deviation_measure", "pass_condition")


def parse_scoring(parent: Fields) -> Scoring | None:
    """Return the block, or None where it is missing or its type is unknown."""
    fields = parent.mapping("scoring", required=True)
    if fields is None:
        return None
    if fields.node.get("archetype_template") is not None:
        return _binding(fields)
    kind = fields.choice("type", ScoringType, required=True)
    if kind is None:
        return None
    rubric = fields.mapping("rubric")
    scoring = Scoring(
        type=kind,
        safety_tolerance=_tolerance(fields),
        deviation_measure=fields.text("deviation_measure"),
        pass_condition=fields.text("pass_condition"),
        rubric=rubric.node.plain() if rubric else {},
        criteria=_criteria(rubric) if rubric else (),
        dimensions=_dimensions(fields),
    )
    fields.rest()
    _check_measure(fields, scoring)
    return scoring


def _binding(fields: Fields) -> Scoring:
    """Return a binding of roles to an archetype's score table; it excludes the rubric form."""
    archetype = fields.text("archetype_template", required=True)
    for name in _RUBRIC_FORM:
        if fields.find(name) is not None:
            message = f"`{name}` does not go with `archetype_template`."
            fields.report("050", message, at=fields.at(name), path=fields.where(name))
    raw: JsonMap = fields.node.plain()
    roles = {name: value for name, value in raw.items() if name not in (*_RUBRIC_FORM, "archetype_template")}
    if not roles:
        fields.report("050", "The binding gives no role a value.", at=fields.node.at, path=fields.path)
    return Scoring(ScoringType.WEIGHTED, archetype=archetype, binding=roles)


def _tolerance(fields: Fields) -> float:
    tolerance = fields.number("safety_tolerance")
    if tolerance is not None and not 0 <= tolerance <= 100:
        message = "The tolerance is not a percentage from 0 to 100."
        at, path = fields.at("safety_tolerance"), fields.where("safety_tolerance")
        fields.report("030", message, at=at, value=tolerance, path=path)
    return tolerance or 0.0


def _check_measure(fields: Fields, scoring: Scoring) -> None:
    """A tolerance above 0 needs a measure that a machine can take, and 0 needs a pass condition."""
    if scoring.type is not ScoringType.BINARY:
        return
    at = fields.at("safety_tolerance")
    if scoring.safety_tolerance == 0:
        if scoring.pass_condition is None:
            fields.report("033", "`pass_condition` is missing.", at=fields.node.at, path=fields.path)
        elif _is_prose(scoring.further_condition or ALL_MET):
            message = "The pass condition is neither `all_assertions_met` nor a CEL expression."
            at, path = fields.at("pass_condition"), fields.where("pass_condition")
            fields.report("064", message, at=at, value=scoring.pass_condition, path=path)
    elif scoring.deviation_measure is None:
        message = "A tolerance above 0 has no deviation measure."
        fields.report("031", message, at=at, path=fields.where("deviation_measure"))
    else:
        fault = find_syntax_fault(scoring.deviation_measure)
        if fault is not None:
            message = f"The deviation measure is not a CEL expression: {fault}"
            at, path = fields.at("deviation_measure"), fields.where("deviation_measure")
            fields.report("032", message, at=at, value=scoring.deviation_measure, path=path)


def _is_prose(condition: str) -> bool:
    """Whether a pass condition is words: a single one is an expression by its form alone."""
    is_word = condition.replace("_", "").isalnum()
    return condition != ALL_MET and (is_word or find_syntax_fault(condition) is not None)


def _dimensions(parent: Fields) -> dict[str, float]:
    fields = parent.mapping("dimensions")
    if fields is None:
        return {}
    found: dict[str, float] = {}
    for key, value in fields.node.entries or ():
        path = fields.where(key.value)
        if key.value not in _DIMENSIONS:
            remedy = suggest(key.value, _DIMENSIONS)
            message = "The dimension is unknown."
            fields.report("036", message, at=key.at, value=key.value, remedy=remedy, path=path)
        weight = _share(value)
        if weight is None:
            fields.report("035", "A weight lies outside 0 to 1.", at=value.at, value=value.plain(), path=path)
        else:
            found[key.value] = weight
    total = math.fsum(found.values())
    if found and abs(total - 1) > 1e-6:
        message = f"The weights of the dimensions sum to {total:g}."
        fields.report("037", message, at=fields.node.at, value=f"{total:g}", path=fields.path)
    return found


def _share(node: Node) -> float | None:
    """Return a number from 0 to 1, or None."""
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


def _criteria(fields: Fields) -> tuple[Criterion, ...]:
    """Return a rubric's criteria; a rubric of named levels has none, and its scores are only checked."""
    if fields.node.get("criteria") is None:
        for key, value in fields.node.entries or ():
            # A negative number is a deduction; words such as `proportional` stand for a rule in prose.
            if isinstance(value.value, int | float) and not -1 <= value.value <= 1:
                path = fields.where(key.value)
                fields.report("035", "A score is out of range.", at=value.at, value=value.value, path=path)
        return ()
    found = tuple(item for item in map(_criterion, fields.mappings("criteria")) if item is not None)
    fields.rest()
    names = [item.identifier for item in found]
    total = math.fsum(item.weight for item in found)
    at, path = fields.at("criteria"), fields.where("criteria")
    if len(set(names)) < len(names):
        fields.report("038", "Two criteria have the same id.", at=at, path=path)
    if found and abs(total - 1) > 1e-6:
        message = f"The weights of the criteria sum to {total:g}."
        fields.report("037", message, at=at, value=f"{total:g}", path=path)
    return found


def _criterion(fields: Fields) -> Criterion | None:
    identifier, description = fields.text("id", required=True), fields.text("description") or ""
    assertion, rule = fields.text("assertion"), fields.text("rule")
    weight = fields.find("weight", required=True)
    share = _share(weight) if weight is not None and weight.kind is Kind.SCALAR else None
    fields.rest()
    if (assertion is None) == (rule is None):
        message = "A criterion needs exactly one of `assertion` and `rule`."
        fields.report("038", message, at=fields.node.at, path=fields.path)
    if weight is not None and not share:
        message = "A criterion's weight is a number above 0 and at most 1."
        fields.report("038", message, at=weight.at, value=weight.plain(), path=fields.where("weight"))
    fault = find_syntax_fault(rule) if rule else None
    if fault:
        message = f"The rule is not a CEL expression: {fault}"
        fields.report("060", message, at=fields.at("rule"), value=rule, path=fields.where("rule"))
    if identifier is None or not share:
        return None
    return Criterion(identifier, share, description, assertion, rule)
