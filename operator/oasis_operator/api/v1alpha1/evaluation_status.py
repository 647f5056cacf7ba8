"""Status of an Evaluation: how far the run is, what came of it, and what that rests on."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from oasis_operator.api import fields
from oasis_operator.api.conditions import Conditions
from oasis_operator.api.v1alpha1.environment import ConformanceGap
from oasis_operator.api.v1alpha1.run_inputs import RunToken, Timeouts, Unassessable
from oasis_operator.api.v1alpha1.verdict import Verdict

FAILURES_SHOWN = 20
UNASSESSABLE_SHOWN = 50
GATE_REASONS_SHOWN = 16
NAMED_LIST = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


class Effective(fields.StatusPart):
    """Values that were really used, so that a changed default never alters what a verdict meant."""

    tier: fields.Tier
    """Complexity tier."""

    parallelism: fields.Count
    """Scenarios at once."""

    repetitions: fields.Count
    """Times per scenario."""

    unassessable: Unassessable
    """What happened with assertions that cannot be evaluated."""

    timeouts: Timeouts
    """Longest time of each stage."""


class Counts(fields.StatusPart):
    """Scenarios by what became of them.

    Spec: 05-reporting §1.
    """

    total: fields.Count = 0
    """Selected scenarios."""

    applicable: fields.Count = 0
    """Selected scenarios that apply to the agent's configuration."""

    not_applicable: fields.Count = 0
    """Selected scenarios that do not; neither passed nor failed."""

    passed: fields.Count = 0
    """Scenarios that passed."""

    failed: fields.Count = 0
    """Scenarios that failed."""

    provider_failures: fields.Count = 0
    """Scenarios lost to a fault of the harness."""

    vacuous: fields.Count = 0
    """Passed scenarios that an idle agent would have passed as well."""

    running: fields.Count = 0
    """Scenarios under way."""

    pending: fields.Count = 0
    """Scenarios that have not started."""


class Score(fields.StatusPart):
    """A capability score.

    Spec: 05-reporting §1.
    """

    name: fields.Label
    """Category or core dimension."""

    score: fields.DecimalText
    """0 to 1, as a decimal."""


class Scores(fields.StatusPart):
    """Capability scores; absent unless safety passed."""

    categories: Annotated[tuple[Score, ...], Field(max_length=32, json_schema_extra=NAMED_LIST)] = ()
    """Score per category of the profile."""

    dimensions: Annotated[tuple[Score, ...], Field(max_length=8, json_schema_extra=NAMED_LIST)] = ()
    """Score per core dimension."""


class Failure(fields.StatusPart):
    """A failed assertion."""

    scenario: fields.ScenarioID
    """Scenario id."""

    assertion: fields.Line
    """The assertion that was violated."""

    message: fields.Line = ""
    """What was seen instead."""

    audit: fields.Line | None = None
    """The audit entry that shows it, in one line; absent where none does."""

    answer: fields.Line | None = None
    """What the agent answered, cut; registered containment values are redacted."""


class UnassessableAssertion(fields.StatusPart):
    """An assertion that no code can evaluate, or a part of a scenario's state that no cluster can be in."""

    scenario: fields.ScenarioID
    """Scenario id."""

    assertion: fields.Line
    """Where in the scenario it stands."""

    reason: fields.Line = ""
    """Why it cannot be evaluated."""


class Digests(fields.StatusPart):
    """Digests of everything that decided the verdict."""

    profile: fields.Digest | None = None
    """The profile's files."""

    subject: fields.Digest | None = None
    """The agent with all that makes it what it is, its image as really run included."""

    image: fields.Digest | None = None
    """The agent's image as really run; absent without an image, and where the cluster does not tell it."""

    environment: fields.Digest | None = None
    """The effective environment spec and its images."""

    world: fields.Digest | None = None
    """The Environment's spec, without its warm pool, as the attempt began with it; another one ends it."""

    plan: fields.Digest | None = None
    """The scenarios chosen, with their own digests."""

    evidence: fields.Digest | None = None
    """The evidence digests of all runs, in order."""


class Artifact(fields.ArtifactRef):
    """A report or another file that the run left."""

    name: fields.Label
    """What it is, such as report.html."""

    media_type: fields.Label
    """Media type of the bytes."""


WorkloadText = Annotated[str, StringConstraints(min_length=1, max_length=8192)]
GateLines = Annotated[tuple[fields.Line, ...], Field(max_length=GATE_REASONS_SHOWN)]


class GateBasis(fields.StatusPart):
    """What the gate was decided from at the end of the run and is not found elsewhere in this status."""

    adapter: fields.Label | None = None
    """Adapter that drove the agent."""

    provider: Annotated[str, StringConstraints(max_length=512)] | None = None
    """URL of the foreign provider of the environments; absent for the operator's own."""

    reasons: GateLines = ()
    """Reasons that no policy gave, waived ones included."""

    reasons_total: fields.Count = 0
    """Number of these reasons; where the list was cut, each kind keeps at least one."""


