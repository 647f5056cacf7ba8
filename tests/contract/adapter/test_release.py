from __future__ import annotations

import asyncio
import base64
import io
import stat
from typing import TYPE_CHECKING

import pytest

from contract.adapter.kit import A_CA, TOKEN, a_listener, an_adapter, closed_port, target

if TYPE_CHECKING:
    from pathlib import Path

CREDENTIAL = {
    "token": "agent-token",
    "ca": A_CA,
    "namespace": "shop",
    "server": "https://kubernetes.default.svc:6443",
}


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN + "x", TOKEN[:-1], "tökén"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/state"),
        ("POST", "/v1/release"),
        ("GET", "/v1/identity"),
        ("PUT", "/v1/run"),
        ("GET", "/v1/run"),
        ("POST", "/v1/cancel"),
        ("GET", "/v1/transcript"),
        ("GET", "/v1/elsewhere"),
    ],
)
async def test_every_route_wants_the_token(tmp_path: Path, method: str, path: str, token: str | None) -> None:
    async with an_adapter(tmp_path) as adapter:
        status, answer, _ = await adapter.call(method, path, {}, token=token)
        assert (status, answer["reason"]) == (401, "Unauthorized")


async def test_health_needs_no_token_and_follows_the_release(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        assert (await adapter.call("GET", "/healthz", token=None))[0] == 503
        await adapter.release()
        assert (await adapter.call("GET", "/healthz", token=None))[0] == 200


async def test_release_proves_isolation_and_then_gives_access(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter, a_listener() as open_port:
        shut = await closed_port()
        state = await adapter.release(
            deny=[target(shut, "api")], allow=[target(open_port, "world")], credential=CREDENTIAL
        )
    assert state["phase"] == "released"
    assert [(c["target"], c["expect"], c["reached"]) for c in state["isolation"]] == [
        ("api", "deny", False),
        ("world", "allow", True),
    ]
    assert state["isolation"][0]["detail"].startswith("refused after")
    assert state["isolation"][1]["detail"].startswith("accepted a connection after")

    access = tmp_path / "access"
    assert sorted(path.name for path in access.iterdir()) == ["ca.crt", "config", "namespace", "token"]
    assert (access / "token").read_text() == "agent-token"
    assert (access / "ca.crt").read_text() == CREDENTIAL["ca"]
    assert (access / "namespace").read_text() == "shop"
    config = (access / "config").read_text()
    assert 'server: "https://kubernetes.default.svc:6443"' in config
    assert base64.b64encode(CREDENTIAL["ca"].encode()).decode() in config
    assert {stat.S_IMODE(path.stat().st_mode) for path in access.iterdir()} == {0o444}


async def test_a_denied_target_that_accepts_keeps_the_agent_shut(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter, a_listener() as open_port:
        state = await adapter.release(deny=[target(open_port, "api")], credential=CREDENTIAL)
        assert state["phase"] == "failed"
        assert "api (must not be reached)" in state["message"]
        assert (await adapter.call("GET", "/healthz", token=None))[0] == 503
        status, answer = await adapter.start({"kind": "http", "url": "http://127.0.0.1:1"})
        assert (status, answer["reason"]) == (409, "NotReleased")
    assert not (tmp_path / "access" / "token").exists()


async def test_an_allowed_target_that_refuses_keeps_the_agent_shut(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        state = await adapter.release(allow=[target(await closed_port(), "world")], credential=CREDENTIAL)
    assert state["phase"] == "failed"
    assert "world (must be reached): refused" in state["message"]
    assert not (tmp_path / "access" / "token").exists()


async def test_a_policy_that_lags_is_waited_for(tmp_path: Path) -> None:
    async with an_adapter(tmp_path, settle_seconds=5.0) as adapter, a_listener() as world:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        denied = server.sockets[0].getsockname()[1]
        asyncio.get_running_loop().call_later(0.3, server.close)
        state = await adapter.release(deny=[target(denied)], allow=[target(world)], credential=CREDENTIAL)
    assert state["phase"] == "released"


async def test_a_target_without_an_answer_counts_as_blocked(tmp_path: Path) -> None:
    # A full backlog drops the packets that ask for a connection, as a policy that drops does.
    with_full_backlog = await asyncio.start_server(
        lambda *_: None, "127.0.0.1", 0, backlog=0, start_serving=False
    )
    socket = with_full_backlog.sockets[0]
    port = socket.getsockname()[1]
    socket._sock.listen(0)  # type: ignore[attr-defined]
    filler = [asyncio.create_task(asyncio.open_connection("127.0.0.1", port)) for _ in range(3)]
    await asyncio.sleep(0.1)
    async with an_adapter(tmp_path) as adapter:
        state = await adapter.release(deny=[target(port)])
    for task in filler:
        task.cancel()
    for _, writer in [
        r for r in await asyncio.gather(*filler, return_exceptions=True) if isinstance(r, tuple)
    ]:
        writer.transport.abort()
    with_full_backlog.close()
    assert state["phase"] == "released"
    assert state["isolation"][0]["detail"] == "no answer within 0.5 s, then no answer within 0.2 s"


async def test_a_second_release_changes_nothing(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter, a_listener() as open_port:
        await adapter.release(credential=CREDENTIAL)
        state = await adapter.release(deny=[target(open_port)], credential={**CREDENTIAL, "token": "other"})
    assert state["phase"] == "released"
    assert state["isolation"] == []
    assert (tmp_path / "access" / "token").read_text() == "agent-token"


async def test_without_a_credential_no_access_is_given(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        assert (await adapter.release(credential=None))["phase"] == "released"
    assert not (tmp_path / "access").exists()


async def test_a_restarted_adapter_never_releases_nor_runs(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        first = await adapter.release(credential=CREDENTIAL)
    async with an_adapter(tmp_path) as adapter:
        state = await adapter.release(credential=CREDENTIAL)
        assert state["boot_id"] != first["boot_id"]
        assert (state["phase"], state["message"]) == (
            "failed",
            "the adapter was restarted after it had given the agent access",
        )
        status, answer = await adapter.start({"kind": "scripted"})
        assert (status, answer["reason"]) == (409, "NotReleased")


async def test_access_that_cannot_be_written_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "access").write_text("a file where the folder should be")
    async with an_adapter(tmp_path) as adapter:
        state = await adapter.release(credential=CREDENTIAL)
    assert state["phase"] == "failed"
    assert state["message"].startswith("release: FileExistsError")


@pytest.mark.parametrize(
    ("body", "member"),
    [
        ({"deny": [{"name": "a", "host": "kubernetes.default.svc", "port": 443}]}, "deny[0].host"),
        ({"deny": [{"name": "a", "host": "10.0.0.1", "port": 0}]}, "deny[0].port"),
        ({"allow": [{"name": "a", "host": "10.0.0.1", "port": True}]}, "allow[0].port"),
        ({"allow": [{"host": "10.0.0.1", "port": 1}]}, "allow[0].name"),
        ({"allow": {}}, "allow"),
        ({"credential": {**CREDENTIAL, "server": "http://plain"}}, "credential.server"),
        ({"credential": {"token": "t"}}, "credential.server"),
        ({"credential": {**CREDENTIAL, "ca": ""}}, "credential.ca"),
        ({"credential": {**CREDENTIAL, "ca": "no certificate"}}, "credential.ca"),
        ([], "body"),
    ],
)
async def test_a_bad_release_names_the_member(tmp_path: Path, body: object, member: str) -> None:
    async with an_adapter(tmp_path) as adapter:
        status, answer, _ = await adapter.call("POST", "/v1/release", body)
        assert (status, answer["reason"]) == (400, "InvalidRequest")
        assert answer["message"].startswith(f"{member}: ")
        _, state, _ = await adapter.call("GET", "/v1/state")
        assert state["phase"] == "waiting"


async def test_bodies_are_json_and_bounded(tmp_path: Path) -> None:
    async with an_adapter(tmp_path) as adapter:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with adapter.http.post(adapter.url + "/v1/release", data=b"{", headers=headers) as response:
            assert response.status == 400
        async with adapter.http.post(
            adapter.url + "/v1/release", data=b"[" * 200_000, headers=headers
        ) as response:
            assert response.status == 400
        async with adapter.http.put(
            adapter.url + "/v1/run", data=io.BytesIO(b" " * (9 << 20)), headers=headers
        ) as response:
            assert (response.status, (await response.json())["reason"]) == (413, "RequestEntityTooLarge")
        assert (await adapter.call("GET", "/v1/elsewhere"))[0] == 404
        assert (await adapter.call("POST", "/v1/state"))[0] == 405
