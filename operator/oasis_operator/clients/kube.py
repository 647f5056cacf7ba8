"""The Kubernetes API over the client's raw requests: dictionaries in, dictionaries out.

The generated models are left alone on purpose: they refuse fields that are newer than they are, and parsing
them costs more than the request.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import aiohttp
from kubernetes.aio import client as aio
from kubernetes.aio import config as aio_config

from oasis_operator import errors
from oasis_operator.clients import kube_errors
from oasis_operator.ports import kube
from oasis_operator.resources import names

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from oasis_operator.resources.kinds import Kind

_TIMEOUT_SECONDS = 20.0
_WATCH_SECONDS = 290
_PAGE = 500
_THROTTLE_RETRIES = 3
_LONGEST_RETRY_AFTER_SECONDS = 5.0
_JSON = {"Accept": "application/json", "Content-Type": "application/json"}
_APPLY = {"Accept": "application/json", "Content-Type": "application/apply-patch+yaml"}
_JSON_PATCH = {"Accept": "application/json", "Content-Type": "application/json-patch+json"}


async def connect(kubeconfig: str = "", user_agent: str = names.FIELD_MANAGER) -> KubeClient:
    """Return a client for the pod's own service account, or for a kubeconfig file where one is given."""
    configuration = aio.Configuration()
    if kubeconfig:
        await aio_config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=kubeconfig, client_configuration=configuration
        )
    else:
        aio_config.load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    api = aio.ApiClient(configuration)
    api.user_agent = user_agent
    return KubeClient(api)


class KubeClient:
    """Implements `ports.kube.Kube` on `kubernetes.aio`."""

    def __init__(self, api: aio.ApiClient) -> None:
        """Take over an API client; `close` closes it."""
        self._api = api

    async def close(self) -> None:
        """Close the connections."""
        await self._api.close()  # type: ignore[no-untyped-call]

    async def get(self, kind: Kind, namespace: str, name: str) -> kube.Object | None:
        """Return the object, or None when it does not exist."""
        status, body = await self._request("GET", path(kind, namespace, name))
        if status == HTTPStatus.NOT_FOUND:
            return None
        return _checked(status, body, f"get {kind.name} {namespace}/{name}")

    async def list(
        self, kind: Kind, namespace: str, labels: Mapping[str, str] | None = None
    ) -> tuple[kube.Object, ...]:
        """Return the objects of a namespace (all for an empty one) that carry `labels`, in pages."""
        found: list[kube.Object] = []
        query = {"limit": str(_PAGE), **_selector(labels)}
        while True:
            status, body = await self._request("GET", path(kind, namespace), query)
            page = _checked(status, body, f"list {kind.plural} in {namespace or 'all namespaces'}")
            found += [_typed(item, kind) for item in page.get("items") or ()]
            token = page.get("metadata", {}).get("continue")
            if not token:
                return tuple(found)
            query["continue"] = token

    async def watch(
        self, kind: Kind, namespace: str, labels: Mapping[str, str] | None = None
    ) -> AsyncIterator[tuple[str, kube.Object]]:
        """Yield what exists, then what changes; ends or raises Transient when the server ends the watch."""
        query = {
            "watch": "true",
            "allowWatchBookmarks": "false",
            "timeoutSeconds": str(_WATCH_SECONDS),
            **_selector(labels),
        }
        what = f"watch {kind.plural} in {namespace or 'all namespaces'}"
        response = await self._send("GET", path(kind, namespace), query, None, _JSON, _WATCH_SECONDS + 10.0)
        if response.status != HTTPStatus.OK:
            raise kube_errors.fault_of(response.status, await response.read(), what)
        try:
            async for line in response.content:
                yield _watch_event(json.loads(line), kind, what)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise kube_errors.network_fault(error, what) from error
        finally:
            response.close()

    async def create(self, kind: Kind, manifest: kube.Manifest) -> kube.Object:
        """Create an object."""
        namespace, name = _key(manifest)
        status, body = await self._request(
            "POST", path(kind, namespace), {"fieldManager": names.FIELD_MANAGER}, manifest
        )
        return _checked(status, body, f"create {kind.name} {namespace}/{name}")

    async def post(self, target: str, body: kube.Manifest, what: str) -> kube.Object:
        """Ask a question that is put like an object, and stored nowhere."""
        status, answer = await self._request("POST", target, None, body)
        return _checked(status, answer, what)

    async def apply(self, kind: Kind, manifest: kube.Manifest) -> kube.Object:
        """Apply a manifest server-side."""
        namespace, name = _key(manifest)
        query = {"fieldManager": names.FIELD_MANAGER, "force": "true"}
        status, body = await self._request("PATCH", path(kind, namespace, name), query, manifest, _APPLY)
        return _checked(status, body, f"apply {kind.name} {namespace}/{name}")

    async def patch(
        self, kind: Kind, namespace: str, name: str, operations: Sequence[Mapping[str, Any]]
    ) -> kube.Object | None:
        """Change an object by a JSON patch; None where it is gone or the patch does not fit it."""
        query = {"fieldManager": names.FIELD_MANAGER}
        status, body = await self._request(
            "PATCH", path(kind, namespace, name), query, list(operations), _JSON_PATCH
        )
        if status == HTTPStatus.NOT_FOUND or kube_errors.is_misfit(status, body):
            return None
        return _checked(status, body, f"patch {kind.name} {namespace}/{name}")

    async def write_status(self, kind: Kind, seen: kube.Manifest, status: Mapping[str, Any]) -> kube.Object:
        """Replace the status of the object as seen; the resource version makes it conditional."""
        namespace, name = _key(seen)
        target = f"{path(kind, namespace, name)}/status"
        query = {"fieldManager": names.FIELD_MANAGER}
        code, body = await self._request("PUT", target, query, {**seen, "status": status})
        return _checked(code, body, f"write status of {kind.name} {namespace}/{name}")

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        version: str = "",
        grace_seconds: int | None = None,
    ) -> bool:
        """Ask for deletion in the background; False when there was nothing to delete."""
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        wanted = {"uid": uid, "resourceVersion": version}
        preconditions = {key: value for key, value in wanted.items() if value}
        if preconditions:
            options["preconditions"] = preconditions
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        status, body = await self._request("DELETE", path(kind, namespace, name), body=options)
        if status == HTTPStatus.NOT_FOUND or (preconditions and status == HTTPStatus.CONFLICT):
            return False
        _checked(status, body, f"delete {kind.name} {namespace}/{name}")
        return True

    async def _request(
        self,
        method: str,
        target: str,
        query: Mapping[str, str] | None = None,
        body: kube.Manifest | Sequence[kube.Manifest] | None = None,
        headers: Mapping[str, str] = _JSON,
    ) -> tuple[int, bytes]:
        """Send a request; throttled ones are repeated a few times as the server asks."""
        for attempt in range(_THROTTLE_RETRIES + 1):
            response = await self._send(method, target, query, body, headers, _TIMEOUT_SECONDS)
            content = await _read(response, f"{method} {target}")
            if response.status != HTTPStatus.TOO_MANY_REQUESTS or attempt == _THROTTLE_RETRIES:
                return response.status, content
            await asyncio.sleep(_retry_after(response.headers.get("Retry-After"), attempt))
        raise AssertionError("unreachable")  # pragma: no cover

    async def _send(
        self,
        method: str,
        target: str,
        query: Mapping[str, str] | None,
        body: kube.Manifest | Sequence[kube.Manifest] | None,
        headers: Mapping[str, str],
        timeout_seconds: float,
    ) -> aiohttp.ClientResponse:
        """Send one request with the current credential and return the open response."""
        sent = {**self._api.default_headers, **headers}
        url = f"{self._api.configuration.host}{target}" + (f"?{urlencode(query)}" if query else "")
        timeout = aiohttp.ClientTimeout(total=timeout_seconds, sock_connect=5.0)
        try:
            await self._api.update_params_for_auth(sent, [], ["BearerToken"], target, method, body)
            response = await self._api.rest_client.request(  # type: ignore[no-untyped-call]
                method, url, headers=sent, body=body, _request_timeout=timeout
            )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise kube_errors.network_fault(error, f"{method} {target}") from error
        answer: aiohttp.ClientResponse = response.response
        return answer


