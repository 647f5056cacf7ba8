from __future__ import annotations

import asyncio
import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from contract.adapter.kit import PROMPT, Heard, a_raw_agent, an_adapter, closed_port, hangs, says
from oasis_operator.wire.adapter import CancelRequest, RunRequest

if TYPE_CHECKING:
    from pathlib import Path

ANSWER: dict[str, Any] = {
    "actions": [
        {
            "id": "1",
            "tool": "kubectl",
            "arguments": {"verb": "get"},
            "result": "3 pods",
            "error": "",
            "duration_ms": 12,
            "error_code": "ignored",
        }
    ],
    "reasoning": "looked",
    "final_answer": "done",
    "model": "m-1",
    "unknown": {"is": "ignored"},
}


async def test_an_answer_becomes_the_transcript(tmp_path: Path) -> None:
    async with a_raw_agent(says(json.dumps(ANSWER).encode())) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(
            agent.url, tools=["kubectl"], mode="supervised", scope={"namespaces": ["shop"]}
        )
        _, state, _ = await adapter.call("GET", "/v1/run")
    assert transcript["outcome"] == "answered"
    assert transcript["evidence_source"] == {"type": "agent_transcript", "status": "available"}
    assert transcript["actions"] == [
        {k: v for k, v in action.items() if k != "error_code"} for action in ANSWER["actions"]
    ]
    assert (transcript["reasoning"], transcript["final_answer"], transcript["model"]) == (
        "looked",
        "done",
        "m-1",
    )
    assert transcript["truncated"] is False
    assert transcript["delivered_at"] <= transcript["finished_at"]
    assert state["delivered_at"] == transcript["delivered_at"]
    assert (state["status"], state["outcome"], state["steps"], state["fault"]) == (
        "finished",
        "answered",
        1,
        False,
    )
    assert agent.heard[0].json == {
        "prompt": PROMPT,
        "tools": ["kubectl"],
        "mode": "supervised",
        "scope": {"namespaces": ["shop"]},
    }


async def test_nothing_sent_to_the_agent_names_a_test(tmp_path: Path) -> None:
    async with a_raw_agent(says(b'{"final_answer": ""}')) as agent, an_adapter(tmp_path) as adapter:
        await adapter.ask(agent.url)
    head = agent.heard[0].head.lower()
    assert head.startswith(b"post / http/1.1\r\n")
    assert not [
        word for word in (b"oasis", b"aiohttp", b"python", b"run-1", b"test", b"eval") if word in head
    ]


async def test_the_prompt_goes_where_the_agent_takes_it(tmp_path: Path) -> None:
    async with a_raw_agent(says(b'{"final_answer": ""}')) as agent, an_adapter(tmp_path) as adapter:
        await adapter.release()
        chosen = {"kind": "http", "url": agent.url, "path": "/v2/tasks", "identity_path": "/who"}
        body = {"run_id": "r", "adapter": chosen, "prompt": PROMPT, "timeout_seconds": 20}
        assert (await adapter.call("PUT", "/v1/run", body))[0] == 202
        await adapter.until(lambda state: state["run"]["status"] == "finished")
    assert agent.heard[0].head.startswith(b"POST /v2/tasks HTTP/1.1\r\n")


async def test_context_is_sent_where_there_is_some(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "yes?"}]
    async with a_raw_agent(says(b'{"final_answer": ""}')) as agent, an_adapter(tmp_path) as adapter:
        await adapter.ask(agent.url, context=turns)
    assert agent.heard[0].json["context"] == turns


async def test_the_same_run_twice_is_sent_once(tmp_path: Path) -> None:
    async with a_raw_agent(says(json.dumps(ANSWER).encode())) as agent, an_adapter(tmp_path) as adapter:
        await adapter.release()
        wanted = {"kind": "http", "url": agent.url}
        answers = await asyncio.gather(*(adapter.start(wanted) for _ in range(10)))
        assert {status for status, _ in answers} == {202}
        first = await adapter.transcript()
        status, state = await adapter.start(wanted)
        assert (status, state["outcome"]) == (202, "answered")
        assert await adapter.transcript() == first
        status, answer = await adapter.start(wanted, run_id="run-2")
        assert (status, answer["reason"]) == (409, "AnotherRun")
    assert len(agent.heard) == 1


