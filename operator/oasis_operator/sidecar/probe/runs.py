"""The one run of an environment: its preparation, its end, and what both leave behind."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import secrets
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from oasis_operator.errors import ProviderFault
from oasis_operator.model import audit_log
from oasis_operator.sidecar.probe import audit, establish, moments
from oasis_operator.sidecar.probe.api import Api, ApiError
from oasis_operator.sidecar.probe.cluster import resize_nodes, wait_for
from oasis_operator.sidecar.probe.consequences import Consequences
from oasis_operator.sidecar.probe.credentials import Issued, issue, revoke
from oasis_operator.sidecar.probe.follow import Follower
from oasis_operator.sidecar.probe.narration import narrate, write_output
from oasis_operator.sidecar.probe.remedies import Remedies
from oasis_operator.sidecar.probe.snapshot import in_order, take_snapshot, without_untouched
from oasis_operator.wire.probe import Credential, PrepareReason, PrepareState, PrepareStatus, Witness
from oasis_operator.world.check import compile_world
from oasis_operator.world.plan import custom_kinds
from oasis_operator.world.principal import build_principal, scope_namespaces

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from oasis_operator.wire.probe_request import PrepareRequest, StateFault
    from oasis_operator.world.manifests import Expectation, Json, Manifest
    from oasis_operator.world.plan import Plan

_SYMPTOM_SECONDS = 45.0
_DRAIN_SECONDS = 15.0
_SENTINEL_SECONDS = 10.0
_LOST_COUNT = re.compile(r'^apiserver_audit_error_total\{plugin="log"\} (\d+)$', re.MULTILINE)
_SENTINEL_PATH = "/api/v1/namespaces/kube-system/configmaps/"


@dataclass(slots=True)
class Record:
    """What is known of a prepared run; the evidence is made of it.

    Attributes:
        opening: Name that the opening sentinel asked for.
        log_offset: Offset in the audit log from which the opening sentinel is to be found.
        start: When the opening sentinel was received.
        follower: Follows the log from that sentinel on; None where nobody does.
        prepared_from: When the preparation began, to the second.
        before: Snapshot of the world as the agent finds it.
    """

    opening: str
    log_offset: int
    prepared_from: str
    before: tuple[Json, ...]
    witnesses: tuple[Witness, ...]
    issued: Issued
    entries: int
    start: str = ""
    follower: Follower | None = None


@dataclass(frozen=True, slots=True)
class Boot:
    """What the blank world is.

    Attributes:
        boot_id: Made when the probe started.
        version: Kubernetes version.
        nodes: Number of nodes.
        stages: The stages that the cluster booted with.
        anonymous_auth: Whether requests without credentials are taken for anonymous ones.
    """

    boot_id: str
    version: str
    nodes: int
    stages: str
    anonymous_auth: bool


@dataclass(slots=True)
class Preparation:
    """The preparation of one run, told while it goes on.

    Attributes:
        status: What is told to whoever asks.
        record: What the end of the run needs, None until ready.
        remedies: What watches for corrected causes, None where there is nothing to watch for.
        consequences: What follows from what the agent does, None until the state stands.
        values: Containment literals by reference, held in memory only.
    """

    api: Api
    folder: Path
    boot: Boot
    request: PrepareRequest
    status: PrepareStatus = field(init=False)
    record: Record | None = None
    remedies: Remedies | None = None
    consequences: Consequences | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    _watch: moments.Stopwatch = field(default_factory=moments.Stopwatch)
    _done: set[int] = field(default_factory=set)
    _failing: list[tuple[Expectation, list[Json]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin as preparing."""
        self.status = PrepareStatus(PrepareState.PREPARING, entries_total=len(self.request.state))

    async def run(self) -> None:
        """Prepare the world; how it ended stands in ``status``. Nothing is raised."""
        try:
            plan, faults = compile_world(self.request, moments.this_second())
            if faults:
                text = "; ".join(str(item) for item in faults)
                self._fail(PrepareReason.IMPOSSIBLE_STATE, text, faults)
                return
            self.values = plan.values
            await self._prepare(plan)
        except establish.SymptomNotSeen as error:
            self._fail(PrepareReason.SYMPTOM_NOT_SEEN, str(error))
        except establish.NotEstablished as error:
            self._fail(PrepareReason.STATE_NOT_ESTABLISHED, str(error))
        except (ProviderFault, ApiError, OSError) as error:
            self._fail(PrepareReason.ENVIRONMENT_FAULT, str(error))
        except Exception as error:  # noqa: BLE001  # a bug of ours must not look like a world that is being made
            self._fail(PrepareReason.ENVIRONMENT_FAULT, f"internal error: {error!r}")

    async def follow(self) -> None:
        """Let the world take its course until the run ends; ends only when cancelled."""
        parts = [part for part in (self.remedies, self.consequences) if part is not None]
        await asyncio.gather(*(part.watch() for part in parts), return_exceptions=True)

    async def _prepare(self, plan: Plan) -> None:
        started = moments.this_second()
        await self._create(plan)
        self._watch.lap("state")
        witnesses = await establish.prove_plan(
            self.api,
            plan,
            patience_seconds=_SYMPTOM_SECONDS,
            settle_seconds=self.request.settle_seconds,
        )
        failing = await establish.arm(self.api, plan, self._failing, self.folder, self.boot.stages)
        if any(expectation.missing for expectation, _ in failing):
            self.remedies = Remedies(self.api, self.folder, self.boot.stages, failing)
        self.consequences = Consequences(self.api, plan, failing)
        await self.consequences.begin()
        await narrate(self.api, plan.expectations)
        write_output(self.folder, plan)
        self._watch.lap("symptoms")
        namespaces = await self.api.list("Namespace")
        scope = scope_namespaces(self.request.agent, namespaces)
        taken = frozenset(item["metadata"]["name"] for item in namespaces)
        principal = build_principal(self.request.agent, scope, taken, custom_kinds(plan))
        issued = await issue(self.api, principal)
        self._watch.lap("credential")
        before = await take_snapshot(self.api)
        log = self.folder / "audit" / "audit.log"
        opening, offset, begun = await place_sentinel(self.api, self.folder, log.stat().st_size)
        follower = Follower(log, offset)
        self._watch.lap("snapshot")
        total = len(self.request.state)
        self.record = Record(
            opening, offset, started, before, witnesses, issued, total, start=begun, follower=follower
        )
        self.status = PrepareStatus(
            PrepareState.READY,
            entries_done=total,
            entries_total=total,
            credential=Credential(principal.username, issued.token, principal.namespace),
            witnesses=witnesses,
            timings=dict(self._watch.seconds),
        )

    async def _create(self, plan: Plan) -> None:
        await resize_nodes(
            self.api, self.boot.nodes, plan.node_count, plan.node_allocatable, self.boot.version
        )
        first, *others = plan.ranks or ((),)
        await establish.create_rank(self.api, first, self._established)
        # Failing conditions must be in force before the first pod of theirs is made, and need the namespaces.
        self._failing = await establish.play_failures(self.api, plan, self.folder, self.boot.stages)
        for rank in others:
            await establish.create_rank(self.api, rank, self._established)

    def _established(self, manifest: Manifest) -> None:
        self._done.add(manifest.index)
        done = len(self._done - {-1})
        self.status = PrepareStatus(
            PrepareState.PREPARING, entries_done=done, entries_total=len(self.request.state)
        )

    def _fail(self, reason: PrepareReason, message: str, faults: tuple[StateFault, ...] = ()) -> None:
        self._watch.lap("failed")
        self.status = PrepareStatus(
            PrepareState.FAILED,
            reason=reason,
            message=message,
            entries_done=self.status.entries_done,
            entries_total=self.status.entries_total,
            timings=dict(self._watch.seconds),
            faults=faults,
        )


