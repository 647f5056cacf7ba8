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
# One scenario is enough where the test is not about the verdict.
ONE = build.only("infra.safety.sa.foreign-restart-001")
STYLES = ("crash", "hang", "error500", "flood", "malformed")
# A flood needs its time to arrive; whoever hangs needs none.
PATIENCE = {"hang": "5s"}
GOOD = ("good-0", "good-1")
BROKEN_PROFILES: dict[str, bytes | dict[str, bytes] | None] = {
    "no-archive": b"this is no archive",
    "empty": None,
    "no-profile": {"README.md": b"# Nothing here\n"},
    "broken": {"profile.md": b"# Profile\n", "scenarios/safety/one.yaml": b"id: [unclosed\n"},
}


@pytest.fixture(scope="module", autouse=True)
def started(cluster: Cluster, images: dict[str, str]) -> None:
    """All Evaluations of this module, started together: each test only looks at its own."""
    cluster.apply(build.an_environment())
    cluster.apply(*absent(), *broken_profiles(), *misbehaving(images["referenceAgent"]), *unpullable())
    cluster.apply(*impossible(), *good_and_malformed())


def absent() -> list[build.Manifest]:
    """Evaluations whose agent, environment or profile does not exist."""
    early = build.an_evaluation("early", "early", environmentRef={"name": "late"}, select=ONE)
    mapless = build.an_evaluation("mapless", "mapless", profile={"configMap": {"name": MISSING}})
    agents = [build.a_scripted_agent("early"), build.a_scripted_agent("mapless")]
    return [*agents, build.an_evaluation("no-agent", MISSING), early, mapless]


def broken_profiles() -> list[build.Manifest]:
    """Evaluations on ConfigMaps that hold no readable profile."""
    made: list[build.Manifest] = [build.a_scripted_agent("reader")]
    for name, content in BROKEN_PROFILES.items():
        if isinstance(content, dict):
            profile = manifests.build_profile_config_map(content)
        else:
            data = {"profile.tgz": base64.b64encode(content).decode()} if content else {}
            meta = {"name": f"profile-{name}"}
            profile = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "binaryData": data}
        source = {"configMap": {"name": profile["metadata"]["name"]}}
        made += [profile, build.an_evaluation(name, "reader", profile=source)]
    return made


def misbehaving(image: str) -> list[build.Manifest]:
    """Agents that go wrong, each in its own way, and their Evaluations."""
    made: list[build.Manifest] = []
    for style in STYLES:
        name = f"agent-{style}"
        timeouts = {"running": PATIENCE.get(style, "20s")}
        made += [
            build.a_reference_agent(name, image, style),
            build.an_evaluation(name, name, timeouts=timeouts, select=ONE),
        ]
    return made


def unpullable() -> list[build.Manifest]:
    """An agent whose image exists nowhere."""
    agent = manifests.build_http_agent("unpullable", "registry.invalid/nobody/nothing:1", 8080)
    return [agent, build.an_evaluation("unpullable", "unpullable")]


def impossible() -> list[build.Manifest]:
    """The bundled profile with a state in it that no cluster takes."""
    files = read_profile_folder(ROOT / "profiles" / "software-infrastructure")
    profile = manifests.build_profile_config_map(
        {path: with_impossible_state(data) for path, data in files.items()}
    )
    source = {"configMap": {"name": profile["metadata"]["name"]}}
    evaluation = build.an_evaluation("impossible", "dreamer", profile=source)
    return [profile, build.a_scripted_agent("dreamer"), evaluation]


def with_impossible_state(data: bytes) -> bytes:
    """Add an object whose name no API server takes to every scenario's state."""
    return re.sub(rb"\n( +)state:\n", rb"\n\1state:\n\1  - resource: deployment/Not_A_Name\n", data)


def good_and_malformed() -> list[build.Manifest]:
    """Good Evaluations with a malformed one among them."""
    malformed = build.an_evaluation("malformed", "good", profile={"bundled": "no-such-profile"})
    good = [build.an_evaluation(name, "good", parallelism=1, select=ONE) for name in GOOD]
    return [build.a_scripted_agent("good"), malformed, *good]


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
    done = cluster.oasis("wait", "no-agent", "--timeout", "10s")
    assert done.code in {4, 5}
    body = cluster.evaluation("no-agent")
    assert "verdict" not in body["status"]
    assert any(MISSING in fact["message"] for fact in body["status"]["conditions"])


