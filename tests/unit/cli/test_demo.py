from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from oasis_operator.api.v1alpha1 import Agent, Environment, Evaluation
from oasis_operator.cli import demo, files, manifests
from oasis_operator.cli.exit_codes import ExitCode
from unit.cli import fake_cluster as fake

if TYPE_CHECKING:
    from unit.cli.fake_cluster import CommandLine, FakeCluster

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
MODELS: dict[str, Any] = {"Agent": Agent, "Environment": Environment, "Evaluation": Evaluation}
GOOD = {"careful": fake.a_pass(), "reckless": fake.a_fail(), "idle": fake.a_vacuous_pass()}


def outcomes(statuses: dict[str, Any]) -> Any:
    """Let the operator finish the demo so."""

    def read(cluster: FakeCluster) -> None:
        for (kind, _, name), body in cluster.objects.items():
            if kind == "Evaluation" and name in statuses:
                body["metadata"].update(uid=f"uid-{name}", generation=1)
                body["status"] = statuses[name]

    return read


def test_the_demo_ends_well_and_names_what_tells_the_three_apart(
    cluster: FakeCluster, oasis: CommandLine
) -> None:
    cluster.before_read = outcomes(GOOD)
    answer = oasis("demo", "-f", str(EXAMPLES / "demo"))
    assert answer.code is ExitCode.PASS, answer.err
    rows = {line.split()[0]: line for line in answer.out.splitlines() if line.strip()}
    assert "PASS" in rows["careful"]
    assert "FAIL" in rows["reckless"]
    assert "infra.safety.sa.foreign-restart-001" in answer.out
    assert "no: Vacuous, Incomplete" in rows["idle"]
    assert "Audit" in rows


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param({"careful": fake.a_fail()}, "careful is FAIL", id="careful fails"),
        pytest.param({"careful": fake.a_vacuous_pass()}, "careful passes vacuously", id="careful is vacuous"),
        pytest.param({"careful": fake.stalled("NotFound", "x")}, "not PASS", id="careful never ran"),
        pytest.param({"reckless": fake.a_pass()}, "reckless is PASS", id="reckless passes"),
        pytest.param({"reckless": fake.a_fail(audit=None)}, "no audit entry", id="reckless is unproven"),
        pytest.param(
            {"reckless": fake.complete("PROVIDER_FAILURE", "ProviderFault")},
            "reckless is PROVIDER_FAILURE",
            id="the harness broke",
        ),
        pytest.param({"idle": fake.a_pass()}, "a gate may rely on idle", id="idle could gate"),
        pytest.param({"idle": fake.a_fail()}, "not marked vacuous", id="idle fails"),
    ],
)
def test_any_other_outcome_is_a_failure_of_the_demo(
    cluster: FakeCluster, oasis: CommandLine, change: dict[str, Any], told: str
) -> None:
    cluster.before_read = outcomes({**GOOD, **change})
    answer = oasis("demo", "-f", str(EXAMPLES / "demo"))
    assert answer.code is ExitCode.FINDINGS
    assert told in answer.err


def test_a_demo_that_never_ends_fails(cluster: FakeCluster, oasis: CommandLine) -> None:
    cluster.before_read = outcomes({**GOOD, "idle": fake.running()})
    answer = oasis("demo", "-f", str(EXAMPLES / "demo"), "--timeout", "30s")
    assert answer.code is ExitCode.FINDINGS
    assert "idle is not complete" in answer.err


def test_an_earlier_demo_is_removed_so_that_this_one_really_runs(
    cluster: FakeCluster, oasis: CommandLine
) -> None:
    for name, status in GOOD.items():
        cluster.put(fake.an_evaluation(name, status=status))
    answer = oasis("demo", "-f", str(EXAMPLES / "demo"), "--timeout", "5s")
    assert answer.code is ExitCode.FINDINGS, "nobody evaluated anything"


def test_the_demos_agents_and_evaluations_are_what_the_command_line_builds() -> None:
    bodies = {(b["kind"], b["metadata"]["name"]): b for b in files.read_manifests((EXAMPLES / "demo",))}
    witnesses = {"careful": "Satisfying", "reckless": "Violating", "idle": None}
    for name in demo.NAMES:
        built = manifests.build_scripted_agent(name, witnesses[name])["spec"]
        spec = bodies["Agent", name]["spec"]
        spec["scripted"]["identity"].pop("description")
        assert spec == built
        assert bodies["Evaluation", name]["spec"]["agentRef"] == {"name": name}
    assert bodies["Environment", "demo"]["spec"] == manifests.build_environment("demo", 1)["spec"]


@pytest.mark.parametrize(
    "path",
    # Those of gates are objects of others.
    [
        path
        for path in sorted([*EXAMPLES.rglob("*.yaml"), *(ROOT / "e2e/manifests").glob("*.yaml")])
        if "gates" not in path.parts
    ],
    ids=lambda p: p.name,
)
def test_every_example_is_valid(path: Path) -> None:
    for body in yaml.safe_load_all(path.read_text()):
        MODELS[body["kind"]].parse(body)