async def place_sentinel(api: Api, folder: Path, offset: int) -> tuple[str, int, str]:
    """Ask for a name that nobody knows, and wait until the request stands in the audit log.

    Returns:
        The name, the offset of the request's line, and when the request was received.

    Raises:
        ProviderFault: It does not appear: the log is not being written.
    """
    nonce = secrets.token_hex(16)
    try:
        await api.get(_SENTINEL_PATH + nonce)
    except ApiError as error:
        if error.status != 404:
            raise
    log = folder / "audit" / "audit.log"
    found: list[tuple[int, str]] = []

    async def stands() -> bool:
        found.extend(filter(None, (audit.find_sentinel(log, offset, nonce),)))
        return bool(found)

    await wait_for("audit log", stands, patience_seconds=_SENTINEL_SECONDS, every=0.02)
    return nonce, *found[0]


async def end_run(api: Api, folder: Path, boot: Boot, record: Record) -> bytes:
    """Carry out the stop protocol and give the evidence part.

    1. The agent's rights and account are taken away.
    2. Its requests in flight are awaited, for a bounded time. Whoever sent them is gone, so that each has
       ended or ends with its connection; one still open makes the window incomplete.
    3. The closing sentinel is placed.
    4. The window is cut out of the audit log, and the log is held against what was followed of it.
    5. The world is listed once more.

    Raises:
        ApiError: The API server refused one of these steps.
        ProviderFault: It did not answer, or the log does not hold both sentinels.
    """
    watch = moments.Stopwatch()
    revoked = await revoke(api, record.issued.principal)
    watch.lap("revoke")
    lost = await _drain(api, folder, record)
    watch.lap("drain")
    closing, _, _ = await place_sentinel(api, folder, record.log_offset)
    lines = (line for line, _ in audit.read_lines(folder / "audit" / "audit.log", record.log_offset))
    window = await asyncio.to_thread(audit.build_window, lines, record.opening, closing, lost)
    if not window.start or not window.end:
        raise ProviderFault("audit log: does not hold both ends of the window", reason="EnvironmentFault")
    changed = await _find_change(record)
    watch.lap("audit")
    after = in_order((*revoked, *await take_snapshot(api)))
    watch.lap("snapshot")
    return _evidence(boot, record, replace(window, changed=changed), after, closing, watch.seconds)


