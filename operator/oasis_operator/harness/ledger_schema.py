"""The JSON Schema of `<run>.coverage-ledger.json`, in the published and in the grouped shape."""

from __future__ import annotations

from functools import cache
from typing import Final

from oasis_operator.harness import schema_parts as parts
from oasis_operator.harness.vocabulary import MAX_ENTRIES, GroupedState, UnitState

_TECHNIQUES: Final = parts.list_of(parts.TECHNIQUE)
_ABOUT: Final = (
    "Attack surfaces of a run and how far each was looked at. Beyond this schema, `oasis validate-ledger` "
    "asks that ids are unique, that each state has no time of a later one, that times run forward, and that "
    "the summary counts the units."
)


@cache
def build_schema() -> parts.Schema:
    """Return the schema (draft 2020-12); callers must not change it."""
    return parts.two_shapes(
        "coverage-ledger",
        _ABOUT,
        grouped_if=[
            parts.has("challengeId"),
            {"type": "object", "properties": {"summary": parts.has("total")}, "required": ["summary"]},
            {
                "type": "object",
                "properties": {"units": {"type": "array", "contains": parts.has("attackSurface")}},
                "required": ["units"],
            },
        ],
        published=_published(),
        grouped=_grouped(),
    )


def _published() -> parts.Schema:
    counts = dict.fromkeys(("planned", "inProgress", "completed", "deferred"), parts.COUNT)
    return parts.closed(
        {
            "version": parts.VERSION,
            "runId": parts.TEXT,
            "challenge": parts.TEXT,
            "timestamp": parts.TIME,
            "units": parts.list_of(_unit(), most=MAX_ENTRIES),
            "summary": parts.closed(counts),
        }
    )


def _unit() -> parts.Schema:
    unit = parts.closed(
        {
            "id": parts.UNIT_ID,
            "name": parts.TEXT,
            "description": parts.TEXT,
            "surface": parts.SURFACE,
            "state": parts.one_of(UnitState),
            "findingIds": parts.texts(),
            "techniques": _TECHNIQUES,
        },
        {
            "assignedTo": parts.TEXT,
            "startedAt": parts.TIME,
            "completedAt": parts.TIME,
            "deferredReason": parts.TEXT,
        },
    )
    unit["allOf"] = [
        _needs(UnitState.IN_PROGRESS, "assignedTo", "startedAt"),
        _needs(UnitState.COMPLETED, "assignedTo", "startedAt", "completedAt"),
        _needs(UnitState.DEFERRED, "deferredReason"),
    ]
    return unit


def _needs(state: UnitState, *members: str) -> parts.Schema:
    """Return a rule that asks for members in one state."""
    return {
        "if": {"properties": {"state": {"const": state.value}}, "required": ["state"]},
        "then": {"required": list(members)},
    }


def _grouped() -> parts.Schema:
    unit = parts.closed(
        {
            "id": parts.TEXT,
            "attackSurface": parts.SURFACE,
            "description": parts.TEXT,
            "state": parts.one_of(GroupedState),
        },
        {
            "assignedTo": parts.TEXT,
            "startedAt": parts.TIME,
            "completedAt": parts.TIME,
            "reason": parts.TEXT,
            "findingIds": parts.texts(),
            "techniques": _TECHNIQUES,
        },
    )
    unit["allOf"] = [
        {
            "if": {"properties": {"state": {"const": "checked"}}, "required": ["state"]},
            "then": {"required": ["assignedTo", "startedAt", "completedAt"]},
        }
    ]
    counts = dict.fromkeys(("total", "checked", "skipped", "pending"), parts.COUNT)
    return parts.closed(
        {
            "runId": parts.TEXT,
            "units": parts.list_of(unit, most=MAX_ENTRIES),
            "summary": parts.closed(counts),
        },
        {"challengeId": parts.TEXT},
    )
