"""What goes wrong on the user's side, on the agent's side and on ours, each told apart and told clearly."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build
from e2e.kubectl import ROOT, Cluster, condition, wait_complete, wait_for
from oasis_operator.cli import manifests
from oasis_operator.cli.files import read_profile_folder

if TYPE_CHECKING:
    from pathlib import Path

MISSING = "missing"


@pytest.fixture(scope="module", autouse=True)
def environment(cluster: Cluster) -> None:
    """The Environment of this module."""
    cluster.apply(build.an_environment())


def settle(cluster: Cluster, name: str) -> dict[str, Any]:
    """Wait until an Evaluation is complete or stalled."""

    def look() -> dict[str, Any] | None:
        body = cluster.evaluation(name)
        done = any(condition(body, kind).get("status") == "True" for kind in ("Complete", "Stalled"))
        return body if done else None

    return wait_for(look, 300, f"settled evaluation {name}")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"paralelism": 2}, "paralelism"),
        ({"tier": 4}, "tier"),
        ({"profile": {}}, "exactly one of"),
        ({"profile": {"bundled": "a", "configMap": {"name": "b"}}}, "exactly one of"),
        ({"parallelism": 0}, "parallelism"),
        ({"timeouts": {"running": "2d"}}, "running"),
        ({"select": {"classes": ["capability"]}}, "safety"),
        ({"verdict": "PASS"}, "verdict"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_spec_is_refused_and_the_field_is_named(
    cluster: Cluster, spec: dict[str, Any], told: str
) -> None:
    body = build.an_evaluation("wrong", "careful")
    body["spec"].update(spec)
    done = cluster.kubectl("create", "--validate=strict", "-f", "-", stdin=json.dumps(body))
    assert done.code != 0
    assert told in done.err


def test_the_command_line_refuses_a_wrong_file_with_code_2(cluster: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(build.an_evaluation("wrong", "careful", paralelism=2)))
    done = cluster.oasis("run", "-f", str(file))
    assert done.code == 2
    assert "paralelism" in done.err


def test_a_missing_agent_is_named_and_is_no_verdict(cluster: Cluster) -> None:
    cluster.apply(build.an_evaluation("no-agent", MISSING))
    done = cluster.oasis("wait", "no-agent", "--timeout", "60s")
    assert done.code in {4, 5}
    body = cluster.evaluation("no-agent")
    assert "verdict" not in body["status"]
    assert any(MISSING in fact["message"] for fact in body["status"]["conditions"])


def test_a_missing_environment_is_named_and_its_arrival_is_noticed(cluster: Cluster) -> None:
    agent = build.a_scripted_agent("early")
    cluster.apply(agent, build.an_evaluation("early", "early", environmentRef={"name": "late"}))
    wait_for(
        lambda: any(
            "late" in fact["message"] for fact in cluster.evaluation("early")["status"]["conditions"]
        ),
        60,
        "condition that names the missing environment",
    )
    cluster.apply(build.an_environment("late"))
    assert wait_complete(cluster, "early")["status"]["verdict"] == "PASS"


def test_a_missing_config_map_is_named(cluster: Cluster) -> None:
    cluster.apply(
        build.a_scripted_agent("mapless"),
        build.an_evaluation("mapless", "mapless", profile={"configMap": {"name": MISSING}}),
    )
    body = settle_or_not_ready(cluster, "mapless")
    assert any(MISSING in fact["message"] for fact in body["status"]["conditions"])
    assert "verdict" not in body["status"]


def settle_or_not_ready(cluster: Cluster, name: str) -> dict[str, Any]:
    """Wait until some condition of an Evaluation says that it cannot go on."""

    def look() -> dict[str, Any] | None:
        body = cluster.evaluation(name)
        facts = body.get("status", {}).get("conditions", ())
        return body if any(fact["status"] == "False" and fact.get("message") for fact in facts) else None

    return wait_for(look, 120, f"condition of {name} that says why it does not go on")


@pytest.mark.parametrize(
    ("name", "archive"),
    [
        ("no-archive", b"this is no archive"),
        ("empty", None),
        ("no-profile", {"README.md": b"# Nothing here\n"}),
        ("broken", {"profile.md": b"# Profile\n", "scenarios/safety/one.yaml": b"id: [unclosed\n"}),
    ],
)
def test_a_broken_profile_is_refused_before_anything_runs(cluster: Cluster, name: str, archive: Any) -> None:
    if isinstance(archive, dict):
        made = manifests.build_profile_config_map(archive)
    else:
        data = {"profile.tgz": base64.b64encode(archive).decode()} if archive else {}
        made = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"profile-{name}"},
            "binaryData": data,
        }
    source = {"configMap": {"name": made["metadata"]["name"]}}
    cluster.apply(made, build.a_scripted_agent("reader"), build.an_evaluation(name, "reader", profile=source))
    body = settle_or_not_ready(cluster, name)
    assert condition(body, "ProfileValid")["status"] == "False"
    assert condition(body, "ProfileValid")["message"]
    assert "verdict" not in body["status"]
    assert cluster.runs_of(name) == []
    assert cluster.oasis("wait", name, "--timeout", "60s").code == 4


def test_an_image_that_cannot_be_pulled_is_told_apart_from_a_broken_agent(cluster: Cluster) -> None:
    image = "registry.invalid/nobody/nothing:1"
    cluster.apply(
        manifests.build_http_agent("unpullable", image, 8080), build.an_evaluation("unpullable", "unpullable")
    )
    body = settle_or_not_ready(cluster, "unpullable")
    assert "verdict" not in body["status"], "an image that never ran accuses nobody"
    wait_for(
        lambda: any(
            "pull" in fact["message"].lower()
            for fact in cluster.evaluation("unpullable")["status"]["conditions"]
        ),
        300,
        "condition that tells of the image",
    )


@pytest.mark.parametrize("style", ["crash", "hang", "error500", "flood", "malformed"])
def test_an_agent_that_misbehaves_is_judged_by_what_it_did(
    cluster: Cluster, images: dict[str, str], style: str
) -> None:
    name = f"agent-{style}"
    cluster.apply(
        build.a_reference_agent(name, images["referenceAgent"], style),
        build.an_evaluation(name, name, timeouts={"running": "20s"}),
    )
    body = wait_complete(cluster, name)
    status = body["status"]
    assert status["verdict"] != "PROVIDER_FAILURE", "a fault of the agent is none of ours"
    assert status["gateable"]["allowed"] is False, "an agent that does not answer must not look safe"
    assert condition(body, "Passed")["status"] == "False"
    if status["verdict"] == "PASS":
        assert status["counts"]["vacuous"] > 0


def test_a_state_that_no_cluster_can_be_in_is_refused_before_anything_runs(cluster: Cluster) -> None:
    files = read_profile_folder(ROOT / "profiles" / "software-infrastructure")
    made = manifests.build_profile_config_map(
        {path: with_impossible_state(data) for path, data in files.items()}
    )
    source = {"configMap": {"name": made["metadata"]["name"]}}
    cluster.apply(
        made, build.a_scripted_agent("dreamer"), build.an_evaluation("impossible", "dreamer", profile=source)
    )
    body = settle(cluster, "impossible")
    assert "verdict" not in body["status"]
    assert any("Not_A_Name" in fact["message"] for fact in body["status"]["conditions"])
    assert cluster.runs_of("impossible") == []


def with_impossible_state(data: bytes) -> bytes:
    """Add an object whose name no API server takes to every scenario's state."""
    return re.sub(rb"\n( +)state:\n", rb"\n\1state:\n\1  - resource: deployment/Not_A_Name\n", data)


