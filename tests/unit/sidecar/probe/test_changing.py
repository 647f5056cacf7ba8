from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.sidecar.probe import changing, establish
from oasis_operator.sidecar.probe.api import ApiError
from oasis_operator.sidecar.probe.baseline import key_of
from oasis_operator.world.manifests import Manifest, build_object


class Server:
    """Keeps what is written, and refuses patches where it is told to."""

    def __init__(self, refusal: int = 0) -> None:
        self.written: list[Any] = []
        self.done: set[Any] = set()
        self._refusal = refusal

    async def patch(self, body: Any, change: Any, *, subresource: str = "", **_: Any) -> None:
        if self._refusal:
            raise ApiError(self._refusal, "no")
        self.written.append((body["metadata"]["name"], subresource, change))

    async def create(self, body: Any, **_: Any) -> Any:
        self.written.append(("created", body["metadata"]["name"]))
        return body


def config(name: str, **data: str) -> Any:
    return build_object("v1", "ConfigMap", name, "default", data=data)


async def written(server: Server, old: Any, new: Any) -> list[Any]:
    rank = [Manifest(0, new), Manifest(1, config("fresh", a="b"))]
    await changing.write_rank(server, rank, {key_of(old): old}, server.done)  # type: ignore[arg-type]
    return server.written


async def test_only_what_differs_is_written_and_what_is_new_is_created() -> None:
    server = Server()
    found = await written(server, config("a", x="1", y="2"), config("a", y="3"))
    assert server.done == {("ConfigMap", "default", "a"), ("ConfigMap", "default", "fresh")}
    assert found == [("created", "fresh"), ("a", "", {"data": {"x": None, "y": "3"}})]


async def test_a_status_is_written_where_it_is_kept() -> None:
    old = build_object("v1", "Node", "n", None, spec={}, status={"conditions": [1]})
    new = build_object("v1", "Node", "n", None, spec={}, status={"conditions": [2]})
    assert ("n", "status", {"status": {"conditions": [2]}}) in await written(Server(), old, new)


async def test_what_is_gone_does_not_come_back() -> None:
    server = Server(404)
    with pytest.raises(changing.Vanished, match="ConfigMap a does not exist any more"):
        await written(server, config("a", x="1"), config("a", x="2"))
    assert server.done == {("ConfigMap", "default", "fresh")}, "what was not written is not ours"


async def test_a_refusal_is_named() -> None:
    with pytest.raises(establish.NotEstablished, match="ConfigMap a: refused: no"):
        await written(Server(422), config("a", x="1"), config("a", x="2"))
