from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from oasis_operator.sidecar.probe import failing_pod, narration, stages
from oasis_operator.world.manifests import Condition, Expectation, Kind

BOOT = "kind: Stage\nmetadata: {name: boot}\n"
CONTAINERS = [
    {"name": "web", "image": "web:v1", "env": [{"name": "A", "value": 'x"{{ }}\\('}], "resources": {}}
]


def failing(kind: Any = Kind.DEPLOYMENT, condition: Any = Condition.CRASH_LOOP, **more: Any) -> Any:
    return Expectation(kind, "shop", "web", condition, restarts=6, container="web", **more)


def documents(*expectations: Any) -> Any:
    text = stages.build_stages(BOOT, [(expectation, CONTAINERS) for expectation in expectations])
    return list(yaml.safe_load_all(text))


def test_the_stages_of_the_boot_come_first_and_each_failure_adds_two() -> None:
    names = [document["metadata"]["name"] for document in documents(failing(), failing(Kind.POD))]
    assert names == ["boot", "fail-0", "fail-0-again", "fail-1", "fail-1-again"]


def test_failures_win_over_the_stages_of_the_boot() -> None:
    assert all(document["spec"]["weight"] == 1 for document in documents(failing())[1:])


@pytest.mark.parametrize("condition", list(stages.FAILURES))
def test_every_failure_gives_all_that_the_template_asks_for(condition: Any) -> None:
    template = documents(failing(condition=condition))[1]["spec"]["next"]["statusTemplate"]
    assigned = set(re.findall(r"{{ \$(\w+) :=", template))
    used = set(re.findall(r"\$(\w+)", failing_pod.TEMPLATE))
    assert used <= assigned | {"_", "member", "containers"}


def test_selection_does_not_need_a_mark_on_the_pod() -> None:
    keys = [match["key"] for match in documents(failing())[1]["spec"]["selector"]["matchExpressions"]]
    assert not any("labels" in key or "annotations" in key for key in keys)
    identity = next(key for key in keys if "spec.containers" in key)
    assert json.loads(identity.split(" == ")[-1])[0]["env"] == CONTAINERS[0]["env"]


def test_what_fails_before_the_containers_start_is_known_by_what_fails() -> None:
    stage = documents(failing(condition=Condition.INIT_ERROR))[1]
    keys = [match["key"] for match in stage["spec"]["selector"]["matchExpressions"]]
    assert any(key.startswith("[.spec.initContainers[]?") for key in keys)
    assert not any("spec.containers" in key for key in keys)


@pytest.mark.parametrize(
    ("restarts", "delay"), [(0, "10s"), (1, "10s"), (2, "20s"), (4, "1m20s"), (6, "5m0s"), (10_000, "5m0s")]
)
def test_the_back_off_is_that_of_a_node(restarts: Any, delay: Any) -> None:
    assert stages.back_off(restarts) == delay


def test_a_deployments_pods_are_known_by_the_name_of_their_replica_set() -> None:
    pattern = re.compile(stages.owner_pattern(failing()))
    assert pattern.match("web-7c5f99d98")
    assert not pattern.match("web-api-7c5f99d98")
    assert re.match(stages.owner_pattern(failing(Kind.STATEFULSET)), "web")


def test_an_event_says_what_a_node_says_of_a_crashing_container() -> None:
    pod = {
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "u", "resourceVersion": "1"},
        "spec": {"nodeName": "n"},
        "status": {"containerStatuses": [{"name": "web", "image": "web:v1"}]},
    }
    event = narration.build_event(failing(), pod, "2026-11-30T08:00:00Z")
    assert event["message"] == "Back-off restarting failed container web in pod web-1_shop(u)"
    assert event["source"] == {"component": "kubelet", "host": "n"}
    assert event["involvedObject"]["fieldPath"] == "spec.containers{web}"


def test_what_is_unready_is_cured_by_another_probe_and_by_nothing_less() -> None:
    for condition, decides in ((Condition.UNREADY, True), (Condition.CRASH_LOOP, False)):
        assert ("readinessProbe" in stages.members_that_decide(failing(condition=condition))) is decides


def test_only_what_waits_or_ends_by_itself_has_a_second_stage() -> None:
    for condition, names in (
        (Condition.EVICTED, ["fail-0"]),
        (Condition.UNREADY, ["fail-0"]),
        (Condition.ROLLING_UPDATE, ["fail-0", "fail-0-again"]),
    ):
        found = documents(failing(condition=condition))[1:]
        assert [document["metadata"]["name"] for document in found] == names


def test_a_slow_start_ends_well() -> None:
    first, second = documents(failing(condition=Condition.ROLLING_UPDATE))[1:]
    assert "$well := false" in first["spec"]["next"]["statusTemplate"]
    assert "$well := true" in second["spec"]["next"]["statusTemplate"]
    assert second["spec"]["delay"]["durationMilliseconds"] >= 120_000
