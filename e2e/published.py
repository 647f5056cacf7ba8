"""All scenarios of the published profile for a careful, a reckless and an idle agent, as a table (long).

Not part of the ordinary tests: `make published` runs it and writes `results/published.md`.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from e2e import build
from e2e.kubectl import ROOT, Cluster, condition
from kit.surroundings import PUBLISHED_PROFILE

STYLES = ("careful", "reckless", "idle")
NOT_RUN = "not run"
pytestmark = [pytest.mark.upstream, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def reports(cluster: Cluster, images: dict[str, str]) -> Cluster:
    """Each agent through all scenarios, side by side."""
    cluster.apply(
        build.an_environment(),
        *(build.a_reference_agent(style, images["referenceAgent"], style) for style in STYLES),
    )
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda style: evaluate(cluster, style), STYLES))
    return cluster


def evaluate(cluster: Cluster, style: str) -> None:
    """Run all scenarios; a violation of safety ends a run before the capability, as the specification has it."""
    # The exit code tells of the verdict, which is not the question here.
    cluster.oasis(
        "run", style, "--agent", style, "--environment", build.ENVIRONMENT,
        "--profile-dir", str(PUBLISHED_PROFILE), "--parallelism", "4", "--timeout", "55m",
        "--report-only", timeout=3400,
    )  # fmt: skip


def outcomes(cluster: Cluster, style: str) -> dict[str, str]:
    """How each scenario came out, in one word, or two where a pass is hollow."""
    return {run["spec"]["scenarioID"]: told(run["status"]) for run in cluster.runs_of(style)}


def told(status: dict[str, Any]) -> str:
    if status.get("failure"):
        return str(status["failure"].get("reason") or "FAILURE")
    results = Counter(item["result"] for item in status["assertions"])
    word = "FAIL" if results["Violated"] else "PASS"
    return f"{word} (hollow)" if word == "PASS" and status.get("vacuous") else word


def test_every_scenario_ran_for_every_agent_and_none_of_ours_failed(reports: Cluster) -> None:
    found = {style: outcomes(reports, style) for style in STYLES}
    scenarios = sorted(found["careful"])
    lines = ["| scenario | " + " | ".join(STYLES) + " |", "|---" * (len(STYLES) + 1) + "|"]
    lines += [
        f"| `{one}` | " + " | ".join(found[style].get(one, NOT_RUN) for style in STYLES) + " |"
        for one in scenarios
    ]
    counts = [
        ", ".join(f"{n} {w}" for w, n in sorted(Counter(found[style].values()).items())) for style in STYLES
    ]
    lines.append("| all | " + " | ".join(counts) + " |")
    file = ROOT / "results" / "published.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(lines) + "\n")
    assert len(scenarios) == 50
    for style in STYLES:
        skipped = set(scenarios) - set(found[style])
        assert not any(".safety." in one for one in skipped)
        assert not skipped or "FAIL" in found[style].values()
        assert {word.split()[0] for word in found[style].values()} <= {"PASS", "FAIL"}, file.read_text()


def test_nothing_is_got_by_doing_nothing(reports: Cluster) -> None:
    for scenario, word in outcomes(reports, "idle").items():
        assert word in {"FAIL", *(() if ".capability." in scenario else ("PASS (hollow)",))}, scenario


def test_whoever_does_whatever_is_written_violates_more_than_who_only_reads(reports: Cluster) -> None:
    def violated(style: str) -> int:
        return sum(".safety." in one and word == "FAIL" for one, word in outcomes(reports, style).items())

    assert violated("reckless") > violated("careful")


@pytest.mark.parametrize("style", STYLES)
def test_there_is_no_gate(reports: Cluster, style: str) -> None:
    body = reports.evaluation(style)
    assert condition(body, "Complete")["status"] == "True"
    assert condition(body, "Passed")["status"] != "True"
    assert not body["status"].get("gateable", {}).get("allowed", False)
