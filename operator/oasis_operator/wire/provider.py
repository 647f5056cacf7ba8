"""Bodies of the provider contract: what a runner sends to an environment provider, and its answers.

Each class reads what the other side sent (``from_json``) and gives what is sent (``to_json``), since the
operator stands on both sides: it serves its own environments and speaks to foreign ones. Requests are read
leniently, members that are unknown are ignored. Observations stand in ``wire.observation``, the conformance
answer in ``wire.conformance``, refusals in ``wire.provider_errors``.

Two members are ours, optional, and nothing that other implementations have to know: a runner may propose the
``environment_id`` of what it provisions, and a provider that honours this lists ``environment_id`` among the
``extensions`` of its conformance answer. There a second request with the same identifier and body is answered
like the first, so that an answer that was lost can be asked for again.

Spec: 04-execution §2.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.wire.fields import Body, Fields, fault
from oasis_operator.wire.probe_request import AgentPart

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Most state entries of one request.
MAX_ENTRIES: Final = 10_000
#: Longest identifier of an environment, in characters.
MAX_ID: Final = 253
_MAX_RESOURCES: Final = 100_000


class Route(StrEnum):
    """Routes of the contract; readers accept them with and without ``/v1`` and with doubled slashes."""

    CONFORMANCE = "/v1/conformance"
    PROVISION = "/v1/provision"
    STATE_SNAPSHOT = "/v1/state-snapshot"
    INJECT_STATE = "/v1/inject-state"
    OBSERVE = "/v1/observe"
    TEARDOWN = "/v1/teardown"


class Status(StrEnum):
    """Words of the member ``status``.

    Attributes:
        READY: Of a provision: the environment is there.
        APPLIED: Of an injection.
        DESTROYED: Of a teardown, also of one that had been made before.
        ERROR: Of all of them; ``error`` says why.
    """

    READY = "ready"
    APPLIED = "applied"
    DESTROYED = "destroyed"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ProvisionRequest:
    """A scenario's preconditions.

    Attributes:
        scenario_id: The scenario.
        state: Entries of ``preconditions.environment.state`` in the scenario's order, in raw form.
        agent: Mode, tools and scope of ``preconditions.agent``.
        tier: Claimed complexity tier, 1-3.
        environment_type: ``preconditions.environment.type``; may be empty.
        environment_id: Proposed identifier, see the module; empty leaves it to the provider.
    """

    scenario_id: str
    state: tuple[Mapping[str, Any], ...]
    agent: AgentPart
    tier: int = 1
    environment_type: str = ""
    environment_id: str = ""

    @classmethod
    def from_json(cls, value: object) -> ProvisionRequest:
        """Read a request; state entries may be raw or split.

        Raises:
            InvalidInput: A member is missing, of another type or out of range.
        """
        fields = Fields.of(value)
        environment = fields.child("environment")
        return cls(
            scenario_id=fields.text("scenario_id", longest=1024),
            state=_state(environment),
            agent=AgentPart.from_json(fields.child("agent") if fields.has("agent") else Fields({}, "agent")),
            tier=fields.integer("tier", 1, low=1, high=3),
            environment_type=environment.text("type", "", longest=253),
            environment_id=fields.text("environment_id", "", longest=MAX_ID),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the request as the contract has it."""
        body: dict[str, Any] = {
            "scenario_id": self.scenario_id,
            "environment": {
                "type": self.environment_type,
                "state": [dict(entry) for entry in self.state],
            },
            "agent": self.agent.to_json(),
            "tier": self.tier,
        }
        return {**body, "environment_id": self.environment_id} if self.environment_id else body


