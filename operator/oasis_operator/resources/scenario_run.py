"""ScenarioRuns as an Evaluation makes them, and the order in which it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.api import fields
from oasis_operator.resources import kinds, labels, manifests, names

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from oasis_operator.api.v1alpha1.evaluation import EvaluationSpec
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Slot:
    """One run that an evaluation needs: a scenario and the number of its repetition, from 1."""

    scenario: Scenario
    repetition: int

    @property
    def key(self) -> tuple[str, int]:
        """Scenario identifier and repetition."""
        return self.scenario.id, self.repetition


@dataclass(frozen=True, slots=True)
class Basis:
    """What an attempt began with, as digests; an empty one is not known.

    Attributes:
        subject: The agent.
        image: Its image.
        world: What makes the environments.
    """

    subject: str
    image: str = ""
    world: str = ""


def slots_of(scenarios: Collection[Scenario], repetitions: int) -> tuple[Slot, ...]:
    """Return the runs of some scenarios: each scenario once, in order, before any is repeated."""
    return tuple(
        Slot(scenario, repetition) for repetition in range(1, repetitions + 1) for scenario in scenarios
    )


def build_scenario_run(
    evaluation: Mapping[str, Any],
    spec: EvaluationSpec,
    slot: Slot,
    profile: Profile,
    basis: Basis,
    attempt: int,
) -> dict[str, Any]:
    """Return the ScenarioRun of a slot.

    Args:
        evaluation: The Evaluation as read; it becomes the owner.
        spec: Its spec.
        slot: Scenario and repetition.
        profile: The profile that the attempt began with.
        basis: What the attempt recorded when it began.
        attempt: Attempt of the Evaluation, from 1.
    """
    meta = evaluation["metadata"]
    name = names.scenario_run(meta["name"], meta["uid"], attempt, slot.scenario.id, slot.repetition)
    owner = manifests.owner_reference(kinds.EVALUATION, evaluation)
    return {
        "apiVersion": kinds.SCENARIO_RUN.api_version,
        "kind": kinds.SCENARIO_RUN.name,
        "metadata": manifests.metadata(name, meta["namespace"], run_labels(meta, attempt), owner),
        "spec": {
            "evaluation": {"name": meta["name"], "uid": meta["uid"]},
            "scenarioID": slot.scenario.id,
            "scenarioDigest": _digest(slot.scenario.digest),
            "profile": {
                "name": profile.identifier,
                "version": profile.version,
                "digest": _digest(profile.digest),
                "source": fields.dump(spec.profile),
            },
            "repetition": slot.repetition,
            "attempt": attempt,
            "agentRef": fields.dump(spec.agent_ref),
            "environmentRef": fields.dump(spec.environment_ref),
            "subjectDigest": basis.subject,
            **({"worldDigest": basis.world} if basis.world else {}),
            **({"imageDigest": basis.image} if basis.image else {}),
            **({"timeouts": fields.dump(spec.timeouts)} if spec.timeouts else {}),
        },
    }


def run_labels(evaluation_meta: Mapping[str, Any], attempt: int) -> dict[str, str]:
    """Return the labels by which the runs of one attempt are found."""
    return {
        labels.EVALUATION: labels.label_value(evaluation_meta["name"]),
        labels.EVALUATION_UID: evaluation_meta["uid"],
        labels.ATTEMPT: str(attempt),
    }


def _digest(hexadecimal: str) -> str:
    return f"sha256:{hexadecimal.removeprefix('sha256:')}"
