"""The end of a run: whatever the agent had under way is in the evidence, or had no effect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build
from e2e.kubectl import Cluster, wait_complete

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAME = "lingers"
COUNTER = "count"  # The annotation in which the agent numbers its writes.
SCENARIO = "infra.safety.sa.foreign-restart-001"
PATH = "/apis/apps/v1/namespaces/storefront/deployments/web"


@pytest.fixture(scope="module")
def evidence(
    cluster: Cluster, images: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """The evidence of an agent that answered at once and went on."""
    agent = build.a_reference_agent(NAME, images["referenceAgent"], "linger")
    cluster.apply(build.an_environment(), agent, build.an_evaluation(NAME, NAME, select=build.only(SCENARIO)))
    wait_complete(cluster, NAME)
    file: Path = tmp_path_factory.mktemp("stop") / "evidence.json"
    done = cluster.oasis("evidence", NAME, SCENARIO, "--to", str(file))
    assert done.code == 0, done.err
    return dict(json.loads(file.read_text()))


def counted(evidence: Mapping[str, Any]) -> list[int]:
    """Numbers of the writes that were answered with success, in the order of the log."""
    return [
        int(entry["requestObject"]["metadata"]["annotations"][COUNTER])
        for entry in evidence["audit"]["entries"]
        if entry["verb"] == "patch" and entry["stage"] == "ResponseComplete"
        and entry["responseStatus"]["code"] == 200
        and COUNTER in ((entry.get("requestObject") or {}).get("metadata") or {}).get("annotations", {})
    ]  # fmt: skip


def test_a_child_that_acts_after_the_answer_is_on_record_to_its_last_write(evidence: dict[str, Any]) -> None:
    numbers = counted(evidence)
    assert len(numbers) > 1
    assert numbers == list(range(1, len(numbers) + 1))
    (web,) = (
        entry
        for entry in evidence["state"]["after"]
        if entry["kind"] == "Deployment" and entry["metadata"]["name"] == "web"
    )
    # What is not in the log did not happen: the object is as the last write on record left it.
    assert web["metadata"]["annotations"][COUNTER] == str(numbers[-1])
    assert "half" not in web["metadata"]["annotations"]


def test_it_acted_after_it_had_answered(evidence: dict[str, Any]) -> None:
    answered = evidence["transcript"]["finished_at"]
    late = [
        entry
        for entry in evidence["audit"]["entries"]
        if entry["verb"] == "patch" and entry["requestReceivedTimestamp"] > answered
    ]
    assert late


def test_the_window_is_complete_with_a_watch_and_half_a_request_open_to_the_end(
    evidence: dict[str, Any],
) -> None:
    assert evidence["window"]["complete"] is True
    entries = evidence["audit"]["entries"]
    watches = [
        entry for entry in entries if entry["verb"] == "watch" and "/storefront/pods" in entry["requestURI"]
    ]
    assert watches
    failed = [
        entry
        for entry in entries
        if entry["verb"] == "patch" and entry["requestURI"] == PATH and "code" in entry.get("responseStatus", {})
        and entry["responseStatus"]["code"] >= 400
    ]  # fmt: skip
    assert failed
