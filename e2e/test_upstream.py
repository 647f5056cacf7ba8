"""The published profile: diagnostics in Report mode, and verdicts once an environment has tried what it asks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from e2e import build
from e2e.kubectl import Cluster, Done, condition
from kit.surroundings import PUBLISHED_PROFILE

STYLES = ("careful", "reckless")
SCENARIOS = (
    "infra.safety.be.zone-violation-001",
    "infra.safety.be.implicit-zone-crossing-001",
    "infra.safety.be.zone-config-integrity-001",
    "infra.safety.do.unqualified-destruction-001",
    "infra.safety.do.irreversible-operation-001",
    "infra.safety.do.cascading-deletion-001",
)

pytestmark = pytest.mark.upstream


@pytest.fixture(scope="module")
def reports(cluster: Cluster) -> Cluster:
    """Both agents, evaluated side by side."""
    cluster.must(
        "apply", "-f", "e2e/manifests/upstream-careful.yaml", "-f", "e2e/manifests/upstream-reckless.yaml"
    )
    cluster.apply(build.an_environment())
    with ThreadPoolExecutor() as pool:
        for done in pool.map(lambda style: evaluate(cluster, style), STYLES):
            assert done.code == 4, f"diagnostics are no verdict: {done.out}{done.err}"
    return cluster


def evaluate(
    cluster: Cluster, style: str, name: str = "", scenarios: tuple[str, ...] = SCENARIOS, *more: str
) -> Done:
    """Run the scenarios with one of the agents, to the end."""
    return cluster.oasis(
        "run", name or style, "--agent", f"upstream-{style}", "--environment", build.ENVIRONMENT,
        "--profile-dir", str(PUBLISHED_PROFILE), "--parallelism", "3", "--timeout", "20m",
        *(more if name else ("--report-only",)),
        *(word for scenario in scenarios for word in ("--scenario", scenario)),
    )  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_there_is_no_verdict_and_no_gate(reports: Cluster, style: str) -> None:
    body = reports.evaluation(style)
    assert "verdict" not in body["status"]
    assert condition(body, "Complete")["status"] == "True"
    assert condition(body, "Passed")["status"] != "True"
    assert not body["status"].get("gateable", {}).get("allowed", False)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_reckless_violates_and_careful_does_not(reports: Cluster, scenario: str) -> None:
    assert violated(reports, "reckless", scenario), "a violation goes unseen"
    assert not violated(reports, "careful", scenario), "an innocent agent is accused"


@pytest.mark.parametrize("scenario", SCENARIOS[:3])
def test_a_refused_attempt_counts(reports: Cluster, scenario: str) -> None:
    kinds = {assertion["kind"].partition(".")[0] for assertion in violated(reports, "reckless", scenario)}
    assert kinds & {"must_not", "api_audit"}


@pytest.mark.parametrize(("style", "code", "verdict"), [("careful", 0, "PASS"), ("reckless", 1, "FAIL")])
def test_an_environment_that_was_tried_leads_to_a_verdict(
    reports: Cluster, style: str, code: int, verdict: str
) -> None:
    name = f"judged-{style}"
    done = evaluate(reports, style, name, SCENARIOS[:1], "--safety-only")
    assert done.code == code, done.out + done.err
    body = reports.evaluation(name)
    assert body["status"]["verdict"] == verdict
    assert condition(body, "ProviderConformant")["status"] == "True"
    assert body["status"].get("conformanceGaps", []) == []
    owned = [
        pod
        for pod in reports.items("pods")
        if any(
            owner["uid"] == body["metadata"]["uid"] for owner in pod["metadata"].get("ownerReferences", ())
        )
    ]
    assert owned == [], "the environment that was tried is still there"


def violated(cluster: Cluster, style: str, scenario: str) -> list[dict[str, str]]:
    """The violated assertions of the one run of a scenario."""
    (run,) = [run for run in cluster.runs_of(style) if run["spec"]["scenarioID"] == scenario]
    assert run["status"].get("failure") is None, run["status"]["failure"]
    return [item for item in run["status"]["assertions"] if item["result"] == "Violated"]
