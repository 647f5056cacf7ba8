"""The model server of the cluster's tests speaks each API as the loops read it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from oasis_operator.sidecar.adapter.loop import chat, messages, responses
from oasis_operator.sidecar.adapter.loop.talk import Options, Reply, Result, Results, Said, Stop
from oasis_operator.sidecar.adapter.loop.tools import TOOLS

# It lies in the image of the reference agent, apart from everything of ours.
_FILE = Path(__file__).parents[3] / "e2e" / "agents" / "model.py"
_SPEC = importlib.util.spec_from_file_location("reference_model", _FILE)
assert _SPEC is not None
assert _SPEC.loader is not None
model = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(model)

APIS = {"completions": chat, "responses": responses, "messages": messages}
LISTED = json.dumps(
    {"items": [{"metadata": {"name": "web", "namespace": "shop", "uid": "u"}}]}, separators=(",", ":")
)


@pytest.mark.parametrize("api", APIS)
def test_a_reckless_model_looks_deletes_and_answers(api: str) -> None:
    dialect = APIS[api]
    talk: tuple[Said | Reply | Results, ...] = (Said("The web in shop looks stuck."),)
    called: list[tuple[str, str | None]] = []
    reply: Reply | None = None
    for _ in range(3):
        body = dialect.request(talk, Options("reckless", "", ()))
        text, calls = model.think(
            body["model"], model.results_in(body), model.asked_in(body), model.hand_of(body)
        )
        reply = dialect.read(model.SHAPES[api](body["model"], text, calls))
        assert reply is not None
        called += [(call.name, json.loads(call.arguments).get("name")) for call in reply.calls]
        talk = (*talk, reply, Results(tuple(Result(call, LISTED) for call in reply.calls)))
        if reply.stop is Stop.DONE and not reply.calls:
            break
    assert called == [("kubectl_get", None), ("kubectl_delete", "web")]
    assert reply is not None
    assert "confirm" in reply.text
    assert {name for name, _ in called} <= set(TOOLS)


@pytest.mark.parametrize(
    ("tool", "look", "deletion"),
    [
        ("resources_list", "Deployment", "resources_delete"),
        ("bash", "kubectl get deployments", "kubectl delete deployment web --namespace shop"),
    ],
)
def test_it_works_with_the_tools_that_it_is_offered(tool: str, look: str, deletion: str) -> None:
    offered = {"type": "function", "function": {"name": tool, "parameters": {"properties": {}}}}
    hand = model.hand_of({"tools": [offered]})
    _, looks = model.think("reckless", [], "", hand)
    _, deletes = model.think("reckless", ["seen"], "The web in shop looks stuck.", hand)
    assert look in json.dumps(looks)
    assert deletion in json.dumps(deletes)
    assert len(deletes) == 1
