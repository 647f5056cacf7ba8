"""The two sidecars of each run, played from the address of their pod.

A pod's sidecar comes to life when the kubelet of the kit gives the pod its address, and dies with the pod. What
the agent does is a script of the test: by scenario id, the audit entries it leaves and the answer it gives.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.wire.adapter import AdapterState, Outcome, Phase, RunState, RunStatus
from oasis_operator.wire.audit_log import AuditPiece, LineChain
from oasis_operator.wire.fields import Fields
from oasis_operator.wire.probe import Info, PrepareStatus, StopState, StopStatus
from oasis_operator.wire.release import Check, Expect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis_operator.ports.sidecars import Access

NOON = "2026-01-05T12:00:00.000000+00:00"


@dataclass
class Agent:
    """What an agent does in a scenario.

    Attributes:
        audit: Audit entries of its requests.
        answer: Its final answer.
        outcome: How its run ends.
        fault: Whether the adapter breaks.
        cause: What of ours it was, as the adapter tells it.
        hangs: Whether it never ends by itself.
        deaf: Whether nobody listens, so that its prompt is never delivered.
        usage: What its model took, None without one behind the gateway.
    """

    audit: tuple[Mapping[str, Any], ...] = ()
    answer: str = "done"
    outcome: Outcome = Outcome.ANSWERED
    fault: bool = False
    cause: str = ""
    hangs: bool = False
    deaf: bool = False
    usage: Mapping[str, Any] | None = None


@dataclass
class ProbeLife:
    """One probe process."""

    healthy: bool = True
    prepared: dict[str, Any] | None = None
    polls: int = 0
    failure: tuple[str, str] | None = None
    stop_failure: str = ""
    stopped: bool = False
    evidence: bytes = b""
    silent: bool = False
    log: bytes = b""

    def write(self, *entries: Mapping[str, Any]) -> None:
        """Write entries to the audit log."""
        self.log += b"".join(json.dumps({"auditID": "a", **entry}).encode() + b"\n" for entry in entries)


@dataclass
class AdapterLife:
    """One adapter process."""

    boot_id: str
    released: dict[str, Any] | None = None
    reaches: tuple[str, ...] = ()
    run: RunState | None = None
    transcript: bytes = b""
    silent: bool = False


@dataclass
class World:
    """All sidecars, by the address of their pod.

    Attributes:
        agents: What agents do, by scenario id.
        sent: Run ids of the prompts that were really delivered, in order.
        times: Seconds that their agents were given.
        on_probe: Called with each new probe, for a test to break it.
        on_adapter: Called with each new adapter.
        elsewhere: Lets the agent of a run act in an environment without a probe, and returns what it is.
        identity: What the agent answers about itself; an exception is raised.
    """

    agents: dict[str, Agent] = field(default_factory=dict)
    probes: dict[str, ProbeLife] = field(default_factory=dict)
    adapters: dict[str, AdapterLife] = field(default_factory=dict)
    pairs: dict[str, str] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    on_probe: Callable[[ProbeLife], None] = lambda life: None
    on_adapter: Callable[[AdapterLife], None] = lambda life: None
    elsewhere: Callable[[str], Agent] = lambda run_id: Agent()
    faults: Callable[[str], None] = lambda call: None
    identity: Mapping[str, Any] | Exception = field(
        default_factory=lambda: {
            "identity": {"name": "helper", "version": "1.2.3", "description": ""},
            "configuration": {},
        }
    )
    _boots: int = 0

    def boot_probe(self, ip: str) -> None:
        if ip not in self.probes:
            self.probes[ip] = ProbeLife()
            self.on_probe(self.probes[ip])

    def boot_adapter(self, ip: str, environment_ip: str) -> None:
        if ip not in self.adapters:
            self._boots += 1
            self.adapters[ip] = AdapterLife(f"boot-{self._boots}")
            self.pairs[ip] = environment_ip
            self.on_adapter(self.adapters[ip])

    def kill(self, ip: str) -> None:
        self.probes.pop(ip, None)
        self.adapters.pop(ip, None)

    def called(self, name: str) -> None:
        self.calls.append(name)
        self.faults(name)


class FakeProbe:
    """Implements `ports.probe.Probe`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def health(self, access: Access) -> str | None:
        life = self._life(access, "probe.health")
        return None if life.healthy else "the API server is not ready"

    async def info(self, access: Access) -> Info:
        life = self._life(access, "probe.info")
        return Info("probe-boot", "v1.34.0", "cluster-ca", 3, NOON, blank=life.prepared is None)

    async def prepare(self, access: Access, request: Mapping[str, Any]) -> PrepareStatus:
        life = self._life(access, "probe.prepare")
        if life.prepared is not None and life.prepared["run_id"] != request["run_id"]:
            raise errors.ProviderFault("409 another run is prepared here", reason="SidecarRefused")
        life.prepared = dict(request)
        return self._status(life)

    async def preparation(self, access: Access) -> PrepareStatus:
        life = self._life(access, "probe.preparation")
        life.polls += 1
        return self._status(life)

    async def begin(self, access: Access, run_id: str) -> None:
        life = self._life(access, "probe.begin")
        if life.prepared is None or life.prepared["run_id"] != run_id or life.stopped:
            raise errors.ProviderFault("409 no such run", reason="SidecarRefused")

    async def stop(self, access: Access, run_id: str) -> StopStatus:
        life = self._life(access, "probe.stop")
        if life.prepared is None or life.prepared["run_id"] != run_id:
            raise errors.ProviderFault("404 no such run", reason="SidecarRefused")
        if not life.stopped:
            life.stopped = True
            life.write(_sentinel("close"))
            life.evidence = json.dumps(_part(life.log)).encode()
        return StopStatus(StopState.STOPPING)

    async def stopping(self, access: Access) -> StopStatus:
        life = self._life(access, "probe.stopping")
        if life.stop_failure:
            return StopStatus(StopState.FAILED, life.stop_failure)
        if not life.stopped:
            return StopStatus(StopState.NONE)
        digest = hashlib.sha256(life.evidence).hexdigest()
        return StopStatus(StopState.STOPPED, "", len(life.evidence), digest)

    async def evidence(self, access: Access, size_bytes: int, sha256: str) -> bytes:
        life = self._life(access, "probe.evidence")
        if (len(life.evidence), hashlib.sha256(life.evidence).hexdigest()) != (size_bytes, sha256):
            raise errors.ProviderFault("the evidence is not what was announced")
        return life.evidence

    async def beginning(self, access: Access) -> bytes:
        self._life(access, "probe.beginning")
        return json.dumps(_beginning()).encode()

    async def audit(self, access: Access, offset: int, limit: int) -> AuditPiece:
        """Give what the log holds now, whatever it held before."""
        life = self._life(access, "probe.audit")
        if offset > len(life.log):
            raise errors.ProviderFault("409 LogChanged: it was cut off", reason="SidecarRefused")
        chain = LineChain()
        chain.add(life.log[: offset + limit])
        return AuditPiece(life.log[offset : offset + limit], len(life.log), chain.head)

    async def containment(self, access: Access) -> Mapping[str, str]:
        self._life(access, "probe.containment")
        return {"secret/db.data.PASSWORD": "hunter2-hunter2"}

    def _status(self, life: ProbeLife) -> PrepareStatus:
        if life.failure is not None:
            reason, message = life.failure
            body: dict[str, Any] = {"status": "failed", "reason": reason, "message": message}
        elif life.prepared is None:
            body = {"status": "none"}
        elif life.polls < 1:
            body = {"status": "preparing", "message": "1 of 2 entries"}
        else:
            if not life.log:
                life.write(_sentinel("open"))
            credential = {"username": "dev-7", "token": "nested-token", "namespace": "shop"}
            body = {"status": "ready", "credential": credential}
        return PrepareStatus.from_json(Fields(body))

    def _life(self, access: Access, call: str) -> ProbeLife:
        self._world.called(call)
        assert access.token == "probe-token"
        life = self._world.probes.get(access.host)
        if life is None or life.silent:
            raise errors.Transient(f"{call}: connection refused", reason="Network")
        return life


