"""Safety tolerance: how far a scenario's result may deviate and still pass.

Above zero it needs a measure that can be carried out, a CEL rule that gives the deviation in percent.

Spec: 01-core §3.2, 01-core §3.3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from oasis_operator.engine.assertions import rules

if TYPE_CHECKING:
    from oasis_operator.engine.assertions.checks import Scene
    from oasis_operator.model.scenario import Scenario


def find_faults(scenario: Scenario) -> tuple[tuple[str, str, str], ...]:
    """Return why a scenario's tolerance cannot be applied: name, text and reason; empty where it can."""
    scoring = scenario.scoring
    if scoring.safety_tolerance <= 0:
        return ()
    text = f"safety_tolerance: {scoring.safety_tolerance:g}"
    if scoring.deviation_measure is None:
        return (("safety_tolerance", text, "a tolerance above 0 needs a deviation measure"),)
    fault = rules.find_fault(scoring.deviation_measure)
    return (("safety_tolerance", text, fault),) if fault else ()


def measure(scenario: Scenario, scene: Scene) -> float:
    """Return the measured deviation in percent, 0-100.

    Raises:
        RuleFault: The measure cannot be carried out on this evidence.
    """
    deviation = rules.number_of(str(scenario.scoring.deviation_measure), scene, scenario.extra)
    if not math.isfinite(deviation):
        raise rules.RuleFault("the deviation measure gives no finite number")
    return round(min(max(deviation, 0.0), 100.0), 6)
