"""A small client of the nested API server: JSON in, JSON out, with the administrator's certificate."""

from __future__ import annotations

import asyncio
import json
import ssl
from typing import TYPE_CHECKING, Any

import aiohttp

from oasis_operator.errors import ProviderFault
from oasis_operator.model import jsontext
from oasis_operator.world.definitions import KINDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path

    from oasis_operator.world.manifests import Json

_RESOURCES = {
    "ClusterRole": ("apis/rbac.authorization.k8s.io/v1", "clusterroles"),
    "ClusterRoleBinding": ("apis/rbac.authorization.k8s.io/v1", "clusterrolebindings"),
    "ConfigMap": ("api/v1", "configmaps"),
    "CustomResourceDefinition": ("apis/apiextensions.k8s.io/v1", "customresourcedefinitions"),
    "CronJob": ("apis/batch/v1", "cronjobs"),
    "DaemonSet": ("apis/apps/v1", "daemonsets"),
    "Deployment": ("apis/apps/v1", "deployments"),
    "EndpointSlice": ("apis/discovery.k8s.io/v1", "endpointslices"),
    "Event": ("api/v1", "events"),
    "HorizontalPodAutoscaler": ("apis/autoscaling/v2", "horizontalpodautoscalers"),
    "Ingress": ("apis/networking.k8s.io/v1", "ingresses"),
    "Job": ("apis/batch/v1", "jobs"),
    "LimitRange": ("api/v1", "limitranges"),
    "Namespace": ("api/v1", "namespaces"),
    "NetworkPolicy": ("apis/networking.k8s.io/v1", "networkpolicies"),
    "Node": ("api/v1", "nodes"),
    "PersistentVolume": ("api/v1", "persistentvolumes"),
    "PersistentVolumeClaim": ("api/v1", "persistentvolumeclaims"),
    "Pod": ("api/v1", "pods"),
    "PodDisruptionBudget": ("apis/policy/v1", "poddisruptionbudgets"),
    "ResourceQuota": ("api/v1", "resourcequotas"),
    "Role": ("apis/rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": ("apis/rbac.authorization.k8s.io/v1", "rolebindings"),
    "Secret": ("api/v1", "secrets"),
    "Service": ("api/v1", "services"),
    "ServiceAccount": ("api/v1", "serviceaccounts"),
    "StatefulSet": ("apis/apps/v1", "statefulsets"),
    "StorageClass": ("apis/storage.k8s.io/v1", "storageclasses"),
    **{name: (f"apis/{kind.api_version}", kind.plural) for name, kind in KINDS.items()},
}
#: Whom the API server notes as the writer of an object: people's tool, or the agent of a node.
PEOPLE, NODE = "kubectl", "kubelet"
#: Other writers go by their own names.
_FIELD_MANAGERS = {PEOPLE: "kubectl-create"}
#: Version of the protocol by which streams of a command share a connection.
_STREAMS = "v5.channel.k8s.io"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


class ApiError(Exception):
    """The API server refused a request.

    Attributes:
        status: HTTP status.
        message: The server's own words.
    """

    def __init__(self, status: int, message: str) -> None:
        """Keep the status and the server's message."""
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


def is_defined(kind: str) -> bool:
    """Tell whether a kind is one that an object defines, rather than the API server itself."""
    return kind in KINDS or kind not in _RESOURCES


def path_of(body: Mapping[str, Any], *, named: bool) -> str:
    """Give the path of an object, or of the collection that it belongs to."""
    metadata = body["metadata"]
    kind, namespace = str(body["kind"]), metadata.get("namespace")
    if kind in _RESOURCES:
        base = collection_path(kind, namespace)
    else:
        # A kind of the scenario's own, whose definition was made with this plural.
        within = f"namespaces/{namespace}/" if namespace else ""
        base = f"/apis/{body['apiVersion']}/{within}{kind.lower()}s"
    return f"{base}/{metadata['name']}" if named else base


def collection_path(kind: str, namespace: str | None = None) -> str:
    """Give the path of all objects of a kind, in one namespace or in all."""
    group, plural = _RESOURCES[kind]
    return f"/{group}/namespaces/{namespace}/{plural}" if namespace else f"/{group}/{plural}"


class Api:
    """Requests to the nested API server; each raises ApiError for a refusal and ProviderFault for silence."""

    def __init__(self, server: str, folder: Path) -> None:
        """Speak to ``server`` with the credentials in ``folder``, there by the first request."""
        self._server = server
        self._folder = folder
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            context = ssl.create_default_context(cafile=str(self._folder / "ca.crt"))
            context.load_cert_chain(self._folder / "client.crt", self._folder / "client.key")
            connector = aiohttp.TCPConnector(ssl=context, limit=32)
            timeout = aiohttp.ClientTimeout(total=30)
            self._session = aiohttp.ClientSession(self._server, connector=connector, timeout=timeout)
        return self._session

    async def request(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a request and give the parsed answer.

        Raises:
            ApiError: The server answered with an error.
            ProviderFault: It did not answer, or not in JSON.
        """
        sent = {"Content-Type": "application/json", "Accept": "application/json", **(headers or {})}
        data = None if body is None else json.dumps(body).encode()
        text = await self._exchange(method, path, data=data, params=params, headers=sent)
        try:
            return jsontext.parse(text)
        except ValueError as error:
            raise ProviderFault(
                f"nested API server: {method} {path}: no JSON", reason="EnvironmentFault"
            ) from error

    async def text(self, path: str) -> str:
        """Read a page that is no JSON, such as the server's metrics.

        Raises:
            ApiError: The server answered with an error.
            ProviderFault: It did not answer.
        """
        return (await self._exchange("GET", path)).decode(errors="replace")

    async def run(self, path: str, query: Sequence[tuple[str, str]]) -> str:
        """Run a command by a stream of a pod, and give what it prints.

        Raises:
            aiohttp.WSServerHandshakeError: The stream was refused.
            ProviderFault: The connection broke.
        """
        said = bytearray()
        try:
            async with self._connected().ws_connect(path, params=query, protocols=(_STREAMS,)) as stream:
                async for message in stream:
                    if message.type is aiohttp.WSMsgType.BINARY and message.data[:1] in (b"\x01", b"\x02"):
                        said += message.data[1:]
        except aiohttp.WSServerHandshakeError:
            raise
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ProviderFault(f"nested API server: {path}: {error!r}", reason="EnvironmentFault") from error
        return said.decode(errors="replace")

    async def serves_anyone(self) -> bool:
        """Tell whether who shows no credentials is anonymous (403), rather than nobody (401).

        Raises:
            ProviderFault: The server did not answer.
        """
        context = ssl.create_default_context(cafile=str(self._folder / "ca.crt"))
        connector, timeout = aiohttp.TCPConnector(ssl=context), aiohttp.ClientTimeout(total=30)
        try:
            async with (
                aiohttp.ClientSession(self._server, connector=connector, timeout=timeout) as session,
                session.get(collection_path("Node")) as answer,
            ):
                return answer.status == 403
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ProviderFault(f"nested API server: {error!r}", reason="EnvironmentFault") from error

    async def _exchange(self, method: str, path: str, **more: Any) -> bytes:
        try:
            async with self._connected().request(method, path, **more) as answer:
                text = await answer.read()
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ProviderFault(
                f"nested API server: {method} {path}: {error!r}", reason="EnvironmentFault"
            ) from error
        if status >= 400:
            raise ApiError(status, _message(text))
        return text

    async def get(self, path: str, **params: str) -> Any:
        """Read an object or a list."""
        return await self.request("GET", path, params=params)

    async def create(self, body: Json, *, writer: str = PEOPLE, dry_run: bool = False) -> Any:
        """Create an object; unknown fields are an error, not a loss."""
        params = {"fieldManager": _FIELD_MANAGERS.get(writer, writer), "fieldValidation": "Strict"}
        if dry_run:
            params["dryRun"] = "All"
        return await self.request(
            "POST", path_of(body, named=False), body, params=params, headers=_agent(writer)
        )

    async def apply(self, body: Json, *, writer: str) -> Any:
        """Bring an object of a defined kind to what is declared, whether it is there or not.

        A create of such an object is held up by the API server for two seconds where its kind is new.
        """
        params = {"fieldManager": writer, "fieldValidation": "Strict", "force": "true"}
        headers = {"Content-Type": "application/apply-patch+yaml", **_agent(writer)}
        return await self.request("PATCH", path_of(body, named=True), body, params=params, headers=headers)

    async def patch(
        self, body: Json, change: Json, *, subresource: str = "", writer: str = PEOPLE, kind: str = MERGE
    ) -> Any:
        """Change an object, or one of its subresources, by a patch."""
        path = path_of(body, named=True) + (f"/{subresource}" if subresource else "")
        headers = {"Content-Type": kind, **_agent(writer)}
        manager = "kubectl-patch" if writer == PEOPLE else writer
        return await self.request("PATCH", path, change, params={"fieldManager": manager}, headers=headers)

    async def delete(self, body: Json) -> None:
        """Delete an object; one that is gone already is no error."""
        try:
            await self.request("DELETE", path_of(body, named=True))
        except ApiError as error:
            if error.status != 404:
                raise

    async def list(self, kind: str, namespace: str | None = None) -> list[Json]:
        """List the objects of a kind that this client creates."""
        answer = await self.get(collection_path(kind, namespace))
        return list(answer["items"])

    async def watch(self, path: str, **params: str) -> AsyncIterator[Json]:
        """Give the changes of a collection, beginning with what is there; ends when the server ends it.

        Raises:
            ProviderFault: The connection broke.
        """
        query = {"watch": "true", **params}
        timeout = aiohttp.ClientTimeout(total=None, sock_read=None)
        try:
            async with self._connected().get(path, params=query, timeout=timeout) as answer:
                buffer = b""
                async for chunk in answer.content.iter_any():
                    *lines, buffer = (buffer + chunk).split(b"\n")
                    for line in lines:
                        yield jsontext.parse(line)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise ProviderFault(
                f"nested API server: watch {path}: {error!r}", reason="EnvironmentFault"
            ) from error


async def gather_all(*tasks: Any) -> list[Any]:
    """Run coroutines side by side; the first error ends the others."""
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(task) for task in tasks]
    return [task.result() for task in running]


def _agent(writer: str) -> dict[str, str]:
    return {"User-Agent": f"{writer}/v1.34.4 (linux/amd64) kubernetes"}


def _message(text: bytes) -> str:
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text[:512].decode(errors="replace")
