"""The release of an agent: the isolation that must be proven first, and the access it then gets."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from enum import StrEnum

from oasis_operator.wire.fields import Body, Fields, fault
from oasis_operator.wire.gateway import Reach


class Expect(StrEnum):
    """What a target must show: that it cannot be reached, or that it can."""

    DENY = "deny"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Target(Body):
    """An address that is tried by opening a TCP connection.

    Attributes:
        name: What the operator calls it in its own reports.
        host: Name or address.
        port: 1 to 65535.
    """

    name: str
    host: str
    port: int

    @classmethod
    def from_json(cls, fields: Fields) -> Target:
        """Read a target.

        Raises:
            InvalidInput: A member is missing or out of range.
        """
        return cls(
            name=fields.text("name", longest=253),
            host=fields.text("host", longest=253),
            port=fields.integer("port", low=1, high=65535),
        )


@dataclass(frozen=True, slots=True)
class Check(Body):
    """What came of trying one target.

    Attributes:
        target: The target's name.
        expect: What it must show.
        reached: Whether a connection was accepted; a refused one was not.
        detail: What was seen, in words.
    """

    target: str
    expect: Expect
    reached: bool
    detail: str

    @property
    def holds(self) -> bool:
        """Whether the target showed what it must."""
        return self.reached is (self.expect is Expect.ALLOW)

    @classmethod
    def from_json(cls, fields: Fields) -> Check:
        """Read a check.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        return cls(
            target=fields.text("target"),
            expect=fields.choice(Expect, "expect"),
            reached=fields.flag("reached"),
            detail=fields.text("detail", ""),
        )


@dataclass(frozen=True, slots=True)
class Credential(Body):
    """The agent's access to the environment's API server.

    Attributes:
        token: Bearer token; never shown by ``repr``.
        ca: PEM of the authority that signed the server's certificate.
        namespace: Default namespace.
        server: ``https://`` URL.
    """

    token: str = field(repr=False)
    ca: str
    namespace: str
    server: str

    @classmethod
    def from_json(cls, fields: Fields) -> Credential:
        """Read a credential.

        Raises:
            InvalidInput: A member is missing, or the server is not an https URL.
        """
        server = fields.text("server", longest=2048)
        if not server.startswith("https://"):
            raise fault(fields.at("server"), server, "want an https:// URL")
        return cls(
            token=fields.text("token", longest=16_384),
            ca=fields.text("ca"),
            namespace=fields.text("namespace", longest=63),
            server=server,
        )


@dataclass(frozen=True, slots=True)
class ReleaseRequest(Body):
    """Which isolation must be proven before the agent may start, and what access it then gets.

    Attributes:
        deny: Targets that must not be reached.
        allow: Targets that must be reached.
        credential: None where the agent gets no environment, as for its identity alone.
        gateway: Where the model of an agent in a container is asked for; None where it has none of ours.
    """

    deny: tuple[Target, ...]
    allow: tuple[Target, ...]
    credential: Credential | None = None
    gateway: Reach | None = None

    @classmethod
    def from_json(cls, value: object) -> ReleaseRequest:
        """Read a release request.

        Raises:
            InvalidInput: A member is missing or out of range, or a denied host is not an address.
        """
        fields = Fields.of(value)
        denied = fields.items("deny", most=64)
        for entry in denied:
            _check_address(entry)
        credential = Credential.from_json(fields.child("credential")) if fields.has("credential") else None
        return cls(
            deny=tuple(Target.from_json(entry) for entry in denied),
            allow=tuple(Target.from_json(entry) for entry in fields.items("allow", most=64)),
            credential=credential,
            gateway=Reach.from_json(fields.child("gateway")) if fields.has("gateway") else None,
        )


def _check_address(target: Fields) -> None:
    """Refuse a name: one that does not resolve in the sandbox would look like what is out of reach."""
    host = target.text("host")
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise fault(target.at("host"), host, "want an IP address") from error
