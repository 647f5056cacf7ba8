"""Paths of a change: where two values differ, what a body names, and what a patch touches."""

from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.engine.actions import changes


def dotted(paths: Any) -> list[str]:
    return [".".join(path) for path in paths]


def nested(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = {"a": leaf}
    return leaf


@pytest.mark.parametrize(
    ("one", "other", "paths"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ["b"]),
        ({"a": 1}, {"b": 1}, ["a", "b"]),
        ({"a": {"b": 1, "c": 2}}, {}, ["a.b", "a.c"]),
        ({}, {"a": {"b": 1, "c": 2}}, ["a.b", "a.c"]),
        ({"a": None}, {"a": {"b": 1}}, ["a.b"]),
        ({"a": {}}, {"a": None}, []),
        ({"a": []}, {}, []),
        ({"a": 0}, {}, ["a"]),
        ({"a": ""}, {"a": None}, ["a"]),
        ({"a": [{"x": 1}, {"x": 2}]}, {"a": [{"x": 1}, {"x": 3}]}, ["a.x"]),
        ({"a": [1, 2]}, {"a": [1, 3]}, ["a"]),
        ({"a": [{"x": 1}]}, {"a": [{"x": 1}, {"x": 2}]}, ["a"]),
        ({"a": {"x": 1}}, {"a": [1]}, ["a"]),
        ({"a": 1}, {"a": {"b": 2}}, ["a"]),
        ({"status": 1, "metadata": {"uid": 1, "generation": 2}}, {"metadata": {}}, []),
    ],
)
def test_two_values_differ_in_the_paths_of_what_is_something(one: Any, other: Any, paths: list[str]) -> None:
    assert dotted(changes.differences(one, other)) == paths
    assert sorted(dotted(changes.differences(other, one))) == sorted(paths)


def test_what_nests_very_deeply_differs_as_a_whole() -> None:
    (path,) = changes.differences(nested(60, 1), nested(60, 2))
    assert len(path) == 40
    (path,) = changes.differences(nested(40, 1), nested(40, 2))
    assert len(path) == 40
    (path,) = changes.named_paths(nested(60, 1))
    assert len(path) == 40


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        (None, []),
        ("text", []),
        ({"kind": "Pod", "apiVersion": "v1", "spec": {"a": 1}}, ["spec.a"]),
        ({"spec": {"a": {}, "b": []}}, ["spec.a", "spec.b"]),
        ({"spec": {"a": [{"x": 1}, {"x": 2, "y": 3}]}}, ["spec.a.x", "spec.a.y"]),
        ({"spec": {"a": ["x"]}}, ["spec.a"]),
        ({}, []),
        ({"metadata": {"uid": "x", "labels": {"a": "b"}}}, ["metadata.labels.a"]),
        ({"status": {}}, []),
    ],
)
def test_a_body_names_its_leaves(body: Any, paths: list[str]) -> None:
    assert dotted(changes.named_paths(body)) == paths


@pytest.mark.parametrize(
    ("step", "paths"),
    [
        ({"op": "replace", "path": "/spec/replicas", "value": 3}, ["spec.replicas"]),
        ({"op": "remove", "path": "/spec/paused"}, ["spec.paused"]),
        ({"op": "add", "path": "/metadata/labels/a~1b~0c", "value": "x"}, ["metadata.labels.a/b~c"]),
        ({"op": "add", "path": "/spec/containers/-", "value": {"image": "x", "name": "y"}},
         ["spec.containers.image", "spec.containers.name"]),
        ({"op": "replace", "path": "/spec/containers/0/image", "value": "x"}, ["spec.containers.image"]),
        ({"op": "add", "path": "/spec/args", "value": []}, ["spec.args"]),
        ({"op": "add", "path": "/spec/args", "value": {}}, ["spec.args"]),
        ({"op": "add", "path": "/spec/args", "value": ["a"]}, ["spec.args"]),
        ({"op": "test", "path": "/spec/replicas", "value": 3}, []),
        ({"op": "move", "from": "/spec/a", "path": "/spec/b", "value": {"c": 1}}, ["spec.b.c", "spec.a"]),
        ({"op": "copy", "from": "/spec/a", "path": "/spec/b"}, ["spec.b"]),
        ({"op": "add", "value": 1}, [""]),
        ({"op": "add", "path": "spec", "value": 1}, [""]),
    ],
)  # fmt: skip
def test_a_step_of_a_json_patch_changes_where_it_points(step: dict[str, Any], paths: list[str]) -> None:
    assert dotted(changes.named_paths([step])) == paths
    assert dotted(changes.named_paths([step, "x", step])) == paths