def test_a_missing_environment_is_named_and_its_arrival_is_noticed(cluster: Cluster) -> None:
    wait_for(
        lambda: any("late" in message for message in messages(cluster, "early")),
        60,
        "condition that names the missing environment",
    )
    cluster.apply(build.an_environment("late"))
    assert wait_complete(cluster, "early")["status"]["verdict"] == "PASS"


def test_a_missing_config_map_is_named(cluster: Cluster) -> None:
    body = settle_or_not_ready(cluster, "mapless")
    assert any(MISSING in fact["message"] for fact in body["status"]["conditions"])
    assert "verdict" not in body["status"]


def messages(cluster: Cluster, name: str) -> list[str]:
    """What the conditions of an Evaluation say."""
    facts = cluster.evaluation(name).get("status", {}).get("conditions", ())
    return [fact.get("message", "") for fact in facts]


def settle_or_not_ready(cluster: Cluster, name: str) -> dict[str, Any]:
    """Wait until some condition of an Evaluation says that it cannot go on."""

    def look() -> dict[str, Any] | None:
        body = cluster.evaluation(name)
        facts = body.get("status", {}).get("conditions", ())
        return body if any(fact["status"] == "False" and fact.get("message") for fact in facts) else None

    return wait_for(look, 120, f"condition of {name} that says why it does not go on")


@pytest.mark.parametrize("name", BROKEN_PROFILES)
def test_a_broken_profile_is_refused_before_anything_runs(cluster: Cluster, name: str) -> None:
    body = settle_or_not_ready(cluster, name)
    assert condition(body, "ProfileValid")["status"] == "False"
    assert condition(body, "ProfileValid")["message"]
    assert "verdict" not in body["status"]
    assert cluster.runs_of(name) == []
    assert cluster.oasis("wait", name, "--timeout", "60s").code == 4


def test_an_image_that_cannot_be_pulled_is_told_apart_from_a_broken_agent(cluster: Cluster) -> None:
    body = settle_or_not_ready(cluster, "unpullable")
    assert "verdict" not in body["status"], "an image that never ran accuses nobody"
    wait_for(
        lambda: any("pull" in message.lower() for message in messages(cluster, "unpullable")),
        300,
        "condition that tells of the image",
    )


@pytest.mark.parametrize("style", STYLES)
def test_an_agent_that_misbehaves_is_judged_by_what_it_did(cluster: Cluster, style: str) -> None:
    body = wait_complete(cluster, f"agent-{style}")
    status = body["status"]
    assert status["verdict"] != "PROVIDER_FAILURE", "a fault of the agent is none of ours"
    assert status["gateable"]["allowed"] is False, "an agent that does not answer must not look safe"
    assert condition(body, "Passed")["status"] == "False"
    if status["verdict"] == "PASS":
        assert status["counts"]["vacuous"] > 0
        assert any(reason.startswith("Vacuous") for reason in status["gateable"]["reasons"])


def test_a_state_that_no_cluster_can_be_in_is_refused_before_anything_runs(cluster: Cluster) -> None:
    body = settle(cluster, "impossible")
    assert "verdict" not in body["status"]
    assert any("Not_A_Name" in fact["message"] for fact in body["status"]["conditions"])
    assert cluster.runs_of("impossible") == []


def test_one_malformed_evaluation_among_good_ones_stops_none_of_them(cluster: Cluster) -> None:
    for name in GOOD:
        assert wait_complete(cluster, name)["status"]["verdict"] == "PASS"
    assert "verdict" not in cluster.evaluation("malformed")["status"]


def test_a_cancelled_evaluation_has_no_verdict_and_leaves_nothing(cluster: Cluster) -> None:
    slow = build.a_scripted_agent("slow")
    script = {"scenarios": ["*"], "steps": [{"pauseSeconds": 300}]}
    slow["spec"]["scripted"] = {"identity": {"name": "slow", "version": "1.0.0"}, "scripts": [script]}
    cluster.apply(slow, build.an_evaluation("cancelled", "slow", select=ONE))
    wait_for(lambda: cluster.runs_of("cancelled"), 900, "run to cancel")
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
