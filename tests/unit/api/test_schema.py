from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from oasis_operator.api import definitions, fields, schema
from oasis_operator.api.conditions import Condition
from oasis_operator.errors import InvalidSpec
from unit.api import cel
from unit.api.cases import CHANGES, KINDS, REFUSED, TAKEN, Case, Change, body_of

SCHEMAS = {kind: schema.build_schema(definition.model) for kind, definition in KINDS.items()}
CRDS = {kind: schema.build_crd(definition) for kind, definition in KINDS.items()}


def _schema_faults(kind: str, body: dict[str, Any]) -> str:
    """Return what OpenAPI and CEL say together, as the API server would."""
    validator = jsonschema.Draft7Validator(as_json_schema(SCHEMAS[kind]))
    faults = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(body)]
    return "; ".join(faults or cel.refusals(SCHEMAS[kind], body))


def as_json_schema(node: Any) -> Any:
    """Return the structural schema for a plain validator, which prunes nothing and knows no int-or-string."""
    if isinstance(node, list):
        return [as_json_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {key: as_json_schema(value) for key, value in node.items()}
    if plain.get("x-kubernetes-int-or-string") is True:
        plain["type"] = ["integer", "string"]
    return plain


OF_THE_CLUSTER = {"AdmissionList", "EvaluationPolicy"}


@pytest.mark.parametrize("case", TAKEN, ids=lambda case: case.name)
def test_schema_and_model_take(case: Case) -> None:
    assert _schema_faults(case.kind, case.body()) == ""
    parsed = KINDS[case.kind].model.parse(case.body())
    again = fields.dump(parsed)
    assert _schema_faults(case.kind, body_of(case.kind, again["spec"])) == ""
    assert KINDS[case.kind].model.parse(again) == parsed


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case.kind}: {case.name}")
def test_schema_and_model_refuse(case: Case) -> None:
    assert _schema_faults(case.kind, case.body()) != ""
    with pytest.raises(InvalidSpec) as caught:
        KINDS[case.kind].model.parse(case.body())
    assert case.message is not None
    assert case.message in caught.value.message


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.kind}: {change.name}")
def test_transition_rules(change: Change) -> None:
    messages = cel.refusals(
        SCHEMAS[change.kind], body_of(change.kind, change.after), body_of(change.kind, change.before)
    )
    if change.message is None:
        assert messages == ()
    else:
        assert any(change.message in message for message in messages)


@pytest.mark.parametrize("kind", sorted(CRDS))
def test_names_and_subresources(kind: str) -> None:
    crd = CRDS[kind]["spec"]
    version = crd["versions"][0]
    assert crd["names"]["categories"] == ["oasis"]
    assert version["schema"]["openAPIV3Schema"]["required"] == ["spec"]
    if kind in OF_THE_CLUSTER:
        # Nothing reports on it: with a status that nobody writes, kstatus would wait for ever.
        assert "status" not in version["schema"]["openAPIV3Schema"]["properties"]
        assert "subresources" not in version
        return
    assert version["subresources"] == {"status": {}}
    assert version["schema"]["openAPIV3Schema"]["properties"]["status"]["default"] == {
        "observedGeneration": -1
    }
    assert "required" not in version["schema"]["openAPIV3Schema"]["properties"]["status"]


def test_policies_and_the_admission_list_alone_belong_to_no_namespace() -> None:
    assert {kind for kind, crd in CRDS.items() if crd["spec"]["scope"] == "Cluster"} == OF_THE_CLUSTER


def test_no_name_stands_for_two_kinds() -> None:
    names = [
        name
        for crd in CRDS.values()
        for name in (
            crd["spec"]["names"]["plural"],
            crd["spec"]["names"]["singular"],
            *crd["spec"]["names"]["shortNames"],
        )
    ]
    assert len(names) == len(set(names))
    taken = {
        "ev",
        "events",
        "env",
        "po",
        "pods",
        "ns",
        "no",
        "cm",
        "sa",
        "svc",
        "rs",
        "ds",
        "sts",
        "ing",
        "ep",
        "pc",
    }
    assert not taken & set(names)


@pytest.mark.parametrize("definition", definitions.ALL, ids=lambda definition: definition.kind)
def test_columns_point_at_fields(definition: schema.Definition) -> None:
    for column in definition.columns:
        if not column.path.startswith(".metadata"):
            _assert_path(SCHEMAS[definition.kind], column.path)


def _assert_path(node: dict[str, Any], path: str) -> None:
    plain = path.replace('[?(@.type=="Ready")]', "[]").replace('[?(@.type=="Passed")]', "[]")
    for step in plain.strip(".").split("."):
        node = node["properties"][step.removesuffix("[]")]
        node = node["items"] if step.endswith("[]") else node
    assert node["type"] in ("string", "integer")


@pytest.mark.parametrize("kind", sorted(set(CRDS) - OF_THE_CLUSTER))
def test_conditions_are_a_map_by_type(kind: str) -> None:
    node = SCHEMAS[kind]["properties"]["status"]["properties"]["conditions"]
    assert node["x-kubernetes-list-map-keys"] == ["type"]
    assert set(node["items"]["required"]) == {"type", "status", "reason", "lastTransitionTime"}


@pytest.mark.parametrize("kind", sorted(CRDS))
def test_every_field_is_explained(kind: str) -> None:
    for part in {"spec", "status"} & SCHEMAS[kind]["properties"].keys():
        for path, node in _fields_of(SCHEMAS[kind]["properties"][part], part):
            assert node.get("description"), path


def _fields_of(node: dict[str, Any], path: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for name, child in node.get("properties", {}).items():
        found.append((f"{path}.{name}", child))
        found.extend(_fields_of(child.get("items", child), f"{path}.{name}"))
    return found


def test_a_list_in_the_configuration_is_refused_by_schema_and_model() -> None:
    spec = {**TAKEN[0].spec, "configuration": {"zones": ["a"]}}
    assert _schema_faults("Agent", body_of("Agent", spec)) != ""
    with pytest.raises(InvalidSpec, match="configuration"):
        KINDS["Agent"].model.parse(body_of("Agent", spec))


def test_a_choice_without_structural_form_is_an_error() -> None:
    class Odd(fields.Part):
        value: int | bool
        """A value."""

    with pytest.raises(ValueError, match="no structural form"):
        schema.build_part_schema(Odd)


def test_rules_of_a_type_and_of_its_owner_add_up() -> None:
    built = schema.build_part_schema(Condition)
    assert built["properties"]["status"]["enum"] == ["True", "False", "Unknown"]
    timeouts = SCHEMAS["Evaluation"]["properties"]["spec"]["properties"]["timeouts"]["properties"]["running"]
    assert timeouts["type"] == "string"
    assert len(timeouts["x-kubernetes-validations"]) == 1