def test_one_malformed_evaluation_among_good_ones_stops_none_of_them(cluster: Cluster) -> None:
    cluster.apply(build.a_scripted_agent("good"))
    good = [build.an_evaluation(f"good-{number}", "good", parallelism=1) for number in range(2)]
    cluster.apply(build.an_evaluation("malformed", "good", profile={"bundled": "no-such-profile"}), *good)
    for body in good:
        assert wait_complete(cluster, body["metadata"]["name"])["status"]["verdict"] == "PASS"
    assert "verdict" not in cluster.evaluation("malformed")["status"]


def test_a_cancelled_evaluation_has_no_verdict_and_leaves_nothing(cluster: Cluster) -> None:
    slow = build.a_scripted_agent("slow")
    script = {"scenarios": ["*"], "steps": [{"pauseSeconds": 300}]}
    slow["spec"]["scripted"] = {"identity": {"name": "slow", "version": "1.0.0"}, "scripts": [script]}
    cluster.apply(slow, build.an_evaluation("cancelled", "slow"))
    wait_for(lambda: cluster.runs_of("cancelled"), 300, "run to cancel")
    cluster.must("patch", "evaluation", "cancelled", "--type=merge", "-p", '{"spec":{"state":"Cancel"}}')
    body = wait_complete(cluster, "cancelled", 180)
    assert "verdict" not in body["status"]
    assert cluster.oasis("wait", "cancelled", "--timeout", "30s").code == 4
    wait_for(lambda: not own_pods(cluster, "cancelled"), 120, "end of its pods")


def own_pods(cluster: Cluster, name: str) -> list[str]:
    """The pods of an Evaluation's runs."""
    runs = {run["metadata"]["name"] for run in cluster.runs_of(name)}
    label = "oasis-operator.dev/scenario-run"
    return [
        pod["metadata"]["name"]
        for pod in cluster.items("pods")
        if pod["metadata"].get("labels", {}).get(label) in runs
    ]
