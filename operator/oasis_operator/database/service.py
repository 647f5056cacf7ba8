"""The provider contract over databases: what its routes do, without HTTP.

An environment is a server of its own, so that two of them share no login, no log and no lock.

Spec: 04-execution §2.2, 05-reporting §1.1.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.database import audit, catalog, plan
from oasis_operator.database.endpoint import Endpoint
from oasis_operator.database.server import ADMIN, Server, Template
from oasis_operator.errors import ProviderFault
from oasis_operator.provider_api.refusals import Refused
from oasis_operator.wire.fields import Fields, fault
from oasis_operator.wire.observation import (
    EvidenceSource,
    ObservationType,
    ObserveAnswer,
    ObserveRequest,
    SourceStatus,
)
from oasis_operator.wire.probe_request import AgentPart
from oasis_operator.wire.provider import ProvisionAnswer, ResourceRef, SnapshotAnswer, Status, StatusAnswer
from oasis_operator.wire.provider_errors import ErrorReason

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from oasis_operator.wire.probe_request import StateFault
    from oasis_operator.wire.provider import (
        InjectRequest,
        ProvisionRequest,
        SnapshotRequest,
        TeardownRequest,
    )

TYPE: Final = "postgresql-database"
_MARK_SECONDS: Final = 10.0
_HIDDEN: Final = frozenset({ADMIN})
_SOURCES: Final = {
    ObservationType.AUDIT_LOG.value: "audit_log_file",
    ObservationType.RESOURCE_STATE.value: "database_catalog",
    ObservationType.STATE_DIFF.value: "database_catalog",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where environments are made and reached.

    Attributes:
        folder: Everything that they keep.
        programs: Folder of the server's programs.
        host: Address that agents use, and that their endpoints listen on.
        context: TLS of the endpoints.
        authority: PEM of the authority that signed their certificate.
        most: Environments at once.
        ages_seconds: After which time one that nobody tore down is removed.
    """

    folder: Path
    programs: Path
    host: str
    context: ssl.SSLContext
    authority: str
    most: int = 8
    ages_seconds: float = 7200.0


@dataclass(slots=True)
class _Environment:
    """One environment, from the moment it is asked for."""

    request: Mapping[str, Any]
    server: Server
    began: float
    endpoint: Endpoint | None = None
    answer: ProvisionAnswer | None = None
    before: list[dict[str, Any]] = field(default_factory=list)
    log_offset: int = 0
    making: asyncio.Lock = field(default_factory=asyncio.Lock)
    gone: bool = False


