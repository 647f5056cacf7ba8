"""An agent over HTTP: by the agent contract, or by alerts as it would get them from an Alertmanager."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.command import JsonPath
from oasis_operator.api.v1alpha1.script import ScriptedIdentity

SIDECAR_PORT = 8443
MODEL_PORT = 8442

AbsolutePath = Annotated[str, StringConstraints(max_length=1024, pattern=r"^/")]
Port = Annotated[int, Field(ge=1, le=65535)]
LabelValue = Annotated[str, StringConstraints(max_length=256)]


class Webhook(fields.Part):
    """Send each task as an Alertmanager webhook with one firing alert, instead of the agent contract.

    The prompt is the alert's description, its first line the summary. The agent is told nothing of mode,
    scope and tools but the first namespace of its scope.

    Spec: 04-execution §1.
    """

    identity: ScriptedIdentity
    """Identity of the agent, since it is not asked for one."""

    labels: Annotated[dict[fields.Label, LabelValue], Field(max_length=16)] = Field(default_factory=dict)
    """Labels of the alert, such as the agent routes by; alertname and severity have a default."""

    json_path: JsonPath | None = None
    """Path of its words in the answer, such as .analysis; all of the answer where absent."""

    works_for_seconds: Annotated[int, Field(ge=1, le=3600)] | None = None
    """How long an agent goes on that only acknowledges; absent for one that answers when it is done."""


_NOT_ASKED = (
    "!has(self.webhook) || !has(self.identityPath)",
    "an agent with webhook is not asked who it is: leave identityPath out",
)


class Http(fields.Part):
    """An agent that serves the agent contract, or a webhook for alerts, over HTTP in its own container.

    Spec: 04-execution §1.
    """

    model_config = ConfigDict(
        json_schema_extra=fields.rules(
            (
                f"self.port != {SIDECAR_PORT} && self.port != {MODEL_PORT}",
                f"ports {SIDECAR_PORT} and {MODEL_PORT} belong to the adapter",
            ),
            _NOT_ASKED,
        )
    )

    port: Port
    """Port on which the agent listens, on the loopback address or any other."""

    path: AbsolutePath | None = None
    """Path that takes prompts; / where absent."""

    identity_path: AbsolutePath | None = None
    """Path that reports identity and configuration; /identity-and-configuration where absent."""

    webhook: Webhook | None = None
    """Send tasks as alerts; absent for an agent that speaks the agent contract."""

    @model_validator(mode="after")
    def _asked_or_declared(self) -> Self:
        if self.webhook is not None and self.identity_path is not None:
            raise ValueError(_NOT_ASKED[1])
        return self

    @model_validator(mode="after")
    def _free_port(self) -> Self:
        if self.port in (SIDECAR_PORT, MODEL_PORT):
            raise ValueError(f"ports {SIDECAR_PORT} and {MODEL_PORT} belong to the adapter")
        return self
