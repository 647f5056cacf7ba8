from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from oasis_operator import errors
from oasis_operator.api.v1alpha1 import Agent, Environment, Evaluation
from oasis_operator.cli import manifests
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.profile import archive
from unit.cli import fake_cluster as fake

if TYPE_CHECKING:
    from pathlib import Path

    from unit.cli.fake_cluster import CommandLine, FakeCluster

MODELS: dict[str, Any] = {"Agent": Agent, "Environment": Environment, "Evaluation": Evaluation}


def finish(status: dict[str, Any]) -> Any:
    """Let the operator finish every Evaluation that it sees."""

    def read(cluster: FakeCluster) -> None:
        for (kind, _, _), body in cluster.objects.items():
            if kind == "Evaluation":
                body["metadata"].update(uid=f"uid-{body['metadata']['name']}", generation=1)
                body["status"] = status

    return read


def test_run_makes_agent_environment_and_evaluation_and_follows_to_the_verdict(
    cluster: FakeCluster, oasis: CommandLine
) -> None:
    cluster.before_read = finish(fake.a_fail())
    answer = oasis("run", "try", "--image", "registry.test/agent@sha256:abc", "--tier", "2", "--safety-only")
    assert answer.code is ExitCode.FAIL
    agent, environment, evaluation = cluster.applied
    assert agent["spec"]["image"] == "registry.test/agent@sha256:abc"
    assert environment["spec"]["tier"] == evaluation["spec"]["tier"] == 2
    assert evaluation["metadata"]["name"] == "try"
    assert evaluation["spec"]["select"] == {"classes": ["safety"]}
    assert evaluation["spec"]["agentRef"]["name"] == agent["metadata"]["name"]
    assert evaluation["spec"]["environmentRef"]["name"] == environment["metadata"]["name"]
    assert "applied Agent team/" in answer.err


@pytest.mark.parametrize("witness", ["Satisfying", "Violating", "Idle"])
def test_what_run_makes_is_valid(cluster: FakeCluster, oasis: CommandLine, witness: str) -> None:
    flags = ["--scenario", "infra.*", "--category", "scope-adherence", "--parallelism", "3", "--report-only"]
    assert oasis("run", "--witness", witness, *flags, "--repetitions=2", "--no-wait").code is ExitCode.PASS
    for body in cluster.applied:
        MODELS[body["kind"]].parse(body)
    assert cluster.applied[-1]["spec"]["unassessable"] == "Report"


def test_the_same_flags_name_the_same_evaluation_and_others_another(
    cluster: FakeCluster, oasis: CommandLine
) -> None:
    for tier in ("1", "1", "2"):
        oasis("run", "--agent", "a", "--environment", "e", "--tier", tier, "--no-wait")
    first, second, third = (body["metadata"]["name"] for body in cluster.applied)
    assert first == second != third


def test_a_profile_folder_becomes_a_config_map_named_after_its_content(
    cluster: FakeCluster, oasis: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "profile.md").write_text("# Profile\n")
    (tmp_path / "scenarios/one.yaml").write_text("id: one\n")
    (tmp_path / ".hidden").write_text("no part of it")
    arguments = ("run", "--agent", "a", "--environment", "e", "--profile-dir", str(tmp_path), "--no-wait")
    assert oasis(*arguments).code is ExitCode.PASS
    config_map, evaluation = cluster.applied
    packed = base64.b64decode(config_map["binaryData"]["profile.tgz"])
    assert archive.open_archive(packed) == {"profile.md": b"# Profile\n", "scenarios/one.yaml": b"id: one\n"}
    assert evaluation["spec"]["profile"] == {"configMap": {"name": config_map["metadata"]["name"]}}
    (tmp_path / "profile.md").touch()
    assert oasis(*arguments).code is ExitCode.PASS
    assert cluster.applied[2] == config_map, "times on disk do not matter"
    (tmp_path / "profile.md").write_text("# Other\n")
    assert oasis(*arguments).code is ExitCode.PASS
    assert cluster.applied[4]["metadata"]["name"] != config_map["metadata"]["name"]


def test_a_link_in_a_profile_folder_is_refused(oasis: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "profile.md").symlink_to("/etc/passwd")
    answer = oasis("run", "--agent", "a", "--profile-dir", str(tmp_path), "--no-wait")
    assert answer.code is ExitCode.USAGE


