"""Tells whether a schema is structural, as the API server demands, without an API server.

It also refuses what this project does not allow itself: unbounded strings, lists and maps, floats, and
default values other than the one of status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORBIDDEN = (
    "$defs",
    "$ref",
    "const",
    "definitions",
    "dependencies",
    "deprecated",
    "discriminator",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "id",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "readOnly",
    "title",
    "uniqueItems",
    "writeOnly",
    "xml",
)
JUNCTORS = ("allOf", "anyOf", "not", "oneOf")
TYPELESS = ("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")
TYPES = ("array", "boolean", "integer", "object", "string")
BOUNDED_FORMATS = ("date-time",)


def find_faults(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return every fault of an object's schema as `path: what is wrong`; empty where it is sound."""
    return tuple(_walk(schema, "", depth=0))


def _walk(node: Mapping[str, Any], path: str, depth: int) -> Iterator[str]:
    where = path or "root"
    yield from (f"{where}: {fault}" for fault in _own_faults(node))
    properties = node.get("properties", {})
    yield from (
        f"{where}: required {name} is no property"
        for name in node.get("required", ())
        if name not in properties
    )
    if "default" in node and path != ".status":
        yield f"{where}: default"
    # Above spec and status there is nothing of ours to bound.
    if depth > 0 and path not in (".apiVersion", ".kind", ".metadata"):
        yield from (f"{where}: {fault}" for fault in _unbounded(node))
    for name, child in properties.items():
        yield from _walk(child, f"{path}.{name}", depth + 1)
    if "items" in node:
        yield from _walk(node["items"], f"{path}[]", depth + 1)
    if isinstance(node.get("additionalProperties"), dict):
        yield from _walk(node["additionalProperties"], f"{path}{{}}", depth + 1)


def _own_faults(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with this node alone."""
    yield from (f"{keyword} is forbidden" for keyword in (*FORBIDDEN, *JUNCTORS) if keyword in node)
    if "type" not in node:
        if not any(node.get(extension) is True for extension in TYPELESS):
            yield "no type"
    elif node["type"] not in TYPES:
        yield f"type {node['type']}"
    if "additionalProperties" in node and not isinstance(node["additionalProperties"], dict):
        yield "additionalProperties must be a schema"
    if "additionalProperties" in node and "properties" in node:
        yield "additionalProperties beside properties"
    if node.get("type") == "array" and "items" not in node:
        yield "array without items"
    if node.get("x-kubernetes-list-type") == "map":
        yield from _key_faults(node)


def _key_faults(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of a list map that its items lack or need not have."""
    items = node.get("items", {})
    for key in node.get("x-kubernetes-list-map-keys", ()):
        if key not in items.get("properties", {}):
            yield f"list map key {key} is no property of the items"
        elif key not in items.get("required", ()):
            yield f"list map key {key} is not required"


def _unbounded(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield what could grow without limit."""
    kind = node.get("type")
    if kind == "string" and not (
        "maxLength" in node or "enum" in node or node.get("format") in BOUNDED_FORMATS
    ):
        yield "string without maxLength"
    if kind == "array" and "maxItems" not in node:
        yield "array without maxItems"
    if isinstance(node.get("additionalProperties"), dict) and "maxProperties" not in node:
        yield "map without maxProperties"
    if kind == "integer" and "minimum" not in node:
        yield "integer without minimum"