async def salvage(folder: Path, boot: Boot, record: Record) -> bytes:
    """Give what can still be told of a run whose API server does not carry out the stop protocol any more.

    The log is read as far as it goes, and of the state nothing is known. Both say so: what stands in the log
    may show a violation, and what does not stand there shows nothing.

    Raises:
        ProviderFault: The log does not hold the beginning of the run either.

    Spec: 08-provider-conformance §3.4.
    """
    watch = moments.Stopwatch()
    lines = (line for line, _ in audit.read_lines(folder / "audit" / "audit.log", record.log_offset))
    never_asked = secrets.token_hex(16)
    window = await asyncio.to_thread(audit.build_window, lines, record.opening, never_asked)
    if not window.start:
        raise ProviderFault("audit log: does not hold the beginning of the run", reason="EnvironmentFault")
    changed = await _find_change(record)
    watch.lap("audit")
    return _evidence(boot, record, replace(window, changed=changed), None, "", watch.seconds)


def beginning(boot: Boot, record: Record) -> bytes:
    """Give the evidence part of a run of which nothing but its beginning is known.

    With the lines of the log that left the environment it is all that can be told once that is gone.

    Spec: 08-provider-conformance §3.4.
    """
    nothing = audit.Window((), record.start, "", (), 0, audit_log.chain(()))
    return _evidence(boot, record, nothing, None, "", {})


async def _find_change(record: Record) -> str:
    changed = await record.follower.find_change() if record.follower else ""
    return f"the audit log was changed after it was written: {changed}" if changed else ""


async def _drain(api: Api, folder: Path, record: Record) -> tuple[audit.LostEnd, ...]:
    """Wait until nothing is in flight, and give the ends that the audit log could not hold."""
    log = folder / "audit" / "audit.log"
    deadline = time.monotonic() + _DRAIN_SECONDS
    while True:
        lost = audit.read_lost(log.with_name("lost.log"))
        lines = (line for line, _ in audit.read_lines(log, record.log_offset))
        entries = (entry for line in lines if (entry := audit_log.parse_line(line)))
        if not audit.unfinished(entries, lost) or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    # The text of a log might be led to lie; it must agree with the API server's own count of lost events.
    return lost if not lost or await _count_lost(api) == len(lost) else ()


async def _count_lost(api: Api) -> int:
    found = _LOST_COUNT.search(await api.text("/metrics"))
    return int(found[1]) if found else 0


def _evidence(
    boot: Boot,
    record: Record,
    window: audit.Window,
    after: tuple[Json, ...] | None,
    closing: str,
    timings: Mapping[str, float],
) -> bytes:
    before, remaining, untouched = without_untouched(record.before, after or (), record.prepared_from)
    principal = record.issued.principal
    log_status = "available" if window.complete else "unreachable"
    part: dict[str, Any] = {
        "agent_principal": {
            "username": principal.username,
            "groups": list(principal.groups),
            "credential_ids": [record.issued.credential_id],
            "source_ips": [],
        },
        "window": {
            "start": window.start,
            "end": window.end,
            "sentinel": closing,
            "complete": window.complete,
            "unfinished": list(window.unfinished),
            "fault": window.changed,
        },
        "audit": {
            "evidence_source": {"type": "audit_log_file", "status": log_status},
            "entries": list(window.entries),
            "chain_head": window.chain_head,
        },
        "state": {
            "evidence_source": {
                "type": "kube_api",
                "status": "unreachable" if after is None else "available",
            },
            "before": list(before),
            "after": list(remaining),
            "untouched": untouched,
        },
        "environment": {
            "kubernetes_version": boot.version,
            "boot_id": boot.boot_id,
            "nodes": sum(item["kind"] == "Node" for item in record.before),
            "anonymous_auth": boot.anonymous_auth,
        },
        "preparation": {
            "witnesses": [witness.to_json() for witness in record.witnesses],
            "entries": record.entries,
        },
        "timings": {f"stop.{step}": seconds for step, seconds in timings.items()},
    }
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def digest(data: bytes) -> str:
    """Give the SHA-256 of the evidence part in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
