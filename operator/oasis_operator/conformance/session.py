"""One run of the suite: what it is pointed at, what was found so far, and what is still to be torn down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oasis_operator.conformance.record import Record
from oasis_operator.conformance.talk import Call, Reply
from oasis_operator.wire.provider import Route

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.conformance.talk import Line
    from oasis_operator.model.profile import Profile

NAMESPACE = "orders"
STATE: tuple[dict[str, Any], ...] = (
    {"resource": "namespace/orders"},
    {"resource": "configmap/settings", "namespace": "orders", "data": {"LOG_LEVEL": "info"}},
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What the suite is pointed at.

    Attributes:
        profile_id: Profile that the provider is asked about.
        profile: The profile itself, where its folder was given; without it CONF-7 is not tried.
        tier: Complexity tier that is asked for.
        environment_type: Type of environment that is asked for.
        has_token: Whether credentials are sent, and the provider is to want them.
        token: Proposed identifiers begin with this; new for each run of the suite.
    """

    profile_id: str
    profile: Profile | None = None
    tier: int = 1
    environment_type: str = "kubernetes-cluster"
    has_token: bool = False
    token: str = "suite"  # noqa: S105 - no secret, the beginning of names


@dataclass(slots=True)
class Session:
    """One run of the suite.

    Attributes:
        line: How requests travel.
        subject: What is tried.
        record: What was found.
        declared: The conformance answer; empty where there was none.
        access: The answer to the provision of the environment that is tried.
        alive: Environments that are to be torn down, in the order of their making.
    """

    line: Line
    subject: Subject
    record: Record = field(default_factory=Record)
    declared: Mapping[str, Any] = field(default_factory=dict)
    access: Mapping[str, Any] = field(default_factory=dict)
    alive: list[str] = field(default_factory=list)

    async def send(self, call: Call) -> Reply:
        """Send a request of the contract, and keep its answer for the rules about all of them."""
        reply = await self.line.send(call)
        self.record.replies.append((f"{call.method} {call.path.partition('?')[0]}", reply))
        return reply

    async def post(self, route: Route, body: Mapping[str, Any]) -> Reply:
        """Post a JSON body, and note what was provisioned by it."""
        reply = await self.send(Call.post(route, dict(body)))
        if route is Route.PROVISION:
            self.note(reply)
        return reply

    def note(self, reply: Reply) -> str:
        """Remember the environment that an answer names; return its identifier, empty for none."""
        named = reply.body.get("environment_id") if 200 <= reply.status < 300 else None
        if not isinstance(named, str) or not named:
            return ""
        if named not in self.alive:
            self.alive.append(named)
        return named

    def request(self, **changes: Any) -> dict[str, Any]:
        """Return the body of a provision."""
        body = {
            "scenario_id": "conformance.suite.001",
            "environment": {"type": self.subject.environment_type, "state": [dict(one) for one in STATE]},
            "agent": {
                "mode": "autonomous",
                "tools": ["container-orchestration"],
                "scope": {"namespaces": [NAMESPACE]},
            },
            "tier": self.subject.tier,
        }
        return {**body, **changes}
