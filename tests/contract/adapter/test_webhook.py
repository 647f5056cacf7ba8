"""Agents that take their task as an alert, and agents that ask whether they may act."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from contract.adapter.kit import PROMPT, Heard, a_listener, a_raw_agent, an_adapter, closed_port, says

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = {"name": "watcher", "version": "2.0.0", "description": "Answers alerts."}


def a_webhook(url: str, **more: Any) -> dict[str, Any]:
    return {"kind": "webhook", "url": url, "path": "/alerts", **more}


async def told(folder: Path, talk: Any, **more: Any) -> tuple[dict[str, Any], list[Heard]]:
    async with a_raw_agent(talk) as agent, an_adapter(folder) as adapter:
        await adapter.release()
        scope = {"namespaces": ["shop", "bank"]}
        status, answer = await adapter.start(a_webhook(agent.url, **more), scope=scope)
        assert status == 202, answer
        return await adapter.transcript(), agent.heard


async def test_the_prompt_arrives_as_a_firing_alert(tmp_path: Path) -> None:
    labels = {"team": "shop", "severity": "critical"}
    transcript, heard = await told(tmp_path, says(b"Scaled it back."), labels=labels)
    (request,) = heard
    assert request.head.startswith(b"POST /alerts HTTP/1.1")
    body = request.json
    (alert,) = body["alerts"]
    assert (body["version"], body["status"], alert["status"]) == ("4", "firing", "firing")
    assert alert["annotations"] == {"summary": PROMPT, "description": PROMPT}
    assert alert["labels"] == {"alertname": "Task", "namespace": "shop", **labels}
    assert (body["commonLabels"], body["groupLabels"]) == (alert["labels"], {"alertname": "Task"})
    assert alert["startsAt"] >= transcript["delivered_at"][:19]
    assert alert["endsAt"].startswith("0001-")
    assert (transcript["outcome"], transcript["final_answer"]) == ("answered", "Scaled it back.")


async def test_its_words_are_picked_and_the_rest_is_kept_to_be_searched(tmp_path: Path) -> None:
    body = json.dumps({"analysis": "a leak", "instructions": ["kubectl get"]}).encode()
    transcript, _ = await told(tmp_path, says(body), json_path=".analysis")
    assert transcript["final_answer"] == "a leak"
    assert "kubectl get" in transcript["reasoning"]
    transcript, _ = await told(tmp_path / "again", says(b"{}"), json_path=".analysis")
    assert (transcript["outcome"], transcript["final_answer"]) == ("malformed", "{}")
    assert "jsonPath" in transcript["detail"]


async def test_an_agent_that_acknowledges_is_given_its_time(tmp_path: Path) -> None:
    began = time.monotonic()
    transcript, _ = await told(tmp_path, says(b"", status="202 Accepted"), works_for_seconds=0.5)
    assert (transcript["outcome"], transcript["final_answer"]) == ("answered", "")
    assert time.monotonic() - began >= 0.5


async def test_an_agent_whose_container_ends_while_it_should_work_has_crashed(tmp_path: Path) -> None:
    async with a_raw_agent(says(b"")) as agent, an_adapter(tmp_path) as adapter:
        await adapter.release()
        await adapter.start(a_webhook(agent.url, works_for_seconds=3600))
        await adapter.until(lambda state: bool(state["run"]["delivered_at"]))
        lingering = asyncio.create_task(adapter.session.linger(10))
        transcript = await adapter.transcript()
        await lingering
    assert transcript["outcome"] == "crashed"


async def test_it_is_who_it_was_declared_to_be_once_it_listens(tmp_path: Path) -> None:
    async with a_listener() as port, an_adapter(tmp_path) as adapter:
        await adapter.release()
        query = "&".join(f"{name}={value}" for name, value in DECLARED.items())
        url = f"http://127.0.0.1:{port}"
        status, answer, _ = await adapter.call("GET", f"/v1/identity?kind=webhook&url={url}&{query}")
    assert (status, answer["identity"]) == (200, DECLARED)


async def test_an_agent_that_never_listens_has_no_identity(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        await adapter.release()
        url = f"http://127.0.0.1:{await closed_port()}"
        status, answer, _ = await adapter.call("GET", f"/v1/identity?kind=webhook&url={url}&name=a&version=1")
    assert status == 502
    assert "does not listen" in answer["message"]


@pytest.mark.parametrize(
    ("more", "member"),
    [
        ({"path": "alerts"}, "path"),
        ({"labels": {"a": 1}}, "labels"),
        ({"json_path": "analysis"}, "json_path"),
        ({"works_for_seconds": 0}, "works_for_seconds"),
    ],
)
async def test_what_cannot_be_sent_is_refused_by_name(
    tmp_path: Path, more: dict[str, Any], member: str
) -> None:
    async with an_adapter(tmp_path) as adapter:
        await adapter.release()
        status, answer = await adapter.start(a_webhook("http://127.0.0.1:1", **more))
    assert status == 400
    assert f"adapter.{member}" in answer["message"]
