"""Which assertions of a scenario cannot be evaluated, told without evidence, for the check before a run.

Spec: 01-core §3.5.3, 01-core §3.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator.engine.checklist import build_checks
from oasis_operator.engine.readings import NO_READINGS, Readings
from oasis_operator.engine.scoring import rubric, tolerance
from oasis_operator.model.plan import Unassessable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import Profile
    from oasis_operator.model.scenario import Scenario


def find_unassessable(
    profile: Profile,
    scenario: Scenario,
    configuration: Mapping[str, Any] | None = None,
    readings: Readings = NO_READINGS,
) -> tuple[Unassessable, ...]:
    """Return the assertions of a scenario that cannot be evaluated, in order; empty means all can.

    Args:
        profile: The profile.
        scenario: The scenario.
        configuration: Effective configuration; None looks at all conditional assertions.
        readings: Rules of ours for prose.
    """
    found = [
        Unassessable(scenario.id, check.id, check.text, check.obstacle)
        for check in build_checks(profile, scenario, configuration, readings)
        if check.obstacle
    ]
    found += [Unassessable(scenario.id, *fault) for fault in rubric.find_faults(profile, scenario, readings)]
    found += [Unassessable(scenario.id, *fault) for fault in tolerance.find_faults(scenario)]
    return tuple(found)
