"""What the operator, the adapter and the model gateway agree on: tokens, headers, routes and limits.

The gateway alone holds the key of a model's API. Whoever asks it for an answer shows the token of its run,
which follows from the gateway's own secret, so that no run has to be made known to it.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.wire.fields import Body, Fields

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Key of a Secret with a model's API key; no other key of a Secret is read.
SECRET_KEY: Final = "model-api-key"  # noqa: S105 - a name
#: Port on which a gateway serves runs.
PORT: Final = 8443
#: Port of its pod's loopback address on which an agent in a container finds its model.
MODEL_PORT: Final = 8442
#: Number of a call within its run, from 1; the same number never goes out twice.
CALL_HEADER: Final = "X-Call"
#: Set on answers of the gateway's own, with the reason; an answer without it is the provider's.
REASON_HEADER: Final = "X-Gateway-Reason"

#: Longest body of a request and of an answer, in bytes.
MAX_REQUEST_BYTES: Final = 8 * 1024 * 1024
MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
#: Most tokens that a budget may have.
MAX_TOKENS: Final = 10**12


class Api(StrEnum):
    """An API of model servers; the value is the gateway's route."""

    CHAT = "/v1/chat/completions"
    RESPONSES = "/v1/responses"
    MESSAGES = "/v1/messages"


class Reason(StrEnum):
    """Why the gateway itself refused or failed.

    Attributes:
        UNAUTHORIZED: No token of a run.
        REFUSED: A field, a model or a route that is not allowed.
        BUDGET: The token budget is used up.
        REPEATED: The call went out before.
        UPSTREAM: The provider could not be reached, or its answer broke off: its outage.
        FAULT: The gateway itself broke.
    """

    UNAUTHORIZED = "Unauthorized"
    REFUSED = "Refused"
    BUDGET = "BudgetExceeded"
    REPEATED = "Repeated"
    UPSTREAM = "UpstreamUnreachable"
    FAULT = "GatewayFault"


@dataclass(frozen=True, slots=True)
class Usage(Body):
    """Tokens that calls took.

    Attributes:
        input: Tokens of requests, cached ones included.
        output: Tokens of answers, reasoning included.
        estimated: Whether some of it was estimated, since the provider did not tell.
    """

    input: int = 0
    output: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """All tokens."""
        return self.input + self.output

    def __add__(self, other: Usage) -> Usage:
        """Return both together."""
        return Usage(self.input + other.input, self.output + other.output, self.estimated or other.estimated)

    @classmethod
    def from_json(cls, value: object) -> Usage:
        """Read a usage.

        Raises:
            InvalidInput: A member is of another type.
        """
        fields = Fields.of(value)
        return cls(
            input=fields.integer("input", 0, low=0, high=MAX_TOKENS),
            output=fields.integer("output", 0, low=0, high=MAX_TOKENS),
            estimated=fields.flag("estimated", default=False),
        )


@dataclass(frozen=True, slots=True)
class Configuration(Body):
    """What a gateway is started with; the key is apart.

    Attributes:
        base_url: Of the model's API, without a slash at its end.
        model: The one model that may be asked for.
        origins: Origins that the operator approves, such as `https://models.example`.
        run_tokens: Token budget of each run, None without.
        evaluation_tokens: Token budget of all runs together, None without.
        hard_stop: Whether a call is refused once a budget is used up; else it is only counted.
    """

    base_url: str
    model: str
    origins: tuple[str, ...] = ()
    run_tokens: int | None = None
    evaluation_tokens: int | None = None
    hard_stop: bool = True

    @classmethod
    def from_json(cls, value: object) -> Configuration:
        """Read a configuration.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        fields = Fields.of(value)

        def limit(name: str) -> int | None:
            return fields.integer(name, low=1, high=MAX_TOKENS) if fields.has(name) else None

        return cls(
            base_url=fields.text("base_url", longest=2048).rstrip("/"),
            model=fields.text("model", longest=256),
            origins=fields.texts("origins", most=256),
            run_tokens=limit("run_tokens"),
            evaluation_tokens=limit("evaluation_tokens"),
            hard_stop=fields.flag("hard_stop", default=True),
        )


@dataclass(frozen=True, slots=True)
class Reach(Body):
    """How an adapter reaches the gateway.

    Attributes:
        host: Address.
        port: Port.
        ca: The authority of its certificate, PEM; the certificate's name is `sidecar`.
        token: Token of the run.
    """

    host: str
    port: int
    ca: str
    token: str

    @classmethod
    def from_json(cls, fields: Fields) -> Reach:
        """Read how the gateway is reached.

        Raises:
            InvalidInput: A member is missing or of another type.
        """
        return cls(
            host=fields.text("host", longest=253),
            port=fields.integer("port", PORT, low=1, high=65535),
            ca=fields.text("ca", longest=65536),
            token=fields.text("token", longest=512),
        )

    def __repr__(self) -> str:
        """Name the address only: the token must not reach a log."""
        return f"Reach({self.host}:{self.port})"


def run_token(secret: str, run_id: str) -> str:
    """Return the token by which a run is known to the gateway with this secret."""
    mac = hmac.new(secret.encode(), f"run:{run_id}".encode(), hashlib.sha256).hexdigest()
    return f"{run_id}.{mac}"


def run_of(secret: str, token: str) -> str | None:
    """Return the run that a token is of, None for one of no run."""
    run_id, _, _ = token.partition(".")
    fits = hmac.compare_digest(token.encode(errors="replace"), run_token(secret, run_id).encode())
    return run_id if run_id and fits else None


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL as origins are compared: lower case, without a default port."""
    scheme, _, rest = url.lower().partition("://")
    authority = rest.partition("/")[0]
    default = {"https": ":443", "http": ":80"}.get(scheme, "")
    return f"{scheme}://{authority.removesuffix(default) if default else authority}"


def is_approved(base_url: str, origins: tuple[str, ...]) -> bool:
    """Tell whether the operator approves of an API's address."""
    return origin_of(base_url) in {origin_of(origin) for origin in origins}


def error_body(reason: Reason, message: str) -> Mapping[str, Any]:
    """Return the body of an answer of the gateway's own; clients of either API read it."""
    return {"type": "error", "error": {"type": reason.value, "message": message}}
