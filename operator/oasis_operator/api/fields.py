"""Building blocks of the custom resources: base models, bounded field types and shared small objects.

Every string, list and map has a bound, so that the API server can estimate the cost of CEL rules and
no object grows without limit. Nothing here is a float.
"""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints
from pydantic import ValidationError as ModelError
from pydantic.alias_generators import to_camel

from oasis_operator.errors import InvalidSpec

GROUP = "oasis-operator.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
CATEGORY = "oasis"

UNOBSERVED = -1
"""Value of observedGeneration before the first pass, so that kstatus reads a new object as in progress."""

DURATION_PATTERN = r"^([0-9]{1,5}(h|m|s|ms)){1,4}$"
DIGEST_PATTERN = r"^sha256:[0-9a-f]{64}$"
NAME_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
RIGHT_PATTERN = r"^([a-z]+|\*) ([a-z]+|\*)(/[a-z]+)?(\.([a-z0-9]([-.a-z0-9]*[a-z0-9])?|\*))?$"
SET = {"x-kubernetes-list-type": "set"}
DECIMAL_PATTERN = r"^-?[0-9]{1,6}(\.[0-9]{1,6})?$"
SEMVER_PATTERN = (
    r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$"
)
QUANTITY_PATTERN = r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$"

SHORTEST_SECONDS = 1
LONGEST_SECONDS = 24 * 3600

_UNIT_MILLISECONDS = {"h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}

ModelT = TypeVar("ModelT", bound=BaseModel)


class Part(BaseModel):
    """Base of everything a user writes: camelCase on the wire, frozen, unknown fields refused."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
    )


class StatusPart(BaseModel):
    """Base of everything the operator writes: as `Part`, but fields of a newer operator are ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        frozen=True,
        extra="ignore",
        use_attribute_docstrings=True,
    )


def rules(*pairs: tuple[str, str]) -> dict[str, Any]:
    """Return the schema extension for CEL rules.

    Args:
        pairs: Each a CEL expression and the message shown when it is false.
    """
    return {"x-kubernetes-validations": [{"rule": rule, "message": message} for rule, message in pairs]}


def exactly_one(*members: str) -> tuple[str, str]:
    """Return the CEL rule and message that let exactly one of the members (camelCase) be set."""
    present = ", ".join(f"has(self.{member})" for member in members)
    return f"[{present}].filter(p, p).size() == 1", f"exactly one of {', '.join(members)} must be set"


def require_one(*names: str) -> Callable[[ModelT], ModelT]:
    """Return a model validator that lets exactly one of the attributes (snake_case) be set."""

    def check(part: ModelT) -> ModelT:
        if sum(getattr(part, name) is not None for name in names) != 1:
            raise ValueError(f"exactly one of {', '.join(to_camel(name) for name in names)} must be set")
        return part

    return check


def duration_seconds(text: str) -> float:
    """Return the seconds of a Go-style duration such as ``1h30m`` or ``1500ms``.

    Raises:
        InvalidSpec: The text is not a duration.
    """
    if not re.fullmatch(DURATION_PATTERN[1:-1], text):
        raise InvalidSpec(f"{text!r} is not a duration such as 90s or 1h30m")
    parts = re.findall(r"([0-9]+)(ms|h|m|s)", text)
    return sum(int(number) * _UNIT_MILLISECONDS[unit] for number, unit in parts) / 1000


def _in_range(text: str) -> str:
    """Refuse a duration outside one second to one day."""
    if not SHORTEST_SECONDS <= duration_seconds(text) <= LONGEST_SECONDS:
        raise ValueError("must be between 1s and 24h")
    return text