async def test_a_run_meant_for_another_process_is_refused(tmp_path: Path) -> None:
    async with a_raw_agent(says(b'{"final_answer": ""}')) as agent, an_adapter(tmp_path) as adapter:
        state = await adapter.release()
        wanted = {"kind": "http", "url": agent.url}
        status, answer = await adapter.start(wanted, boot_id="elsewhere")
        assert (status, answer["reason"]) == (409, "AdapterRestarted")
        assert (await adapter.start(wanted, boot_id=state["boot_id"]))[0] == 202
        await adapter.transcript()
    assert len(agent.heard) == 1


async def test_an_agent_that_listens_late_is_waited_for(tmp_path: Path) -> None:
    async with an_adapter(tmp_path, listen_seconds=5.0) as adapter:
        await adapter.release()
        port = await closed_port()
        await adapter.start({"kind": "http", "url": f"http://127.0.0.1:{port}"})
        await asyncio.sleep(0.3)
        _, early, _ = await adapter.call("GET", "/v1/run")
        assert (early["status"], early["delivered_at"]) == ("running", None)

        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await says(b'{"final_answer": "late"}')(Heard(), writer)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", port)
        transcript = await adapter.transcript()
        server.close()
    assert (transcript["outcome"], transcript["final_answer"]) == ("answered", "late")
    assert transcript["delivered_at"] is not None


@pytest.mark.parametrize("changes", [{}, {"timeout_seconds": 0.2}])
async def test_an_agent_that_never_listens_was_not_delivered_to(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    async with an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(f"http://127.0.0.1:{await closed_port()}", **changes)
    assert (transcript["outcome"], transcript["delivered_at"]) == ("not_delivered", None)


async def test_a_silent_agent_ends_by_time_and_is_hung_up_on(tmp_path: Path) -> None:
    async with a_raw_agent(hangs) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url, timeout_seconds=0.3)
        await asyncio.wait_for(agent.hung_up.wait(), 2)
    assert (transcript["outcome"], transcript["detail"]) == ("timeout", "no whole answer within 0.3 s")
    assert transcript["delivered_at"] is not None


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (None, "cancelled"),
        ({}, "cancelled"),
        ({"outcome": "budget", "detail": "20 of 20 steps"}, "budget"),
    ],
)
async def test_cancel_ends_the_run_and_hangs_up(tmp_path: Path, body: Any, outcome: str) -> None:
    async with a_raw_agent(hangs) as agent, an_adapter(tmp_path) as adapter:
        await adapter.release()
        await adapter.start({"kind": "http", "url": agent.url})
        await adapter.until(lambda state: state["run"]["delivered_at"] is not None)
        status, answer, _ = await adapter.call("POST", "/v1/cancel", body)
        assert (status, answer["status"], answer["outcome"]) == (200, "finished", outcome)
        await asyncio.wait_for(agent.hung_up.wait(), 2)
        transcript = await adapter.transcript()
        assert transcript["detail"] == (body or {}).get("detail", "")
        again, state = await adapter.start({"kind": "http", "url": agent.url})
        assert (again, state["outcome"]) == (202, outcome)
    assert len(agent.heard) == 1


async def test_a_finished_run_cannot_be_cancelled_any_more(tmp_path: Path) -> None:
    async with a_raw_agent(says(b'{"final_answer": "kept"}')) as agent, an_adapter(tmp_path) as adapter:
        before = await adapter.ask(agent.url)
        status, answer, _ = await adapter.call("POST", "/v1/cancel")
        assert (status, answer["outcome"]) == (200, "answered")
        assert await adapter.transcript() == before


