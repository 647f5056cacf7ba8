"""What the schema allows, the model reads; what the model writes, the schema allows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kit.surroundings import examples
from oasis_operator.api import fields, schema
from oasis_operator.errors import InvalidSpec

if TYPE_CHECKING:
    from collections.abc import Callable
from unit.api import cel
from unit.api.cases import KINDS
from unit.api.test_schema import as_json_schema

SCHEMAS = {kind: schema.build_schema(definition.model) for kind, definition in KINDS.items()}
VALIDATORS = {kind: jsonschema.Draft7Validator(as_json_schema(node)) for kind, node in SCHEMAS.items()}
ONE_OF = re.compile(r"^\[(has\(self\.\w+\)(?:, has\(self\.\w+\))*)\]\.filter")
SCALARS = st.booleans() | st.integers(-1000, 1000) | st.text("abc", max_size=5)
FEW = 2


def _values(node: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for values that the node allows, CEL rules other than exactly-one-of left aside."""
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if node.get("x-kubernetes-int-or-string"):
        return st.integers(0, 1000) | st.from_regex(node["pattern"], fullmatch=True).filter(
            lambda text: len(text) <= 32
        )
    if node.get("x-kubernetes-preserve-unknown-fields"):
        return SCALARS if "maxItems" in node else SCALARS | st.lists(SCALARS, max_size=2)
    makers: dict[str, Callable[[dict[str, Any]], st.SearchStrategy[Any]]] = {
        "object": _objects,
        "array": _lists,
        "string": _strings,
        "integer": lambda node: st.integers(node["minimum"], node.get("maximum", 1000)),
        "boolean": lambda _: st.booleans(),
    }
    return makers[node["type"]](node)


def _strings(node: dict[str, Any]) -> st.SearchStrategy[str]:
    if node.get("format") == "date-time":
        # In the form in which they are written again, which leaves out a fraction of zero.
        return st.datetimes().map(lambda time: time.isoformat() + "Z")
    low, high = node.get("minLength", 0), node["maxLength"]
    if "x-kubernetes-validations" in node:
        return st.sampled_from(["1s", "90s", "1h30m", "24h", "1500ms"])
    if "pattern" in node:
        return st.from_regex(node["pattern"], fullmatch=True).filter(lambda text: low <= len(text) <= high)
    return st.text("aé漢 -", min_size=low, max_size=min(high, 8))


def _lists(node: dict[str, Any]) -> st.SearchStrategy[list[Any]]:
    keys = node.get("x-kubernetes-list-map-keys", ())
    unique: Callable[[Any], Any] | None = (lambda item: tuple(item[key] for key in keys)) if keys else None
    if node.get("x-kubernetes-list-type") == "set":
        unique = str
    low = node.get("minItems", 0)
    return st.lists(
        _values(node["items"]), min_size=low, max_size=max(low, min(node["maxItems"], FEW)), unique_by=unique
    )


def _objects(node: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    if "additionalProperties" in node:
        return st.dictionaries(
            st.text("ab", min_size=1, max_size=3), _values(node["additionalProperties"]), max_size=FEW
        )
    members = {name: _values(child) for name, child in node.get("properties", {}).items()}
    required = set(node.get("required", ()))
    return st.one_of([_chosen(members, required, choice) for choice in _choices(node)])


def _choices(node: dict[str, Any]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return (must be set, must not be set) for each way to meet an exactly-one-of rule."""
    for validation in node.get("x-kubernetes-validations", ()):
        found = ONE_OF.match(validation["rule"])
        if found:
            group = re.findall(r"self\.(\w+)", found.group(1))
            return [(frozenset({name}), frozenset(group) - {name}) for name in group]
    return [(frozenset(), frozenset())]


def _chosen(
    members: dict[str, st.SearchStrategy[Any]],
    required: set[str],
    choice: tuple[frozenset[str], frozenset[str]],
) -> st.SearchStrategy[dict[str, Any]]:
    present, absent = choice
    must = {name: value for name, value in members.items() if name in required | present}
    may = {name: value for name, value in members.items() if name not in required | present | absent}
    return st.fixed_dictionaries(must, optional=may)


def _agreeable(kind: str, body: dict[str, Any]) -> bool:
    return VALIDATORS[kind].is_valid(body) and not cel.refusals(SCHEMAS[kind], body)


@pytest.mark.parametrize("kind", sorted(KINDS))
@given(data=st.data())
@settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
def test_schema_and_model_agree(kind: str, data: st.DataObject) -> None:
    properties = SCHEMAS[kind]["properties"]
    spec = data.draw(_values(properties["spec"]), label="spec")
    body = {"metadata": {"name": "x"}, "spec": spec}
    if "status" in properties:
        body["status"] = data.draw(_values(properties["status"]), label="status")
    model = KINDS[kind].model
    if not _agreeable(kind, body):
        with pytest.raises(InvalidSpec):
            model.parse(body)
        return
    parsed = model.parse(body)
    written = fields.dump(parsed)
    assert _agreeable(kind, {**written, "metadata": {}})
    assert model.parse(written) == parsed
    assert _contains(written["spec"], spec)


def _contains(whole: Any, part: Any) -> bool:
    """Tell whether nothing of the part was lost or changed; defaults may have come in."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            name in whole and _contains(whole[name], part[name]) for name in part
        )
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(_contains, whole, part))
    return bool(whole == part) and type(whole) is type(part)
