"""The one run of an environment: its preparation, its end, and what both leave behind."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from oasis_operator.errors import ProviderFault
from oasis_operator.model import audit_log
from oasis_operator.sidecar.probe import audit, establish, moments
from oasis_operator.sidecar.probe.api import Api, ApiError
from oasis_operator.sidecar.probe.cluster import resize_nodes
from oasis_operator.sidecar.probe.consequences import Consequences
from oasis_operator.sidecar.probe.credentials import issue, revoke
from oasis_operator.sidecar.probe.follow import Follower
from oasis_operator.sidecar.probe.narration import narrate, write_output
from oasis_operator.sidecar.probe.part import Ended, build_part
from oasis_operator.sidecar.probe.planted import prove_planted
from oasis_operator.sidecar.probe.record import Boot, Record
from oasis_operator.sidecar.probe.remedies import Remedies
from oasis_operator.sidecar.probe.snapshot import in_order, take_snapshot
from oasis_operator.sidecar.probe.streams import TOOLS_JOURNAL, journal_size, read_questions, read_streams
from oasis_operator.sidecar.probe.tools import Tools
from oasis_operator.sidecar.probe.waiting import Waiting
from oasis_operator.sidecar.probe.window import drain, find_change, place_sentinel
from oasis_operator.wire.probe import Credential, PrepareReason, PrepareState, PrepareStatus
from oasis_operator.world.check import compile_world
from oasis_operator.world.plan import custom_kinds, has_commands
from oasis_operator.world.principal import build_principal, scope_namespaces

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from oasis_operator.wire.probe_request import PrepareRequest, StateFault
    from oasis_operator.world.manifests import Expectation, Json, Manifest
    from oasis_operator.world.plan import Plan

_SYMPTOM_SECONDS = 45.0


@dataclass(slots=True)
class Preparation:
    """The preparation of one run, told while it goes on.

    Attributes:
        status: What is told to whoever asks.
        record: What the end of the run needs, None until ready.
        remedies: What watches for corrected causes, None where there is nothing to watch for.
        consequences: What follows from what the agent does, None until the state stands.
        tools: What the tools beside the cluster are told, None until the state was compiled.
        values: Containment literals by reference, held in memory only.
        plan: What the state came to, None until it was compiled.
        compiled_at: The moment for which it was compiled.
        failing: The failures that are in force, each with its containers.
    """

    api: Api
    folder: Path
    boot: Boot
    request: PrepareRequest
    status: PrepareStatus = field(init=False)
    record: Record | None = None
    remedies: Remedies | None = None
    consequences: Consequences | None = None
    tools: Tools | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    plan: Plan | None = None
    compiled_at: str = field(default_factory=moments.this_second)
    failing: list[tuple[Expectation, list[Json]]] = field(default_factory=list)
    _watch: moments.Stopwatch = field(default_factory=moments.Stopwatch)
    _done: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin as preparing."""
        self.status = PrepareStatus(PrepareState.PREPARING, entries_total=len(self.request.state))

    async def run(self) -> None:
        """Prepare the world; how it ended stands in ``status``. Nothing is raised."""
        try:
            plan, faults = compile_world(self.request, self.compiled_at)
            if faults:
                text = "; ".join(str(item) for item in faults)
                self._fail(PrepareReason.IMPOSSIBLE_STATE, text, faults)
                return
            self.plan, self.values = plan, plan.values
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
        parts = [part for part in (self.remedies, self.consequences, self.tools) if part is not None]
        await asyncio.gather(*(part.watch() for part in parts), return_exceptions=True)

    def take_up(
        self,
        request: PrepareRequest,
        plan: Plan,
        failing: list[tuple[Expectation, list[Json]]],
        consequences: Consequences,
    ) -> None:
        """Go on with a world into which more state was put; whoever follows it must begin anew."""
        self.request, self.plan, self.values = request, plan, plan.values
        self._watch_causes(failing)
        self.consequences = consequences

    async def _prepare(self, plan: Plan) -> None:
        started = moments.this_second()
        self.tools = Tools(self.api, self.folder, plan, self.compiled_at)
        self.tools.start()
        await self._create(plan)
        self._watch.lap("state")
        witnesses = await establish.prove_plan(
            self.api,
            plan,
            patience_seconds=_SYMPTOM_SECONDS,
            settle_seconds=self.request.settle_seconds,
        )
        failing = await establish.arm(self.api, plan, self.failing, self.folder, self.boot.stages)
        self._watch_causes(failing)
        self.consequences = Consequences(self.api, plan, failing)
        await self.consequences.begin()
        await narrate(self.api, plan.expectations)
        write_output(self.folder, plan)
        await self.tools.begin()
        planted = await prove_planted(self.api, plan, witnesses)
        self._watch.lap("symptoms")
        namespaces = await self.api.list("Namespace")
        scope = scope_namespaces(self.request.agent, namespaces)
        taken = frozenset(item["metadata"]["name"] for item in namespaces)
        principal = build_principal(
            self.request.agent, scope, taken, custom_kinds(plan), commands=has_commands(plan)
        )
        issued = await issue(self.api, principal)
        self._watch.lap("credential")
        before = await take_snapshot(self.api)
        log = self.folder / "audit" / "audit.log"
        opening, offset, begun = await place_sentinel(self.api, self.folder, log.stat().st_size)
        follower = Follower(log, offset)
        self._watch.lap("snapshot")
        total = len(self.request.state)
        self.record = Record(
            opening, offset, started, before, witnesses, issued, total, begun, follower, planted,
            waiting=Waiting.of(log, principal.username, plan.injections),
            journal=journal_size(self.folder),
            questions=journal_size(self.folder, TOOLS_JOURNAL),
        )  # fmt: skip
        # From here on the world is what was placed in it, and no stimulus is placed twice.
        self.request = replace(self.request, state=plan.state, stimuli=())
        self.status = PrepareStatus(
            PrepareState.READY,
            entries_done=total,
            entries_total=total,
            credential=Credential(principal.username, issued.token, principal.namespace),
            witnesses=(*witnesses, *planted),
            timings=dict(self._watch.seconds),
        )

    async def _create(self, plan: Plan) -> None:
        await resize_nodes(
            self.api, self.boot.nodes, plan.node_count, plan.node_allocatable, self.boot.version
        )
        first, *others = plan.ranks or ((),)
        await establish.create_rank(self.api, first, self._established)
        # Failing conditions must be in force before the first pod of theirs is made, and need the namespaces.
        self.failing = await establish.play_failures(self.api, plan, self.folder, self.boot.stages)
        for rank in others:
            await establish.create_rank(self.api, rank, self._established)

    def _watch_causes(self, failing: list[tuple[Expectation, list[Json]]]) -> None:
        self.failing, self.remedies = failing, None
        if any(expectation.missing for expectation, _ in failing):
            self.remedies = Remedies(self.api, self.folder, self.boot.stages, failing)

    def _established(self, manifest: Manifest) -> None:
        self._done.add(manifest.index)
        total = len(self.request.state)
        done = min(len(self._done - {-1}), total)
        self.status = PrepareStatus(PrepareState.PREPARING, entries_done=done, entries_total=total)

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
    lost = await drain(api, folder, record.log_offset)
    watch.lap("drain")
    closing, _, _ = await place_sentinel(api, folder, record.log_offset)
    lines = (line for line, _ in audit.read_lines(folder / "audit" / "audit.log", record.log_offset))
    window = await asyncio.to_thread(audit.build_window, lines, record.opening, closing, lost)
    if not window.start or not window.end:
        raise ProviderFault("audit log: does not hold both ends of the window", reason="EnvironmentFault")
    changed = await find_change(record.follower)
    watch.lap("audit")
    after = in_order((*revoked, *await take_snapshot(api)))
    watch.lap("snapshot")
    ended = Ended(
        replace(window, changed=changed), closing, after,
        read_streams(folder, record.journal), read_questions(folder, record.questions),
    )  # fmt: skip
    return build_part(boot, record, ended, watch.seconds)


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
    changed = await find_change(record.follower)
    watch.lap("audit")
    ended = Ended(
        replace(window, changed=changed),
        streams=read_streams(folder, record.journal),
        questions=read_questions(folder, record.questions),
    )
    return build_part(boot, record, ended, watch.seconds)


def beginning(boot: Boot, record: Record) -> bytes:
    """Give the evidence part of a run of which nothing but its beginning is known.

    With the lines of the log that left the environment it is all that can be told once that is gone.

    Spec: 08-provider-conformance §3.4.
    """
    nothing = audit.Window((), record.start, "", (), 0, audit_log.chain(()))
    return build_part(boot, record, Ended(nothing), {})


def digest(data: bytes) -> str:
    """Give the SHA-256 of the evidence part in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
