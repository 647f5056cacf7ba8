"""The longest time of each stage of a scenario, in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1.run_inputs import Timeouts

if TYPE_CHECKING:
    from oasis_operator.settings import StageTimeouts

CAPACITY_SECONDS = 1800.0
"""How long a pod may wait for a node, or a run for quota, before that is a fault of its own. It is kept apart
from provisioning, since a full cluster is no broken one."""

_SLACK_SECONDS = 600


@dataclass(frozen=True, slots=True)
class StageSeconds:
    """Seconds per stage."""

    provisioning: float
    preparing: float
    running: float
    observing: float
    judging: float

    @property
    def pod_deadline(self) -> int:
        """Seconds after which the kubelet ends a pod of the run by itself."""
        stages = (self.provisioning, self.preparing, self.running, self.observing, self.judging)
        return int(sum(stages)) + _SLACK_SECONDS


def stage_seconds(chosen: Timeouts | None, default: StageTimeouts) -> StageSeconds:
    """Return the chosen times, and the operator's settings where none was chosen."""
    chosen = chosen or Timeouts()

    def pick(text: str | None, seconds: float) -> float:
        return fields.duration_seconds(text) if text else seconds

    return StageSeconds(
        provisioning=pick(chosen.provisioning, default.provisioning),
        preparing=pick(chosen.preparing, default.preparing),
        running=pick(chosen.running, default.running),
        observing=pick(chosen.observing, default.observing),
        judging=pick(chosen.judging, default.judging),
    )


def effective(seconds: StageSeconds) -> Timeouts:
    """Return the times as they stand in a status."""

    def text(value: float) -> str:
        return f"{max(1, round(value))}s"

    return Timeouts(
        provisioning=text(seconds.provisioning),
        preparing=text(seconds.preparing),
        running=text(seconds.running),
        observing=text(seconds.observing),
        judging=text(seconds.judging),
    )
