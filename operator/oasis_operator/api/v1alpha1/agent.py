"""Agent: the subject of an evaluation, with everything that makes it what it is."""

import re
from enum import StrEnum
from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from oasis_operator.api import fields
from oasis_operator.api.conditions import Conditions
from oasis_operator.api.v1alpha1.command import Cli, Place
from oasis_operator.api.v1alpha1.http import Http
from oasis_operator.api.v1alpha1.model import MODEL_KEY, Anthropic, Model, OpenAI
from oasis_operator.api.v1alpha1.script import Scripted
from oasis_operator.api.v1alpha1.verdict import Verdict

RESERVED_ENV = "KUBECONFIG"
RESERVED_ENV_PREFIX = "KUBERNETES_"

Argument = Annotated[str, StringConstraints(max_length=4096)]
Arguments = Annotated[tuple[Argument, ...], Field(max_length=64)]
EnvName = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
SecretKey = Annotated[str, StringConstraints(min_length=1, max_length=253, pattern=r"^[-._a-zA-Z0-9]+$")]
RUN_OBJECT = "^r-[a-z2-7]{10}$"
"""Names of the Secrets of scenario runs, as `resources.names` gives them."""

_RUN_OBJECT_REFUSED = (
    "this form of name belongs to the Secrets of scenario runs; give the Secret another name"
)
_MODEL_KEY_REFUSED = f"{MODEL_KEY} is for the model gateway alone; give the agent a key of another name"
UserID = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Mode(StrEnum):
    """Operating mode that an agent declares.

    Spec: 04-execution §1.
    """

    READ_ONLY = "ReadOnly"
    SUPERVISED = "Supervised"
    AUTONOMOUS = "Autonomous"


class SecretKeyRef(fields.Part):
    """A key of a Secret of the same namespace; mounted by the kubelet, never read by the operator.

    The Secrets of scenario runs hold the keys of their sandboxes, so no agent may name one.
    """

    model_config = ConfigDict(
        json_schema_extra=fields.rules(
            (f"!self.name.matches('{RUN_OBJECT}')", _RUN_OBJECT_REFUSED),
            (f"self.key != '{MODEL_KEY}'", _MODEL_KEY_REFUSED),
        )
    )

    name: fields.Name
    """Name of the Secret."""

    key: SecretKey
    """Key of the Secret."""

    @model_validator(mode="after")
    def _of_no_run(self) -> Self:
        if re.search(RUN_OBJECT, self.name):
            raise ValueError(_RUN_OBJECT_REFUSED)
        if self.key == MODEL_KEY:
            raise ValueError(_MODEL_KEY_REFUSED)
        return self


class EnvSource(fields.Part):
    """Where the value of a variable comes from."""

    secret_key_ref: SecretKeyRef
    """A key of a Secret."""


class EnvVar(fields.Part):
    """One environment variable of the agent container, with a value or a Secret's key."""

    model_config = ConfigDict(
        json_schema_extra=fields.rules(
            fields.exactly_one("value", "valueFrom"),
            (
                f"!self.name.startsWith('{RESERVED_ENV_PREFIX}') && self.name != '{RESERVED_ENV}'",
                f"{RESERVED_ENV_PREFIX}* and {RESERVED_ENV} are set by the operator",
            ),
        )
    )

    name: EnvName
    """Name of the variable."""

    value: Argument | None = None
    """Literal value."""

    value_from: EnvSource | None = None
    """Source of the value."""

    _one = model_validator(mode="after")(fields.require_one("value", "value_from"))

    @model_validator(mode="after")
    def _unreserved(self) -> Self:
        if self.name.startswith(RESERVED_ENV_PREFIX) or self.name == RESERVED_ENV:
            raise ValueError(f"{RESERVED_ENV_PREFIX}* and {RESERVED_ENV} are set by the operator")
        return self


class SecurityContext(fields.Part):
    """User of the agent container; never root."""

    run_as_user: UserID | None = None
    """User id."""

    run_as_group: UserID | None = None
    """Group id."""


class File(fields.Part):
    """One file of the agent container, such as its configuration; part of what is evaluated."""

    path: Place
    """Where it lies, in place of the image's own."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=16384)]
    """What it holds; nothing secret, since it stands in the Agent for all to read."""


class PodTemplate(fields.Part):
    """The parts of the agent's pod that a user may choose; all else is set by the operator."""

    resources: fields.Resources | None = None
    """Compute resources of the agent container."""

    runtime_class_name: fields.Name | None = None
    """RuntimeClass of the pod."""

    node_selector: (
        Annotated[dict[fields.Label, Annotated[str, StringConstraints(max_length=63)]], Field(max_length=16)]
        | None
    ) = None
    """Labels of the nodes that may run the pod."""

    security_context: SecurityContext | None = None
    """User and group of the agent container."""


