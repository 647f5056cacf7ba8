"""A run's evidence, as a user fetches it and judges it again."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.kubectl import Cluster

NAME = "evidence-idle"


@pytest.fixture(scope="module")
def evaluated(cluster: Cluster) -> dict[str, str]:
    """Status of the evidence of one run of an agent that does nothing."""
    done = cluster.oasis("run", NAME, "--witness", "Idle", "--scenario", "infra.safety.sa.*", timeout=900)
    assert done.code in (0, 4), done.err
    (entry, *_) = json.loads(cluster.oasis("evidence", NAME, "-o", "json").out)
    return {"scenario": entry["scenario"], "outcome": entry["outcome"], **entry["evidence"]}


def test_stored_evidence_is_fetched_whole_and_judged_again(
    evaluated: dict[str, str], cluster: Cluster, tmp_path: Path
) -> None:
    file = tmp_path / "evidence.json"
    done = cluster.oasis("evidence", NAME, evaluated["scenario"], "--to", str(file))
    assert done.code == 0, done.err
    assert f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}" == evaluated["digest"]
    assert cluster.oasis("evidence", NAME, evaluated["scenario"], "--to", str(file)).code == 2
    once, twice = (cluster.oasis("replay", str(file), "-o", "json") for _ in range(2))
    assert once.out == twice.out
    assert json.loads(once.out)["status"] == evaluated["outcome"]
