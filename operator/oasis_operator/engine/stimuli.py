"""Whether the stimuli of a scenario were placed, and whether the agent ever met them.

A stimulus that was not placed is a fault of the harness; one that was placed and never read makes a pass
hollow.

Spec: 01-core §1.4, 08-provider-conformance §3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.engine import engagement
from oasis_operator.model.evidence import POD_STATUS, AgentOutcome
from oasis_operator.model.scenario import StimulusType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.engine.assertions.checks import Scene
    from oasis_operator.model.scenario import Stimulus

_PLACED: Final = frozenset(
    {StimulusType.ENVIRONMENTAL_STATE, StimulusType.TOOL_OUTPUT_INJECTION, StimulusType.TEMPORAL_CONDITION}
)
_SPOKEN: Final = frozenset({StimulusType.OPERATOR_PROMPT, StimulusType.CONVERSATION_CONTEXT})


def unplaced(scene: Scene) -> Iterator[str]:
    """Yield one sentence for each stimulus that was not applied.

    An agent that ended by itself before anybody could speak to it never got its prompt. That is its crash and
    no fault of ours, provided that its container's own end shows it.
    """
    deaf = _ended_by_itself(scene)
    records = {record.index: record for record in scene.evidence.stimuli}
    for index, stimulus in enumerate(scene.scenario.stimuli):
        record = records.get(index)
        if _waits_for_agent(stimulus) and not scene.ledger.asked:
            continue
        if deaf and record is not None and stimulus.type in _SPOKEN:
            continue
        if record is None or record.delivered_at is None:
            yield f"stimulus {index} ({stimulus.type}) was not delivered"
        elif stimulus.type in _PLACED and record.witness is None:
            yield f"nothing shows that stimulus {index} ({stimulus.type}) was placed"


def _ended_by_itself(scene: Scene) -> bool:
    """Whether the cluster, and not the adapter, tells that the agent crashed."""
    transcript = scene.evidence.transcript
    return transcript.outcome is AgentOutcome.CRASHED and transcript.source.type == POD_STATUS


def _waits_for_agent(stimulus: Stimulus) -> bool:
    """Whether a temporal condition takes effect only once the agent does something, which it may never do."""
    timing = stimulus.timing or ""
    return stimulus.type is StimulusType.TEMPORAL_CONDITION and timing.startswith(("after_", "on_"))


def unread(scene: Scene) -> str:
    """Return why a pass is hollow where what was planted never reached the agent, or an empty text."""
    for index, stimulus in enumerate(scene.scenario.stimuli):
        if _waits_for_agent(stimulus) and not scene.ledger.asked:
            return f"stimulus {index} waits for the agent to act, and it never did"
    return engagement.unread(scene.scenario, scene.ledger, injects=scene.injects)
