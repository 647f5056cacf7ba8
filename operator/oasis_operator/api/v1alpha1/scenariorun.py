"""ScenarioRun: one scenario, once, in a world of its own. Made by the operator only."""

import json
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from oasis_operator.api import fields
from oasis_operator.api.conditions import Conditions
from oasis_operator.api.v1alpha1.run_inputs import ProfileSource, Timeouts
from oasis_operator.api.v1alpha1.verdict import Verdict

ASSERTIONS_SHOWN = 32
STATUS_LIMIT_BYTES = 32 * 1024


class Stage(StrEnum):
    """Stages of a run, in order."""

    PENDING = "Pending"
    PROVISIONING = "Provisioning"
    PREPARING = "Preparing"
    RUNNING = "Running"
    OBSERVING = "Observing"
    JUDGING = "Judging"
    COMPLETED = "Completed"


class AssertionResult(StrEnum):
    """Result of one assertion."""

    SATISFIED = "Satisfied"
    VIOLATED = "Violated"
    UNASSESSABLE = "Unassessable"


class ProfileIdentity(fields.Part):
    """The profile of the run, by content."""

    name: fields.Label
    """Name of the profile."""

    version: fields.Label
    """Version of the profile."""

    digest: fields.Digest
    """Digest of the profile's files."""

    source: ProfileSource
    """Where the files come from."""


class ScenarioRunSpec(fields.Part):
    """What runs; immutable."""

    model_config = ConfigDict(
        json_schema_extra=fields.rules(
            ("self == oldSelf", "a ScenarioRun never changes; the operator makes new ones")
        )
    )

    evaluation: fields.OwnerRef
    """The Evaluation that this belongs to."""

    scenario_id: Annotated[fields.ScenarioID, Field(alias="scenarioID")]
    """Scenario id."""

    scenario_digest: fields.Digest
    """Digest of the scenario's text."""

    profile: ProfileIdentity
    """The profile that holds the scenario."""

    repetition: Annotated[int, Field(ge=1, le=20)]
    """Number of the repetition, counted from 1."""

    attempt: Annotated[int, Field(ge=1, le=1000)]
    """Number of the attempt, counted from 1."""

    agent_ref: fields.ObjectRef
    """The Agent under test."""

    environment_ref: fields.ObjectRef
    """The Environment that the world is made from."""

    subject_digest: fields.Digest
    """Digest of the agent under test."""

    world_digest: fields.Digest | None = None
    """Digest of the Environment's spec, without its warm pool, as the evaluation began with it."""

    image_digest: fields.Digest | None = None
    """Digest of the agent's image as it ran when the evaluation began; absent without an image."""

    timeouts: Timeouts | None = None
    """Longest time of each stage; the operator's settings where absent."""


class Assertion(fields.StatusPart):
    """Result of one assertion, in short; the evidence document has it whole."""

    kind: fields.Label
    """Kind of assertion, such as must_not.action."""

    text: fields.Line
    """The assertion."""

    result: AssertionResult
    """How it came out."""

    vacuous: bool = False
    """True where an idle agent would have satisfied it as well."""

    reason: fields.Line = ""
    """Why."""

    evidence: Annotated[tuple[fields.Label, ...], Field(max_length=4)] = ()
    """Pointers into the evidence document."""


class StageTiming(fields.StatusPart):
    """When a stage began and ended."""

    stage: Stage
    """The stage."""

    started_at: fields.Timestamp
    """When it began."""

    finished_at: fields.Timestamp | None = None
    """When it ended; absent while it lasts."""


Amount = Annotated[int, Field(ge=0, le=10**12)]


class Spent(fields.StatusPart):
    """What was used of one thing."""

    used: Amount
    """How much."""

    limit: Amount | None = None
    """How much there was; absent without a limit."""


class BudgetUse(fields.StatusPart):
    """What the agent used, and what it might have used."""

    steps: Spent
    """Answers of the model in a loop of the operator's; actions that any other agent told of."""

    seconds: Spent
    """Whole seconds from the prompt to the end."""

    tokens: Spent | None = None
    """Tokens that the model gateway counted; absent for an agent without a model behind it."""

    tokens_estimated: bool | None = None
    """Whether some of them were estimated, since the provider told none."""


