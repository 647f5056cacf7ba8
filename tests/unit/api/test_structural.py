from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.api import schema, structural
from unit.api.cases import KINDS


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_custom_resources_are_structural(kind: str) -> None:
    assert structural.find_faults(schema.build_schema(KINDS[kind].model)) == ()


KEYED = {"type": "object", "properties": {"a": {"type": "boolean"}}}


@pytest.mark.parametrize(
    ("node", "fault"),
    [
        ({}, "no type"),
        ({"type": "number"}, "type number"),
        ({"type": "boolean", "title": "x"}, "title is forbidden"),
        ({"type": "boolean", "anyOf": []}, "anyOf is forbidden"),
        ({"type": "object", "additionalProperties": False}, "additionalProperties must be a schema"),
        ({"type": "array", "maxItems": 1}, "array without items"),
        ({"type": "array", "items": {"type": "boolean"}}, "array without maxItems"),
        ({"type": "string"}, "string without maxLength"),
        ({"type": "integer"}, "integer without minimum"),
        ({"type": "boolean", "default": True}, "default"),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, "map without maxProperties"),
        ({"type": "object", "required": ["b"], "properties": {}}, "required b is no property"),
        (
            {
                "type": "array",
                "maxItems": 1,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a"],
                "items": KEYED,
            },
            "list map key a is not required",
        ),
        (
            {
                "type": "array",
                "maxItems": 1,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["b"],
                "items": KEYED,
            },
            "list map key b is no property",
        ),
        ({"type": "array", "maxItems": 1, "items": {"type": "string"}}, "string without maxLength"),
    ],
)
def test_a_fault_is_found_and_placed(node: dict[str, Any], fault: str) -> None:
    (found,) = structural.find_faults(_object(field=node))
    assert found.startswith(".spec.field")
    assert fault in found


@pytest.mark.parametrize(
    "node",
    [
        {"x-kubernetes-int-or-string": True},
        {"x-kubernetes-preserve-unknown-fields": True},
        {"type": "string", "format": "date-time"},
        {"type": "string", "enum": ["a"]},
    ],
)
def test_what_needs_no_type_or_bound(node: dict[str, Any]) -> None:
    assert structural.find_faults(_object(field=node)) == ()
