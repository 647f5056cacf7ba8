"""Environment: the kind of disposable world that scenarios run in."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from oasis_operator.api import fields
from oasis_operator.api.conditions import Conditions
from oasis_operator.api.v1alpha1.foreign_provider import ForeignProvider

LARGEST_POOL = 64
SHORTEST_AGE = "1m"
_TOO_YOUNG = f"maxAge must be {SHORTEST_AGE} or longer, else environments expire while they boot"


class WarmPool(fields.Part):
    """Blank control planes kept booted, so that a run claims one rather than waiting for its own."""

    model_config = ConfigDict(
        json_schema_extra=fields.rules(
            (
                f"!has(self.maxAge) || duration(self.maxAge) >= duration('{SHORTEST_AGE}')",
                _TOO_YOUNG,
            )
        )
    )

    size: Annotated[int, Field(ge=0, le=LARGEST_POOL)] = 0
    """Environments that are kept ready; each is idle until a run claims it, and never used twice."""

    max_age: fields.Duration | None = None
    """An environment that nobody claimed for so long is replaced, up to a fifth earlier; 1h where absent."""

    @model_validator(mode="after")
    def _old_enough(self) -> Self:
        if self.max_age and fields.duration_seconds(self.max_age) < fields.duration_seconds(SHORTEST_AGE):
            raise ValueError(_TOO_YOUNG)
        return self


class Kubernetes(fields.Part):
    """A nested Kubernetes control plane with simulated nodes, one per scenario."""

    nodes: Annotated[int, Field(ge=1, le=10)] | None = None
    """Number of simulated nodes; 3 where absent."""

    resources: fields.Resources | None = None
    """Compute resources of the control-plane container."""

    runtime_class_name: fields.Name | None = None
    """RuntimeClass of the environment pod."""

    settle_seconds: Annotated[int, Field(ge=0, le=120)] | None = None
    """Seconds that a prepared state must hold before the agent starts; the operator's setting if absent."""

    warm_pool: WarmPool | None = None
    """Environments booted ahead; none where absent."""


class EnvironmentSpec(fields.Part):
    """How a world is made and what complexity it claims."""

    model_config = ConfigDict(json_schema_extra=fields.rules(fields.exactly_one("kubernetes", "provider")))

    kubernetes: Kubernetes | None = None
    """A nested Kubernetes control plane."""

    provider: ForeignProvider | None = None
    """A provider of others, which makes the worlds and observes them."""

    tier: fields.Tier = 1
    """Highest complexity tier that the environment claims; 1 where absent."""

    _one = model_validator(mode="after")(fields.require_one("kubernetes", "provider"))


class ConformanceGap(fields.StatusPart):
    """One requirement of a profile that the environment does not meet.

    Spec: 08-provider-conformance §3.8.3.
    """

    requirement: fields.Label
    """Key of the requirement."""

    expected: fields.Line = ""
    """What the profile asks."""

    actual: fields.Line = ""
    """What the environment answered."""

    remedy: fields.Line = ""
    """What to change."""


class Conformance(fields.StatusPart):
    """Answer to one profile's conformance query; a record, never a substitute for the check of each run.

    Spec: 08-provider-conformance §3.8.
    """

    profile: fields.Label
    """Name of the profile."""

    profile_version: fields.Label
    """Version of the profile."""

    conformant: bool
    """Whether every requirement was met."""

    gaps: Annotated[tuple[ConformanceGap, ...], Field(max_length=32)] = ()
    """Requirements that were not met."""

    checked_at: fields.Timestamp
    """When the query was answered."""


class Warm(fields.StatusPart):
    """The environments that were booted ahead and that nobody has claimed yet."""

    ready: fields.Count = 0
    """Those that a run may claim now."""

    booting: fields.Count = 0
    """Those that are not up yet."""

    message: fields.Line = ""
    """Why there are fewer than asked for; empty where there is nothing to say."""


class EnvironmentStatus(fields.StatusPart):
    """What was observed of the environment."""

    observed_generation: Annotated[int, Field(ge=-1)] = fields.UNOBSERVED
    """Generation of the spec that this status is about."""

    conditions: Conditions = ()
    """Ready, and Reconciling or Stalled."""

    conformance: Annotated[tuple[Conformance, ...], Field(max_length=16)] = ()
    """Latest conformance answer per profile."""

    warm: Warm | None = None
    """The warm pool; absent without one."""


class Environment(fields.Resource):
    """A kind of disposable world in which agents are evaluated."""

    spec: EnvironmentSpec
    status: EnvironmentStatus = EnvironmentStatus()