class Databases:
    """Makes, observes and removes environments."""

    def __init__(self, place: Place, now: Callable[[], datetime]) -> None:
        """Keep everything under `place.folder`."""
        self._place, self._now = place, now
        self._template = Template(place.programs, place.folder)
        self._all: dict[str, _Environment] = {}

    @property
    def is_full(self) -> bool:
        """Whether as many environments exist as may."""
        return len(self._alive()) >= self._place.most

    async def provision(self, request: ProvisionRequest) -> ProvisionAnswer:
        """Make an environment; a repeated request is answered like the first.

        Raises:
            Refused: The state cannot be, the identifier is another one's, there are too many, or it failed.
        """
        environment_id = request.environment_id or secrets.token_hex(8)
        known = self._all.get(environment_id)
        if known is None:
            self._check(request)
            if self.is_full:
                raise Refused(ErrorReason.TOO_MANY, f"{self._place.most} environments exist; tear one down")
            folder = self._place.folder / secrets.token_hex(4)
            known = _Environment(request.to_json(), Server(self._template, folder), time.monotonic())
            self._all[environment_id] = known
        elif known.gone or known.request != request.to_json():
            raise Refused(
                ErrorReason.CONFLICT, f"environment_id: {environment_id}: is in use for another request"
            )
        async with known.making:
            if known.answer is None:
                known.answer = await self._made(environment_id, known, request)
        return known.answer

    async def snapshot(self, request: SnapshotRequest) -> SnapshotAnswer:
        """Return the objects that are named, or all.

        Raises:
            Refused: There is no such environment, or it cannot be read.
        """
        there = self._ready(request.environment_id)
        objects = await self._objects(there)
        wanted = request.resources
        kept = [one for one in objects if not wanted or any(_is_meant(one, item) for item in wanted)]
        return SnapshotAnswer(request.environment_id, self._moment(), tuple(kept))

    async def inject(self, request: InjectRequest) -> StatusAnswer:
        """Add state to an environment.

        Raises:
            Refused: There is no such environment, or the state cannot be.
        """
        there = self._ready(request.environment_id)
        declared = {
            f"schema/{one['metadata']['name']}"
            for one in await self._objects(there)
            if one["kind"] == "Schema"
        }
        known = [{"resource": name} for name in sorted(declared)]
        part = _agent(there.request)
        old, new = plan.build_plan(known, part, ""), plan.build_plan([*known, *request.state], part, "")
        _refuse(tuple(item for item in new.faults if item.index >= len(known)))
        added = [text for text in new.statements if text not in old.statements and "PASSWORD" not in text]
        await self._asked(there, added)
        return StatusAnswer(Status.APPLIED.value)

    async def observe(self, request: ObserveRequest) -> ObserveAnswer:
        """Return an observation; what cannot be had is unreachable, never an empty answer.

        Raises:
            Refused: There is no such environment, or a parameter is malformed.
        """
        there = self._ready(request.environment_id)
        asked = Fields.of(dict(request.parameters), "parameters")
        reference = ResourceRef(asked.text("kind", ""), asked.text("name", ""), asked.text("namespace", ""))
        try:
            if request.observation_type == ObservationType.AUDIT_LOG:
                data: dict[str, Any] = {"entries": await self._entries(there, asked)}
            elif request.observation_type == ObservationType.RESOURCE_STATE:
                data = self._state(await self._objects(there), reference)
            else:
                data = self._difference(there.before, await self._objects(there), reference)
        except (ProviderFault, OSError):
            return self._answer(request, {}, SourceStatus.UNREACHABLE)
        return self._answer(request, data, SourceStatus.AVAILABLE)

    async def teardown(self, request: TeardownRequest) -> StatusAnswer:
        """Remove an environment; one that was removed stays so.

        Raises:
            Refused: There never was such an environment.
        """
        there = self._all.get(request.environment_id)
        if there is None:
            raise _unknown(request.environment_id)
        await self._remove(there)
        return StatusAnswer(Status.DESTROYED.value)

    async def sweep(self) -> list[str]:
        """Remove what is too old, and return its identifiers."""
        now = time.monotonic()
        old = [one for one, there in self._alive().items() if now - there.began > self._place.ages_seconds]
        for environment_id in old:
            await self._remove(self._all[environment_id])
        return old

    async def close(self) -> None:
        """Remove everything."""
        for there in list(self._alive().values()):
            await self._remove(there)

    def _alive(self) -> dict[str, _Environment]:
        return {name: there for name, there in self._all.items() if not there.gone}

    def _check(self, request: ProvisionRequest) -> None:
        if request.environment_type not in ("", TYPE):
            message = f"environment.type: {request.environment_type!r}: want {TYPE}"
            raise Refused(ErrorReason.IMPOSSIBLE_STATE, message)
        if request.tier > 1:
            raise Refused(ErrorReason.IMPOSSIBLE_STATE, f"tier: {request.tier}: environments are of tier 1")
        _refuse(plan.build_plan(request.state, request.agent, "").faults)

    async def _made(
        self, environment_id: str, there: _Environment, request: ProvisionRequest
    ) -> ProvisionAnswer:
        token = secrets.token_urlsafe(32)
        try:
            await there.server.start()
            statements = plan.build_plan(request.state, request.agent, token).statements
            await there.server.run(statements)
            there.before = await self._objects(there)
            await self._marked(there)
            there.log_offset = there.server.log.stat().st_size
            there.endpoint = Endpoint(there.server, token)
            port = await there.endpoint.start(self._place.host, 0, self._place.context)
        except (ProviderFault, OSError) as error:
            del self._all[environment_id]
            await self._remove(there)
            raise Refused(ErrorReason.FAILED, f"environment: {error}") from error
        host = f"[{self._place.host}]" if ":" in self._place.host else self._place.host
        credentials = {"token": token, "username": plan.AGENT, "namespace": _home(request),
                       "certificate_authority": self._place.authority}  # fmt: skip
        return ProvisionAnswer(environment_id, f"https://{host}:{port}", credentials)

    async def _remove(self, there: _Environment) -> None:
        there.gone = True
        if there.endpoint is not None:
            await there.endpoint.stop()
        await there.server.stop()

    def _ready(self, environment_id: str) -> _Environment:
        there = self._all.get(environment_id)
        if there is None:
            raise _unknown(environment_id)
        if there.gone:
            raise Refused(ErrorReason.DESTROYED, f"environment_id: {environment_id}: was torn down")
        if there.answer is None:
            raise Refused(ErrorReason.NOT_READY, f"environment_id: {environment_id}: is being provisioned")
        return there

    async def _objects(self, there: _Environment) -> list[dict[str, Any]]:
        return await catalog.take_snapshot(there.server.run)

    async def _asked(self, there: _Environment, statements: list[str]) -> None:
        try:
            await there.server.run(statements)
        except ProviderFault as error:
            raise Refused(ErrorReason.FAILED, f"state: {error.message}") from error

    async def _entries(self, there: _Environment, asked: Fields) -> list[dict[str, Any]]:
        """Return the log since the end of the provision, through a mark that is set now.

        Raises:
            ProviderFault: The log does not hold the mark, or lines of it cannot be read.
        """
        await self._marked(there)
        data = await asyncio.to_thread(there.server.log.read_bytes)
        records, unreadable = audit.read_lines(data[there.log_offset :].decode(errors="replace"))
        if unreadable or len(data) < there.log_offset:
            raise ProviderFault(f"the log: {unreadable} lines cannot be read")
        found = [entry.to_json() for entry in audit.entries_of(records, _HIDDEN)]
        wanted = {key: asked.text(key, "") for key in ("namespace", "resource_type", "verb")}
        first, last = asked.text("time_from", ""), asked.text("time_to", "~")
        return [
            one
            for one in found
            if first <= one["timestamp"] <= last
            and wanted["namespace"] in ("", one["namespace"])
            and wanted["verb"] in ("", one["verb"])
            and wanted["resource_type"].partition(".")[0] in ("", one["resource"].partition(".")[0])
        ]

    async def _marked(self, there: _Environment) -> None:
        """Write a mark and wait until it stands in the log: whatever ended before it stands there too."""
        mark = secrets.token_hex(16)
        await there.server.run((catalog.sentinel(mark),))
        deadline = time.monotonic() + _MARK_SECONDS
        while mark.encode() not in await asyncio.to_thread(there.server.log.read_bytes):
            if time.monotonic() > deadline:
                raise ProviderFault("the log: does not hold the mark that ends the window")
            await asyncio.sleep(0.02)

    def _state(self, objects: list[dict[str, Any]], wanted: ResourceRef) -> dict[str, Any]:
        if not wanted.kind:
            return {"resources": objects}
        return catalog.value_of(objects, wanted.kind, wanted.name, wanted.namespace)

    def _difference(
        self, before: list[dict[str, Any]], after: list[dict[str, Any]], wanted: ResourceRef
    ) -> dict[str, Any]:
        if not wanted.kind or not wanted.name:
            raise fault("parameters.kind", wanted.kind, "want kind and name of one object")
        old, new = self._state(before, wanted), self._state(after, wanted)
        changes = (
            [] if old == new else [{"path": "spec", "before": old.get("spec"), "after": new.get("spec")}]
        )
        return {"before": old, "after": new, "changes": changes}

    def _answer(self, request: ObserveRequest, data: dict[str, Any], status: SourceStatus) -> ObserveAnswer:
        source = EvidenceSource(_SOURCES[request.observation_type], status)
        kind = request.observation_type
        return ObserveAnswer(request.environment_id, self._moment(), kind, data, source, plan.AGENT)

    def _moment(self) -> str:
        return self._now().isoformat().replace("+00:00", "Z")


def _is_meant(one: Mapping[str, Any], wanted: ResourceRef) -> bool:
    word, meta = wanted.kind.lower().split(".")[0].removesuffix("s"), one["metadata"]
    return (
        word in ("", one["kind"].lower())
        and wanted.name in ("", meta["name"])
        and wanted.namespace in ("", meta.get("namespace", ""))
    )


def _agent(request: Mapping[str, Any]) -> AgentPart:
    return AgentPart.from_json(Fields.of(request["agent"], "agent"))


def _home(request: ProvisionRequest) -> str:
    listed = request.agent.scope.get("namespaces")
    return str(listed[0]) if isinstance(listed, list) and listed else "public"


def _refuse(faults: tuple[StateFault, ...]) -> None:
    if faults:
        raise Refused(ErrorReason.IMPOSSIBLE_STATE, "; ".join(str(item) for item in faults[:20]))


def _unknown(environment_id: str) -> Refused:
    return Refused(
        ErrorReason.UNKNOWN_ENVIRONMENT,
        f"environment_id: {json.dumps(environment_id)[:256]}: there is no such environment",
    )
