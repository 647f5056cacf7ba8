"""What an environment tells: bodies of the probe contract from the probe sidecar to the operator.

``from_json`` reads what the other side sent, ``to_json`` gives what is sent; what is asked for stands in
`probe_request`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from oasis_operator.wire.fields import Fields, fault
from oasis_operator.wire.probe_request import StateFault

if TYPE_CHECKING:
    from collections.abc import Mapping

E = TypeVar("E", bound=StrEnum)

#: Largest request body, in bytes.
MAX_BODY_BYTES = 8 * 1024 * 1024
#: Most bytes of evidence in one answer.
MAX_PIECE_BYTES = 4 * 1024 * 1024
#: Label of a namespace that says which zone it belongs to; it stands in the snapshots of the evidence.
ZONE_LABEL = "security-zone"
#: Suffix of a containment reference for the stored, base64 form of a secret's value.
ENCODED_SUFFIX = "#base64"


class PrepareState(StrEnum):
    """Where the preparation stands; ``ready`` and ``failed`` are final."""

    NONE = "none"
    PREPARING = "preparing"
    READY = "ready"
    FAILED = "failed"


class PrepareReason(StrEnum):
    """Why a preparation failed.

    Attributes:
        IMPOSSIBLE_STATE: The entries cannot be established on this kind of environment, whatever the run.
        STATE_NOT_ESTABLISHED: The environment refused an object, or took too long.
        SYMPTOM_NOT_SEEN: The objects exist but a declared condition was not observed, or did not hold.
        ENVIRONMENT_FAULT: The environment itself broke.
    """

    IMPOSSIBLE_STATE = "ImpossibleState"
    STATE_NOT_ESTABLISHED = "StateNotEstablished"
    SYMPTOM_NOT_SEEN = "SymptomNotSeen"
    ENVIRONMENT_FAULT = "EnvironmentFault"


class StopState(StrEnum):
    """Where the stop protocol stands; ``stopped`` and ``failed`` are final."""

    NONE = "none"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Witness:
    """The proof that a declared condition was there before the agent was.

    Attributes:
        subject: ``kind/name`` with its namespace.
        condition: What was declared.
        observed: What was seen, in words that a person can check.
        at: When it was last seen.
        stimulus: Position of the stimulus that placed it; None for what the scenario's state declares.
        places: Of a stimulus: where it is to be read, see the contract of the evidence.
    """

    subject: str
    condition: str
    observed: str
    at: str
    stimulus: int | None = None
    places: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def from_json(cls, fields: Fields) -> Witness:
        """Read a witness.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        placed_by = fields.integer("stimulus", low=0, high=1_000_000) if fields.has("stimulus") else None
        subject, condition, observed, at = (
            fields.text(name, "") for name in ("subject", "condition", "observed", "at")
        )
        places = tuple(item.body for item in fields.items("places"))
        return cls(subject, condition, observed, at, placed_by, places)

    def to_json(self) -> dict[str, Any]:
        """Give the witness as the contract has it."""
        return {
            "subject": self.subject,
            "condition": self.condition,
            "observed": self.observed,
            "at": self.at,
            **({} if self.stimulus is None else {"stimulus": self.stimulus}),
            **({"places": [dict(place) for place in self.places]} if self.places else {}),
        }


@dataclass(frozen=True, slots=True)
class Credential:
    """The agent's credential in the environment's API server.

    Attributes:
        username: As the audit log names it.
        token: Bearer token; never shown by ``repr``.
        namespace: Default namespace of the agent.
    """

    username: str
    token: str = field(repr=False)
    namespace: str

    @classmethod
    def from_json(cls, fields: Fields) -> Credential:
        """Read a credential.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        return cls(
            username=fields.text("username", longest=1024),
            token=fields.text("token", longest=16_384),
            namespace=fields.text("namespace", longest=63),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the credential as the contract has it, token included."""
        return {"username": self.username, "token": self.token, "namespace": self.namespace}


