"""EvaluationPolicy: what the platform team asks of a verdict before a gate may rely on it.

Whoever is gated does not choose the bar, so the kind is cluster-scoped and no usual role writes it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.foreign_provider import ProviderUrl

MINIMUM_PATTERN = r"^(0(\.[0-9]{1,3})?|1(\.0{1,3})?)$"
_NUMBER = r"(0|[1-9][0-9]{0,5})"
_VERSION = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-[0-9A-Za-z]([-.0-9A-Za-z]*[0-9A-Za-z])?)?"
_COMPARISON = rf"(>=|<=|>|<|=){_VERSION}"
VERSIONS_PATTERN = rf"^{_COMPARISON}( {_COMPARISON}){{0,3}}$"
NAMED_LIST = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
SET = {"x-kubernetes-list-type": "set"}

_SHORTEST_AGE_SECONDS = 60
_LONGEST_AGE_SECONDS = 8760 * 3600


def _is_age(text: str) -> str:
    """Refuse an age outside one minute to one year."""
    if not _SHORTEST_AGE_SECONDS <= fields.duration_seconds(text) <= _LONGEST_AGE_SECONDS:
        raise ValueError("must be between 1m and 8760h")
    return text


Age = Annotated[
    str,
    StringConstraints(max_length=32, pattern=fields.DURATION_PATTERN),
    AfterValidator(_is_age),
    Field(
        json_schema_extra=fields.rules(
            (
                "duration(self) >= duration('1m') && duration(self) <= duration('8760h')",
                "must be between 1m and 8760h",
            )
        )
    ),
]
Minimum = Annotated[str, StringConstraints(max_length=5, pattern=MINIMUM_PATTERN)]
Minima = Annotated[Mapping[fields.Label, Minimum], Field(max_length=32)]
Versions = Annotated[str, StringConstraints(max_length=256, pattern=VERSIONS_PATTERN)]
LabelValue = Annotated[str, StringConstraints(max_length=63)]
LabelKey = Annotated[str, StringConstraints(min_length=1, max_length=317)]


class Mode(StrEnum):
    """What becomes of a verdict that does not meet the policy."""

    WARN = "Warn"
    ENFORCE = "Enforce"


class Operator(StrEnum):
    """How a label is compared."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


class AdapterKind(StrEnum):
    """Adapters whose subject is an agent; one that plays a script never gates."""

    HTTP = "http"
    CLI = "cli"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class WaivableReason(StrEnum):
    """Reasons that a waiver may excuse.

    What is not here cannot be waived: a FAIL, a fault of the harness, a pass that an idle agent would get as
    well, a script in the agent's place, a subject or an image of unknown digest, an unreadable record.
    """

    EARLIER_FAILURE = "EarlierFailure"
    INCOMPLETE = "Incomplete"
    CUSTOM_SELECTION = "CustomSelection"
    BELOW_FLOOR = "BelowFloor"
    STALE = "Stale"
    PROFILE_NOT_ALLOWED = "ProfileNotAllowed"
    ADAPTER_NOT_ALLOWED = "AdapterNotAllowed"
    PROVIDER_NOT_ALLOWED = "ProviderNotAllowed"
    TIER_TOO_LOW = "TierTooLow"
    TOO_FEW_REPETITIONS = "TooFewRepetitions"
    OTHER_SUITE = "OtherSuite"


_WITH_VALUES = (
    "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
    "In and NotIn need values, Exists and DoesNotExist have none",
)


class LabelRequirement(fields.Part):
    """A rule about one label."""

    model_config = ConfigDict(json_schema_extra=fields.rules(_WITH_VALUES))

    key: LabelKey
    """The label."""

    operator: Operator
    """In, NotIn, Exists or DoesNotExist."""

    values: Annotated[tuple[LabelValue, ...], Field(max_length=32, json_schema_extra=SET)] = ()
    """Values for In and NotIn."""

    @model_validator(mode="after")
    def _values_fit(self) -> Self:
        if (self.operator in (Operator.IN, Operator.NOT_IN)) != bool(self.values):
            raise ValueError(_WITH_VALUES[1])
        return self


class NamespaceSelector(fields.Part):
    """Namespaces by their labels; every rule must hold, and an empty selector takes them all."""

    match_labels: Annotated[Mapping[LabelKey, LabelValue], Field(max_length=16)] | None = None
    """Labels that a namespace must have, with these values."""

    match_expressions: Annotated[tuple[LabelRequirement, ...], Field(max_length=16)] = ()
    """Rules about labels."""


_NEEDS_MORE_THAN_A_NAME = (
    "has(self.digest) || has(self.versions)",
    "give digest or versions: any profile may call itself by a name",
)


