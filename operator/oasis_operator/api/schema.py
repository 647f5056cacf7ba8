"""From models to CustomResourceDefinitions: a pure function to structural OpenAPI v3 schemas.

Pydantic's JSON Schema is inlined and rewritten into the subset that the API server accepts. Defaults are left
out, since they would be written into stored objects; the effective values stand in status.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.api import fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

Schema = dict[str, Any]

# Kept as they are; everything else that pydantic emits is either rewritten below or dropped.
_KEPT = (
    "type",
    "format",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "maxProperties",
)
_EXTENSION = "x-kubernetes-"
_VALIDATIONS = "x-kubernetes-validations"
_REWRITTEN = (
    "$ref",
    "anyOf",
    "const",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "description",
    "title",
    "default",
    "propertyNames",
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`.

    Attributes:
        name: Heading.
        path: JSON path below the object.
        type: `string`, `integer` or `date`.
        wide: Shown with `-o wide` only.
        description: For `kubectl explain` and the reference pages.
    """

    name: str
    path: str
    type: str = "string"
    wide: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a CustomResourceDefinition says beside its schema.

    Attributes:
        model: The resource; has `spec` and, where the operator reports on it, `status`.
        plural: Plural name; with the group, the only name that never clashes.
        short_names: Names for `kubectl get`.
        columns: Columns after the name.
        scope: `Namespaced` or `Cluster`.
    """

    model: type[fields.Resource]
    plural: str
    short_names: tuple[str, ...]
    columns: tuple[Column, ...]
    scope: str = "Namespaced"

    @property
    def kind(self) -> str:
        """CamelCase kind."""
        return self.model.__name__

    @property
    def has_status(self) -> bool:
        """Whether the operator reports on the object."""
        return "status" in self.model.model_fields


def build_crd(definition: Definition) -> Schema:
    """Return the CustomResourceDefinition manifest."""
    kind = definition.kind
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{definition.plural}.{fields.GROUP}"},
        "spec": {
            "group": fields.GROUP,
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": definition.plural,
                "singular": kind.lower(),
                "shortNames": list(definition.short_names),
                "categories": [fields.CATEGORY],
            },
            "scope": definition.scope,
            "versions": [
                {
                    "name": fields.VERSION,
                    "served": True,
                    "storage": True,
                    **({"subresources": {"status": {}}} if definition.has_status else {}),
                    "additionalPrinterColumns": [_column(column) for column in definition.columns],
                    "schema": {"openAPIV3Schema": build_schema(definition.model)},
                }
            ],
        },
    }


def build_schema(model: type[fields.Resource]) -> Schema:
    """Return the structural schema of a whole object."""
    document = model.model_json_schema(by_alias=True)
    defs = document.get("$defs", {})
    parts = {
        name: _node(document["properties"][name], defs)
        for name in ("spec", "status")
        if name in document["properties"]
    }
    if "status" in parts:
        # A new object must read as in progress to kstatus before the operator has seen it.
        parts["status"]["default"] = {"observedGeneration": fields.UNOBSERVED}
    return {
        "type": "object",
        "description": _text(document["description"]),
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            **parts,
        },
    }


def build_part_schema(model: type[BaseModel]) -> Schema:
    """Return the structural schema of one part, for tests and tools."""
    document = model.model_json_schema(by_alias=True)
    return _node(document, document.pop("$defs", {}))


def _column(column: Column) -> Schema:
    rendered: Schema = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.description:
        rendered["description"] = column.description
    if column.wide:
        rendered["priority"] = 1
    return rendered


def _node(raw: Mapping[str, Any], defs: Mapping[str, Any]) -> Schema:
    """Return one node of the structural schema, everything below it included."""
    merged = _choice(_resolved(raw, defs), defs)
    unknown = [key for key in merged if key not in (*_KEPT, *_REWRITTEN) and not key.startswith(_EXTENSION)]
    if unknown:
        raise ValueError(f"no structural form for {', '.join(unknown)}")
    node: Schema = {}
    if "type" in merged:
        node["type"] = merged["type"]
    if "description" in merged:
        node["description"] = _text(merged["description"])
    node.update({key: value for key, value in merged.items() if key in _KEPT and key != "type"})
    node.update(_children(merged, defs))
    node.update({key: value for key, value in merged.items() if key.startswith(_EXTENSION)})
    return node


def _children(merged: Mapping[str, Any], defs: Mapping[str, Any]) -> Schema:
    """Return the keywords that hold further nodes."""
    children: Schema = {}
    if "const" in merged:
        children["enum"] = [merged["const"]]
    if "items" in merged:
        children["items"] = _node(merged["items"], defs)
    if merged.get("required"):
        children["required"] = list(merged["required"])
    if "properties" in merged:
        children["properties"] = {name: _node(child, defs) for name, child in merged["properties"].items()}
    extra = merged.get("additionalProperties")
    if isinstance(extra, dict):
        children["additionalProperties"] = _node(extra, defs)
    return children


def _resolved(raw: Mapping[str, Any], defs: Mapping[str, Any]) -> Schema:
    """Return the node with its reference replaced by what it names; the node's own keywords win."""
    if "$ref" not in raw:
        return dict(raw)
    target = _resolved(defs[raw["$ref"].rsplit("/", 1)[-1]], defs)
    return _merged(target, {key: value for key, value in raw.items() if key != "$ref"})


def _choice(node: Schema, defs: Mapping[str, Any]) -> Schema:
    """Return the node without alternatives: optional, int-or-string and any scalar are all there are."""
    if "anyOf" not in node:
        return node
    options = [_choice(_resolved(option, defs), defs) for option in node["anyOf"]]
    options = [option for option in options if option.get("type") != "null"]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    if len(options) == 1:
        return _merged(options[0], rest)
    types = {option.get("type") for option in options}
    strings = next((option for option in options if option.get("type") == "string"), {})
    bounds: Schema = {key: strings[key] for key in ("maxLength", "pattern") if key in strings}
    if types == {"integer", "string"}:
        return {**rest, **bounds, "x-kubernetes-int-or-string": True}
    if types == {"boolean", "integer", "string"}:
        # A structural schema cannot name several types. Without a type, lists and objects can at least
        # be kept empty; the operator refuses those.
        return {
            **rest,
            **bounds,
            "maxItems": 0,
            "maxProperties": 0,
            f"{_EXTENSION}preserve-unknown-fields": True,
        }
    raise ValueError(f"no structural form for a choice between {sorted(map(str, types))}")


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Schema:
    """Return both, `over` winning, except that CEL rules add up."""
    merged = {**base, **over}
    validations = [*base.get(_VALIDATIONS, ()), *over.get(_VALIDATIONS, ())]
    if validations:
        merged[_VALIDATIONS] = validations
    return merged


def _text(docstring: str) -> str:
    """Return a docstring as `kubectl explain` shows it: each paragraph on one line."""
    paragraphs = (" ".join(part.split()) for part in docstring.split("\n\n"))
    return "\n".join(part for part in paragraphs if part)
