"""What follows from profile, environment and configuration before anything runs: gaps, and the plan.

Spec: 08-provider-conformance §3.8.3, 01-core §3.7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from oasis_operator.api.v1alpha1.run_inputs import Unassessable
from oasis_operator.engine.preflight import Gap
from oasis_operator.model.plan import Impossible, Plan, Selection
from oasis_operator.resources import conformance, requests
from oasis_operator.wire.agent import read_capabilities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.environment import EnvironmentSpec
    from oasis_operator.api.v1alpha1.evaluation import EvaluationSpec
    from oasis_operator.api.v1alpha1.run_inputs import Select
    from oasis_operator.model.profile import Profile
    from oasis_operator.model.scenario import Classification, Scenario
    from oasis_operator.reconcile.declared import Declaration
    from oasis_operator.reconcile.deps import Deps

_TIER = "complexity_tier_supported"
_CONTAINMENT = "containment"


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a run would be up against.

    Attributes:
        gaps: Requirements of the profile that the environment does not meet.
        plan: What is to be run; None as long as the agent's configuration is not known.
        undeliverable: Stimuli that cannot be applied, as `scenario: stimulus`.
        remedies: What to do about them, each once.
        impossible: What of selected scenarios no cluster can be in; diagnostics alone leave them out.
        declaration: What the provider says of itself; None stands for the operator's own worlds.
    """

    gaps: tuple[Gap, ...]
    plan: Plan | None = None
    undeliverable: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    impossible: tuple[Impossible, ...] = ()
    declaration: Declaration | None = None

    def scenarios(self, classification: Classification) -> tuple[Scenario, ...]:
        """Return the planned scenarios of one phase, in plan order."""
        planned = self.plan.scenarios if self.plan else ()
        return tuple(item for item in planned if item.classification is classification)


async def assess(
    deps: Deps,
    profile: Profile,
    spec: EvaluationSpec,
    environment: EnvironmentSpec | None,
    told: Mapping[str, Any] | None,
    declaration: Declaration,
) -> Assessment:
    """Return the assessment; without what the agent told of itself it holds the gaps alone.

    Raises:
        ProviderFault: The plan could not be worked out.
    """
    gaps = (*declaration.gaps, *_tier_gaps(environment, spec))
    if told is None:
        return Assessment(gaps, declaration=declaration)
    plan = await deps.profiles.plan(profile, selection_of(spec.select), spec.tier, told["configuration"])
    if declaration.is_foreign:
        plan = _for_foreign(plan)
    impossible = plan.impossible
    if spec.unassessable is Unassessable.REPORT:
        plan = without_impossible(plan)
    capabilities = read_capabilities(told)
    lost = [
        (f"{scenario.id}: {stimulus.where}", stimulus.remedy)
        for scenario in plan.scenarios
        for stimulus in requests.undeliverable(scenario, capabilities, is_foreign=declaration.is_foreign)
    ]
    remedies = tuple(dict.fromkeys(remedy for _, remedy in lost))
    return Assessment(gaps, plan, tuple(where for where, _ in lost), remedies, impossible, declaration)


def _for_foreign(plan: Plan) -> Plan:
    """Return the plan without what only the operator's own worlds cannot be: others know their own limits.

    Values that the scenario's state does not hold cannot be searched for, whoever makes the world.
    """
    kept = tuple(item for item in plan.impossible if item.field == _CONTAINMENT)
    return replace(plan, impossible=kept)


def without_impossible(plan: Plan) -> Plan:
    """Return the plan less the scenarios that no cluster can serve; what is left out makes it incomplete."""
    barred = {item.scenario_id for item in plan.impossible}
    if not barred:
        return plan
    noun = "scenario asks" if len(barred) == 1 else "scenarios ask"
    why = f"{len(barred)} {noun} for a state that no cluster can be in"
    return replace(
        plan,
        scenarios=tuple(item for item in plan.scenarios if item.id not in barred),
        unassessable=tuple(item for item in plan.unassessable if item.scenario_id not in barred),
        incomplete=(*plan.incomplete, why),
    )


def selection_of(select: Select | None) -> Selection:
    """Return the spec's selection as the engine takes it."""
    if select is None:
        return Selection()
    return Selection(
        classes=tuple(str(item) for item in select.classes or ()),
        categories=tuple(select.categories or ()),
        subcategories=tuple(select.subcategories or ()),
        scenarios=tuple(select.scenarios or ()),
        suite=select.suite,
    )


def _tier_gaps(environment: EnvironmentSpec | None, spec: EvaluationSpec) -> tuple[Gap, ...]:
    """Return the gap between the claimed tier and what the Environment claims and can be.

    Spec: 08-provider-conformance §3.6.
    """
    if environment is None:
        return ()
    own = conformance.TIER_SUPPORTED if environment.provider is None else environment.tier
    highest = min(environment.tier, own)
    if spec.tier <= highest:
        return ()
    message = f"provider does not satisfy `{_TIER}`: want at least {spec.tier}, got {highest}"
    remedy = f"evaluate at tier {highest}"
    return (Gap(_TIER, f"gte {spec.tier}", str(highest), message, remedy),)
