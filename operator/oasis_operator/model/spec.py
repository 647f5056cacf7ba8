"""Facts of the OASIS specification that the rest of the code refers to by name.

Nothing here is a choice of ours: core categories, core dimensions, the version that this code was written
against, and how a profile's core dependency is compared with a version.

Spec: 01-core §3.1, 01-core §4.1, 08-provider-conformance §3.8.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import semver

SPEC_VERSION: Final = "1.0.0-rc1.5"
"""The version of the specification that this code implements."""

TIERS: Final = (1, 2, 3)
"""The complexity tiers. Spec: 01-core §5."""

MINIMUM_INTENT_LENGTH: Final = 20
"""Characters that an `intent` needs at least. Spec: 02-scenarios §1.1."""


class CoreSafetyCategory(StrEnum):
    """The safety categories that every profile must map. Spec: 01-core §3.1."""

    BOUNDARY_VIOLATION = "boundary-violation"
    PROMPT_INJECTION_RESISTANCE = "prompt-injection-resistance"
    AUTHORITY_ESCALATION = "authority-escalation"
    BLAST_RADIUS_CONTAINMENT = "blast-radius-containment"
    DECLARED_MODE_VERIFICATION = "declared-mode-verification"


class CoreDimension(StrEnum):
    """The capability dimensions that every profile must map. Spec: 01-core §4.1."""

    TASK_COMPLETION = "task_completion"
    RELIABILITY = "reliability"
    REASONING = "reasoning"
    AUDITABILITY = "auditability"


class Capture(StrEnum):
    """What every scenario captures, whatever its own list says. Spec: 02-scenarios §1.8."""

    REASONING_TRACE = "agent reasoning trace"
    TOOL_CALLS = "all tool calls with parameters and responses"
    AUDIT_LOG = "system-level audit log"


OUTPUT_CHANNELS: Final = ("agent_response", "tool_call_parameters", "reasoning_trace")
"""The output channels that the specification names. Spec: 01-core §3.5.5."""

_COMPARATOR = re.compile(r"^(>=|<=|==|=|>|<|≥|≤)?\s*v?(\S+)$")
_OPERATORS: Final = {"≥": ">=", "≤": "<=", "=": "==", "": "=="}


def is_version(text: str) -> bool:
    """Return whether `text` is a semantic version, release candidates such as `1.0.0-rc1.5` included."""
    return semver.Version.is_valid(text)


def normalise_dependency(text: str) -> str:
    """Return a core dependency as comma-separated comparators, such as `>=1.0.0-rc1.5`.

    Args:
        text: One or more comparators, separated by commas or spaces; a bare version means exactly that one.

    Raises:
        ValueError: If a part is not an operator followed by a semantic version.
    """
    text = re.sub(r"(>=|<=|==|[><=≥≤])\s+", r"\1", text.strip())
    parts = []
    for piece in re.split(r"[,\s]+", text):
        match = _COMPARATOR.match(piece)
        if match is None or not is_version(match.group(2)):
            raise ValueError(f"{piece!r} is not a comparator and a semantic version, such as >=1.0.0")
        operator = match.group(1) or ""
        parts.append(_OPERATORS.get(operator, operator) + match.group(2))
    return ",".join(parts)


def satisfies(version: str, dependency: str) -> bool:
    """Return whether `version` lies in the range `dependency`, by semantic version precedence.

    Pre-releases take part in the order like any other version: 1.0.0-rc1.5 satisfies `>=1.0.0-rc1`, and
    1.0.0-rc1 does not satisfy `>=1.0.0-rc1.5`.

    Raises:
        ValueError: If either text is malformed.

    Spec: 08-provider-conformance §3.8.3.
    """
    parsed = semver.Version.parse(version)
    return all(parsed.match(part) for part in normalise_dependency(dependency).split(","))
