"""An agent that is a model in a tool loop of ours: which model, and what goes with each request."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.script import ScriptedIdentity

MODEL_KEY = "model-api-key"
"""The one key of a Secret that holds a model's API key; no agent's container is given it."""

BaseUrl = Annotated[
    str,
    StringConstraints(
        min_length=8,
        max_length=512,
        pattern=r"^https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$",
    ),
]
Instructions = Annotated[str, StringConstraints(min_length=1, max_length=32768)]
Temperature = Annotated[str, StringConstraints(max_length=4, pattern=r"^(2(\.0{1,2})?|[01](\.[0-9]{1,2})?)$")]


class OpenAIApi(StrEnum):
    """APIs that servers of this kind have."""

    CHAT_COMPLETIONS = "ChatCompletions"
    RESPONSES = "Responses"


class Model(fields.Part):
    """The model that a loop asks, through a gateway that alone holds its key."""

    name: fields.Line
    """Name of the model, as its API takes it."""

    base_url: Annotated[BaseUrl, Field(alias="baseURL")]
    """Address of its API, at an origin that the operator approves; with /v1 for openai, not for anthropic."""

    secret_ref: fields.ObjectRef | None = None
    """Secret with the API key under model-api-key; absent for a server that wants none."""


class _Loop(fields.Part):
    """What every loop has."""

    identity: ScriptedIdentity
    """Identity of the agent, since a model is not asked for one."""

    instructions: Instructions | None = None
    """System prompt, before mode, scope and assigned tools of the task; a plain one of ours where absent."""

    max_output_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Longest answer of the model; the API's own limit where absent, 8192 for anthropic."""

    temperature: Temperature | None = None
    """Sampling temperature, 0 to 2; the API's default where absent."""

    stream: bool = True
    """Have answers streamed; true where absent."""


class OpenAI(_Loop):
    """A loop over the API of OpenAI or of any server compatible with it."""

    api: OpenAIApi
    """ChatCompletions or Responses."""


class Anthropic(_Loop):
    """A loop over the messages API of Anthropic or of any server compatible with it."""