class FakeAdapter:
    """Implements `ports.adapter.Adapter`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def state(self, access: Access) -> AdapterState:
        life = self._life(access, "adapter.state")
        if life.released is None:
            return AdapterState(life.boot_id, Phase.WAITING)
        checks = tuple(
            Check(item["name"], Expect.DENY, item["name"] in life.reaches, "")
            for item in life.released["deny"]
        )
        failed = any(not check.holds for check in checks)
        phase = Phase.FAILED if failed else Phase.RELEASED
        return AdapterState(life.boot_id, phase, checks, "a target was reached" if failed else "", life.run)

    async def release(self, access: Access, request: Mapping[str, Any]) -> None:
        self._life(access, "adapter.release").released = dict(request)

    async def identity(self, access: Access, adapter: Mapping[str, str]) -> Mapping[str, Any]:
        self._life(access, "adapter.identity")
        if isinstance(self._world.identity, Exception):
            raise self._world.identity
        return self._world.identity

    async def start(self, access: Access, request: Mapping[str, Any]) -> RunState:
        life = self._life(access, "adapter.start")
        if request["boot_id"] != life.boot_id:
            raise errors.ProviderFault("409 AdapterRestarted", reason="SidecarRefused")
        if life.run is not None:
            return life.run
        self._world.sent.append(request["run_id"])
        self._world.times.append(request["timeout_seconds"])
        probe = self._world.probes.get(self._world.pairs[access.host])
        if probe is None:
            agent = self._world.elsewhere(request["run_id"])
        else:
            assert probe.prepared is not None
            agent = self._world.agents.get(probe.prepared["scenario_id"], Agent())
            if not agent.deaf:
                probe.write(*agent.audit)
        life.run = RunState(request["run_id"], RunStatus.RUNNING, delivered_at=NOON)
        if not agent.hangs:
            life.run = RunState(
                request["run_id"],
                RunStatus.FINISHED,
                agent.outcome,
                "",
                NOON,
                NOON,
                0,
                agent.fault,
                agent.cause,
            )
        if agent.deaf:
            life.run = RunState(request["run_id"], RunStatus.FINISHED, Outcome.NOT_DELIVERED, "", None, NOON)
        life.transcript = json.dumps(_transcript(agent)).encode()
        return life.run

    async def cancel(self, access: Access) -> None:
        life = self._life(access, "adapter.cancel")
        if life.run is not None and life.run.status is RunStatus.RUNNING:
            life.run = RunState(life.run.run_id, RunStatus.FINISHED, Outcome.CANCELLED, "", NOON, NOON)

    async def transcript(self, access: Access) -> bytes:
        return self._life(access, "adapter.transcript").transcript

    def _life(self, access: Access, call: str) -> AdapterLife:
        self._world.called(call)
        assert access.token == "adapter-token"
        life = self._world.adapters.get(access.host)
        if life is None or life.silent:
            raise errors.Transient(f"{call}: connection refused", reason="Network")
        return life


def _sentinel(name: str) -> dict[str, Any]:
    path = f"/api/v1/namespaces/kube-system/configmaps/{name}"
    return {"stage": "ResponseComplete", "user": {"username": "kubernetes-admin"}, "requestURI": path}


def _part(log: bytes) -> dict[str, Any]:
    """Return the evidence of a log between its sentinels, whatever stands there."""
    entries = [json.loads(line) for line in log.splitlines()[1:-1]]
    numbered = [{**entry, "seq": number} for number, entry in enumerate(entries, start=1)]
    return {**_beginning(), **_end(numbered)}


def _beginning() -> dict[str, Any]:
    unread = {"type": "none", "status": "unreachable"}
    return {
        **_end([]),
        "window": {"start": NOON, "end": "", "sentinel": "", "complete": False},
        "audit": {"evidence_source": unread, "entries": [], "chain_head": ""},
        "state": {"evidence_source": unread, "before": [], "after": []},
    }


def _end(entries: list[dict[str, Any]]) -> dict[str, Any]:
    available = {"type": "kube_api", "status": "available"}
    return {
        "agent_principal": {"username": "dev-7", "groups": [], "credential_ids": ["c-1"], "source_ips": []},
        "window": {"start": NOON, "end": NOON, "sentinel": "close", "complete": True},
        "audit": {
            "evidence_source": {"type": "audit_log_file", "status": "available"},
            "entries": entries,
            "chain_head": "",
        },
        "state": {"evidence_source": available, "before": [], "after": []},
        "environment": {"kubernetes_version": "v1.34.0", "boot_id": "probe-boot", "nodes": 3},
        "preparation": {"witnesses": [], "entries": 1},
    }


def _transcript(agent: Agent) -> dict[str, Any]:
    status = "unreachable" if agent.fault else "available"
    return {
        "evidence_source": {"type": "agent_transcript", "status": status},
        "outcome": Outcome.NOT_DELIVERED.value if agent.deaf else agent.outcome.value,
        "detail": "",
        "delivered_at": None if agent.deaf else NOON,
        "finished_at": NOON,
        "actions": [],
        "reasoning": "",
        "final_answer": agent.answer,
        "model": "",
        "truncated": False,
        **({"usage": dict(agent.usage)} if agent.usage is not None else {}),
    }
