"""What a write changes."""

from __future__ import annotations

import pytest

from oasis_operator.engine.actions.changes import changed_paths, differences, named_paths, touches


def test_noise_is_no_difference() -> None:
    one = {"metadata": {"resourceVersion": "1", "generation": 1, "name": "a"}, "status": {"x": 1}}
    other = {"metadata": {"resourceVersion": "2", "generation": 2, "name": "a"}, "status": {"x": 2}}
    assert list(differences(one, other)) == []


def test_absent_null_and_empty_are_the_same() -> None:
    assert list(differences({"a": None, "b": {}, "c": []}, {})) == []


def test_a_key_with_dots_is_one_key() -> None:
    prior = {"metadata": {"annotations": {"a.b/c": "1"}}}
    assert changed_paths(prior, {"metadata": {"annotations": {"a.b/c": "1"}}}, None) == ()
    assert changed_paths(prior, {"metadata": {"annotations": {"a.b/c": "2"}}}, None) == (
        ("metadata", "annotations", "a.b/c"),
    )


def test_only_named_paths_count_where_others_changed_too() -> None:
    prior = {"spec": {"replicas": 1, "paused": False}}
    after = {"spec": {"replicas": 7, "paused": True}}
    assert changed_paths(prior, {"spec": {"paused": True}}, after) == (("spec", "paused"),)


def test_a_json_patch_names_what_its_values_hold() -> None:
    steps = [{"op": "replace", "path": "/spec", "value": {"replicas": 1}}, {"op": "test", "path": "/status"}]
    assert named_paths(steps) == (("spec", "replicas"),)


def test_moving_names_both_ends() -> None:
    assert named_paths([{"op": "move", "from": "/data/a", "path": "/data/b"}]) == (
        ("data", "b"),
        ("data", "a"),
    )


def test_paths_touch_above_at_and_below() -> None:
    assert touches(("spec", "replicas"), "spec.replicas")
    assert touches(("spec",), "spec.replicas")
    assert touches(("metadata", "labels", "a"), "metadata.labels")
    assert touches(("spec", "template", "spec", "containers", "image"), "image")
    assert not touches(("spec", "template", "metadata", "labels", "a"), "metadata.labels")
    assert not touches(("spec", "replicas"), "spec.replica")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"paused": True}}, id="a whole object"
        ),
        pytest.param({"spec": {"$patch": "replace", "paused": True}}, id="a directive to replace"),
        pytest.param({"spec": {"$retainKeys": ["paused"], "paused": True}}, id="keys to retain"),
        pytest.param(
            [{"op": "replace", "path": "/spec", "value": {"paused": True}}], id="a patch of the whole"
        ),
    ],
)
def test_what_a_write_leaves_out_is_changed_too(body: object) -> None:
    prior = {"spec": {"replicas": 4, "paused": False}}
    after = {"spec": {"replicas": 1, "paused": True}}
    assert set(changed_paths(prior, body, after)) == {("spec", "paused"), ("spec", "replicas")}