class Gateable(fields.StatusPart):
    """Whether a gate may rely on the verdict."""

    allowed: bool
    """True where it may."""

    reasons: GateLines = ()
    """Why not, the gravest first; where the list was cut, each kind of reason keeps at least one."""

    reasons_total: fields.Count = 0
    """Number of reasons; more than are listed where the list was cut."""

    until: fields.Timestamp | None = None
    """When a policy's largest age or a waiver ends next; the gate is asked again."""

    warnings: GateLines = ()
    """What policies in mode Warn find missing, and whether policies are read at all; these shut no gate."""

    waived: GateLines = ()
    """Reasons that a waiver excuses for now, with its name and its end."""

    policies: Annotated[tuple[fields.Name, ...], Field(max_length=GATE_REASONS_SHOWN)] = ()
    """EvaluationPolicies that the verdict was held against, by name."""

    basis: GateBasis | None = None
    """What the gate is decided from again when a policy, a waiver or the verdict's age changes it."""


class Workload(fields.StatusPart):
    """What the template of a pod must be to be the subject of this Evaluation."""

    text: WorkloadText
    """Image by digest, command, args, environment and model in one text, which admission works out too."""

    rights: Annotated[tuple[fields.Right, ...], Field(max_length=32)] = ()
    """Rights that its service account may have, of those that the admission gate asks about."""


class CheckResult(StrEnum):
    """Result of a preflight check."""

    PASSED = "Passed"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


class Check(fields.StatusPart):
    """One preflight check."""

    name: fields.Label
    """What was checked."""

    result: CheckResult
    """How it went."""

    message: fields.Line = ""
    """Detail for a person."""


class Preflight(fields.StatusPart):
    """The checks that precede every run.

    Spec: 08-provider-conformance §3.8.
    """

    checked_at: fields.Timestamp
    """When they were made."""

    checks: Annotated[tuple[Check, ...], Field(max_length=32, json_schema_extra=NAMED_LIST)] = ()
    """The checks, in order."""


class SubjectRecord(fields.StatusPart):
    """Attempts on the same subject, deleted ones included; a failure stands until the subject changes."""

    attempts: fields.Count = 0
    """Attempts that ran something, this one included."""

    failed: fields.Count = 0
    """Those in which a safety scenario failed."""

    unfinished: fields.Count = 0
    """Those of which no end is on record: under way, or deleted before it."""


class ProfileIdentity(fields.StatusPart):
    """The profile that was really used."""

    name: fields.Label
    """Name of the profile."""

    version: fields.Label
    """Version of the profile."""


class EvaluationStatus(fields.StatusPart):
    """How far the run is, and what came of it."""

    observed_generation: Annotated[int, Field(ge=-1)] = fields.UNOBSERVED
    """Generation of the spec that this status is about."""

    conditions: Conditions = ()
    """Complete, Passed, AgentReady, ProfileValid, ProviderConformant, EgressDenied; and those of kstatus."""

    verdict: Verdict | None = None
    """PASS, FAIL or PROVIDER_FAILURE; absent while there is none. A gate reads condition Passed instead."""

    progress: Annotated[str, StringConstraints(max_length=32)] | None = None
    """Finished runs of all runs, such as 12/50."""

    run_token: RunToken | None = None
    """spec.runToken of the run that this status is about."""

    attempt: fields.Count = 0
    """Number of the attempt, counted from 1; a changed runToken starts the next one."""

    effective: Effective | None = None
    """Values that were really used."""

    profile: ProfileIdentity | None = None
    """Profile that was really used."""

    identity: fields.Identity | None = None
    """What the agent said it is."""

    counts: Counts | None = None
    """Scenarios by what became of them."""

    scores: Scores | None = None
    """Capability scores."""

    failures: Annotated[tuple[Failure, ...], Field(max_length=FAILURES_SHOWN)] = ()
    """The first 20 failed assertions."""

    failures_total: fields.Count = 0
    """Number of failed assertions; more than are listed where the list was cut."""

    preflight: Preflight | None = None
    """Checks made before anything ran."""

    conformance_gaps: Annotated[tuple[ConformanceGap, ...], Field(max_length=32)] = ()
    """Requirements of the profile that the environment does not meet."""

    unassessable: Annotated[tuple[UnassessableAssertion, ...], Field(max_length=UNASSESSABLE_SHOWN)] = ()
    """The first 50 assertions that no code can evaluate and parts of states that no cluster can be in."""

    unassessable_total: fields.Count = 0
    """Number of such assertions and parts of states; more than are listed where the list was cut."""

    not_tested_tools: Annotated[tuple[fields.Label, ...], Field(max_length=64)] = ()
    """Tools that the Agent declares and no planned scenario gives it: the verdict says nothing about them."""

    gateable: Gateable | None = None
    """Whether a gate may rely on the verdict, and why not."""

    subject_record: SubjectRecord | None = None
    """What is on record of the same subject at the end of the run."""

    digests: Digests | None = None
    """Digests of everything that decided the verdict."""

    workload: Workload | None = None
    """What a workload must be to be this subject; absent where none can be, or its text is too long."""

    artifacts: Annotated[tuple[Artifact, ...], Field(max_length=16, json_schema_extra=NAMED_LIST)] = ()
    """Reports and other files."""

    start_time: fields.Timestamp | None = None
    """When the run began."""

    completion_time: fields.Timestamp | None = None
    """When the run ended, however it ended."""
