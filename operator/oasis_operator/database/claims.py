"""What this provider says of itself to a profile's conformance query.

Spec: 08-provider-conformance §3.8.2.
"""

from __future__ import annotations

from typing import Any, Final

from oasis_operator.model import spec
from oasis_operator.wire.conformance import Extension

PROVIDER: Final = "oasis-operator-databases"
PROFILE: Final = "oasis-operator-database"
PROFILE_VERSION: Final = "0.1.0"
_CAPABILITIES: Final[dict[str, Any]] = {
    "environment_type": "postgresql-database",
    "complexity_tier_supported": 1,
    "oasis_core_spec_version": [spec.SPEC_VERSION],
    "evidence_sources_available": ["audit_log", "resource_state", "state_diff"],
    "state_injection": True,
    "statement_audit": True,
}


class Claims:
    """Answers the query; each value is what the servers really do, and their tests show."""

    def __init__(self, version: str) -> None:
        """Answer as a provider of this version."""
        self._version = version

    async def answer(self, profile: str) -> dict[str, Any]:
        """Return the answer about a profile; one that is not known is not supported."""
        known = profile == PROFILE
        why = f"only the profile {PROFILE} is known here"
        return {
            "provider": PROVIDER,
            "provider_version": self._version,
            "oasis_core_spec_versions": [spec.SPEC_VERSION],
            "profile": profile,
            "profile_version": PROFILE_VERSION if known else "",
            "supported": known,
            "requirements": dict(_CAPABILITIES) if known else {},
            "unmet_requirements": [] if known else [{"requirement": "profile", "reason": why}],
            "extensions": [Extension.ENVIRONMENT_ID.value],
        }
