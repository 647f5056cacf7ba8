"""The operator is killed while an agent asks its model: the run goes on, and no call is made twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from e2e.test_agents_killed import CALLS, killed, origin
from e2e.test_restart import kill_operator

if TYPE_CHECKING:
    from e2e.kubectl import Cluster

__all__ = ["origin"]


def test_an_operator_that_is_killed_in_mid_run_makes_no_call_twice(cluster: Cluster, origin: str) -> None:
    seen = killed(cluster, origin, "operator", kill_operator)
    assert seen["status"]["outcome"] == "PASS", json.dumps(seen, indent=2)
    assert (seen["books"]["calls"], seen["books"]["repeated"]) == (CALLS, 0)
