"""The log as it leaves a real environment is the log of the evidence, and a change of it is seen."""

from __future__ import annotations

from typing import Any

from oasis_operator.engine.capture.streamed import with_stream

STATE = [
    {"resource": "namespace/shop"},
    {"resource": "configmap/web", "namespace": "shop", "data": {"LEVEL": "info"}},
]
AGENT = {"mode": "autonomous", "tools": ["container-orchestration"], "scope": {"namespaces": ["shop"]}}
TARGET = "/api/v1/namespaces/shop/configmaps/web"
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"


class Stream:
    """Fetches the log from where it ended."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.content = b""

    def pull(self) -> None:
        while True:
            code, piece = self.world.call("GET", f"/v1/audit?offset={len(self.content)}&limit=65536")
            assert code == 200, piece
            if not piece:
                return
            self.content += piece

    def lines(self) -> list[bytes]:
        return self.content.split(b"\n")[:-1]


def prepared(world: Any) -> str:
    told = world.prepare(STATE, AGENT)
    assert told["status"] == "ready", told
    return str(told["credential"]["token"])


def test_what_left_the_environment_is_what_the_evidence_holds(world: Any) -> None:
    token, stream = prepared(world), Stream(world)
    stream.pull()
    assert len(stream.lines()) >= 1
    deep = (
        b'{"metadata":{"annotations":{"deep":' + b"[" * 3000 + b"]" * 3000 + b',"big":12345678901234567890}}}'
    )
    world.kube(token, "PATCH", TARGET, deep, MERGE)
    world.kube(token, "PATCH", TARGET, {"data": {"BIG": "x\ud800" * 50_000, "N": "1e999"}}, MERGE)
    world.kube(token, "PATCH", TARGET, b"kind: [", APPLY)
    world.kube(token, "GET", "/api/v1/namespaces/shop/pods?timeout=never")
    stream.pull()
    evidence = world.stop()
    stream.pull()
    assert evidence["window"]["fault"] == ""
    assert with_stream(evidence, stream.lines) == evidence
    assert len(evidence["audit"]["entries"]) >= 6


def test_a_log_that_was_rewritten_is_told_by_the_evidence(world: Any) -> None:
    token, stream = prepared(world), Stream(world)
    assert world.kube(token, "DELETE", TARGET)[0] == 200
    stream.pull()
    log = world.folder / "run/audit/audit.log"
    content = log.read_bytes()
    with log.open("r+b") as file:
        file.write(content.replace(b'"verb":"delete"', b'"verb":"update"'))
    evidence = world.stop()
    assert "changed after it was written" in evidence["window"]["fault"]
    assert evidence["window"]["complete"] is False
    found = with_stream(evidence, stream.lines)
    assert "delete" in verbs_of_the_agent(found)
    assert "delete" not in verbs_of_the_agent(evidence)


def verbs_of_the_agent(evidence: Any) -> set[str]:
    user = evidence["agent_principal"]["username"]
    entries = evidence["audit"]["entries"]
    return {entry["verb"] for entry in entries if entry["user"].get("username") == user}