_KINDS = ("scripted", "http", "cli", "openai", "anthropic")
_ADAPTERS = fields.exactly_one(*_KINDS)
_CONTAINER_FIELDS = ("image", "command", "args", "env", "files", "imagePullSecrets", "podTemplate")
_HTTP_NEEDS_IMAGE = ("!has(self.http) || has(self.image)", "http needs image")
_CLI_NEEDS_COMMAND = (
    "!has(self.cli) || (has(self.image) && has(self.command) && size(self.command) > 0)",
    "cli needs image and command; the command is the entry point that the image names, if it has one",
)
_WITHOUT_CONTAINER = (
    "has(self.http) || has(self.cli) || !("
    + " || ".join(f"has(self.{name})" for name in _CONTAINER_FIELDS)
    + ")",
    (
        "scripted, openai and anthropic have no container of their own: "
        f"{', '.join(_CONTAINER_FIELDS)} must be absent"
    ),
)
_MODEL_OF_A_LOOP = (
    "has(self.model) ? !has(self.scripted) : !has(self.openai) && !has(self.anthropic)",
    "openai and anthropic need model, and scripted takes none",
)


class AgentSpec(fields.Part):
    """The agent under test: how it is reached, what runs, and what it declares about itself."""

    model_config = ConfigDict(
        json_schema_extra=fields.rules(
            _ADAPTERS, _HTTP_NEEDS_IMAGE, _CLI_NEEDS_COMMAND, _WITHOUT_CONTAINER, _MODEL_OF_A_LOOP
        )
    )

    scripted: Scripted | None = None
    """Adapter: play scripts."""

    http: Http | None = None
    """Adapter: speak the agent contract over HTTP."""

    cli: Cli | None = None
    """Adapter: start a command with the prompt and read what it prints or leaves behind."""

    openai: OpenAI | None = None
    """Adapter: drive a model behind an OpenAI-compatible API in a loop with tools for the environment."""

    anthropic: Anthropic | None = None
    """Adapter: drive a model behind an Anthropic-compatible API in a loop with tools for the environment."""

    model: Model | None = None
    """The model that openai or anthropic drives, or that the container finds on its loopback address."""

    image: fields.Image | None = None
    """Container image of the agent; a digest is better than a tag."""

    command: Arguments | None = None
    """Entry point of the agent container."""

    args: Arguments | None = None
    """Arguments of the agent container."""

    env: (
        Annotated[
            tuple[EnvVar, ...],
            Field(
                max_length=64,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            ),
        ]
        | None
    ) = None
    """Environment variables of the agent container."""

    files: (
        Annotated[
            tuple[File, ...],
            Field(
                max_length=8,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["path"]},
            ),
        ]
        | None
    ) = None
    """Files of the agent container, such as its configuration; they can be read and not changed."""

    image_pull_secrets: (
        Annotated[
            tuple[fields.ObjectRef, ...],
            Field(
                max_length=8,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            ),
        ]
        | None
    ) = None
    """Secrets with which the image is pulled."""

    pod_template: PodTemplate | None = None
    """The parts of the agent's pod that may be chosen."""

    mode: Mode
    """Operating mode that the agent declares."""

    tools: Annotated[tuple[fields.Label, ...], Field(max_length=64)] = ()
    """Tools that the agent declares, by name."""

    configuration: fields.Configuration = Field(default_factory=dict)
    """Declared values of the profile's configuration dimensions; compared with what runs, not believed."""

    @model_validator(mode="after")
    def _adapter(self) -> Self:
        fields.require_one(*_KINDS)(self)
        if self.http is not None and self.image is None:
            raise ValueError(_HTTP_NEEDS_IMAGE[1])
        if self.cli is not None and (self.image is None or not self.command):
            raise ValueError(_CLI_NEEDS_COMMAND[1])
        container = (
            self.image,
            self.command,
            self.args,
            self.env,
            self.files,
            self.image_pull_secrets,
            self.pod_template,
        )
        runs = self.http is not None or self.cli is not None
        if not runs and any(part is not None for part in container):
            raise ValueError(_WITHOUT_CONTAINER[1])
        is_loop = self.openai is not None or self.anthropic is not None
        if (self.scripted is not None) if self.model is not None else is_loop:
            raise ValueError(_MODEL_OF_A_LOOP[1])
        return self


class LastVerdict(fields.StatusPart):
    """The latest verdict on this agent for one profile and tier."""

    profile: fields.Label
    """Name of the profile."""

    profile_version: fields.Label
    """Version of the profile."""

    tier: fields.Tier
    """Complexity tier of the evaluation."""

    verdict: Verdict
    """The verdict."""

    evaluation: fields.Name
    """Name of the Evaluation that gave it."""

    subject_digest: fields.Digest
    """Digest of the agent that was evaluated; another agent does not inherit the verdict."""

    time: fields.Timestamp
    """When the verdict was given."""


class AgentStatus(fields.StatusPart):
    """What was observed of the agent."""

    observed_generation: Annotated[int, Field(ge=-1)] = fields.UNOBSERVED
    """Generation of the spec that this status is about."""

    conditions: Conditions = ()
    """Ready, and Reconciling or Stalled."""

    identity: fields.Identity | None = None
    """What the agent says it is."""

    configuration: fields.Configuration | None = None
    """Configuration as reported by the adapter."""

    image_id: Annotated[fields.Image | None, Field(alias="imageID")] = None
    """Image as really run, with its digest."""

    subject_digest: fields.Digest | None = None
    """Digest of everything that makes the agent what it is."""

    last_verdicts: Annotated[tuple[LastVerdict, ...], Field(max_length=20)] = ()
    """Latest verdict per profile and tier."""


class Agent(fields.Resource):
    """An AI agent that can be evaluated."""

    spec: AgentSpec
    status: AgentStatus = AgentStatus()
