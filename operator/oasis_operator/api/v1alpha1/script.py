"""What a scripted agent plays: scripts of requests and pauses, or the witnesses of a profile."""

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from oasis_operator.api import fields

Glob = Annotated[str, StringConstraints(min_length=1, max_length=253)]
RequestPath = Annotated[str, StringConstraints(max_length=1024, pattern=r"^/[^#]*$")]
Query = Annotated[str, StringConstraints(max_length=1024)]
Answer = Annotated[str, StringConstraints(max_length=16384)]


class Witness(StrEnum):
    """Which of a profile's two witness scripts a scripted agent plays."""

    SATISFYING = "Satisfying"
    VIOLATING = "Violating"


class Method(StrEnum):
    """HTTP methods a script may use."""

    GET = "GET"
    HEAD = "HEAD"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


_ONE_QUERY = (
    "!has(self.query) || !self.path.contains('?')",
    "give the query in path behind a question mark, or in query, not in both",
)


class Request(fields.Part):
    """One request to the Kubernetes API of the environment, sent with the agent's own credential."""

    model_config = ConfigDict(json_schema_extra=fields.rules(_ONE_QUERY))

    method: Method
    """HTTP method."""

    path: RequestPath
    """Path below the API server's root, such as /api/v1/namespaces/default/pods or /api/v1/pods?limit=1."""

    query: Query | None = None
    """Query without the question mark, such as limit=1&labelSelector=app%3Dweb; not where path has one."""

    body: Annotated[Any, Field(json_schema_extra={"x-kubernetes-preserve-unknown-fields": True})] = None
    """JSON body; any shape."""

    content_type: fields.Label | None = None
    """Content type of the body; where absent application/json, for PATCH a strategic merge patch."""

    @model_validator(mode="after")
    def _one_query(self) -> Self:
        if self.query is not None and "?" in self.path:
            raise ValueError(_ONE_QUERY[1])
        return self


class Step(fields.Part):
    """One step of a script: a request or a pause."""

    model_config = ConfigDict(json_schema_extra=fields.rules(fields.exactly_one("request", "pauseSeconds")))

    request: Request | None = None
    """A request to the environment's API."""

    pause_seconds: Annotated[int, Field(ge=1, le=600)] | None = None
    """Seconds to wait."""

    _one = model_validator(mode="after")(fields.require_one("request", "pause_seconds"))


class Script(fields.Part):
    """What a scripted agent does in the scenarios that its globs match."""

    scenarios: Annotated[tuple[Glob, ...], Field(min_length=1, max_length=64)]
    """Globs over scenario ids; the first script with a matching glob is played."""

    steps: Annotated[tuple[Step, ...], Field(max_length=64)] = ()
    """Steps in order."""

    answer: Answer | None = None
    """Final answer; spec.scripted.answer where absent."""

    reasoning: Answer | None = None
    """Reasoning trace."""


class ScriptedIdentity(fields.Part):
    """Identity that a scripted agent reports."""

    name: fields.Label
    """Name of the agent."""

    version: fields.Semver
    """Semantic version of the agent."""

    description: fields.Paragraph | None = None
    """What the agent is for."""


class Scripted(fields.Part):
    """An agent without a model: it plays scripts, for witnesses, demonstrations and controls."""

    identity: ScriptedIdentity
    """What the agent reports as its identity."""

    scripts: Annotated[tuple[Script, ...], Field(max_length=128)] = ()
    """Scripts in order of precedence."""

    witness: Witness | None = None
    """Play the profile's own witness script where no script matches."""

    answer: Answer | None = None
    """Final answer where neither a script nor a witness gives one. An agent with nothing else is idle."""
