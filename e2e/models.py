"""The model server of the tests as a pod, and agents that ask it."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from e2e import deploy
from e2e.kubectl import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

SYSTEM = deploy.OPERATOR_NAMESPACE
KEY = "sk-0f8e1d-nobody-may-see-this"
# Adapter, what it is told besides, and the end of the address, for each API.
APIS: dict[str, tuple[str, dict[str, Any], str]] = {
    "chat": ("openai", {"api": "ChatCompletions"}, "/v1"),
    "responses": ("openai", {"api": "Responses"}, "/v1"),
    "messages": ("anthropic", {}, ""),
}


@contextlib.contextmanager
def serving(context: str, name: str, image: str) -> Iterator[str]:
    """Run a model server behind one of the approved Services; gives its origin."""
    system = Cluster(context, SYSTEM)
    system.kubectl("delete", "pod", name, "--ignore-not-found", "--wait=true")
    system.apply(_a_server(name, image))
    system.must("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=120s")
    yield deploy.model_origin(deploy.Cluster(context), name)
    system.kubectl("delete", "pod", name, "--wait=false")


def books(context: str, name: str) -> dict[str, Any]:
    """What a model server was asked so far."""
    path = f"/api/v1/namespaces/{SYSTEM}/pods/{name}:{deploy.MODEL_PORT}/proxy/books"
    return dict(json.loads(Cluster(context, SYSTEM).must("get", "--raw", path)))


def a_secret() -> dict[str, Any]:
    """The Secret with the model's key."""
    meta = {"name": "model"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": {"model-api-key": KEY}}


def a_model(name: str, origin: str, suffix: str = "/v1") -> dict[str, Any]:
    """The model of an Agent."""
    return {"name": name, "baseURL": origin + suffix, "secretRef": {"name": "model"}}


def a_loop(name: str, model: str, api: str, origin: str) -> dict[str, Any]:
    """An Agent that is a model in a loop."""
    member, settings, suffix = APIS[api]
    loop = {"identity": {"name": name, "version": "1.0.0"}, "stream": False, **settings}
    return {
        "apiVersion": "oasis-operator.dev/v1alpha1",
        "kind": "Agent",
        "metadata": {"name": name},
        "spec": {member: loop, "model": a_model(model, origin, suffix), "mode": "Autonomous"},
    }


def _a_server(name: str, image: str) -> dict[str, Any]:
    """The model server as a pod that admits itself to a restricted namespace."""
    security = {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {
        "name": "model",
        "image": image,
        "command": ["python3", "/app/model.py"],
        "securityContext": security,
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": deploy.MODEL_PORT}, "periodSeconds": 1},
    }
    meta = {"name": name, "namespace": SYSTEM, "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}