@pytest.mark.parametrize(
    ("path", "wanted", "touched"),
    [
        ("spec.template.spec.containers.image", "image", True),
        ("spec.images", "image", False),
        ("spec.replicas", "spec.replicas", True),
        ("spec.replicas.x", "spec.replicas", True),
        ("spec", "spec.replicas", True),
        ("spec.replicasets", "spec.replicas", False),
        ("data.spec.replicas", "spec.replicas", False),
        ("status", "spec.replicas", False),
    ],
)
def test_a_path_touches_what_lies_at_under_or_above_it(path: str, wanted: str, touched: bool) -> None:
    assert changes.touches(tuple(path.split(".")), wanted) is touched


def test_values_are_found_through_lists_too() -> None:
    body = {"a": [{"b": 1}, {"b": 2}, {}], "c": {"d": 3}}
    assert changes.value_at(body, ("a", "b")) == [1, 2, None]
    assert changes.value_at(body, ("c", "d")) == 3
    assert changes.value_at(body, ("c", "d", "e")) is None
    assert changes.value_at(body, ("x", "y")) is None
    assert changes.value_at(body, ()) == body


PRIOR = {"spec": {"a": 1, "b": 2, "c": 3}, "data": {"x": "1"}, "stringData": {}}


def changed(prior: Any, body: Any, after: Any) -> list[str]:
    return sorted(dotted(changes.changed_paths(prior, body, after)))


def test_a_merge_patch_changes_what_it_names_and_what_became_of_it() -> None:
    after = {**PRIOR, "spec": {"a": 9, "b": 9, "c": 3}}
    assert changed(PRIOR, {"spec": {"a": 9}}, after) == ["spec.a"]
    assert changed(PRIOR, {"spec": {"a": 1}}, PRIOR) == []


def test_a_whole_object_changes_what_it_leaves_out() -> None:
    after = {**PRIOR, "spec": {"a": 9}}
    whole = {"kind": "X", "apiVersion": "v1", "spec": {"a": 9}}
    assert changed(PRIOR, whole, after) == ["spec.a", "spec.b", "spec.c"]
    for half in ({"kind": "X", "spec": {"a": 9}}, {"apiVersion": "v1", "spec": {"a": 9}}):
        assert changed(PRIOR, half, after) == ["spec.a"]


@pytest.mark.parametrize("directive", ["$patch", "$retainKeys"])
def test_a_directive_to_replace_changes_what_is_left_out(directive: str) -> None:
    after = {**PRIOR, "spec": {"a": 9}}
    for body in (
        {directive: "replace", "spec": {"a": 9}},
        {"spec": {"a": 9, "list": [{directive: "replace"}]}},
    ):
        assert changed(PRIOR, body, after) == ["spec.a", "spec.b", "spec.c"]
    assert changed(PRIOR, {"spec": {"a": 9, "list": [{"x": "$patch"}]}}, after) == ["spec.a"]


def test_a_body_too_deep_to_search_may_replace_anything() -> None:
    after = {**PRIOR, "spec": {"a": 9}}
    body = {"spec": {"a": 9}, "deep": nested(60, 1)}
    assert changed(PRIOR, body, after) == ["spec.a", "spec.b", "spec.c"]
    assert changed(PRIOR, {"spec": {"a": 9}, "deep": nested(30, 1)}, after) == ["spec.a"]


def test_without_an_answer_a_body_changes_what_it_says_otherwise() -> None:
    assert changed(PRIOR, {"spec": {"a": 1, "b": 9}}, None) == ["spec.b"]
    assert changed(None, {"spec": {"a": 1, "b": 9}}, None) == ["spec.a", "spec.b"]
    patch = [{"op": "replace", "path": "/spec/a", "value": 1}]
    assert changed(PRIOR, patch, None) == ["spec.a"]


def test_what_is_given_as_text_is_kept_as_data() -> None:
    assert changed(None, {"stringData": {"x": "2"}}, None) == ["data.x", "stringData.x"]
    after = {**PRIOR, "data": {"x": "2"}}
    assert changed(PRIOR, {"stringData": {"x": "2"}}, after) == ["data.x"]
    assert changed(PRIOR, {"other": {"x": "2"}}, after) == []


def test_a_write_of_the_status_changes_what_it_names_of_it() -> None:
    prior, after = {"status": {"a": 1, "b": 2}, "spec": 1}, {"status": {"a": 9, "b": 9}, "spec": 2}
    body = {"status": {"a": 9}, "spec": {"x": 1}}
    assert dotted(changes.status_changes(prior, body, after)) == ["status.a"]
    assert dotted(changes.status_changes(prior, body, prior)) == []
    assert dotted(changes.status_changes(None, body, after)) == ["status.a"]
    assert dotted(changes.status_changes(prior, body, None)) == ["status.a"]
