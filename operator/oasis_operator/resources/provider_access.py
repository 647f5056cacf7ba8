"""How a foreign provider is reached, and how an agent reaches what the provider made for it.

A provider may answer with a kubeconfig, with a token and a CA, or with both; the forms that are understood
are those that an adapter can hand to an agent.

Spec: 04-execution §2.2.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml

from oasis_operator import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.wire.provider import ProvisionAnswer

_TOKENS = ("token", "bearer_token", "bearerToken", "access_token")
_CAS = (
    "certificate_authority",
    "certificateAuthority",
    "ca",
    "ca_cert",
    "cluster_ca",
    "certificate-authority-data",
)
_DEFAULT_PORTS = {"https": 443, "http": 80}
_ACCOUNT_CLAIM = "sub"


@dataclass(frozen=True, slots=True)
class ProviderReach:
    """Where a provider is and how it is spoken to.

    Attributes:
        url: Base URL without the routes' own path.
        ca: PEM of the only authority that is trusted; None for those of the system.
        token: Bearer token; empty for none.
        provision_seconds: Longest time of a provision.
        request_seconds: Longest time of any other request.
    """

    url: str
    ca: bytes | None = None
    token: str = field(default="", repr=False)
    provision_seconds: float = 600.0
    request_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """The agent's access to a foreign environment.

    Attributes:
        host: Host name or address of its API server.
        port: Port.
        token: Bearer token.
        ca: PEM of the authority that signed the server's certificate.
        namespace: Default namespace.
        username: Under which user name the environment knows the agent; empty where nothing says so.
    """

    host: str
    port: int
    token: str = field(repr=False)
    ca: str = field(repr=False)
    namespace: str = "default"
    username: str = ""

    @property
    def is_address(self) -> bool:
        """Whether the host is an IP address."""
        return is_address(self.host)

    @property
    def server(self) -> str:
        """Give the ``https`` URL of the API server."""
        return f"https://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def is_address(host: str) -> bool:
    """Tell whether a host is an IP address rather than a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def agent_access(answer: ProvisionAnswer) -> AgentAccess:
    """Read the access that a provision gave.

    Raises:
        ProviderFault: It cannot be handed to an agent; the message says what is missing.
    """
    given = _known(answer.agent_credentials)
    kubeconfig = _kubeconfig(given.get("kubeconfig"))
    endpoint = answer.agent_endpoint or kubeconfig.get("server", "")
    token = kubeconfig.get("token") or _first(given, _TOKENS)
    ca = _pem(kubeconfig.get("ca") or _first(given, _CAS))
    if not token:
        raise _unusable("no bearer token, neither beside the kubeconfig nor in it")
    if not ca:
        raise _unusable("no certificate authority of the environment's API server")
    host, port = _place(endpoint)
    namespace = _text(given.get("namespace")) or kubeconfig.get("namespace") or "default"
    username = _text(given.get("username")) or _text(given.get("user")) or _account(token)
    return AgentAccess(host, port, token, ca, namespace, username)


def _known(credentials: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the credentials; those of type kubeconfig may stand one level deeper."""
    for name in ("credentials", "data"):
        inner = credentials.get(name)
        if isinstance(inner, dict) and "kubeconfig" in inner:
            return inner
    return credentials


def _place(endpoint: str) -> tuple[str, int]:
    """Return host and port of an API server that is spoken to over TLS, at the root of its host."""
    try:
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        host, port = parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        host, port, parts = "", 0, urlsplit("")
    if not host or parts.scheme != "https" or parts.path.strip("/"):
        raise _unusable(f"agent_endpoint {endpoint[:200]!r} is no https URL of an API server without a path")
    return host, port


def _kubeconfig(text: object) -> dict[str, str]:
    """Return server, CA, token and namespace of a kubeconfig's current context; empty where there is none."""
    if not isinstance(text, str) or not text.strip():
        return {}
    try:
        config = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise _unusable("its kubeconfig is not YAML") from error
    if not isinstance(config, dict):
        raise _unusable("its kubeconfig is no object")
    context = _named(config, "contexts", config.get("current-context"), "context")
    cluster = _named(config, "clusters", context.get("cluster"), "cluster")
    user = _named(config, "users", context.get("user"), "user")
    found = {
        "server": cluster.get("server"),
        "ca": cluster.get("certificate-authority-data"),
        "token": user.get("token"),
        "namespace": context.get("namespace"),
    }
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def _named(config: Mapping[str, Any], members: str, name: object, member: str) -> Mapping[str, Any]:
    """Return a named entry of a kubeconfig, or the only one there is; empty where there is none."""
    listed = config.get(members)
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    chosen = [one for one in entries if one.get("name") == name] or (entries if len(entries) == 1 else [])
    found = chosen[0].get(member) if chosen else None
    return found if isinstance(found, dict) else {}


def _first(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((text for name in names if (text := _text(given.get(name)))), "")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _pem(text: str) -> str:
    """Return a CA as PEM, whether it came so or as base64 of it."""
    if not text or "-----BEGIN" in text:
        return text
    try:
        decoded = base64.b64decode(text, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    return decoded if "-----BEGIN" in decoded else ""


def _account(token: str) -> str:
    """Return the user name that a service account's token stands for; empty for any other token."""
    parts = token.split(".")
    if len(parts) != 3:
        return ""
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return ""
    subject = claims.get(_ACCOUNT_CLAIM) if isinstance(claims, dict) else None
    return subject if isinstance(subject, str) and subject.startswith("system:serviceaccount:") else ""


def _unusable(why: str) -> errors.ProviderFault:
    return errors.ProviderFault(
        f"the access that the provider gave cannot be handed to the agent: {why}", reason="AccessUnusable"
    )
