"""Evaluation: one agent, one kind of world, one profile, and the verdict on them."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.evaluation_status import EvaluationStatus
from oasis_operator.api.v1alpha1.harness import Harness
from oasis_operator.api.v1alpha1.run_inputs import (
    ProfileSource,
    Retention,
    RunState,
    RunToken,
    Select,
    Timeouts,
    Unassessable,
)

DEFAULT_PARALLELISM = 2
DEFAULT_REPETITIONS = 1
_EMPTY = "''"
_RUN = "'Run'"


def _value(owner: str, field: str, default: str) -> str:
    """Return the CEL expression for an optional scalar with its default."""
    return f"(has({owner}.{field}) ? {owner}.{field} : {default})"


def _same(field: str, default: str) -> str:
    return f"{_value('self', field, default)} == {_value('oldSelf', field, default)}"


def _same_object(field: str) -> str:
    present = f"has(self.{field}) == has(oldSelf.{field})"
    return f"{present} && (!has(self.{field}) || self.{field} == oldSelf.{field})"


_RESTARTED = f"{_value('self', 'runToken', _EMPTY)} != {_value('oldSelf', 'runToken', _EMPTY)}"
_SAME_INPUTS = (
    *(f"self.{field} == oldSelf.{field}" for field in ("agentRef", "environmentRef", "profile", "tier")),
    *(_same_object(field) for field in ("select", "timeouts", "harness")),
    _same("repetitions", str(DEFAULT_REPETITIONS)),
    _same("unassessable", "'Refuse'"),
    _same("evaluator", _EMPTY),
)
_INPUTS_FROZEN = (
    f"{_RESTARTED} || (" + " && ".join(_SAME_INPUTS) + ")",
    "what is evaluated is frozen; change runToken in the same write to start anew, or make a new Evaluation",
)
_WAS, _IS = _value("oldSelf", "state", _RUN), _value("self", "state", _RUN)
_CANCEL_IS_FINAL = (
    f"{_RESTARTED} || {_WAS} != 'Cancel' || {_IS} == 'Cancel'",
    "a cancelled run stays cancelled; change runToken to start anew",
)
_VERIFIED_BY_ANOTHER = (
    (
        "!has(self.harness) || !has(self.harness.verifierRef) "
        "|| self.harness.verifierRef.name != self.agentRef.name"
    ),
    "harness.verifierRef names the Agent under test; nobody verifies findings of their own",
)


class EvaluationSpec(fields.Part):
    """What is evaluated, against what, and how."""

    model_config = ConfigDict(
        json_schema_extra=fields.rules(_INPUTS_FROZEN, _CANCEL_IS_FINAL, _VERIFIED_BY_ANOTHER)
    )

    agent_ref: fields.ObjectRef
    """The Agent under test."""

    environment_ref: fields.ObjectRef
    """The Environment that its worlds are made from."""

    profile: ProfileSource
    """The domain profile."""

    tier: fields.Tier
    """Complexity tier that is claimed, 1 to 3."""

    select: Select | None = None
    """Which scenarios run; all where absent."""

    parallelism: Annotated[int, Field(ge=1, le=12)] = DEFAULT_PARALLELISM
    """Scenarios that run at once; 2 where absent. The operator's own limit holds as well."""

    repetitions: Annotated[int, Field(ge=1, le=20)] = DEFAULT_REPETITIONS
    """Times that each scenario runs; 1 where absent. One violation among them is a violation."""

    timeouts: Timeouts | None = None
    """Longest time of each stage."""

    unassessable: Unassessable = Unassessable.REFUSE
    """Refuse to run where some assertion cannot be evaluated (the default), or Report without a verdict."""

    retention: Retention | None = None
    """How long things are kept."""

    state: RunState = RunState.RUN
    """Run (the default), Suspend (start nothing new) or Cancel (end now, without verdict)."""

    run_token: RunToken | None = None
    """Any text; changing it starts a new run, whose inputs may differ. Earlier attempts stay on record."""

    evaluator: Annotated[str, StringConstraints(min_length=1, max_length=128)] | None = None
    """Organization or person that answers for the evaluation, named in the report."""

    harness: Harness | None = None
    """Findings, budgets and coverage beside the verdict; off where absent."""

    @model_validator(mode="after")
    def _is_verified_by_another(self) -> Self:
        verifier = self.harness.verifier_ref if self.harness else None
        if verifier is not None and verifier.name == self.agent_ref.name:
            raise ValueError(_VERIFIED_BY_ANOTHER[1])
        return self


class Evaluation(fields.Resource):
    """One evaluation of an agent against a domain profile."""

    spec: EvaluationSpec
    status: EvaluationStatus = EvaluationStatus()
