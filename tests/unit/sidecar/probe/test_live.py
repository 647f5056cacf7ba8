from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.evidence import event
from oasis_operator import errors
from oasis_operator.model import audit_log
from oasis_operator.sidecar.probe import live, window
from oasis_operator.sidecar.probe.api import ApiError
from oasis_operator.sidecar.probe.credentials import Issued
from oasis_operator.sidecar.probe.follow import Follower
from oasis_operator.sidecar.probe.record import Record
from oasis_operator.world.principal import Principal

if TYPE_CHECKING:
    from pathlib import Path

OPENING = "0pening"
READ, DELETE = event("list", "shop:pods"), event("delete", "shop:deployments/web")


class Cluster:
    """An API server that writes an audit log."""

    def __init__(self, folder: Path, *events: dict[str, Any]) -> None:
        (folder / "audit").mkdir()
        self.log = folder / "audit/audit.log"
        self.log.write_text("")
        self.silent = False
        for item in (self.sentinel(OPENING), *events):
            self.write(item)

    def sentinel(self, nonce: str) -> dict[str, Any]:
        return event("get", f"kube-system:configmaps/{nonce}", user=audit_log.ADMINISTRATOR, code=404)

    def write(self, item: dict[str, Any]) -> None:
        with self.log.open("a") as file:
            file.write(json.dumps(item) + "\n")

    async def get(self, path: str, **params: str) -> Any:
        if not self.silent:
            self.write(self.sentinel(path.rpartition("/")[2]))
        raise ApiError(404, "not found")


def a_record(folder: Path) -> Record:
    issued = Issued(Principal("kube-public", "caretaker", "shop", ()), "token", "JTI=1")
    follower = Follower(folder / "audit/audit.log", 0)
    return Record(OPENING, 0, "2026-11-30T07:59:00Z", (), (), issued, 1, follower=follower)


def verbs(entries: Any) -> list[str]:
    return [one["verb"] for one in entries if one["user"]["username"] != audit_log.ADMINISTRATOR]


async def test_a_look_shows_what_was_done_so_far_and_a_later_one_what_followed(tmp_path: Path) -> None:
    cluster, record = Cluster(tmp_path, READ), a_record(tmp_path)
    first = await live.read_log(cluster, tmp_path, record)  # type: ignore[arg-type]
    assert (first.complete, verbs(first.entries)) == (True, ["list"])
    cluster.write(DELETE)
    second = await live.read_log(cluster, tmp_path, record)  # type: ignore[arg-type]
    assert (second.complete, verbs(second.entries)) == (True, ["list", "delete"])


async def test_a_request_in_flight_is_told_and_makes_the_log_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "_DRAIN_SECONDS", 0.05)
    begun = {**DELETE, "stage": "RequestReceived", "auditID": "in-flight"}
    cluster = Cluster(tmp_path, READ, begun)
    seen = await live.read_log(cluster, tmp_path, a_record(tmp_path))  # type: ignore[arg-type]
    assert not seen.complete
    assert "in-flight" in seen.fault
    assert verbs(seen.entries) == ["list", "delete"]


async def test_a_look_waits_for_what_is_in_flight_and_then_shows_how_it_ended(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, {**DELETE, "stage": "RequestReceived"})
    looking = asyncio.create_task(live.read_log(cluster, tmp_path, a_record(tmp_path)))  # type: ignore[arg-type]
    await asyncio.sleep(0.15)
    assert not looking.done()
    cluster.write(DELETE)
    seen = await looking
    assert seen.complete
    assert [one["stage"] for one in seen.entries if one["verb"] == "delete"][-1] == "ResponseComplete"


@pytest.mark.parametrize("how", ["changed", "unreadable"])
async def test_a_log_that_is_not_as_it_was_written_is_not_complete(tmp_path: Path, how: str) -> None:
    cluster, record = Cluster(tmp_path, READ, DELETE), a_record(tmp_path)
    await live.read_log(cluster, tmp_path, record)  # type: ignore[arg-type]
    if how == "changed":
        cluster.log.write_bytes(cluster.log.read_bytes().replace(b'"delete"', b'"update"'))
    else:
        with cluster.log.open("a") as file:
            file.write("no event\n")
    seen = await live.read_log(cluster, tmp_path, record)  # type: ignore[arg-type]
    assert not seen.complete
    assert seen.fault


async def test_a_log_that_nobody_writes_any_more_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "_SENTINEL_SECONDS", 0.05)
    cluster = Cluster(tmp_path, READ)
    cluster.silent = True
    with pytest.raises(errors.ProviderFault, match="audit log"):
        await live.read_log(cluster, tmp_path, a_record(tmp_path))  # type: ignore[arg-type]
