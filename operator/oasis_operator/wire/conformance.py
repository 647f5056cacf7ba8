"""A provider's answer to the conformance query of one profile.

Spec: 08-provider-conformance §3.8.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from oasis_operator.wire.fields import Body, Fields

if TYPE_CHECKING:
    from collections.abc import Mapping


class Extension(StrEnum):
    """What a provider knows beyond the contract, as its conformance answer lists it.

    Attributes:
        ENVIRONMENT_ID: It takes the ``environment_id`` that a provision proposes, and answers a repetition
            like the first request.
    """

    ENVIRONMENT_ID = "environment_id"


@dataclass(frozen=True, slots=True)
class UnmetRequirement(Body):
    """A requirement that a provider itself says is not met, and why."""

    requirement: str
    reason: str


@dataclass(frozen=True, slots=True)
class ConformanceAnswer(Body):
    """What a provider declares for one profile.

    Attributes:
        requirements: The profile's keys and the provider's values; strict, no other members.
        extensions: Of ``Extension``, and words of others.

    Spec: 08-provider-conformance §3.8.2.
    """

    provider: str
    provider_version: str
    oasis_core_spec_versions: tuple[str, ...]
    profile: str
    profile_version: str
    supported: bool
    requirements: Mapping[str, Any] = field(default_factory=dict)
    unmet_requirements: tuple[UnmetRequirement, ...] = ()
    extensions: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: object) -> ConformanceAnswer:
        """Read an answer.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        fields = Fields.of(value)
        return cls(
            provider=fields.text("provider", longest=253),
            provider_version=fields.text("provider_version", longest=253),
            oasis_core_spec_versions=fields.texts("oasis_core_spec_versions", most=100),
            profile=fields.text("profile", longest=253),
            profile_version=fields.text("profile_version", longest=253),
            supported=fields.flag("supported"),
            requirements=fields.child("requirements").body,
            unmet_requirements=tuple(
                UnmetRequirement(one.text("requirement"), one.text("reason", ""))
                for one in fields.items("unmet_requirements", most=1000)
            ),
            extensions=extensions_of(fields.body),
        )


def extensions_of(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """Read the extensions of a conformance answer, however malformed the rest of it is."""
    listed = answer.get("extensions")
    return tuple(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
