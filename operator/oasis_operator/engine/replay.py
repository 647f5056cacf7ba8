"""Judging recorded evidence again: the same profile and the same evidence give the same bytes.

Containment is attested by the evidence and not recomputed, since the values themselves are not kept.

Spec: 01-core §3.5.4, 08-provider-conformance §6.3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import rfc8785

from oasis_operator.engine.judge import judge
from oasis_operator.engine.readings import NO_READINGS, Readings
from oasis_operator.errors import InvalidInput, InvalidProfile

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.result import ScenarioResult


def judge_document(profile: Profile, evidence: bytes, readings: Readings = NO_READINGS) -> bytes:
    """Return the canonical JSON of the result of judging an evidence document.

    Args:
        profile: The profile that was used.
        evidence: Bytes of the evidence document.
        readings: Rules of ours for the profile's prose.

    Raises:
        InvalidInput: The bytes are no JSON object.
        InvalidProfile: The profile has no scenario of the document's identifier.
    """
    try:
        document = json.loads(evidence)
    except ValueError as error:
        raise InvalidInput(f"the evidence is no JSON: {error}") from error
    if not isinstance(document, Mapping):
        raise InvalidInput("the evidence is no JSON object")
    run, subject = document.get("run"), document.get("subject")
    identifier = run.get("scenario_id") if isinstance(run, Mapping) else None
    scenario = profile.scenario(str(identifier))
    if scenario is None:
        raise InvalidProfile(f"profile {profile.identifier} {profile.version} has no scenario {identifier!r}")
    configuration = subject.get("configuration") if isinstance(subject, Mapping) else None
    given = configuration if isinstance(configuration, Mapping) else {}
    return canonical(judge(profile, scenario, document, given, readings))


def canonical(result: ScenarioResult) -> bytes:
    """Return a result as canonical JSON (RFC 8785)."""
    return rfc8785.dumps(to_json(result))


def to_json(value: Any) -> Any:
    """Return a result or a part of one as plain JSON: tuples as lists, enums as their values."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(to_json(item) for item in value)
    return value
