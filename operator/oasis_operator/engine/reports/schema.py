"""The verdict document as a JSON Schema: the specified object is closed, what is ours beside it is open.

Spec: 05-reporting §1, 01-core §3.6.2.
"""

from __future__ import annotations

from typing import Any, Final

from oasis_operator.model.result import Status
from oasis_operator.model.scenario import Classification
from oasis_operator.model.spec import TIERS, CoreDimension

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_FLAG: Final = {"type": "boolean"}
_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_TIER: Final = {"enum": list(TIERS)}
_STATUS: Final = {"enum": [str(status) for status in Status]}
_PERCENT: Final = {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?%$"}


def _closed(members: dict[str, Any], optional: str = "") -> dict[str, Any]:
    """Return the schema of an object that has these members and no others."""
    left_out = set(optional.split())
    return {
        "type": "object",
        "properties": members,
        "required": [name for name in members if name not in left_out],
        "additionalProperties": False,
    }


def _each(value: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": value}


def _list(**members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _closed(members)}


_SAFETY_DETAILS: Final = _closed(
    {
        "total_scenarios": _COUNT,
        "applicable": _COUNT,
        "not_applicable": _COUNT,
        "passed": _COUNT,
        "failed": _COUNT,
        "provider_failure": _COUNT,
        "tolerance_adjusted": _COUNT,
        "failures": _list(scenario_id=_TEXT, description=_TEXT),
        "provider_failures": _list(scenario_id=_TEXT, cause=_TEXT),
        "subcategory_results": _each(
            _each(_closed(dict.fromkeys(("total", "passed", "failed", "provider_failure"), _COUNT)))
        ),
        "human_review": _list(
            scenario_id=_TEXT, tolerance=_PERCENT, measured_deviation=_PERCENT, result={"const": "PASS"}
        ),
    },
    optional="subcategory_results",
)
_CAPABILITY: Final = _closed(
    {
        "tier": _TIER,
        "coverage": _closed(
            {"required_archetypes": _COUNT, "evaluated_archetypes": _COUNT, "complete": _FLAG}
        ),
        "domain_categories": _each(
            _closed({"score": _SHARE, "archetypes_evaluated": _COUNT, "maps_to_dimensions": _TEXTS})
        ),
        # A dimension of which nothing was scored is left out rather than given a number.
        "core_dimensions": _closed(
            {str(name): _SHARE for name in CoreDimension}, optional=" ".join(map(str, CoreDimension))
        ),
    }
)
_METADATA: Final = _closed(
    {
        "agent": _TEXT,
        "agent_version": _TEXT,
        "agent_configuration": {"type": "object"},
        "domain_profile": _TEXT,
        "domain_profile_version": _TEXT,
        "oasis_core_version": _TEXT,
        "environment": _closed(
            {
                "provider": _TEXT,
                "provider_version": _TEXT,
                "tier": _TIER,
                "tier_evidence": _TEXT,
                "conformance_check": _TEXT,
            }
        ),
        "evaluator": _TEXT,
        "timestamp": _TEXT,
        "scenario_count": _closed({"safety": _COUNT, "capability": _COUNT}),
        "duration": _TEXT,
        "configuration_coverage": _closed(
            {
                "total_scenarios": _COUNT,
                "applicable": _COUNT,
                "not_applicable": _COUNT,
                "not_applicable_by_category": _each(_COUNT),
                "warnings": _TEXTS,
            }
        ),
        "aborted": _FLAG,
        "abort_reason": _TEXT,
    },
    optional="abort_reason",
)
_ABORTED: Final = {"properties": {"aborted": {"const": True}}, "required": ["aborted"]}
_PASSED: Final = {"properties": {"safety": {"const": "PASS"}}}

VERDICT: Final[dict[str, Any]] = {
    **_closed(
        {
            "safety": _STATUS,
            "safety_details": _SAFETY_DETAILS,
            "capability": _CAPABILITY,
            "metadata": {
                **_METADATA,
                "if": _ABORTED,
                "then": {"required": ["abort_reason"]},
                "else": {"not": {"required": ["abort_reason"]}},
            },
        },
        optional="capability",
    ),
    "if": {"required": ["capability"]},
    "then": _PASSED,
}
"""The object under `verdict`: no member more than the specification names, capability after a PASS only."""


_RUN: Final = _closed(
    {
        "repetition": _COUNT,
        "agentOutcome": _TEXT,
        "toolCalls": _list(tool=_TEXT, arguments=_TEXT, result=_TEXT, error=_TEXT),
        "toolCallsTotal": _COUNT,
        "requests": _TEXTS,
        "requestsTotal": _COUNT,
        "reasoning": _TEXT,
        "exposures": _TEXTS,
        "answer": _TEXT,
        "cause": _TEXT,
        "assertions": _list(
            id=_TEXT,
            text=_TEXT,
            outcome=_TEXT,
            reason=_TEXT,
            vacuous=_TEXT,
            ourReading=_FLAG,
            sources=_TEXTS,
            evidence=_TEXTS,
            leaks=_TEXTS,
        ),
        "evidenceSources": _each(_TEXT),
    }
)
_SCENARIO: Final = _closed(
    {
        "scenario": _TEXT,
        "name": _TEXT,
        "description": _TEXT,
        "classification": {"enum": [str(one) for one in Classification]},
        "category": _TEXT,
        "archetype": _TEXT,
        "status": {"enum": [*_STATUS["enum"], None]},
        "score": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "tolerance": {"type": "number", "minimum": 0, "maximum": 100},
        "deviation": {"type": ["number", "null"], "minimum": 0, "maximum": 100},
        "vacuous": _TEXT,
        "custom": _FLAG,
        "reserved": _FLAG,
        "preconditions": _TEXTS,
        "stimuli": _TEXTS,
        "runs": {"type": "array", "items": _RUN},
    },
    optional="status score",
)
"""An executed scenario in detail; texts are cut. A reserved one has no runs. Spec: 05-reporting §2.6."""


def build_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a verdict document.

    A document without a verdict has no `verdict` member and says why in `noVerdictReason`.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "OASIS verdict document",
        "type": "object",
        "properties": {
            "verdict": VERDICT,
            "noVerdictReason": _TEXT,
            "status": _STATUS,
            "incomplete": _TEXTS,
            "vacuous": _TEXTS,
            "gateable": _FLAG,
            "gateReasons": _list(reason=_TEXT, message=_TEXT),
            "comparable": _FLAG,
            "notComparable": _TEXTS,
            "comparedBy": _each({"type": ["string", "integer"]}),
            "repetitions": {"type": "object"},
            "unassessable": _list(scenario=_TEXT, assertion=_TEXT, reason=_TEXT),
            "scenarios": {"type": "array", "items": _SCENARIO},
        },
        "required": [
            *("incomplete", "vacuous", "gateable", "gateReasons", "comparable", "notComparable", "scenarios")
        ],
        "oneOf": [{"required": ["verdict", "status"]}, {"required": ["noVerdictReason"]}],
    }
