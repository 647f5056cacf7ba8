"""The tools of a model loop: what an operator of a cluster does with kubectl, against the environment's API.

They run in the adapter, so that each call is on record as it was made; what the environment recorded of it is
what counts.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.sidecar.adapter.loop.talk import Result, ToolCall
from oasis_operator.wire.agent import MAX_NAME, Action

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from oasis_operator.sidecar.adapter.loop.cluster import Answered, Cluster
    from oasis_operator.sidecar.adapter.loop.places import Kind

    Tool = Callable[["Cluster", "Arguments"], Awaitable[Answered]]

LONGEST_RESULT: Final = 24_000
_MOST_ITEMS: Final = "500"
_PATCH_TYPES: Final = {
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
}
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_CUT: Final = "\n[cut off: the answer is longer]"


class WrongArgumentsError(ValueError):
    """A model called a tool with what the tool cannot take; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a tool was called with."""

    given: dict[str, Any]

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; a number or a boolean is taken for one."""
        value = self.given.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str | int | float) and str(value):
            return str(value)
        raise WrongArgumentsError(f"{name}: want a text")

    def number(self, name: str) -> int | None:
        """Return a whole number, None where there is none; text that reads as one is taken for it."""
        value = self.given.get(name)
        if isinstance(value, str) and value.removeprefix("-").isdigit():
            value = int(value[:12])
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise WrongArgumentsError(f"{name}: want a whole number")

    def structure(self, name: str) -> Any:
        """Return an object or a list; text that is one as JSON is taken for it."""
        value = self.given.get(name)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError) as error:
                raise WrongArgumentsError(f"{name}: want JSON") from error
        if not isinstance(value, dict | list):
            raise WrongArgumentsError(f"{name}: want an object")
        return value


async def call(cluster: Cluster, wanted: ToolCall) -> tuple[Result, Action]:
    """Run one tool; what a model got wrong is told to it as the result.

    Returns:
        The result for the model and the action for the record.
    """
    started = time.monotonic()
    given, text, error = {}, "", ""
    try:
        tool, given = _tool(wanted.name), _parse(wanted.arguments)
        answered = await tool(cluster, Arguments(given))
        text = _shortened(answered)
        error = "" if answered.is_fine else f"status {answered.status}"
    except WrongArgumentsError as wrong:
        text = error = str(wrong)
    action = Action(
        id=wanted.id[:MAX_NAME],
        tool=wanted.name[:MAX_NAME],
        arguments=given or ({"value": wanted.arguments} if wanted.arguments else {}),
        result=text,
        error=error,
        duration_ms=round((time.monotonic() - started) * 1000),
    )
    return Result(wanted, text or "(no output)", is_error=bool(error)), action


def _tool(name: str) -> Tool:
    tool = TOOLS.get(name)
    if tool is None:
        raise WrongArgumentsError(f"there is no tool {name[:MAX_NAME]!r}; there are {', '.join(TOOLS)}")
    return tool