class PodRef(fields.StatusPart):
    """A pod of the run."""

    name: fields.Name
    """Name of the pod."""

    uid: fields.Uid
    """UID of the pod."""

    restarts: fields.Count = 0
    """Restarts of its containers, all together."""


class Pods(fields.StatusPart):
    """The two pods of the run."""

    environment: PodRef | None = None
    """The world."""

    agent: PodRef | None = None
    """The agent and its adapter."""


class RunFailure(fields.StatusPart):
    """Why the harness could not finish the run."""

    reason: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    """CamelCase constant."""

    message: fields.Paragraph = ""
    """What happened."""

    pod_reason: fields.Line | None = None
    """Reason that the pod itself gives, such as OOMKilled."""


_BY_STAGE = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["stage"]}


class ScenarioRunStatus(fields.StatusPart):
    """How far the run is, and what came of it."""

    observed_generation: Annotated[int, Field(ge=-1)] = fields.UNOBSERVED
    """Generation of the spec that this status is about."""

    conditions: Conditions = ()
    """Complete, and Ready, Reconciling or Stalled."""

    stage: Stage | None = None
    """Stage that was reached."""

    outcome: Verdict | None = None
    """PASS, FAIL or PROVIDER_FAILURE; absent until judged, and where the run was cancelled."""

    score: fields.DecimalText | None = None
    """Score of a capability scenario, 0 to 1."""

    vacuous: bool | None = None
    """True where the pass is one that an idle agent would get as well."""

    assertions: Annotated[tuple[Assertion, ...], Field(max_length=ASSERTIONS_SHOWN)] = ()
    """The first assertions; violated ones come first where the list was cut."""

    assertions_total: fields.Count = 0
    """Number of assertions; more than are listed where the list was cut."""

    evidence: fields.ArtifactRef | None = None
    """The evidence document."""

    timings: Annotated[tuple[StageTiming, ...], Field(max_length=8, json_schema_extra=_BY_STAGE)] = ()
    """When each stage began and ended."""

    pods: Pods | None = None
    """The pods of the run."""

    prompt_sent_at: fields.Timestamp | None = None
    """Written before the prompt is sent; a prompt is never sent twice."""

    adapter_boot_id: Annotated[fields.Label | None, Field(alias="adapterBootID")] = None
    """Identity of the adapter process that took the prompt."""

    budget: BudgetUse | None = None
    """What the agent used of its budget; absent until it has ended."""

    failure: RunFailure | None = None
    """Cause of a provider failure."""


class ScenarioRun(fields.Resource):
    """One run of one scenario; made by the operator."""

    spec: ScenarioRunSpec
    status: ScenarioRunStatus = ScenarioRunStatus()


def with_assertions(status: ScenarioRunStatus, assertions: tuple[Assertion, ...]) -> ScenarioRunStatus:
    """Return the status with as many of the assertions as fit, and their number.

    Where the list must be cut, violated ones are kept first, then those that could not be assessed.

    Args:
        status: Status without assertions, or with older ones.
        assertions: All of them, in profile order.
    """
    rank = {AssertionResult.VIOLATED: 0, AssertionResult.UNASSESSABLE: 1, AssertionResult.SATISFIED: 2}
    kept = tuple(assertions)
    if len(kept) > ASSERTIONS_SHOWN or not _fits(status, kept):
        kept = tuple(sorted(kept, key=lambda assertion: rank[assertion.result]))[:ASSERTIONS_SHOWN]
    while kept and not _fits(status, kept):
        kept = kept[:-1]
    return status.model_copy(update={"assertions": kept, "assertions_total": len(assertions)})


def _fits(status: ScenarioRunStatus, assertions: tuple[Assertion, ...]) -> bool:
    """Tell whether the status with these assertions stays within its limit in bytes."""
    whole = fields.dump(status.model_copy(update={"assertions": assertions}))
    return len(json.dumps(whole, ensure_ascii=False).encode()) <= STATUS_LIMIT_BYTES
