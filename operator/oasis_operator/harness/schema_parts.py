"""Pieces that the JSON Schemas of the harness documents share.

Objects are closed: an unknown member is a fault at every level, since the published validators refuse it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oasis_operator.harness import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string", "minLength": 1}
ANY_TEXT: Final[Schema] = {"type": "string"}
FLAG: Final[Schema] = {"type": "boolean"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
AMOUNT: Final[Schema] = {"type": "number", "minimum": 0}
TIME: Final[Schema] = {
    "type": "string",
    "pattern": vocabulary.TIME_PATTERN,
    "description": "an RFC 3339 time such as 2026-09-19T15:30:00Z",
}
TECHNIQUE: Final[Schema] = {
    "type": "string",
    "pattern": vocabulary.TECHNIQUE_PATTERN,
    "description": "an ATT&CK technique such as T1190 or T1059.004",
}
UNIT_ID: Final[Schema] = {
    "type": "string",
    "pattern": vocabulary.UNIT_ID_PATTERN,
    "description": "COV- and something that no other unit has, such as COV-001",
}
SURFACE: Final[Schema] = {
    "type": "string",
    "pattern": vocabulary.SURFACE_PATTERN,
    "description": f"one of {', '.join(vocabulary.Surface)}, or an own one in small letters and hyphens",
}
VERSION: Final[Schema] = {"const": vocabulary.DOCUMENT_VERSION}


def texts(least: int = 0) -> Schema:
    """Return the schema of a list of texts that are not empty."""
    return list_of(TEXT, least)


def list_of(items: Schema, least: int = 0, most: int | None = None) -> Schema:
    """Return the schema of a list."""
    schema: Schema = {"type": "array", "items": items}
    if least:
        schema["minItems"] = least
    if most is not None:
        schema["maxItems"] = most
    return schema


def one_of(words: Iterable[str]) -> Schema:
    """Return the schema of one word out of several."""
    return {"enum": [str(word) for word in words]}


def closed(required: dict[str, Schema], optional: dict[str, Schema] | None = None, about: str = "") -> Schema:
    """Return the schema of an object that has the required members, may have the optional and no other."""
    schema: Schema = {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }
    if about:
        schema["description"] = about
    return schema


def by_word(member: str, schemas: dict[str, Schema]) -> Schema:
    """Return a schema that depends on the word in one member; only the one that applies finds faults."""
    return {
        "type": "object",
        "required": [member],
        "properties": {member: one_of(schemas)},
        "allOf": [
            {"if": {"properties": {member: {"const": word}}, "required": [member]}, "then": schema}
            for word, schema in schemas.items()
        ],
    }


def has(*members: str) -> Schema:
    """Return the schema of an object with at least these members."""
    return {"type": "object", "required": list(members)}


def two_shapes(
    title: str, about: str, *, grouped_if: list[Schema], published: Schema, grouped: Schema
) -> Schema:
    """Return the schema of a document in either shape.

    Args:
        title: Title of the schema.
        about: What the document is and what the schema alone cannot check.
        grouped_if: A document that fits any of these is of the grouped shape.
        published: Schema of the published shape.
        grouped: Schema of the grouped shape.
    """
    return {
        "$schema": DIALECT,
        "title": title,
        "description": about,
        "type": "object",
        "if": {"anyOf": grouped_if},
        "then": {"$ref": "#/$defs/grouped"},
        "else": {"$ref": "#/$defs/published"},
        "$defs": {"published": published, "grouped": grouped},
    }