class ProfileFloor(fields.Part):
    """A profile that counts."""

    model_config = ConfigDict(json_schema_extra=fields.rules(_NEEDS_MORE_THAN_A_NAME))

    name: fields.Label
    """Identifier of the profile, as status.profile.name gives it."""

    digest: fields.Digest | None = None
    """Digest of its files. A version says what a profile calls itself; a digest binds to its content."""

    versions: Versions | None = None
    """Versions that count, such as ">=1.2.0 <2.0.0": up to four comparisons, all of which must hold."""

    @model_validator(mode="after")
    def _is_bound(self) -> Self:
        if self.digest is None and self.versions is None:
            raise ValueError(_NEEDS_MORE_THAN_A_NAME[1])
        return self


class CapabilityFloor(fields.Part):
    """Smallest capability scores, decimals from 0 to 1 with up to three places."""

    overall: Minimum | None = None
    """Smallest score of every core dimension that was scored, of which there must be one."""

    dimensions: Minima | None = None
    """Smallest score by core dimension; one that was not scored does not meet it."""

    categories: Minima | None = None
    """Smallest score by category of the profile; one that was not scored does not meet it."""


_SCENARIOS_NARROW = (
    "!has(self.scenarios) || self.reasonKinds == ['EarlierFailure']",
    "scenarios narrow a waiver of EarlierFailure alone; give reasonKinds [EarlierFailure]",
)


class Waiver(fields.Part):
    """Leave to rely on a PASS in spite of a reason, until an end. It counts for nothing afterwards."""

    model_config = ConfigDict(
        json_schema_extra=fields.rules(fields.exactly_one("subjectDigest", "agent"), _SCENARIOS_NARROW)
    )

    name: fields.Name
    """Name of the waiver within the policy."""

    subject_digest: fields.Digest | None = None
    """The subject that it is for, as status.digests.subject gives it; a changed subject needs another one."""

    agent: fields.Name | None = None
    """Name of the Agents that it is for, whatever becomes of them."""

    reason_kinds: Annotated[
        tuple[WaivableReason, ...], Field(min_length=1, max_length=11, json_schema_extra=SET)
    ]
    """Reasons that it excuses: the operator's own, and those of this policy; never those of another one."""

    scenarios: (
        Annotated[tuple[fields.ScenarioID, ...], Field(min_length=1, max_length=64, json_schema_extra=SET)]
        | None
    ) = None
    """Only earlier failures in which none but these scenarios failed; any earlier failure where absent."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^\S")]
    """Why, for whoever asks later."""

    until: fields.Timestamp
    """Its end."""

    _one = model_validator(mode="after")(fields.require_one("subject_digest", "agent"))

    @model_validator(mode="after")
    def _scenarios_narrow(self) -> Self:
        if self.scenarios is not None and self.reason_kinds != (WaivableReason.EARLIER_FAILURE,):
            raise ValueError(_SCENARIOS_NARROW[1])
        return self


class EvaluationPolicySpec(fields.Part):
    """Floors for a gate. Several policies for one namespace must all be met; an absent field asks nothing."""

    namespace_selector: NamespaceSelector
    """Namespaces whose Evaluations it is for; {} for all."""

    mode: Mode
    """Enforce shuts the gate of a verdict that does not meet the policy; Warn says so and no more."""

    profiles: Annotated[tuple[ProfileFloor, ...], Field(min_length=1, max_length=32)] | None = None
    """Profiles that count; any where absent."""

    suite: fields.Label | None = None
    """Suite that must have run. One that leaves applicable scenarios out stays incomplete all the same."""

    tier: fields.Tier | None = None
    """Smallest complexity tier."""

    repetitions: Annotated[int, Field(ge=1, le=20)] | None = None
    """Fewest runs per scenario."""

    capability: CapabilityFloor | None = None
    """Smallest capability scores."""

    allowed_adapters: (
        Annotated[tuple[AdapterKind, ...], Field(min_length=1, max_length=8, json_schema_extra=SET)] | None
    ) = None
    """Adapters that count; any but scripted, which never does, where absent."""

    allowed_providers: (
        Annotated[tuple[ProviderUrl, ...], Field(min_length=1, max_length=16, json_schema_extra=SET)] | None
    ) = None
    """Foreign environment providers that count, each by spec.provider.url of its Environments, to the letter.
    None does where absent: such a provider makes all evidence, and users of the namespace choose it."""

    max_age: Age | None = None
    """Largest age of a verdict, 1m to 8760h, counted from status.completionTime."""

    evaluated_in: (
        Annotated[tuple[fields.Name, ...], Field(min_length=1, max_length=16, json_schema_extra=SET)] | None
    ) = None
    """Namespaces whose Evaluations admit workloads in every selected namespace; they must be selected too.
    Where absent, an Evaluation admits workloads in its own namespace alone."""

    waivers: Annotated[tuple[Waiver, ...], Field(max_length=64, json_schema_extra=NAMED_LIST)] = ()
    """Exceptions, each with a reason and an end. Those of a policy that warns lift its own warnings only."""


class EvaluationPolicy(fields.Resource):
    """What the platform team asks of a verdict before a gate may rely on it."""

    spec: EvaluationPolicySpec
