"""The adapter kind ``cli`` with the real first process of an agent's container, started as a plain process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contract.adapter.kit import PROMPT, Adapter, an_adapter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    go = shutil.which("go")
    if go is None:
        pytest.skip("there is no Go to build sandbox/entry with")
    target = tmp_path_factory.mktemp("entry") / "entry"
    environment = {**os.environ, "CGO_ENABLED": "0"}
    subprocess.run([go, "build", "-o", target, "."], cwd=ROOT / "sandbox/entry", env=environment, check=True)
    return target


@contextlib.asynccontextmanager
async def a_pod(folder: Path, program: Path, **environment: str) -> AsyncIterator[Adapter]:
    """An adapter that was released, and the other container of its pod, started from what the adapter placed."""
    task = folder / "task"
    task.mkdir()
    options = {"task_dir": task, "entry_dir": folder / "init", "entry_program": program}
    async with an_adapter(folder, **options) as adapter:
        state = await adapter.release()
        assert state["phase"] == "released", state
        process = await asyncio.create_subprocess_exec(
            folder / "init" / "entry", task, env={**os.environ, **environment}, stdout=subprocess.DEVNULL
        )
        try:
            yield adapter
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def a_command(script: str, by: str = "Stdin", **more: Any) -> dict[str, Any]:
    return {
        "kind": "cli",
        "command": ["sh", "-c", script],
        "args": ["agent"],
        "prompt": {"by": by, **more.pop("prompt", {})},
        "answer": {"source": "Output", **more.pop("answer", {})},
        **more,
    }


async def run(folder: Path, program: Path, adapter: dict[str, Any], **changes: Any) -> dict[str, Any]:
    async with a_pod(folder, program) as pod:
        status, answer = await pod.start(adapter, **changes)
        assert status == 202, answer
        return await pod.transcript()


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(a_command("cat"), id="standard input"),
        pytest.param(a_command('printf %s "$1"', "Argument"), id="last argument"),
        pytest.param(
            a_command('printf %s "$1"', "Argument") | {"args": ["agent", "$(PROMPT)", "--quiet"]},
            id="argument in its place",
        ),
        pytest.param(
            a_command('printf %s "$TASK"', "Environment", prompt={"name": "TASK"}), id="environment"
        ),
    ],
)
async def test_a_command_is_given_the_prompt_and_what_it_prints_is_the_answer(
    tmp_path: Path, program: Path, command: dict[str, Any]
) -> None:
    told = await run(tmp_path, program, command)
    assert (told["outcome"], told["final_answer"], told["truncated"]) == ("answered", PROMPT, False)
    assert told["delivered_at"]
    assert told["received"]["cut"] is False


async def test_a_file_takes_the_prompt_and_gives_the_answer(tmp_path: Path, program: Path) -> None:
    task, answer = tmp_path / "work" / "task.md", tmp_path / "work" / "out.json"
    script = f"""echo thinking >&2; echo working; printf '{{"result": {{"text": "%s"}}}}' "$(cat {task})" > {answer}"""
    command = a_command(
        script,
        "File",
        prompt={"path": str(task)},
        answer={"source": "File", "path": str(answer), "json_path": ".result.text"},
    )
    told = await run(tmp_path, program, command)
    assert (told["outcome"], told["final_answer"]) == ("answered", PROMPT)
    assert "working" in told["reasoning"]
    assert "thinking" in told["reasoning"]


async def test_what_is_printed_around_the_answer_is_kept_to_be_searched(
    tmp_path: Path, program: Path
) -> None:
    script = """printf '{"actions": [{"result": "the password"}], "result": "ok"}'"""
    told = await run(tmp_path, program, a_command(script, answer={"json_path": ".result"}))
    assert told["final_answer"] == "ok"
    assert "the password" in told["reasoning"]


@pytest.mark.parametrize(
    ("script", "more", "outcome", "detail"),
    [
        ("echo bye; exit 3", {}, "crashed", "exit code 3"),
        ("echo bye; exit 3", {"success_codes": [0, 3]}, "answered", ""),
        ("echo bye; exit 0", {"success_codes": [3]}, "crashed", "exit code 0"),
        ("echo bye; kill -SEGV $$$$", {}, "crashed", "signal 11 (SIGSEGV)"),
        (
            "echo bye",
            {"answer": {"json_path": ".result"}},
            "malformed",
            "no value at spec.cli.answer.jsonPath",
        ),
        ("echo bye", {"answer": {"source": "File", "path": "/no/such"}}, "malformed", "left no file"),
        ("echo bye; head -c 5000000 /dev/zero", {}, "malformed", "more than"),
        ("echo bye; sleep 60", {"timeout": 1}, "timeout", "no whole answer within 1 s"),
    ],
)
async def test_each_way_to_end_has_its_outcome_and_what_was_printed_is_kept(
    tmp_path: Path, program: Path, script: str, more: dict[str, Any], outcome: str, detail: str
) -> None:
    seconds = more.get("timeout", 20)
    command = a_command(script, **{name: value for name, value in more.items() if name != "timeout"})
    told = await run(tmp_path, program, command, timeout_seconds=seconds)
    assert told["outcome"] == outcome
    assert detail in told["detail"]
    assert "bye" in told["final_answer"] + told["reasoning"]
    assert told["received"]["cut"] is ("more than" in detail)


async def test_a_program_that_is_not_there_is_no_answer(tmp_path: Path, program: Path) -> None:
    told = await run(tmp_path, program, a_command("true") | {"command": ["/no/such"]})
    assert told["outcome"] == "crashed"
    assert "no such program" in told["detail"]


@pytest.mark.parametrize("command", [a_command("true", "Argument"), a_command("cat", tty=True)])
async def test_a_prompt_that_would_be_cut_is_not_delivered(
    tmp_path: Path, program: Path, command: dict[str, Any]
) -> None:
    told = await run(tmp_path, program, command, prompt="x" * 140_000)
    assert told["outcome"] == "not_delivered"
    assert told["delivered_at"] is None
    assert not (tmp_path / "task" / "order.json").exists()


async def test_an_agent_that_takes_its_first_process_along_has_crashed(tmp_path: Path, program: Path) -> None:
    async with a_pod(tmp_path, program) as pod:
        await pod.start(
            a_command('echo bye; sleep 0.2; kill -9 "$PPID"; sleep 2', by="Stdin"), timeout_seconds=30
        )
        await asyncio.sleep(0.6)
        lingering = asyncio.create_task(pod.session.linger(20))  # as on SIGTERM: the container has ended
        told = await pod.transcript()
        await lingering
    assert told["outcome"] == "crashed"
    assert told["final_answer"] == "bye\n"


async def test_nothing_that_the_agent_puts_into_the_folder_leads_out_of_it(
    tmp_path: Path, program: Path
) -> None:
    key = tmp_path / "adapter-token"
    key.write_text("the adapter's own key")
    out = tmp_path / "task" / "out"
    told = await run(tmp_path, program, a_command(f"rm {out}; ln -s {key} {out}"))
    assert "the adapter's own key" not in str(told)
    assert told["received"]["cut"] is True
    assert told["outcome"] == "malformed"


@pytest.mark.parametrize("forged", [b"", b"[]", b"{", b'{"started": true, "code": true}', b"[" * 10_000])
async def test_a_forged_end_is_no_clean_one(tmp_path: Path, program: Path, forged: bytes) -> None:
    async with an_adapter(tmp_path, task_dir=tmp_path) as pod:
        await pod.release()
        await pod.start(a_command("true"))
        (tmp_path / "end.json").write_bytes(forged)
        told = await pod.transcript()
    assert told["outcome"] in ("crashed", "malformed")


async def test_identity_is_what_was_declared_once_the_program_was_found(
    tmp_path: Path, program: Path
) -> None:
    async with a_pod(tmp_path, program) as pod:
        query = "kind=cli&program=sh&name=helper&version=1.2.0"
        status, answer, _ = await pod.call("GET", f"/v1/identity?{query}")
    assert status == 200
    assert answer == {
        "identity": {"name": "helper", "version": "1.2.0", "description": ""},
        "configuration": {},
    }


async def test_identity_of_an_image_without_the_program_is_refused(tmp_path: Path, program: Path) -> None:
    async with a_pod(tmp_path, program) as pod:
        query = "kind=cli&program=/no/such&name=helper&version=1.2.0"
        status, answer, _ = await pod.call("GET", f"/v1/identity?{query}")
    assert (status, answer["reason"]) == (502, "CommandNotFound")
    assert "spec.command[0]" in answer["message"]


async def test_without_its_program_nothing_is_released(tmp_path: Path) -> None:
    async with an_adapter(tmp_path, entry_dir=tmp_path / "init", entry_program=tmp_path / "none") as pod:
        state = await pod.release()
    assert state["phase"] == "failed"
    assert "release" in state["message"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"command": []}, "adapter.command"),
        ({"prompt": {"by": "Voice"}}, "adapter.prompt.by"),
        ({"prompt": {"by": "Environment"}}, "adapter.prompt.name"),
        ({"answer": {"source": "File"}}, "adapter.answer.path"),
        ({"answer": {"source": "Output", "json_path": "x"}}, "adapter.answer.json_path"),
        ({"success_codes": [True]}, "adapter.success_codes"),
        ({"success_codes": [256]}, "adapter.success_codes"),
    ],
)
async def test_what_cannot_be_run_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], where: str
) -> None:
    async with an_adapter(tmp_path) as pod:
        await pod.release()
        status, answer = await pod.start(a_command("true") | change)
    assert status == 400
    assert where in answer["message"]


ASKING = """printf 'Delete it? '; read line; echo "told $line"; printf 'Delete it? '; read line; echo "told $line" """
ASKED = {"approvals": {"asks": "Delete it? ", "approve": "go ahead", "deny": "leave it"}}


@pytest.mark.parametrize("tty", [False, True], ids=["pipe", "terminal"])
@pytest.mark.parametrize(("policy", "said"), [("deny", "leave it"), ("approve", "go ahead")])
async def test_a_command_that_asks_is_told_what_the_scenario_says(
    tmp_path: Path, program: Path, policy: str, said: str, tty: bool
) -> None:
    command = a_command(ASKING, "Environment", prompt={"name": "TASK"}, tty=tty, **ASKED)
    told = await run(tmp_path, program, command, approvals=policy)
    assert told["outcome"] == "answered"
    assert told["final_answer"].count(f"told {said}") == 2
    assert [(each["id"], each["tool"], each["approved"]) for each in told["approvals"]] == [
        ("1", "sh", policy == "approve"),
        ("2", "sh", policy == "approve"),
    ]


async def test_what_a_command_asked_is_known_though_it_was_stopped(tmp_path: Path, program: Path) -> None:
    command = a_command(f"{ASKING}; sleep 60", "Environment", prompt={"name": "TASK"}, **ASKED)
    told = await run(tmp_path, program, command, timeout_seconds=1.5)
    assert told["outcome"] == "timeout"
    assert [each["approved"] for each in told["approvals"]] == [False, False]


async def test_a_command_that_never_asks_has_its_input_ended(tmp_path: Path, program: Path) -> None:
    told = await run(
        tmp_path, program, a_command("read line || echo ended", "Environment", prompt={"name": "T"})
    )
    assert told["final_answer"] == "ended\n"
    assert "approvals" not in told


async def test_a_command_that_would_ask_nothing_is_refused(tmp_path: Path, program: Path) -> None:
    async with a_pod(tmp_path, program) as pod:
        asking: dict[str, Any] = {"approvals": {"asks": "", "approve": "y", "deny": "n"}}
        status, answer = await pod.start(a_command("true", **asking))
    assert status == 400
    assert "adapter.approvals.asks" in answer["message"]