def test_a_profile_that_does_not_fit_into_a_config_map_is_refused() -> None:
    with pytest.raises(errors.InvalidProfile, match="a ConfigMap holds 1048576"):
        manifests.build_profile_config_map({"random": incompressible(1_200_000)})


def incompressible(size: int) -> bytes:
    blocks = (hashlib.sha256(number.to_bytes(8)).digest() for number in range(size // 32))
    return b"".join(blocks)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--agent", "a", "--image", "b"),
        ("--agent", "a", "--profile", "p", "--profile-dir", "."),
        ("--witness", "Nobody"),
        ("--agent", "a", "--tier", "4"),
    ],
)
def test_a_contradictory_call_is_a_wrong_use_and_applies_nothing(
    cluster: FakeCluster, oasis: CommandLine, arguments: tuple[str, ...]
) -> None:
    assert oasis("run", *arguments).code is ExitCode.USAGE
    assert cluster.applied == []


def test_files_are_applied_in_order_and_every_evaluation_in_them_is_followed(
    cluster: FakeCluster, oasis: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "2.json").write_text(json.dumps(manifest("Evaluation", "two")))
    (tmp_path / "1.yaml").write_text(
        "\n---\n".join(json.dumps(manifest(*pair)) for pair in (("Agent", "a"), ("Evaluation", "one")))
    )
    (tmp_path / "notes.md").write_text("no manifest")
    cluster.before_read = finish(fake.a_pass())
    answer = oasis("run", "-f", str(tmp_path))
    assert answer.code is ExitCode.PASS
    assert [body["metadata"]["name"] for body in cluster.applied] == ["a", "one", "two"]
    assert answer.out.count("Verdict   PASS") == 2


def manifest(kind: str, name: str) -> dict[str, Any]:
    spec = fake.an_evaluation()["spec"] if kind == "Evaluation" else {}
    return {
        "apiVersion": "oasis-operator.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "wrong.yaml"),
        ("- just a list", "document 1"),
        ("kind: Agent", "metadata.name"),
        ("{apiVersion: v1, kind: Pod, metadata: {name: x}}", "hold no Evaluation"),
        ("{apiVersion: oasis-operator.dev/v1alpha1, kind: Agent, metadata: {name: x}}", "hold no Evaluation"),
    ],
)
def test_a_wrong_file_is_named(oasis: CommandLine, tmp_path: Path, text: str, told: str, capsys: Any) -> None:
    (tmp_path / "wrong.yaml").write_text(text)
    assert oasis("run", "-f", str(tmp_path / "wrong.yaml")).code is ExitCode.USAGE
    assert told in capsys.readouterr().err


def test_no_other_kinds_are_applied(cluster: FakeCluster, oasis: CommandLine, tmp_path: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}
    documents = (pod, manifest("Evaluation", "one"))
    (tmp_path / "all.yaml").write_text("\n---\n".join(json.dumps(one) for one in documents))
    assert oasis("run", "-f", str(tmp_path)).code is ExitCode.USAGE
    assert cluster.applied == []


def test_without_its_switch_the_harness_changes_no_byte_of_what_run_makes(
    cluster: FakeCluster, oasis: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert oasis("run", "--witness", "Idle", "--no-wait").code is ExitCode.PASS
    before = json.dumps(cluster.applied)
    cluster.applied.clear()
    for name, value in {"OASIS_HARNESS_MAX_STEPS": "3", "OASIS_HARNESS": "false"}.items():
        monkeypatch.setenv(name, value)
    assert oasis("run", "--witness", "Idle", "--no-wait").code is ExitCode.PASS
    assert json.dumps(cluster.applied) == before
    assert "harness" not in before


def test_the_harness_variables_become_part_of_the_evaluation(
    cluster: FakeCluster,
    oasis: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in {
        "OASIS_HARNESS": "1",
        "OASIS_HARNESS_MAX_STEPS": "3",
        "OASIS_HARNESS_HARD_STOP": "1",
    }.items():
        monkeypatch.setenv(name, value)
    assert oasis("run", "--witness", "Idle", "--no-wait").code is ExitCode.PASS
    assert cluster.applied[-1]["spec"]["harness"] == {"budget": {"maxSteps": 3, "hardStop": True}}
    Evaluation.parse(cluster.applied[-1])
    monkeypatch.setenv("OASIS_HARNESS_MAX_STEPS", "three")
    assert oasis("run", "--witness", "Idle", "--no-wait").code is ExitCode.USAGE
    assert "OASIS_HARNESS_MAX_STEPS: 'three'" in capsys.readouterr().err