async def test_before_a_run_there_is_nothing_to_tell(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        for method, path in (("GET", "/v1/run"), ("POST", "/v1/cancel"), ("GET", "/v1/transcript")):
            status, answer, _ = await adapter.call(method, path)
            assert (status, answer["reason"]) == (404, "NoRun")


async def test_a_run_waits_for_the_release(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        for call in (adapter.start({"kind": "http"}), adapter.call("GET", "/v1/identity")):
            answer = await call
            assert (answer[0], answer[1]["reason"]) == (409, "NotReleased")


async def test_the_transcript_comes_in_pieces_with_its_digest(tmp_path: Path) -> None:
    body = json.dumps({"final_answer": "ü" * 5000}).encode()
    async with a_raw_agent(says(body)) as agent, an_adapter(tmp_path) as adapter:
        await adapter.ask(agent.url)
        pieces, offset = b"", 0
        while True:
            status, piece, response = await adapter.call("GET", f"/v1/transcript?offset={offset}&limit=1000")
            assert status == 200
            if not piece:
                break
            assert len(piece) <= 1000
            pieces, offset = pieces + piece, offset + len(piece)
        assert int(response.headers["X-Total-Size"]) == len(pieces)
        assert response.headers["X-Digest"] == f"sha256:{hashlib.sha256(pieces).hexdigest()}"
        assert json.loads(pieces)["final_answer"] == "ü" * 5000
        for bad in (
            "offset=-1",
            "offset=x",
            f"offset={len(pieces) + 1}",
            "limit=0",
            "limit=4194305",
            "offset=٣",
        ):
            status, answer, _ = await adapter.call("GET", f"/v1/transcript?{bad}")
            assert status == 400, answer


async def test_a_transcript_in_the_making_is_not_shown(tmp_path: Path) -> None:
    async with a_raw_agent(hangs) as agent, an_adapter(tmp_path) as adapter:
        await adapter.release()
        await adapter.start({"kind": "http", "url": agent.url})
        status, answer, _ = await adapter.call("GET", "/v1/transcript")
        assert (status, answer["reason"]) == (409, "RunNotFinished")


@pytest.mark.parametrize(
    ("changes", "member"),
    [
        ({"adapter": {"kind": "telepathy"}}, "adapter.kind"),
        ({"adapter": {}}, "adapter.kind"),
        ({"adapter": {"kind": "http", "url": "file:///etc/passwd"}}, "adapter.url"),
        ({"adapter": {"kind": "http", "url": "http://"}}, "adapter.url"),
        ({"adapter": {"kind": "http", "url": "http://a:b:c"}}, "adapter.url"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": "5"}, "timeout_seconds"),
        ({"prompt": None}, "prompt"),
        ({"tools": ["a", 1]}, "tools[1]"),
        ({"context": [{"role": "user"}]}, "context[0].content"),
        (
            {"adapter": {"kind": "scripted", "steps": [{"pause_seconds": -1}]}},
            "adapter.steps[0].pause_seconds",
        ),
    ],
)
async def test_a_bad_run_names_the_member_and_starts_nothing(
    tmp_path: Path, changes: dict[str, Any], member: str
) -> None:
    async with an_adapter(tmp_path) as adapter:
        await adapter.release()
        wanted = {"adapter": {"kind": "http"}, **changes}
        status, answer = await adapter.start(wanted.pop("adapter"), **wanted)
        assert (status, answer["reason"]) == (400, "InvalidRequest")
        assert answer["message"].startswith(f"{member}: ")
        assert (await adapter.call("GET", "/v1/run"))[0] == 404


async def test_a_fault_of_the_adapter_does_not_accuse_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_: bytes) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("oasis_operator.sidecar.adapter.http_agent.parse_answer", breaks)
    async with a_raw_agent(says(b'{"final_answer": "fine"}')) as agent, an_adapter(tmp_path) as adapter:
        transcript = await adapter.ask(agent.url)
        _, state, _ = await adapter.call("GET", "/v1/run")
    assert state["fault"] is True
    assert transcript["evidence_source"]["status"] == "unreachable"
    assert transcript["detail"] == "the adapter broke: ZeroDivisionError"


async def test_a_run_that_is_stopped_before_its_first_step_is_over(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        await adapter.release(credential=None)
        request = {"run_id": "run-1", "adapter": {"kind": "http"}, "prompt": "x", "timeout_seconds": 5}
        run = adapter.session.start(RunRequest.from_json(request))
        await run.cancel(CancelRequest(detail="nobody wants it"))
        assert run.state.status == "finished"
        assert json.loads(run.transcript)["detail"] == "nobody wants it"
