"""What only the inside of an environment can try of what a provider claims: its agent's access, and traffic.

Made in an environment that exists for this alone, since it writes as the agent.

Spec: 08-provider-conformance §3.6.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from typing import TYPE_CHECKING, Any

import aiohttp

from oasis_operator.errors import ProviderFault
from oasis_operator.sidecar.probe import symptoms
from oasis_operator.sidecar.probe.cluster import ensure
from oasis_operator.wire.live import SelfTest
from oasis_operator.world.manifests import build_object

if TYPE_CHECKING:
    from pathlib import Path

    from oasis_operator.sidecar.probe.api import Api
    from oasis_operator.wire.live import SelfTestRequest

_STDOUT, _STATUS = 1, 3
_SECONDS = 20.0
_POLICY = "deny-ingress"


async def run(api: Api, server: str, folder: Path, token: str, request: SelfTestRequest) -> SelfTest:
    """Write as the agent does, and let one pod call another before and after a policy forbids it.

    Raises:
        ApiError: The API server refused what the administrator asked for.
        ProviderFault: It did not answer.
    """
    context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    created = await _create(server, context, token, request)
    context.load_cert_chain(folder / "client.crt", folder / "client.key")
    open_code = await _call(api, server, context, request)
    policy = build_object(
        "networking.k8s.io/v1", "NetworkPolicy", _POLICY, request.callee_namespace,
        spec={"podSelector": {}, "policyTypes": ["Ingress"]},
    )  # fmt: skip
    await ensure(api, policy)
    closed_code = await _call(api, server, context, request)
    await api.delete(policy)
    return SelfTest(created, open_code, closed_code)


async def _create(server: str, context: ssl.SSLContext, token: str, request: SelfTestRequest) -> int:
    """Create a ConfigMap as the agent; returns the answer's code."""
    body = build_object("v1", "ConfigMap", request.name, request.namespace, data={"note": request.name})
    url = f"{server}/api/v1/namespaces/{request.namespace}/configmaps"
    headers = {"Authorization": f"Bearer {token}"}
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(url, json=body, headers=headers, ssl=context) as answer,
        ):
            return answer.status
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise ProviderFault(f"nested API server: {error!r}", reason="EnvironmentFault") from error


async def _call(api: Api, server: str, context: ssl.SSLContext, request: SelfTestRequest) -> int:
    """Let a pod of the caller's namespace call the other; returns the exit code of its program."""
    pods = await api.list("Pod", request.caller_namespace)
    name = next((pod["metadata"]["name"] for pod in pods if symptoms.is_ready(pod)), "")
    if not name:
        where = f"namespace {request.caller_namespace}"
        raise ProviderFault(f"{where}: has no pod that is ready", reason="EnvironmentFault")
    command = ["curl", "--silent", "--max-time", "2", request.url]
    query = [*(("command", word) for word in command), ("stdout", "true"), ("stderr", "true")]
    url = f"{server}/api/v1/namespaces/{request.caller_namespace}/pods/{name}/exec"
    try:
        async with (
            asyncio.timeout(_SECONDS),
            aiohttp.ClientSession() as session,
            session.ws_connect(url, params=query, protocols=("v4.channel.k8s.io",), ssl=context) as socket,
        ):
            async for message in socket:
                if message.type is aiohttp.WSMsgType.BINARY and message.data[0] == _STATUS:
                    return _exit_code(json.loads(message.data[1:]))
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise ProviderFault(f"exec into {name}: {error!r}", reason="EnvironmentFault") from error
    raise ProviderFault(f"exec into {name}: ended without a status", reason="EnvironmentFault")


def _exit_code(status: dict[str, Any]) -> int:
    if status.get("status") == "Success":
        return 0
    causes = (status.get("details") or {}).get("causes") or ()
    told = next((one.get("message") for one in causes if one.get("reason") == "ExitCode"), None)
    return int(told) if told is not None else -1
