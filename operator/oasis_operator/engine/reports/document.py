"""The verdict document: the object of the specification under `verdict`, our own additions beside it.

Where there is no verdict there is no `verdict` member, and the document says why.

Spec: 05-reporting §1, 05-reporting §2.6, 05-reporting §3.3.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from oasis_operator.engine.reports.cleaning import clean_all
from oasis_operator.engine.reports.detail import as_json
from oasis_operator.model.result import Status

if TYPE_CHECKING:
    from oasis_operator.model.report import Report
    from oasis_operator.model.verdict import CapabilityVerdict, Verdict


def build_document(report: Report) -> dict[str, Any]:
    """Return the verdict document as plain JSON, texts clean."""
    verdict = report.verdict
    found: dict[str, Any] = {}
    if verdict.safety is not None:
        found["verdict"] = _verdict(report)
    found |= {
        "noVerdictReason": verdict.no_verdict_reason or None,
        "status": verdict.status,
        "incomplete": list(verdict.incomplete),
        "vacuous": list(verdict.vacuous_passes),
        "gateable": report.gate.gateable,
        "gateReasons": [{"reason": one.reason, "message": one.message} for one in report.gate.reasons],
        "comparable": not verdict.not_comparable,
        "notComparable": list(verdict.not_comparable),
        "comparedBy": _compared_by(report),
        "repetitions": _repetitions(verdict),
        "unassessable": [
            {"scenario": one.scenario_id, "assertion": one.assertion, "reason": one.reason}
            for one in report.unassessable
        ],
        "scenarios": as_json(report),
    }
    cleaned: dict[str, Any] = clean_all(_plain(found))
    return {name: value for name, value in cleaned.items() if value is not None}


def render_json(report: Report) -> str:
    """Return the verdict document as JSON, indented, with a final newline."""
    return json.dumps(build_document(report), indent=2, ensure_ascii=False) + "\n"


def render_yaml(report: Report) -> str:
    """Return the verdict document as YAML."""
    text: str = yaml.safe_dump(build_document(report), sort_keys=False, allow_unicode=True, width=110)
    return text


def _plain(value: Any) -> Any:
    """Turn enums into their texts and drop nothing."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _compared_by(report: Report) -> dict[str, Any]:
    """Return what two documents must share to be compared."""
    return {
        "tier": report.tier,
        "profileDigest": report.facts.profile_digest,
        "subjectDigest": report.facts.subject_digest,
        "coreVersion": report.verdict.context.core_version,
    }


def _repetitions(verdict: Verdict) -> dict[str, Any] | None:
    found = verdict.repetitions
    if found is None:
        return None
    return {
        "runs": found.runs,
        "cleanRuns": found.clean_runs,
        "passHat": found.pass_hat,
        "capabilityPassHat": found.capability_pass_hat,
        "violationRateUpperBound95": found.violation_bound,
        "violationRateUpperBound95PerScenario": found.scenario_bound,
    }


def _verdict(report: Report) -> dict[str, Any]:
    verdict = report.verdict
    found: dict[str, Any] = {"safety": verdict.safety, "safety_details": _safety(verdict)}
    if verdict.safety is Status.PASS and verdict.capability is not None:
        found["capability"] = _capability(verdict.capability)
    found["metadata"] = _metadata(report)
    return found


def _safety(verdict: Verdict) -> dict[str, Any]:
    found: dict[str, Any] = {
        "total_scenarios": verdict.total_scenarios,
        "applicable": verdict.applicable,
        "not_applicable": verdict.not_applicable,
        "passed": verdict.passed,
        "failed": verdict.failed,
        "provider_failure": verdict.provider_failure,
        "tolerance_adjusted": verdict.tolerance_adjusted,
        "failures": [
            {"scenario_id": one.scenario_id, "description": one.description} for one in verdict.failures
        ],
        "provider_failures": [
            {"scenario_id": one.scenario_id, "cause": one.cause} for one in verdict.provider_failures
        ],
    }
    if verdict.subcategories:
        groups: dict[str, Any] = {}
        for one in verdict.subcategories:
            groups.setdefault(one.category, {})[one.subcategory] = {
                "total": one.total,
                "passed": one.passed,
                "failed": one.failed,
                "provider_failure": one.provider_failure,
            }
        found["subcategory_results"] = groups
    found["human_review"] = [
        {
            "scenario_id": one.scenario_id,
            "tolerance": f"{one.tolerance:g}%",
            "measured_deviation": f"{one.measured_deviation:g}%",
            "result": Status.PASS,
        }
        for one in verdict.human_review
    ]
    return found


def _capability(found: CapabilityVerdict) -> dict[str, Any]:
    """Return the capability block, tier first; what was not scored is left out rather than given a number.

    Spec: 01-core §4.3.
    """
    return {
        "tier": found.tier,
        "coverage": {
            "required_archetypes": found.required_archetypes,
            "evaluated_archetypes": found.evaluated_archetypes,
            "complete": found.complete,
        },
        "domain_categories": {
            one.category: {
                "score": one.score,
                "archetypes_evaluated": len(one.archetypes),
                "maps_to_dimensions": list(one.maps_to_dimensions),
            }
            for one in found.categories
            if one.score is not None
        },
        "core_dimensions": {name: score for name, score in found.dimensions.items() if score is not None},
    }


def _metadata(report: Report) -> dict[str, Any]:
    verdict, context = report.verdict, report.verdict.context
    found: dict[str, Any] = {
        "agent": context.agent,
        "agent_version": context.agent_version,
        "agent_configuration": dict(verdict.configuration),
        "domain_profile": report.profile_name,
        "domain_profile_version": report.profile_version,
        "oasis_core_version": context.core_version,
        "environment": {
            "provider": context.provider,
            "provider_version": context.provider_version,
            "tier": report.tier,
            "tier_evidence": context.tier_evidence,
            "conformance_check": context.conformance_check,
        },
        "evaluator": context.evaluator,
        "timestamp": context.timestamp,
        "scenario_count": dict(verdict.scenario_count),
        "duration": f"{context.duration_seconds:g}s",
        "configuration_coverage": _configuration_coverage(report),
        "aborted": verdict.aborted,
    }
    if verdict.aborted:
        found["abort_reason"] = verdict.abort_reason or "a fault of the harness"
    return found


def _configuration_coverage(report: Report) -> dict[str, Any]:
    barred = {one.category: one.not_applicable for one in report.coverage if one.not_applicable}
    applicable = sum(one.applicable for one in report.coverage)
    return {
        "total_scenarios": applicable + sum(barred.values()),
        "applicable": applicable,
        "not_applicable": sum(barred.values()),
        "not_applicable_by_category": barred,
        "warnings": list(report.warnings),
    }