Name = Annotated[str, StringConstraints(min_length=1, max_length=253, pattern=NAME_PATTERN)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=128)]
ScenarioID = Annotated[str, StringConstraints(min_length=1, max_length=253)]
Line = Annotated[str, StringConstraints(max_length=256)]
Paragraph = Annotated[str, StringConstraints(max_length=1024)]
Uri = Annotated[str, StringConstraints(min_length=1, max_length=512)]
Image = Annotated[str, StringConstraints(min_length=1, max_length=512)]
Digest = Annotated[str, StringConstraints(max_length=71, pattern=DIGEST_PATTERN)]
Semver = Annotated[str, StringConstraints(max_length=64, pattern=SEMVER_PATTERN)]
DecimalText = Annotated[str, StringConstraints(max_length=16, pattern=DECIMAL_PATTERN)]
Uid = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Timestamp = AwareDatetime
Right = Annotated[str, StringConstraints(max_length=160, pattern=RIGHT_PATTERN)]
"""A verb and a resource, with its subresource and group, such as `create pods/exec` or `patch jobs.batch`."""
Tier = Annotated[int, Field(ge=1, le=3)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Quantity = (
    Annotated[int, Field(ge=0, le=10**15)]
    | Annotated[str, StringConstraints(max_length=32, pattern=QUANTITY_PATTERN)]
)
Quantities = Annotated[Mapping[Label, Quantity], Field(max_length=8)]
Duration = Annotated[
    str,
    StringConstraints(max_length=32, pattern=DURATION_PATTERN),
    AfterValidator(_in_range),
    Field(
        json_schema_extra=rules(
            (
                "duration(self) >= duration('1s') && duration(self) <= duration('24h')",
                "must be between 1s and 24h",
            )
        )
    ),
]
ConfigurationValue = (
    Annotated[bool, Field(strict=True)]
    | Annotated[int, Field(strict=True, ge=-(2**31), le=2**31 - 1)]
    | Annotated[str, StringConstraints(strict=True, max_length=256)]
)
Configuration = Annotated[Mapping[Label, ConfigurationValue], Field(max_length=64)]


class ObjectRef(Part):
    """An object of the same namespace."""

    name: Name
    """Name of the object."""


class OwnerRef(Part):
    """An object by name and identity, so that a namesake made later is not taken for it."""

    name: Name
    """Name of the object."""

    uid: Uid
    """UID of the object."""


class Resources(Part):
    """Compute resources of a container."""

    requests: Quantities | None = None
    """What is reserved, by resource name (cpu, memory, ephemeral-storage)."""

    limits: Quantities | None = None
    """What may be used at most, by resource name."""


class Identity(StatusPart):
    """What an agent says it is.

    Spec: 04-execution §1.
    """

    name: Label
    """Name of the agent product."""

    version: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    """Version of the agent product, a semantic version."""

    description: Paragraph | None = None
    """What the agent is for."""


class ArtifactRef(StatusPart):
    """Bytes kept outside the cluster's own store."""

    uri: Uri
    """Where the bytes are."""

    digest: Digest
    """SHA-256 of the bytes."""

    size_bytes: Annotated[int, Field(ge=0, le=2**40)]
    """Length of the bytes."""


class Metadata(BaseModel):
    """The few fields of object metadata that the operator reads."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, frozen=True, extra="ignore"
    )

    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    labels: Mapping[str, str] = Field(default_factory=dict)
    annotations: Mapping[str, str] = Field(default_factory=dict)
    creation_timestamp: AwareDatetime | None = None
    deletion_timestamp: AwareDatetime | None = None


class Resource(BaseModel):
    """Base of the custom resources; subclasses add `spec` and `status`."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        frozen=True,
        extra="ignore",
        use_attribute_docstrings=True,
    )

    metadata: Metadata = Metadata()

    @classmethod
    def parse(cls, body: Mapping[str, Any]) -> Self:
        """Read an object as the API server gives it.

        Raises:
            InvalidSpec: Names every field that does not fit.
        """
        try:
            return cls.model_validate(body)
        except ModelError as error:
            raise InvalidSpec(faults_of(error)) from error


def faults_of(error: ModelError) -> str:
    """Return one line that names each faulty field by its path; never the value, which may be secret."""
    lines = (
        f"{'.'.join(str(step) for step in fault['loc']) or 'object'}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    )
    return "; ".join(lines)


def dump(part: BaseModel) -> dict[str, Any]:
    """Return the JSON form with camelCase keys; absent values are left out."""
    return part.model_dump(mode="json", by_alias=True, exclude_none=True)


def clip(text: str, limit: int) -> str:
    """Return the text, cut to the limit in characters; a cut text ends in its original length."""
    if len(text) <= limit:
        return text
    note = f"… [{len(text)} characters]"
    return text[: max(0, limit - len(note))] + note[:limit]
