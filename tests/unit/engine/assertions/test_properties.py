"""Members of a state check, each on the smallest object that has it."""

from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import deployment, pod, thing
from oasis_operator.engine.assertions import properties


def holds(item: dict[str, Any], name: str, expected: Any) -> bool:
    reader = properties.reader_of(name, expected)
    assert reader is not None
    return reader(item, expected)


def a_workload(**spec: Any) -> dict[str, Any]:
    return thing("CronJob", "nightly", spec=spec)


MAIN = {"name": "main", "image": "web:v1"}


@pytest.mark.parametrize("word", ["running", "Available", "READY", "healthy"])
def test_a_status_is_read_where_it_means_that_the_object_runs(word: str) -> None:
    assert holds(deployment(), "status", word)
    assert not holds(deployment(status={"readyReplicas": 2}), "status", word)


@pytest.mark.parametrize("name", ["status", "colour", "spec", "specx.replicas", "metadatax"])
def test_a_word_without_a_meaning_has_no_reader(name: str) -> None:
    assert properties.reader_of(name, "degraded") is None


@pytest.mark.parametrize("path", ["metadata.name", "spec.a.b", "status.phase", "data.key"])
def test_a_path_is_followed_to_its_end(path: str) -> None:
    item: dict[str, Any] = {}
    inner = item
    *way, last = path.split(".")
    for key in way:
        inner = inner.setdefault(key, {})
    inner[last] = "there"
    assert holds(item, path, "there")
    assert not holds(item, path, "elsewhere")


def test_the_containers_of_every_kind_of_workload_are_found() -> None:
    template = {"template": {"spec": {"containers": [MAIN]}}}
    for item in (
        thing("Pod", "p", spec={"containers": [MAIN]}),
        thing("Deployment", "web", spec=template),
        a_workload(jobTemplate={"spec": template}),
    ):
        assert properties.containers(item) == [MAIN]
        assert holds(item, "image", "web:v1")
        assert not holds(item, "image", "web:v2")


def test_containers_that_are_none_are_left_out() -> None:
    assert properties.containers(thing("ConfigMap", "x")) == []
    assert properties.containers({"spec": {"template": {"spec": "broken"}}}) == []
    assert properties.containers({"spec": {"containers": [None, "x", MAIN]}}) == [MAIN]


def test_a_workload_that_names_no_replicas_has_one() -> None:
    assert properties.replicas_of({"spec": {"replicas": 0}}) == 0
    assert properties.replicas_of({"spec": {}}) == 1
    assert holds(deployment(replicas=2), "replicas", 2)
    assert not holds(deployment(replicas=2), "replicas", 3)
    assert not holds(deployment(replicas=2), "replicas", "2")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"phase": "Running", "containerStatuses": [{"ready": True}, {"ready": True}]}, True),
        ({"phase": "Running", "containerStatuses": [{"ready": True}, {"ready": False}]}, False),
        ({"phase": "Running", "containerStatuses": [{}]}, False),
        ({"phase": "Running", "containerStatuses": []}, False),
        ({"phase": "Running"}, False),
        ({"phase": "Pending", "containerStatuses": [{"ready": True}]}, False),
        ({}, False),
    ],
)
def test_a_pod_runs_when_all_its_containers_are_ready(status: dict[str, Any], expected: bool) -> None:
    assert properties.is_running({**pod("p"), "status": status}) is expected


def test_a_pod_is_not_asked_for_ready_replicas() -> None:
    assert not properties.is_running({**pod("p"), "status": {"readyReplicas": 1}})


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"readyReplicas": 3}, True),
        ({"readyReplicas": 4}, True),
        ({"readyReplicas": 2}, False),
        ({}, False),
        ({"readyReplicas": 3, "unavailableReplicas": 1}, False),
        ({"readyReplicas": 3, "unavailableReplicas": 0}, True),
        ({"readyReplicas": 3, "observedGeneration": 7}, True),
        ({"readyReplicas": 3, "observedGeneration": 6}, False),
    ],
)
def test_a_workload_runs_when_what_it_asks_for_is_ready(status: dict[str, Any], expected: bool) -> None:
    item = deployment(status=status)
    item["metadata"]["generation"] = 7
    assert properties.is_running(item) is expected


def test_an_object_without_metadata_that_says_what_it_observed_does_not_run() -> None:
    assert not properties.is_running({"spec": {}, "status": {"observedGeneration": 1, "readyReplicas": 1}})
    assert properties.is_running({"spec": {}, "status": {"readyReplicas": 1}})
    assert not properties.is_running({"spec": {}})


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"desiredNumberScheduled": 2, "numberReady": 2}, True),
        ({"desiredNumberScheduled": 2, "numberReady": 1}, False),
        ({"desiredNumberScheduled": 2, "numberReady": 2, "numberUnavailable": 1}, False),
        ({"desiredNumberScheduled": 2}, False),
        ({"desiredNumberScheduled": 0, "numberReady": 0}, False),
        ({}, False),
    ],
)
def test_a_daemon_set_runs_when_it_is_ready_on_each_of_its_nodes(
    status: dict[str, Any], expected: bool
) -> None:
    assert properties.is_running(thing("DaemonSet", "agent", status=status)) is expected


def test_data_of_a_config_map_is_text_and_is_never_decoded() -> None:
    stored = thing("ConfigMap", "x", data={"PW": "aHVudGVy"})
    assert properties.plain_data(stored) == {"PW": "aHVudGVy"}
    assert properties.plain_data({"data": ["PW"]}) == {}
    assert not holds(stored, "data", {"PW": "hunter"})
    assert holds({**stored, "kind": "Secret"}, "data", {"PW": "hunter"})
    assert not holds({**stored, "kind": "Secret"}, "data", {"PW": "hunted"})


