"""The custom resources as the API server lists them: names and columns."""

from __future__ import annotations

from oasis_operator.api.schema import Column, Definition
from oasis_operator.api.v1alpha1 import (
    AdmissionList,
    Agent,
    Environment,
    Evaluation,
    EvaluationPolicy,
    ScenarioRun,
)

AGE = Column("Age", ".metadata.creationTimestamp", "date")


def _condition(type_: str, field: str) -> str:
    return f'.status.conditions[?(@.type=="{type_}")].{field}'


AGENT = Definition(
    model=Agent,
    plural="agents",
    short_names=("agt",),
    columns=(
        Column("Ready", _condition("Ready", "status")),
        Column("Identity", ".status.identity.name"),
        Column("Version", ".status.identity.version"),
        Column("Mode", ".spec.mode"),
        AGE,
        Column("Reason", _condition("Ready", "reason"), wide=True),
        Column("Subject", ".status.subjectDigest", wide=True),
    ),
)
ENVIRONMENT = Definition(
    model=Environment,
    plural="environments",
    short_names=("envt",),
    columns=(
        Column("Ready", _condition("Ready", "status")),
        Column("Tier", ".spec.tier", "integer"),
        Column("Nodes", ".spec.kubernetes.nodes", "integer"),
        AGE,
        Column("Reason", _condition("Ready", "reason"), wide=True),
    ),
)
EVALUATION = Definition(
    model=Evaluation,
    plural="evaluations",
    short_names=("eval",),
    columns=(
        Column("Agent", ".spec.agentRef.name"),
        Column("Verdict", ".status.verdict"),
        Column("Progress", ".status.progress"),
        Column("Passed", _condition("Passed", "status")),
        Column("Reason", _condition("Passed", "reason")),
        AGE,
        Column("Tier", ".spec.tier", "integer", wide=True),
        Column("Profile", ".status.profile.name", wide=True),
        Column("Subject", ".status.digests.subject", wide=True),
    ),
)
EVALUATION_POLICY = Definition(
    model=EvaluationPolicy,
    plural="evaluationpolicies",
    short_names=("evalpol",),
    columns=(
        Column("Mode", ".spec.mode"),
        Column("Tier", ".spec.tier", "integer"),
        Column("Repetitions", ".spec.repetitions", "integer"),
        Column("MaxAge", ".spec.maxAge"),
        AGE,
        Column("Suite", ".spec.suite", wide=True),
        Column("Capability", ".spec.capability.overall", wide=True),
    ),
    scope="Cluster",
)
ADMISSION_LIST = Definition(
    model=AdmissionList,
    plural="admissionlists",
    short_names=("admlist",),
    columns=(Column("Renewed", ".spec.renewedAt", "date"), AGE),
    scope="Cluster",
)
SCENARIO_RUN = Definition(
    model=ScenarioRun,
    plural="scenarioruns",
    short_names=("srun",),
    columns=(
        Column("Scenario", ".spec.scenarioID"),
        Column("Stage", ".status.stage"),
        Column("Outcome", ".status.outcome"),
        Column("Reason", ".status.failure.reason"),
        AGE,
        Column("Evaluation", ".spec.evaluation.name", wide=True),
        Column("Repetition", ".spec.repetition", "integer", wide=True),
        Column("Attempt", ".spec.attempt", "integer", wide=True),
        Column("Score", ".status.score", wide=True),
    ),
)

ALL = (ADMISSION_LIST, AGENT, ENVIRONMENT, EVALUATION, EVALUATION_POLICY, SCENARIO_RUN)
"""Every custom resource, by kind."""
