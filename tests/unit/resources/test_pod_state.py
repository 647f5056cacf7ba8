from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.resources.pod_state import PodState, pod_state


def state(**status: Any) -> PodState:
    found = pod_state({"metadata": {"uid": "u-1"}, "spec": {"nodeName": "node-1"}, "status": status})
    assert found is not None
    return found


def taken(reason: str) -> list[dict[str, str]]:
    return [{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "taken away"}]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        ({"phase": "Failed", "reason": "DeadlineExceeded"}, "DeadlineExceeded"),
        ({"phase": "Failed", "reason": "OutOfmemory"}, "OutOfmemory"),
        ({"phase": "Unknown"}, ""),
        ({"phase": "Running", "conditions": taken("DeletionByTaintManager")}, "DeletionByTaintManager"),
        ({"phase": "Failed", "conditions": taken("TerminationByKubelet")}, "TerminationByKubelet"),
    ],
)
def test_a_pod_that_the_cluster_takes_away_is_lost(status: dict[str, Any], reason: str) -> None:
    assert state(**status).is_lost
    assert state(**status).reason == reason


@pytest.mark.parametrize("phase", ["Pending", "Running", "Succeeded", "Failed"])
def test_a_pod_whose_containers_end_by_themselves_is_not_lost(phase: str) -> None:
    ended = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    assert not state(phase=phase, containerStatuses=[{"name": "agent", "state": ended}]).is_lost


@pytest.mark.parametrize(
    ("status", "addresses"),
    [
        ({"podIP": "10.1.0.5"}, ("10.1.0.5",)),
        ({"podIP": "10.1.0.5", "podIPs": [{"ip": "10.1.0.5"}, {"ip": "fd00::5"}]}, ("10.1.0.5", "fd00::5")),
        ({"podIPs": [{"ip": "FD00:0:0::0005"}, {"ip": "::ffff:10.1.0.5"}]}, ("fd00::5", "10.1.0.5")),
        ({}, ()),
    ],
    ids=["one family", "both families", "as an API server writes them", "no address yet"],
)
def test_a_pod_has_every_address_that_its_status_tells_of(
    status: dict[str, Any], addresses: tuple[str, ...]
) -> None:
    assert state(**status).ips == addresses