def test_a_secret_is_compared_as_text_too() -> None:
    stored = thing("Secret", "x", data={"ON": "dHJ1ZQ==", "PORT": "ODA="})
    assert holds(stored, "data", {"ON": True, "PORT": 80})
    assert not holds(stored, "data", {"ON": False})


def test_every_expected_member_of_the_data_must_be_there() -> None:
    stored = thing("ConfigMap", "x", data={"A": "1", "B": "2"})
    assert holds(stored, "data", {"A": "1", "B": "2"})
    assert not holds(stored, "data", {"A": "1", "B": "3"})
    assert not holds(stored, "data", {"C": "1"})
    assert not holds(stored, "data", "A")


def test_data_that_is_no_text_when_decoded_equals_nothing_but_itself() -> None:
    for stored in ("/w==", "aHVudGVy!", "aHV"):
        item = thing("Secret", "x", data={"K": stored})
        assert holds(item, "data", {"K": stored})
        assert not holds(item, "data", {"K": "hunter"})
        assert not holds(item, "data", {"K": "None"})


@pytest.mark.parametrize("name", ["labels", "annotations"])
@pytest.mark.parametrize(
    ("there", "expected", "outcome"),
    [
        ({"a": "b", "c": "d"}, {"a": "b"}, True),
        ({"a": "b", "c": "d"}, {"a": "b", "c": "d"}, True),
        ({"a": "b", "c": "d"}, {"a": "b", "c": "x"}, False),
        ({"a": "b"}, {"c": "b"}, False),
        ({"a": "true"}, {"a": True}, True),
        ({"a": "b"}, {}, True),
        ({"a": "b"}, None, False),
        (None, {"a": "b"}, False),
        (None, {}, True),
    ],
)
def test_marks_hold_every_expected_member(name: str, there: Any, expected: Any, outcome: bool) -> None:
    assert holds({"metadata": {name: there}}, name, expected) is outcome


@pytest.mark.parametrize("selector", [{"app": "web"}, {"matchLabels": {"app": "web"}}])
def test_a_selector_is_that_of_a_service_or_of_a_workload(selector: dict[str, Any]) -> None:
    item = {"spec": {"selector": selector}}
    assert holds(item, "selector", {"app": "web"})
    assert not holds(item, "selector", {"app": "api"})


def test_a_type_is_that_of_a_secret_or_of_a_service() -> None:
    assert holds(thing("Secret", "db", type="Opaque"), "type", "Opaque")
    assert not holds(thing("Secret", "db", type="Opaque"), "type", "ClusterIP")
    assert holds(thing("Service", "web", spec={"type": "ClusterIP"}), "type", "ClusterIP")
    assert not holds(thing("Service", "web", spec={"type": "LoadBalancer"}), "type", "ClusterIP")


@pytest.mark.parametrize(
    ("name", "item", "good", "bad"),
    [
        ("sync_status", {"status": {"sync": {"status": "OutOfSync"}}}, "outofsync", "Synced"),
        ("sync_status", {"status": {"sync": {"status": "synced"}}}, "SYNCED", "OutOfSync"),
        ("storage", {"spec": {"resources": {"requests": {"storage": "100Gi"}}}}, "100Gi", "10Gi"),
        ("bound", {"status": {"phase": "Bound"}}, True, False),
        ("bound", {"status": {"phase": "Pending"}}, False, True),
        ("min_replicas", {"spec": {"minReplicas": 2, "maxReplicas": 9}}, 2, 9),
        ("max_replicas", {"spec": {"minReplicas": 2, "maxReplicas": 9}}, 9, 2),
        ("schedulable", {"spec": {"unschedulable": True}}, False, True),
        ("schedulable", {"spec": {}}, True, False),
        ("phase", {"status": {"phase": "Active"}}, "Active", "Terminating"),
    ],
)
def test_a_word_stands_for_one_field(name: str, item: dict[str, Any], good: Any, bad: Any) -> None:
    assert holds(item, name, good)
    assert not holds(item, name, bad)


@pytest.mark.parametrize(
    ("there", "expected", "equal"),
    [
        (3, 3, True),
        (3, 4, False),
        (3, 3.0, True),
        ("3", 3, True),
        ("3", 4, False),
        (3, "3", False),
        ("true", True, True),
        ("True", True, False),
        ("false", False, True),
        (True, True, True),
        (True, False, False),
        (True, 1, False),
        (1, True, False),
        (0, False, False),
        ([1], [1], True),
        (None, None, True),
        (None, "None", False),
    ],
)
def test_what_yaml_made_of_a_text_is_still_that_text(there: Any, expected: Any, equal: bool) -> None:
    assert holds({"spec": {"x": there}}, "spec.x", expected) is equal


def test_a_daemon_set_on_a_single_node_runs_when_it_is_ready_there() -> None:
    single = {"desiredNumberScheduled": 1, "numberReady": 1}
    assert properties.is_running(thing("DaemonSet", "agent", status=single))
    assert not properties.is_running(thing("DaemonSet", "agent", status={"desiredNumberScheduled": 1}))
    assert not properties.is_running(thing("DaemonSet", "agent", status={"numberReady": 1}))


def test_labels_that_are_none_are_never_what_was_expected() -> None:
    assert not holds({"metadata": {"labels": {"a": "b"}}}, "labels", "ab")
    assert not holds({"metadata": {"labels": "ab"}}, "labels", {})
    assert not holds({"metadata": {}}, "labels", {"a": "b"})


def test_only_a_truth_value_is_written_in_small_letters() -> None:
    assert holds({"spec": {"x": "Web"}}, "spec.x", "Web")
    assert not holds({"spec": {"x": "web"}}, "spec.x", "Web")
    assert holds({"spec": {"x": "1e+20"}}, "spec.x", 1e20)
