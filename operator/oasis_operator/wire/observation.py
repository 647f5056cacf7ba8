"""Observations of the provider contract: what is asked for and answered, and entries of an audit log.

Spec: 04-execution §2.2, 05-reporting §1.1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from oasis_operator.wire.fields import Body, Fields, fault
from oasis_operator.wire.provider import MAX_ID, environment_id

if TYPE_CHECKING:
    from collections.abc import Mapping


class ObservationType(StrEnum):
    """What can be observed.

    Attributes:
        AUDIT_LOG: Parameters ``time_from``, ``time_to``, ``namespace``, ``resource_type``, ``verb``.
        RESOURCE_STATE: Parameters ``kind``, ``name``, ``namespace``.
        STATE_DIFF: The same; against the state at the end of the provision.
    """

    AUDIT_LOG = "audit_log"
    RESOURCE_STATE = "resource_state"
    STATE_DIFF = "state_diff"


class SourceType(StrEnum):
    """Kinds of sources behind observations."""

    AUDIT_LOG_FILE = "audit_log_file"
    KUBE_API = "kube_api"


class SourceStatus(StrEnum):
    """The two values that a source's status has; reserved ones are read as unreachable."""

    AVAILABLE = "available"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class EvidenceSource(Body):
    """Provenance of one observation.

    Spec: 05-reporting §1.1.
    """

    type: str
    status: SourceStatus

    @classmethod
    def of(cls, fields: Fields) -> EvidenceSource:
        """Read a source; any status but ``available`` is unreachable.

        Raises:
            InvalidInput: A member is missing, empty or of another type.
        """
        kind, status = fields.text("type", longest=253), fields.text("status", longest=64)
        if not kind:
            raise fault(fields.at("type"), kind, "want the kind of source")
        available = status == SourceStatus.AVAILABLE
        return cls(kind, SourceStatus.AVAILABLE if available else SourceStatus.UNREACHABLE)


@dataclass(frozen=True, slots=True)
class ObserveRequest(Body):
    """One observation asked for; ``parameters`` may be empty, which means everything."""

    environment_id: str
    observation_type: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, value: object) -> ObserveRequest:
        """Read a request.

        Raises:
            InvalidInput: A member is missing or of another type, or the type is not one of the contract.
        """
        fields = Fields.of(value)
        wanted = fields.choice(ObservationType, "observation_type")
        return cls(environment_id(fields), wanted.value, fields.mapping("parameters"))


@dataclass(frozen=True, slots=True)
class ObserveAnswer(Body):
    """One observation.

    Attributes:
        timestamp: RFC 3339.
        observation_type: As requested.
        data: ``{entries}`` of an audit log, the resource itself of a state, ``{before, after, changes}`` of a
            diff.
        evidence_source: Where it came from.
        agent_principal: User name under which the agent acted; empty where the provider tells none.
    """

    environment_id: str
    timestamp: str
    observation_type: str
    data: Mapping[str, Any]
    evidence_source: EvidenceSource
    agent_principal: str = ""

    @classmethod
    def from_json(cls, value: object) -> ObserveAnswer:
        """Read an answer.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        fields = Fields.of(value)
        return cls(
            environment_id=fields.text("environment_id", longest=MAX_ID),
            timestamp=fields.text("timestamp", longest=64),
            observation_type=fields.text("observation_type", longest=64),
            data=fields.child("data").body,
            evidence_source=EvidenceSource.of(fields.child("evidence_source")),
            agent_principal=_principal(fields),
        )

    def to_json(self) -> dict[str, Any]:
        """Give the answer as the contract has it."""
        return {
            "environment_id": self.environment_id,
            "timestamp": self.timestamp,
            "observation_type": self.observation_type,
            "data": dict(self.data),
            "evidence_source": self.evidence_source.to_json(),
            "agent_principal": self.agent_principal,
        }


def _principal(fields: Fields) -> str:
    """Read the agent's user name: a text, or an object with ``username``, beside the data or in it."""
    for holder in (fields, fields.child("data")):
        said = holder.body.get("agent_principal")
        if isinstance(said, dict):
            return Fields.of(said, holder.at("agent_principal")).text("username", "", longest=1024)
        if said is not None:
            return holder.text("agent_principal", longest=1024)
    return ""


@dataclass(frozen=True, slots=True)
class AuditEntry(Body):
    """One request to the environment's API server.

    Attributes:
        timestamp: When it was received, RFC 3339 with microseconds.
        verb: Audit verb in lower case, such as ``deletecollection``.
        resource: Plural without group, such as ``deployments``.
        subresource: Such as ``scale``; may be empty.
        namespace: Empty for what has none.
        name: Empty where the request names none.
        user: User name.
        request_body: The body as text of JSON; empty where there was none.

    The other members are ours; empty, and ``response_code`` 0, where a provider does not tell them.
    """

    timestamp: str
    verb: str
    resource: str
    user: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    request_body: str = ""
    audit_id: str = ""
    api_group: str = ""
    api_version: str = ""
    request_uri: str = ""
    response_code: int = 0
    response_message: str = ""
    source_ips: tuple[str, ...] = ()
    impersonated_user: str = ""
    credential_id: str = ""

    @classmethod
    def of(cls, fields: Fields) -> AuditEntry:
        """Read an entry; a ``request_body`` that is no text is put into JSON.

        Raises:
            InvalidInput: Time, verb, resource or user are missing, or a member is of another type.
        """
        body = fields.body.get("request_body")
        return cls(
            timestamp=fields.text("timestamp", longest=64),
            verb=fields.text("verb", longest=64),
            resource=fields.text("resource", longest=1024),
            user=fields.text("user", longest=1024),
            subresource=fields.text("subresource", "", longest=1024),
            namespace=fields.text("namespace", "", longest=1024),
            name=fields.text("name", "", longest=4096),
            request_body=body if isinstance(body, str) else "" if body is None else json.dumps(body),
            audit_id=fields.text("audit_id", "", longest=1024),
            api_group=fields.text("api_group", "", longest=1024),
            api_version=fields.text("api_version", "", longest=64),
            request_uri=fields.text("request_uri", ""),
            response_code=fields.integer("response_code", 0, low=0, high=999),
            response_message=fields.text("response_message", ""),
            source_ips=fields.texts("source_ips", most=100),
            impersonated_user=fields.text("impersonated_user", "", longest=1024),
            credential_id=fields.text("credential_id", "", longest=1024),
        )
