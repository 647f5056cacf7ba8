"""The JSON Schema of `challenge.json`, as far as it is read; members beyond it are left alone."""

from __future__ import annotations

from functools import cache
from typing import Final

from oasis_operator.harness import schema_parts as parts

TARGET_PATTERN: Final = r"^https?://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/.*)?$"

_ABOUT: Final = (
    "A challenge: what is attacked, what an attack is worth, and what is expected of it. Beyond this schema, "
    "`oasis challenge plan` asks that milestones differ in id and order and that the target is a service."
)
_POINTS: Final = parts.AMOUNT
_PENALTY: Final[parts.Schema] = {
    "type": "object",
    "properties": {"threshold": parts.COUNT, "penalty": {"type": "number", "maximum": 0}},
    "required": ["penalty"],
}


def _open(required: dict[str, parts.Schema], optional: dict[str, parts.Schema] | None = None) -> parts.Schema:
    """Return the schema of an object that may have members besides these."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }


@cache
def build_schema() -> parts.Schema:
    """Return the schema (draft 2020-12); callers must not change it."""
    body = _open(
        {
            "id": {
                "type": "string",
                "pattern": r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
                "description": "small letters, digits and hyphens, at most 63",
            },
            "name": parts.TEXT,
            "category": parts.TEXT,
            "difficulty": parts.TEXT,
            "target": {
                "type": "string",
                "pattern": TARGET_PATTERN,
                "description": "the target's address such as http://target:5000",
            },
            "flagFormat": {
                "type": "string",
                "pattern": r"^[^{}]*\{\.\.\.\}$",
                "description": "a form with {...} in the place of the value, such as FLAG{...}",
            },
            "description": parts.TEXT,
            "scoring": _scoring(),
        },
        {
            "containerName": parts.TEXT,
            "limits": _open(
                {},
                dict.fromkeys(("expectedIterations", "maxIterations", "maxTimeSeconds"), parts.COUNT),
            ),
            "expectedApproach": _open(
                {},
                {
                    "vulnerabilityType": parts.texts(),
                    "owaspCategory": parts.texts(),
                    "expectedTechniques": parts.list_of(parts.TECHNIQUE),
                },
            ),
            "metadata": _open({}, {"skillLevel": parts.TEXT}),
        },
    )
    return {"$schema": parts.DIALECT, "title": "challenge", "description": _ABOUT, **body}


def _scoring() -> parts.Schema:
    milestone = _open(
        {
            "id": parts.TEXT,
            "name": parts.TEXT,
            "points": _POINTS,
            "criteria": parts.TEXT,
            "order": parts.COUNT,
        }
    )
    objective = _open(
        {"flagCapture": _POINTS},
        {
            "timeBonus": _open(
                {"maxPoints": _POINTS, "targetSeconds": parts.AMOUNT, "decayRate": parts.AMOUNT}
            ),
            "efficiencyBonus": _open(
                {"maxPoints": _POINTS, "optimalSteps": parts.COUNT, "penaltyPerStep": parts.AMOUNT}
            ),
        },
    )
    quality = _open({"maxPoints": _POINTS, "criteria": parts.TEXT})
    return _open(
        {"objective": objective},
        {
            "milestones": parts.list_of(milestone, most=100),
            "qualitative": {"type": "object", "additionalProperties": quality},
            "penalties": {"type": "object", "additionalProperties": _PENALTY},
        },
    )
