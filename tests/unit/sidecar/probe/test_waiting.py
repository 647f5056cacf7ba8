from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from kit.builders.evidence import AGENT, event
from oasis_operator.model.timing import parse_timing
from oasis_operator.sidecar.probe.api import ApiError
from oasis_operator.sidecar.probe.establish import NotEstablished
from oasis_operator.sidecar.probe.waiting import Gone, Waiting
from oasis_operator.wire.probe import Witness
from oasis_operator.world.injection import Injection

if TYPE_CHECKING:
    from pathlib import Path

LATE = "2027-01-01T00:00:00.000000Z"
SEEN = Witness("node/a", "changed", "there", LATE, 1)


def waiting_for(folder: Path, *timings: str) -> Waiting:
    (folder / "audit.log").write_text("")
    injections = [
        Injection(index, (), (), timing=timing, moment=parse_timing(timing))
        for index, timing in enumerate(timings, start=1)
    ]
    found = Waiting.of(folder / "audit.log", AGENT, injections)
    assert found is not None
    return found


def write(waiting: Waiting, *entries: Any) -> None:
    with waiting.log.open("a") as file:
        for entry in entries:
            file.write(json.dumps({"requestReceivedTimestamp": LATE, **entry}) + "\n")


def asked(seq: int, verb: str = "get") -> dict[str, Any]:
    return event(verb, "shop:pods/web", seq=seq, requestReceivedTimestamp=LATE)


async def watched(waiting: Waiting, bring_about: Any, *entries: Any) -> list[dict[str, Any]]:
    """Let the waiting see entries, until nothing more happens, and give its account."""
    task = asyncio.create_task(waiting.watch(bring_about))
    waiting.begin()
    write(waiting, *entries)
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return waiting.to_json(entries, LATE)


async def succeed(_: Injection) -> Witness:
    return SEEN


def test_what_has_no_moment_is_not_waited_for(tmp_path: Path) -> None:
    assert Waiting.of(tmp_path, AGENT, [Injection(0, (), ())]) is None


async def test_each_is_brought_about_when_its_own_moment_has_come(tmp_path: Path) -> None:
    waiting = waiting_for(tmp_path, "after_second_call", "at_0s", "after_third_call")
    first, second, third = await watched(waiting, succeed, asked(1), asked(2, "patch"))
    assert first["witness"] == SEEN.to_json()
    assert first["moment"]["audit_id"] == "audit-2"
    assert first["moment"]["entry"] == 2
    assert (second["delivered_at"], second["moment"]["audit_id"]) == (LATE, "")
    assert (third["delivered_at"], third["moment"]["came_at"], third["missed"]) == (None, None, "")


async def test_nothing_counts_before_the_prompt(tmp_path: Path) -> None:
    waiting = waiting_for(tmp_path, "after_first_call")
    write(waiting, asked(1))
    (told,) = await watched(waiting, succeed)
    assert told["delivered_at"] is None
    since = waiting.since
    assert (waiting.begin(), told["moment"]["since"]) == (since, since)


async def test_a_run_that_never_began_says_so(tmp_path: Path) -> None:
    (told,) = waiting_for(tmp_path, "after_first_call").to_json([asked(1)], LATE)
    assert (told["moment"]["since"], told["moment"]["came_at"]) == (None, None)


async def test_a_moment_that_comes_at_the_very_end_is_told_as_missed(tmp_path: Path) -> None:
    waiting = waiting_for(tmp_path, "after_first_call")
    waiting.begin()
    (told,) = waiting.to_json([asked(1)], LATE)
    assert (told["delivered_at"], told["moment"]["came_at"], told["fault"]) == (None, LATE, "")
    assert "all but over" in told["missed"]


async def test_what_the_agent_took_away_is_no_fault(tmp_path: Path) -> None:
    async def gone(_: Injection) -> Witness:
        raise Gone("Deployment web does not exist any more")

    (told,) = await watched(waiting_for(tmp_path, "at_0s"), gone)
    assert (told["fault"], told["missed"]) == ("", "Deployment web does not exist any more")


async def test_what_cannot_be_brought_about_is_a_fault_unless_the_agent_came_in_between(
    tmp_path: Path,
) -> None:
    waiting = waiting_for(tmp_path, "at_0s")

    async def refused(_: Injection) -> Witness:
        raise NotEstablished("refused")

    (told,) = await watched(waiting, refused)
    assert (told["fault"], told["missed"]) == ("refused", "")

    (tmp_path / "more").mkdir()
    crossed = waiting_for(tmp_path / "more", "at_0s")

    async def crossing(_: Injection) -> Witness:
        write(crossed, asked(1, "patch"))
        raise NotEstablished("refused")

    (told,) = await watched(crossed, crossing)
    assert told["fault"] == ""
    assert told["missed"].startswith("the agent changed what it needs")


async def test_what_an_agent_has_deleted_before_is_no_fault_of_the_environment(tmp_path: Path) -> None:
    async def refused(_: Injection) -> Witness:
        raise ApiError(404, 'namespaces "shop" not found')

    gone, kept = tmp_path / "gone", tmp_path / "kept"
    gone.mkdir()
    kept.mkdir()
    (told,) = await watched(waiting_for(gone, "after_first_call"), refused, asked(1, "delete"))
    assert (told["fault"], "not found" in told["missed"]) == ("", True)
    (told,) = await watched(waiting_for(kept, "after_first_call"), refused, asked(1))
    assert ("not found" in told["fault"], told["missed"]) == (True, "")


async def test_a_bug_of_ours_is_a_fault(tmp_path: Path) -> None:
    async def broken(_: Injection) -> Witness:
        raise KeyError("spec")

    (told,) = await watched(waiting_for(tmp_path, "at_0s"), broken)
    assert "internal error" in told["fault"]


async def test_what_is_cut_off_by_the_end_of_the_run_is_no_fault(tmp_path: Path) -> None:
    async def slow(_: Injection) -> Witness:
        await asyncio.sleep(10)
        return SEEN

    (told,) = await watched(waiting_for(tmp_path, "at_0s"), slow)
    assert (told["fault"], told["delivered_at"]) == ("", None)
    assert "all but over" in told["missed"]