def _parse(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise WrongArgumentsError("the arguments are not JSON; send them again, whole") from error
    if not isinstance(value, dict):
        raise WrongArgumentsError("the arguments are no JSON object")
    return value


def _shortened(answered: Answered) -> str:
    """Return an answer as a model reads it: without bookkeeping, cut where it is long."""
    text = answered.text
    body = answered.body()
    if body:
        for item in (body, *(body["items"] if isinstance(body.get("items"), list) else ())):
            metadata = item.get("metadata") if isinstance(item, dict) else None
            if isinstance(metadata, dict):
                metadata.pop("managedFields", None)
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    if len(text) > LONGEST_RESULT or answered.cut:
        return text[:LONGEST_RESULT] + _CUT
    return text


async def _kind(cluster: Cluster, arguments: Arguments) -> Kind:
    word = arguments.text("resource")
    kind = await cluster.find(word)
    if kind is None:
        raise WrongArgumentsError(f"resource: the server has no kind {word[:MAX_NAME]!r}")
    return kind


async def _object(cluster: Cluster, arguments: Arguments, subresource: str = "") -> str:
    kind = await _kind(cluster, arguments)
    namespace = arguments.text("namespace", cluster.namespace)
    return kind.path(namespace, arguments.text("name")) + subresource


async def _get(cluster: Cluster, arguments: Arguments) -> Answered:
    kind = await _kind(cluster, arguments)
    everywhere = arguments.given.get("all_namespaces") in (True, "true")
    namespace = "" if everywhere else arguments.text("namespace", cluster.namespace)
    name = arguments.text("name", "")
    if name:
        return await cluster.request("GET", kind.path(namespace or cluster.namespace, name))
    query = {"limit": _MOST_ITEMS}
    for member, parameter in (("label_selector", "labelSelector"), ("field_selector", "fieldSelector")):
        if arguments.given.get(member):
            query[parameter] = arguments.text(member)
    return await cluster.request("GET", kind.path(namespace), query)


async def _logs(cluster: Cluster, arguments: Arguments) -> Answered:
    namespace = arguments.text("namespace", cluster.namespace)
    pods = await cluster.find("pods")
    assert pods is not None  # noqa: S101 - stands in the table
    query = {"tailLines": str(arguments.number("tail_lines") or 200)}
    if arguments.given.get("container"):
        query["container"] = arguments.text("container")
    if arguments.given.get("previous") in (True, "true"):
        query["previous"] = "true"
    return await cluster.request("GET", pods.path(namespace, arguments.text("pod")) + "/log", query)


async def _apply(cluster: Cluster, arguments: Arguments) -> Answered:
    manifest = arguments.structure("manifest")
    if not isinstance(manifest, dict):
        raise WrongArgumentsError("manifest: want one object")
    version, word = str(manifest.get("apiVersion", "")), str(manifest.get("kind", ""))
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not version or not word or not isinstance(metadata, dict) or not isinstance(name, str) or not name:
        raise WrongArgumentsError("manifest: want apiVersion, kind and metadata.name")
    group = version.rpartition("/")[0]
    kind = await cluster.find(f"{word}.{group}" if group else word)
    if kind is None:
        raise WrongArgumentsError(
            f"manifest: the server has no kind {word[:MAX_NAME]} of {version[:MAX_NAME]}"
        )
    namespace = str(metadata.get("namespace") or arguments.text("namespace", cluster.namespace))
    query = {"fieldManager": "kubectl"}
    return await cluster.request(
        "PATCH", kind.path(namespace, name), query, manifest, "application/apply-patch+yaml"
    )


async def _patch(cluster: Cluster, arguments: Arguments) -> Answered:
    kind = arguments.text("type", "strategic")
    if kind not in _PATCH_TYPES:
        raise WrongArgumentsError(f"type: want one of {', '.join(_PATCH_TYPES)}")
    body = arguments.structure("patch")
    return await cluster.request("PATCH", await _object(cluster, arguments), None, body, _PATCH_TYPES[kind])


async def _delete(cluster: Cluster, arguments: Arguments) -> Answered:
    grace = arguments.number("grace_period_seconds")
    query = {} if grace is None else {"gracePeriodSeconds": str(grace)}
    return await cluster.request("DELETE", await _object(cluster, arguments), query)


async def _scale(cluster: Cluster, arguments: Arguments) -> Answered:
    replicas = arguments.number("replicas")
    if replicas is None or replicas < 0:
        raise WrongArgumentsError("replicas: want a whole number, 0 or more")
    path = await _object(cluster, arguments, "/scale")
    return await cluster.request("PATCH", path, None, {"spec": {"replicas": replicas}}, _PATCH_TYPES["merge"])


async def _restart(cluster: Cluster, arguments: Arguments) -> Answered:
    stamp = datetime.fromtimestamp(time.time(), tz=UTC).isoformat(timespec="seconds")
    annotations = {"kubectl.kubernetes.io/restartedAt": stamp}
    body = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
    return await cluster.request(
        "PATCH", await _object(cluster, arguments), None, body, _PATCH_TYPES["strategic"]
    )


async def _request(cluster: Cluster, arguments: Arguments) -> Answered:
    method, path = arguments.text("method").upper(), arguments.text("path")
    if method not in _METHODS:
        raise WrongArgumentsError(f"method: want one of {', '.join(_METHODS)}")
    if not path.startswith("/") or "#" in path:
        raise WrongArgumentsError("path: want a path of the API, from /")
    body = arguments.structure("body") if arguments.given.get("body") is not None else None
    default = _PATCH_TYPES["strategic"] if method == "PATCH" else "application/json"
    return await cluster.request(method, path, None, body, arguments.text("content_type", default))


def _schema(required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required.split()}


def _of(kind: str, description: str) -> dict[str, Any]:
    return {"type": kind, "description": description}


_RESOURCE = _of("string", "Kind of object, as kubectl names it: pods, deploy, networkpolicy, …")
_NAME = _of("string", "Name of the object.")
_NAMESPACE = _of("string", "Namespace; your own where absent.")
_ONE = {"resource": _RESOURCE, "name": _NAME, "namespace": _NAMESPACE}

_KUBECTL: Final[tuple[tuple[str, str, dict[str, Any], Tool], ...]] = (
    (
        "kubectl_get",
        "Read one object by name, or list objects.",
        _schema(
            "resource",
            **_ONE,
            all_namespaces=_of("boolean", "List in all namespaces."),
            label_selector=_of("string", "Such as app=web."),
            field_selector=_of("string", "Such as status.phase=Running."),
        ),
        _get,
    ),
    (
        "kubectl_logs",
        "Read the log of a pod's container.",
        _schema(
            "pod",
            pod=_of("string", "Name of the pod."),
            namespace=_NAMESPACE,
            container=_of("string", "Name of the container; the only one where absent."),
            previous=_of("boolean", "The log of its life before the last restart."),
            tail_lines=_of("integer", "How many lines from the end; 200 where absent."),
        ),
        _logs,
    ),
    (
        "kubectl_apply",
        "Create an object, or change it to what a manifest says.",
        _schema("manifest", manifest=_of("object", "The object, as JSON."), namespace=_NAMESPACE),
        _apply,
    ),
    (
        "kubectl_patch",
        "Change a part of an object.",
        _schema(
            "resource name patch",
            **_ONE,
            patch={"description": "What to change: an object, or a list of operations for type json."},
            type=_of("string", "strategic (the default), merge or json."),
        ),
        _patch,
    ),
    (
        "kubectl_delete",
        "Delete one object.",
        _schema("resource name", **_ONE, grace_period_seconds=_of("integer", "0 ends it at once.")),
        _delete,
    ),
    (
        "kubectl_scale",
        "Set the number of replicas of a workload.",
        _schema("resource name replicas", **_ONE, replicas=_of("integer", "How many.")),
        _scale,
    ),
    (
        "kubectl_rollout_restart",
        "Restart the pods of a workload.",
        _schema("resource name", **_ONE),
        _restart,
    ),
    (
        "kubernetes_request",
        "Send any other request to the Kubernetes API, such as a query to a service through its proxy.",
        _schema(
            "method path",
            method=_of("string", "GET, POST, PUT, PATCH or DELETE."),
            path=_of("string", "Path with its query, such as /api/v1/namespaces/shop/pods?limit=5."),
            body={"description": "JSON body."},
            content_type=_of("string", "Of the body; of a patch a strategic merge patch where absent."),
        ),
        _request,
    ),
)

TOOLS: Final[dict[str, Tool]] = {name: tool for name, _, _, tool in _KUBECTL}
DESCRIPTIONS: Final = tuple(
    {"name": name, "description": description, "parameters": schema}
    for name, description, schema, _ in _KUBECTL
)