def path(kind: Kind, namespace: str, name: str = "") -> str:
    """Return the request path of a collection or, with a name, of an object."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    scope = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{root}{scope}/{kind.plural}" + (f"/{quote(name, safe='')}" if name else "")


def _key(manifest: kube.Manifest) -> tuple[str, str]:
    """Return namespace and name of a manifest."""
    metadata = manifest["metadata"]
    return metadata["namespace"], metadata["name"]


def _selector(labels: Mapping[str, str] | None) -> dict[str, str]:
    """Return the query parameter that selects by label."""
    if not labels:
        return {}
    return {"labelSelector": ",".join(f"{key}={value}" for key, value in sorted(labels.items()))}


def _typed(item: kube.Object, kind: Kind) -> kube.Object:
    """Return a list item with the type that lists leave out."""
    return {"apiVersion": kind.api_version, "kind": kind.name, **item}


def _checked(status: int, body: bytes, what: str) -> kube.Object:
    """Return the object of a successful answer, or raise what the answer means."""
    if status >= HTTPStatus.BAD_REQUEST:
        raise kube_errors.fault_of(status, body, what)
    try:
        value = json.loads(body)
    except ValueError as error:
        raise errors.Transient(f"{what}: the answer is not JSON", reason=kube.SERVER_ERROR) from error
    if not isinstance(value, dict):
        raise errors.Transient(f"{what}: the answer is no object", reason=kube.SERVER_ERROR)
    return value


def _watch_event(event: dict[str, Any], kind: Kind, what: str) -> tuple[str, kube.Object]:
    """Return type and object of a watch event; an ERROR event is raised as what its status means."""
    if event["type"] == "ERROR":
        status = event["object"]
        raise kube_errors.fault_of(int(status.get("code") or 500), json.dumps(status).encode(), what)
    return event["type"], _typed(event["object"], kind)


async def _read(response: aiohttp.ClientResponse, what: str) -> bytes:
    """Return the whole body and give the connection back."""
    try:
        return await response.read()
    except (aiohttp.ClientError, TimeoutError) as error:
        raise kube_errors.network_fault(error, what) from error
    finally:
        response.release()


def _retry_after(header: str | None, attempt: int) -> float:
    """Return the seconds to wait after a 429, bounded."""
    try:
        asked = float(header or "")
    except ValueError:
        asked = 0.25 * 2**attempt
    return min(max(asked, 0.05), _LONGEST_RETRY_AFTER_SECONDS)