@dataclass(frozen=True, slots=True)
class PrepareStatus:
    """How far the preparation is.

    Attributes:
        status: Where it stands.
        reason: Why it failed, None otherwise.
        message: What a person should read; empty while all is well.
        entries_done: State entries established so far.
        entries_total: State entries of the scenario.
        credential: The agent's credential once ready.
        witnesses: In the order of the entries.
        timings: Seconds by step.
        faults: The static faults where the reason is ``ImpossibleState``.
    """

    status: PrepareState
    reason: PrepareReason | None = None
    message: str = ""
    entries_done: int = 0
    entries_total: int = 0
    credential: Credential | None = None
    witnesses: tuple[Witness, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[StateFault, ...] = ()

    @classmethod
    def from_json(cls, fields: Fields) -> PrepareStatus:
        """Read a status.

        Raises:
            InvalidInput: A member is missing, of another type or outside its choices.
        """
        reason = fields.text("reason", "")
        return cls(
            status=_choice(PrepareState, fields, "status"),
            reason=_choice(PrepareReason, fields, "reason") if reason else None,
            message=fields.text("message", ""),
            entries_done=fields.integer("entries_done", 0, low=0, high=1_000_000),
            entries_total=fields.integer("entries_total", 0, low=0, high=1_000_000),
            credential=Credential.from_json(fields.child("credential")) if fields.has("credential") else None,
            witnesses=tuple(Witness.from_json(item) for item in fields.items("witnesses")),
            timings=fields.mapping("timings"),
            faults=tuple(StateFault.from_json(item) for item in fields.items("faults")),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the status as the contract has it."""
        return {
            "status": self.status.value,
            "reason": self.reason.value if self.reason else "",
            "message": self.message,
            "entries_done": self.entries_done,
            "entries_total": self.entries_total,
            "credential": self.credential.to_json() if self.credential else None,
            "witnesses": [witness.to_json() for witness in self.witnesses],
            "timings": dict(self.timings),
            "faults": [item.to_json() for item in self.faults],
        }


@dataclass(frozen=True, slots=True)
class StopStatus:
    """How far the stop protocol is.

    Attributes:
        status: Where it stands.
        message: Why it failed, empty otherwise.
        size_bytes: Size of the evidence part once stopped.
        sha256: Its digest in hexadecimal.
    """

    status: StopState
    message: str = ""
    size_bytes: int = 0
    sha256: str = ""

    @classmethod
    def from_json(cls, fields: Fields) -> StopStatus:
        """Read a status; evidence is absent until stopped.

        Raises:
            InvalidInput: A member is missing, of another type or outside its choices.
        """
        evidence = fields.child("evidence") if fields.has("evidence") else Fields({})
        return cls(
            status=_choice(StopState, fields, "status"),
            message=fields.text("message", ""),
            size_bytes=evidence.integer("size_bytes", 0, low=0, high=1 << 40),
            sha256=evidence.text("sha256", ""),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the status as the contract has it."""
        evidence = {"size_bytes": self.size_bytes, "sha256": self.sha256} if self.sha256 else None
        return {"status": self.status.value, "message": self.message, "evidence": evidence}


@dataclass(frozen=True, slots=True)
class Info:
    """What an environment says of itself.

    Attributes:
        boot_id: Made at the start of the probe; another one means that the environment was restarted.
        kubernetes_version: As the API server tells it.
        cluster_ca: PEM of the authority that clients inside trust.
        nodes: Number of nodes.
        started_at: When the probe started.
        blank: Whether no run was ever prepared in it; False where the probe does not say.
    """

    boot_id: str
    kubernetes_version: str
    cluster_ca: str
    nodes: int
    started_at: str
    blank: bool = False

    @classmethod
    def from_json(cls, fields: Fields) -> Info:
        """Read what an environment says of itself.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        return cls(
            boot_id=fields.text("boot_id", longest=253),
            kubernetes_version=fields.text("kubernetes_version", ""),
            cluster_ca=fields.text("cluster_ca"),
            nodes=fields.integer("nodes", low=0, high=10_000),
            started_at=fields.text("started_at"),
            blank=fields.flag("blank", default=False),
        )

    def to_json(self) -> dict[str, Any]:
        """Give it as the contract has it."""
        return {
            "boot_id": self.boot_id,
            "kubernetes_version": self.kubernetes_version,
            "cluster_ca": self.cluster_ca,
            "nodes": self.nodes,
            "started_at": self.started_at,
            "blank": self.blank,
        }


def _choice(kind: type[E], fields: Fields, name: str) -> E:
    value = fields.text(name)
    try:
        return kind(value)
    except ValueError:
        raise fault(fields.at(name), value, f"want one of {', '.join(kind)}") from None
