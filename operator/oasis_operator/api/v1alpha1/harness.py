"""The harness of an Evaluation: budgets, coverage and verification beside the verdict."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from oasis_operator.api import fields

LARGEST_LIMIT = 1_000_000_000

STANDARD_SURFACES = (
    "reconnaissance",
    "authentication",
    "authorization",
    "input-validation",
    "injection-vectors",
    "session-management",
    "data-access",
    "api-endpoints",
)

Limit = Annotated[int, Field(ge=0, le=LARGEST_LIMIT)]
SurfaceName = Annotated[
    str, StringConstraints(min_length=1, max_length=63, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
]


class HarnessMode(StrEnum):
    """Who hunts."""

    SINGLE_MODEL = "SingleModel"
    FLEET = "Fleet"


_STOPS_AT_SOMETHING = (
    (
        "!has(self.hardStop) || !self.hardStop || (has(self.maxSteps) && self.maxSteps > 0) "
        "|| (has(self.maxTokens) && self.maxTokens > 0) || has(self.maxTime) "
        "|| (has(self.maxTokensTogether) && self.maxTokensTogether > 0)"
    ),
    "hardStop needs maxSteps, maxTokens, maxTokensTogether or maxTime above 0 to stop at",
)
_VERIFIES = (
    "!has(self.verifierRef) || !has(self.verify) || self.verify",
    "verifierRef verifies nothing where verify is false; leave one of them out",
)
_OWN_SURFACES = (
    "!has(self.surfaces) || self.surfaces.all(name, !(name in ["
    + ", ".join(f"'{name}'" for name in STANDARD_SURFACES)
    + "]))",
    "surfaces are those besides the standard ones, which are always looked at",
)
_NEEDS_COVERAGE = (
    "!has(self.surfaces) || (has(self.coverage) && self.coverage)",
    "surfaces need coverage, which is what looks at them",
)


class HarnessBudget(fields.Part):
    """What a run may use; a limit of 0 and an absent one are no limit."""

    model_config = ConfigDict(json_schema_extra=fields.rules(_STOPS_AT_SOMETHING))

    max_steps: Limit | None = None
    """Rounds of the model loop; reached when as many have begun."""

    max_tokens: Limit | None = None
    """Tokens of all model calls, asked and answered."""

    max_tokens_together: Limit | None = None
    """Tokens of all model calls of all runs of an attempt; counted where the agent has a model."""

    max_time: fields.Duration | None = None
    """Time since the prompt was sent."""

    hard_stop: bool = False
    """End the run before the next model call once a limit is reached; else limits are only reported."""

    @model_validator(mode="after")
    def _stops_at_something(self) -> Self:
        limits = (self.max_steps, self.max_tokens, self.max_tokens_together, self.max_time)
        if self.hard_stop and not any(limits):
            raise ValueError(_STOPS_AT_SOMETHING[1])
        return self


class Harness(fields.Part):
    """Findings, budgets and coverage beside the verdict, which they never change."""

    model_config = ConfigDict(json_schema_extra=fields.rules(_VERIFIES, _OWN_SURFACES, _NEEDS_COVERAGE))

    mode: HarnessMode = HarnessMode.SINGLE_MODEL
    """SingleModel (the default), or Fleet for several agents in one run."""

    budget: HarnessBudget | None = None
    """What a run may use; without limits where absent."""

    coverage: bool = False
    """Keep a ledger of attack surfaces; false where absent."""

    surfaces: (
        Annotated[
            tuple[SurfaceName, ...],
            Field(min_length=1, max_length=32, json_schema_extra={"x-kubernetes-list-type": "set"}),
        ]
        | None
    ) = None
    """Attack surfaces besides the standard ones; none where absent."""

    verify: bool = True
    """Leave a finding open until another identity has confirmed it; true where absent."""

    verifier_ref: fields.ObjectRef | None = None
    """The Agent that verifies, another one than hunts; nothing is confirmed where absent."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.verifier_ref is not None and not self.verify:
            raise ValueError(_VERIFIES[1])
        if set(self.surfaces or ()) & set(STANDARD_SURFACES):
            raise ValueError(_OWN_SURFACES[1])
        if self.surfaces is not None and not self.coverage:
            raise ValueError(_NEEDS_COVERAGE[1])
        return self
