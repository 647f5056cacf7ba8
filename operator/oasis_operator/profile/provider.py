"""The provider conformance contract: requirements file, JSON Schema and worked examples.

Spec: 03-profiles §2.17, 08-provider-conformance §3.8.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import jsonschema
from jsonschema.exceptions import SchemaError
from referencing import Registry

from oasis_operator.model.profile import ProviderRequirement
from oasis_operator.model.spec import normalise_dependency
from oasis_operator.profile.fields import Fields, suggest
from oasis_operator.profile.metadata import Identity, canonical_dependency
from oasis_operator.profile.yaml_nodes import Kind, parse_documents

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from oasis_operator.model.scenario import JsonMap
    from oasis_operator.profile.collector import Reporter
    from oasis_operator.profile.markdown import Fence, Section

FAMILY: Final = "REQ"
_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "array": list,
    "semver_list": str,
    "object": dict,
}


def parse_requirements(text: str, identity: Identity, reporter: Reporter) -> tuple[ProviderRequirement, ...]:
    """Return the requirements in file order; they must be for this very profile."""
    nodes = parse_documents(text, reporter)
    for stray in nodes[1:]:
        reporter.report("YML009", "The file should hold one document.", at=stray.at)
    if not nodes or nodes[0].kind is not Kind.MAPPING:
        reporter.report("REQ002", "The file should hold one mapping.", at=nodes[0].at if nodes else (1, 1))
        return ()
    fields = Fields(nodes[0], reporter, FAMILY)
    _check_identity(fields, identity)
    requirements = fields.mapping("requirements", required=True)
    fields.rest()
    found = []
    for key, value in requirements.node.entries or () if requirements else ():
        path = f"requirements.{key.value}"
        if value.kind is not Kind.MAPPING:
            reporter.report("REQ002", "A requirement should be a mapping.", at=value.at, path=path)
            continue
        requirement = _requirement(key.value, Fields(value, reporter, FAMILY, path))
        found.extend([requirement] if requirement else [])
    return tuple(found)


def _check_identity(fields: Fields, identity: Identity) -> None:
    profile, version = fields.text("profile", required=True), fields.text("profile_version", required=True)
    dependency = fields.text("oasis_core_dependency", required=True)
    if profile and identity.identifier and profile != identity.identifier:
        message = f"The file is for another profile than {identity.identifier}."
        fields.report("005", message, at=fields.at("profile"), value=profile)
    if version and identity.version and version != identity.version:
        message = f"The file is for another version than {identity.version}."
        fields.report("006", message, at=fields.at("profile_version"), value=version)
    if dependency and canonical_dependency(dependency) != canonical_dependency(identity.core_dependency):
        message = f"The core dependency is another than the profile's, {identity.core_dependency}."
        at = fields.at("oasis_core_dependency")
        fields.reporter.report("PRO018", message, at=at, value=dependency)


def _requirement(key: str, fields: Fields) -> ProviderRequirement | None:
    kind, required = fields.text("type", required=True), fields.boolean("required", required=True)
    description = fields.text("description") or ""
    expected = fields.find("expected", required=bool(required))
    fields.rest()
    if kind is not None and kind not in _TYPES:
        message, remedy = "The type of the requirement is unknown.", suggest(kind, _TYPES)
        fields.report("004", message, at=fields.at("type"), value=kind, remedy=remedy, path=fields.path)
        return None
    if kind is None or required is None:
        return None
    value = None if expected is None else expected.plain()
    if expected is not None and not _suits(kind, value):
        message = f"The expectation does not suit the type {kind}."
        fields.report("007", message, at=expected.at, value=value, path=fields.where("expected"))
    return ProviderRequirement(key, kind, required, value, description)


def _suits(kind: str, expected: Any) -> bool:
    """Return whether an expectation can be compared with answers of that type."""
    if kind == "integer" and isinstance(expected, dict):
        operators = ("gte", "lte", "eq", "gt", "lt")
        return expected.get("comparison_operator") in operators and "value" in expected
    if kind != "boolean" and isinstance(expected, bool):
        return False
    if kind == "semver_list":
        return isinstance(expected, str) and _is_range(expected)
    return isinstance(expected, _TYPES[kind])


def _is_range(text: str) -> bool:
    try:
        normalise_dependency(text)
    except ValueError:
        return False
    return True


def parse_conformance_schema(
    sections: tuple[Section, ...], requirements: tuple[ProviderRequirement, ...], reporter: Reporter
) -> JsonMap | None:
    """Return the JSON Schema of the contract document, checked with its worked examples; None for none."""
    blocks = [(fence, value) for fence, value in _json_blocks(sections, reporter) if isinstance(value, dict)]
    schemas = [(fence, value) for fence, value in blocks if "$schema" in value]
    if not schemas:
        return None
    fence, schema = schemas[0]
    fault = _schema_fault(schema)
    if fault:
        reporter.report("REQ008", f"The schema is malformed: {fault}.", at=(fence.number, 1))
        return None
    _compare_keys(schema, requirements, fence, reporter)
    for example, value in blocks:
        if isinstance(value.get("requirements"), dict):
            for found in validator_of(schema).iter_errors(value["requirements"]):
                message = f"The example does not meet the schema: {found.message[:200]}."
                reporter.report("REQ010", message, at=(example.number, 1))
    return schema


def json_values(sections: tuple[Section, ...]) -> tuple[Any, ...]:
    """Return the values of the JSON blocks of a document, those that cannot be read left out."""
    return tuple(value for _, value in _json_blocks(sections))


def validator_of(schema: JsonMap) -> Validator:
    """Return a validator that never fetches anything, for a schema in which `_schema_fault` found nothing."""
    kind = _draft_of(schema) or jsonschema.Draft202012Validator
    return kind(schema, registry=Registry())


def _draft_of(schema: JsonMap) -> type[Validator] | None:
    """Return the validator of the draft that `$schema` names; None for none that is known."""
    if not isinstance(schema.get("$schema"), str):
        return None
    try:
        found: type[Validator] | None = jsonschema.validators.validator_for(
            schema,
            default=None,  # type: ignore[arg-type]  # the stubs know classes only
        )
    except ValueError:  # an address that cannot be taken apart
        return None
    return found


def _schema_fault(schema: JsonMap) -> str:
    """Return why a schema cannot be used, or an empty text.

    A profile is not trusted: references, which could lead elsewhere, and patterns, which could run on and on,
    are refused.
    """
    refused = sorted(
        _keywords(schema) & {"$ref", "$dynamicRef", "$recursiveRef", "pattern", "patternProperties"}
    )
    if refused:
        return f"{refused[0]} is not allowed"
    draft = _draft_of(schema)
    if draft is None:
        return f"$schema names no known draft of JSON Schema: {str(schema['$schema'])[:80]!r}"
    try:
        draft.check_schema(dict(schema))
    except SchemaError as error:
        return error.message[:200]
    except RecursionError:
        return "it nests too deeply"
    return ""


def _keywords(value: Any) -> set[str]:
    found: set[str] = set()
    open_values = [value]
    while open_values:
        item = open_values.pop()
        if isinstance(item, dict):
            found |= item.keys()
            open_values += item.values()
        elif isinstance(item, list):
            open_values += item
    return found


def _json_blocks(sections: tuple[Section, ...], reporter: Reporter | None = None) -> list[tuple[Fence, Any]]:
    """Return the JSON blocks that can be read; the others are filed where there is a reporter."""
    found = []
    for fence in (fence for section in sections for fence in section.fences if fence.language == "json"):
        try:
            found.append((fence, json.loads(fence.text)))
        except (ValueError, RecursionError) as error:
            if reporter is not None:
                message = f"The JSON block cannot be read: {error}."
                reporter.report("REQ008", message, at=(fence.number, 1))
    return found


def _compare_keys(
    schema: JsonMap, requirements: tuple[ProviderRequirement, ...], fence: Fence, reporter: Reporter
) -> None:
    declared, named = {item.key for item in requirements}, set(schema.get("properties") or {})
    for key in sorted(declared ^ named) if requirements else ():
        where = "the schema" if key in named else "the requirements file"
        reporter.report("REQ009", f"Only {where} has this key.", at=(fence.number, 1), value=key)
