"""A small provider in memory that keeps the contract, and whatever of it a test makes wrong.

It is written from the contract alone and shares no code with the operator's own provider.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

Answer = tuple[int, Any]
Hook = Callable[["SmallProvider", dict[str, Any], Answer], Answer | None]

PROFILE = "oasis-profile-software-infrastructure"
AGENT = "system:serviceaccount:orders:worker"
TOKEN = "provider-token"
AGENT_TOKEN = "agent-token"
ENDPOINT = "https://cluster.example:6443"
PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
KINDS = {"configmap": "ConfigMap", "namespace": "Namespace", "deployment": "Deployment", "secret": "Secret"}
START = datetime(2026, 1, 5, 12, tzinfo=UTC)


class Refused(Exception):  # noqa: N818 - an answer, and no error of a test
    """An answer of 400 and above."""

    def __init__(self, status: int, error: str, reason: str = "") -> None:
        super().__init__(error)
        self.answer = status, {"status": "error", "error": error, "reason": reason}


@dataclass
class Environment:
    """One environment.

    Attributes:
        request: The body that it was made of.
        objects: API objects by kind, namespace and name.
        before: The same when it was ready.
        entries: Its audit log.
        gone: Whether it was torn down.
        ready: Whether it can be used.
    """

    request: dict[str, Any]
    objects: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    before: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    entries: list[dict[str, Any]] = field(default_factory=list)
    gone: bool = False
    ready: bool = False


@dataclass
class SmallProvider:
    """Keeps the contract; `hooks` by route may replace any answer, and `before` may refuse a request.

    Attributes:
        token: Bearer token that it wants; empty for none.
        knows_ids: Whether it takes proposed identifiers, and says so.
        slow_seconds: How long a provision with a proposed identifier takes.
        calls: Routes that were asked, in order.
        media_type: Of its answers.
    """

    token: str = ""
    knows_ids: bool = True
    slow_seconds: float = 0.0
    media_type: str = "application/json; charset=utf-8"
    conformance: dict[str, Any] = field(default_factory=dict)
    hooks: dict[str, Hook] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)  # noqa: TID251

    @property
    def alive(self) -> list[str]:
        """Environments that were made and not torn down."""
        return [name for name, one in self.environments.items() if not one.gone]

    def transport(self) -> httpx.MockTransport:
        """Return a transport that leads here, whatever the host."""
        return httpx.MockTransport(self.serve)

    async def serve(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        if request.url.host == httpx.URL(ENDPOINT).host:
            return self._api(request)
        try:
            status, body = await self._route(request)
        except Refused as refusal:
            status, body = refusal.answer
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx.Response(status, content=content, headers={"content-type": self.media_type})

    async def _route(self, request: httpx.Request) -> Answer:
        path = "/" + request.url.path.strip("/").removeprefix("v1/")
        body: dict[str, Any] = {}
        if request.method == "POST":
            try:
                body = json.loads(request.content)
            except ValueError as error:
                if "no-json" not in self.hooks:
                    raise Refused(400, "the body is no JSON object", "InvalidRequest") from error
        answer = await self._checked(request, path, body)
        hook = self.hooks.get(path)
        return (hook(self, body, answer) if hook else None) or answer

    async def _checked(self, request: httpx.Request, path: str, body: dict[str, Any]) -> Answer:
        self.calls.append((path, body))
        if (
            self.token
            and "open" not in self.hooks
            and request.headers.get("authorization") != f"Bearer {self.token}"
        ):
            raise Refused(401, "a bearer token is wanted", "Unauthorized")
        if path == "/conformance":
            return self._conformance(request.url.params.get("profile") or "")
        routes = {
            "/provision": self._provision,
            "/state-snapshot": self._snapshot,
            "/inject-state": self._inject,
            "/observe": self._observe,
            "/teardown": self._teardown,
        }
        if path not in routes:
            raise Refused(404, f"no route {path}", "UnknownRoute")
        found = routes[path](body)
        return await found if asyncio.iscoroutine(found) else found  # type: ignore[return-value]

    def _conformance(self, profile: str) -> Answer:
        if not profile and "no-profile" not in self.hooks:
            raise Refused(400, "the query parameter profile is required", "InvalidRequest")
        if profile != PROFILE and "any-profile" not in self.hooks:
            raise Refused(404, f"the profile {profile} is not known", "UnknownProfile")
        answer = {
            "provider": "small",
            "provider_version": "1.0.0",
            "oasis_core_spec_versions": ["1.0.0-rc1.5"],
            "profile": PROFILE,
            "profile_version": "0.2.0-rc3",
            "supported": True,
            "requirements": {
                "environment_type": "kubernetes-cluster",
                "complexity_tier_supported": 1,
                "oasis_core_spec_version": ["1.0.0-rc1.5"],
                "evidence_sources_available": [
                    "audit_log",
                    "resource_state",
                    "state_diff",
                    "value_containment",
                ],
                "value_containment_support": True,
                "state_injection": True,
                "audit_policy_installation": True,
                "network_policy_enforcement": True,
            },
            "unmet_requirements": [],
        }
        if self.knows_ids:
            answer["extensions"] = ["environment_id"]
        return 200, {**answer, **self.conformance}

    async def _provision(self, body: dict[str, Any]) -> Answer:
        state = (body.get("environment") or {}).get("state")
        if not isinstance(state, list):
            if "headless" in self.hooks:
                state = []
            else:
                raise Refused(400, "environment.state: required", "InvalidRequest")
        wanted = str(body.get("environment_id") or "") if self.knows_ids else ""
        known = self.environments.get(wanted)
        if known is not None and (known.request != body or known.gone):
            raise Refused(409, f"{wanted} is in use", "Conflict")
        name = wanted or f"env-{len(self.environments) + 1}"
        if known is None:
            made = self.environments[name] = Environment(copy.deepcopy(body))
            if self.slow_seconds and wanted:
                await asyncio.sleep(self.slow_seconds)
            for entry in state:
                self._put(made, entry)
            made.before = copy.deepcopy(made.objects)
            made.ready = True
        return 200, {
            "environment_id": name,
            "agent_endpoint": ENDPOINT,
            "agent_credentials": {"token": AGENT_TOKEN, "certificate_authority": PEM, "username": AGENT,
                                  "namespace": "orders"},
            "status": "ready",
        }  # fmt: skip

    def _put(self, made: Environment, entry: dict[str, Any]) -> None:
        if "resource" not in entry:
            inner = entry.get("spec") or {}
            flat = {key: value for key, value in entry.items() if key not in ("kind", "name", "spec")}
            entry = {"resource": f"{entry['kind']}/{entry['name']}", **inner, **flat}
        kind, _, name = entry["resource"].partition("/")
        place = (KINDS.get(kind, kind.title()), entry.get("namespace", ""), name)
        rest = {key: value for key, value in entry.items() if key not in ("resource", "namespace")}
        meta = {"name": name, **({"namespace": place[1]} if place[1] else {})}
        made.objects[place] = {"apiVersion": "v1", "kind": place[0], "metadata": meta, **rest}

    def _of(self, body: dict[str, Any]) -> Environment:
        found = self.environments.get(str(body.get("environment_id") or ""))
        if found is None:
            raise Refused(404, f"no environment {body.get('environment_id')}", "UnknownEnvironment")
        if found.gone and "undead" not in self.hooks:
            raise Refused(410, f"{body.get('environment_id')} was torn down", "EnvironmentDestroyed")
        if not found.ready and "early" not in self.hooks:
            raise Refused(409, f"{body.get('environment_id')} is being provisioned", "NotReady")
        return found

    def _snapshot(self, body: dict[str, Any]) -> Answer:
        made = self._of(body)
        wanted = body.get("resources") or []
        objects = [
            one
            for (kind, namespace, name), one in made.objects.items()
            if not wanted
            or any(
                item.get("kind", "").lower() == kind.lower()
                and item.get("name", name) == name
                and item.get("namespace", namespace) == namespace
                for item in wanted
            )
        ]
        flat = [
            {"kind": one["kind"], "name": one["metadata"]["name"],
             "namespace": one["metadata"].get("namespace", ""), **one}
            for one in objects
        ]  # fmt: skip
        return 200, {
            "environment_id": body["environment_id"],
            "timestamp": self._now(),
            "resources": flat,
        }

    def _inject(self, body: dict[str, Any]) -> Answer:
        made = self._of(body)
        for entry in body.get("state") or []:
            self._put(made, entry)
        return 200, {"status": "applied"}

    def _observe(self, body: dict[str, Any]) -> Answer:
        made = self._of(body)
        kind, asked = body.get("observation_type"), body.get("parameters") or {}
        source = "kube_api"
        if kind == "audit_log":
            source = "audit_log_file"
            data: dict[str, Any] = {"entries": self._entries(made, asked)}
        elif kind == "resource_state":
            data = self._object(made.objects, asked)
            if not data:
                raise Refused(404, f"no {asked.get('kind')} {asked.get('name')}", "UnknownResource")
        elif kind == "state_diff":
            before, after = self._object(made.before, asked), self._object(made.objects, asked)
            changes = [] if before == after else [{"path": "data", "before": before, "after": after}]
            data = {"before": before, "after": after, "changes": changes}
        else:
            raise Refused(400, f"observation_type: {kind!r}: want audit_log, resource_state or state_diff")
        return 200, {
            "environment_id": body["environment_id"],
            "timestamp": self._now(),
            "observation_type": kind,
            "data": data,
            "evidence_source": {"type": source, "status": "available"},
            "agent_principal": AGENT,
        }

    def _entries(self, made: Environment, asked: dict[str, Any]) -> list[dict[str, Any]]:
        first, last = asked.get("time_from", ""), asked.get("time_to", "~")
        return [one for one in made.entries if first <= one["timestamp"] <= last]

    def _object(
        self, objects: dict[tuple[str, str, str], dict[str, Any]], asked: dict[str, Any]
    ) -> dict[str, Any]:
        for (kind, namespace, name), one in objects.items():
            if (kind.lower(), namespace, name) == (
                str(asked.get("kind")).lower(),
                asked.get("namespace") or "",
                asked.get("name"),
            ):
                return one
        return {}

    def _teardown(self, body: dict[str, Any]) -> Answer:
        found = self.environments.get(str(body.get("environment_id") or ""))
        if found is None:
            raise Refused(404, f"no environment {body.get('environment_id')}", "UnknownEnvironment")
        found.gone = True
        return 200, {"status": "destroyed"}

    def _api(self, request: httpx.Request) -> httpx.Response:
        """Answer the agent, and put down that it asked."""
        if request.headers.get("authorization") != f"Bearer {AGENT_TOKEN}":
            return httpx.Response(401, json={"kind": "Status"})
        for name in self.alive:
            self.acts(name, "list", "configmaps", namespace="orders", uri=request.url.path)
        return httpx.Response(200, json={"kind": "ConfigMapList", "items": []})

    def acts(
        self,
        name: str,
        verb: str,
        resource: str,
        target: str = "",
        namespace: str = "",
        uri: str = "",
        **more: Any,
    ) -> None:
        """Put a request of the agent into an environment's audit log."""
        self.environments[name].entries.append(
            {"timestamp": self._now(), "verb": verb, "resource": resource, "subresource": "", "name": target,
             "namespace": namespace, "user": AGENT, "request_body": "", "response_code": 200,
             "request_uri": uri, **more}
        )  # fmt: skip

    def _now(self) -> str:
        return self.clock().isoformat().replace("+00:00", "Z")


def later(seconds: float) -> datetime:
    """Return a moment after the beginning of time in tests."""
    return START + timedelta(seconds=seconds)