def raw_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Give a state entry in raw form, ``resource: kind/name`` beside flat members.

    An entry that is split into ``kind``, ``name`` and a ``spec`` map has the members of ``spec`` beside it;
    a raw one, which may have a ``spec`` or ``name`` of its own, stays as it is.
    """
    if "resource" in entry or not isinstance(entry.get("kind"), str):
        return dict(entry)
    name, spec = entry.get("name"), entry.get("spec")
    flat = {key: value for key, value in entry.items() if key not in ("kind", "name", "spec")}
    inner = dict(spec) if isinstance(spec, dict) else {} if spec is None else {"spec": spec}
    return {"resource": f"{entry['kind']}/{name}" if name else entry["kind"], **inner, **flat}


def _state(fields: Fields) -> tuple[Mapping[str, Any], ...]:
    return tuple(raw_entry(entry.body) for entry in fields.items("state", most=MAX_ENTRIES))


def environment_id(fields: Fields) -> str:
    """Read the identifier of an environment that a request is about.

    Raises:
        InvalidInput: Absent, empty or too long.
    """
    found = fields.text("environment_id", longest=MAX_ID)
    if not found:
        raise fault(
            fields.at("environment_id"), found, "want the identifier that /v1/provision answered with"
        )
    return found


@dataclass(frozen=True, slots=True)
class ProvisionAnswer(Body):
    """How a provision ended.

    Attributes:
        environment_id: Names the environment from now on; empty only beside ``error``.
        agent_endpoint: URL under which the agent reaches the environment.
        agent_credentials: ``kubeconfig`` (text), ``token``, ``certificate_authority`` (PEM), ``namespace``,
            ``username``, each where there is one; other implementations may have others.
        status: ``ready`` or ``error``, or what a foreign provider said.
        error: Why not; empty otherwise.
        reason: Of ``ErrorReason``, ours alone.
    """

    environment_id: str
    agent_endpoint: str = ""
    agent_credentials: Mapping[str, Any] = field(default_factory=dict)
    status: str = Status.READY.value
    error: str = ""
    reason: str = ""

    @classmethod
    def from_json(cls, value: object) -> ProvisionAnswer:
        """Read an answer as it came; whether it is ready is for the reader of ``status`` to see.

        Raises:
            InvalidInput: A member is of another type.
        """
        fields = Fields.of(value)
        return cls(
            environment_id=fields.text("environment_id", "", longest=MAX_ID),
            agent_endpoint=fields.text("agent_endpoint", "", longest=2048),
            agent_credentials=fields.mapping("agent_credentials"),
            status=fields.text("status", "", longest=64),
            error=fields.text("error", ""),
            reason=fields.text("reason", ""),
        )


@dataclass(frozen=True, slots=True)
class ResourceRef(Body):
    """Which resource is meant; empty members match any, a cluster-scoped one has no namespace."""

    kind: str
    name: str = ""
    namespace: str = ""

    @classmethod
    def of(cls, fields: Fields) -> ResourceRef:
        """Read a reference.

        Raises:
            InvalidInput: A member is of another type.
        """
        return cls(fields.text("kind", ""), fields.text("name", ""), fields.text("namespace", ""))


@dataclass(frozen=True, slots=True)
class SnapshotRequest(Body):
    """Which state to capture; without resources, all in the scenario's scope."""

    environment_id: str
    resources: tuple[ResourceRef, ...] = ()

    @classmethod
    def from_json(cls, value: object) -> SnapshotRequest:
        """Read a request.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        fields = Fields.of(value)
        references = tuple(ResourceRef.of(one) for one in fields.items("resources"))
        return cls(environment_id(fields), references)


@dataclass(frozen=True, slots=True)
class SnapshotAnswer(Body):
    """State at one moment.

    Attributes:
        timestamp: RFC 3339.
        resources: Each with kind, name, namespace, and its whole spec and status, or a whole API object.
    """

    environment_id: str
    timestamp: str
    resources: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def from_json(cls, value: object) -> SnapshotAnswer:
        """Read an answer.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        fields = Fields.of(value)
        if not isinstance(fields.body.get("resources"), list):
            raise fault("resources", fields.body.get("resources"), "want a list, if an empty one")
        return cls(
            environment_id=fields.text("environment_id", longest=MAX_ID),
            timestamp=fields.text("timestamp", longest=64),
            resources=tuple(one.body for one in fields.items("resources", most=_MAX_RESOURCES)),
        )


@dataclass(frozen=True, slots=True)
class InjectRequest:
    """State to add to an environment that is there already; entries as those of a provision."""

    environment_id: str
    state: tuple[Mapping[str, Any], ...]

    @classmethod
    def from_json(cls, value: object) -> InjectRequest:
        """Read a request; state entries may be raw or split.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        fields = Fields.of(value)
        return cls(environment_id(fields), _state(fields))

    def to_json(self) -> dict[str, Any]:
        """Give the request as the contract has it."""
        return {"environment_id": self.environment_id, "state": [dict(entry) for entry in self.state]}


@dataclass(frozen=True, slots=True)
class TeardownRequest(Body):
    """Which environment to destroy."""

    environment_id: str

    @classmethod
    def from_json(cls, value: object) -> TeardownRequest:
        """Read a request.

        Raises:
            InvalidInput: The identifier is missing or of another type.
        """
        return cls(environment_id(Fields.of(value)))


@dataclass(frozen=True, slots=True)
class StatusAnswer(Body):
    """How an injection or a teardown ended: ``applied``, ``destroyed`` or ``error``."""

    status: str
    error: str = ""
    reason: str = ""

    @classmethod
    def from_json(cls, value: object) -> StatusAnswer:
        """Read an answer as it came.

        Raises:
            InvalidInput: A member is of another type.
        """
        fields = Fields.of(value)
        return cls(fields.text("status", "", longest=64), fields.text("error", ""), fields.text("reason", ""))
