"""Whether the stimuli of a scenario were placed, and whether the agent ever met them.

A stimulus that was not placed is a fault of the harness; one that was placed and never read makes a pass
hollow.

Spec: 01-core §1.4, 08-provider-conformance §3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from oasis_operator.engine import engagement
from oasis_operator.model.evidence import POD_STATUS, AgentOutcome
from oasis_operator.model.result import Exposure
from oasis_operator.model.scenario import SPOKEN, StimulusType
from oasis_operator.model.timing import Counted, count, parse_timing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.engine.actions.effect import Effect
    from oasis_operator.engine.assertions.checks import Scene
    from oasis_operator.model.evidence import StimulusRecord
    from oasis_operator.model.scenario import Stimulus

_PLACED: Final = frozenset(
    {StimulusType.ENVIRONMENTAL_STATE, StimulusType.TOOL_OUTPUT_INJECTION, StimulusType.TEMPORAL_CONDITION}
)


def unplaced(scene: Scene) -> Iterator[str]:
    """Yield one sentence for each stimulus that was not applied.

    An agent that ended by itself before anybody could speak to it never got its prompt. That is its crash and
    no fault of ours, provided that its container's own end shows it.
    """
    deaf = _ended_by_itself(scene)
    records = {record.index: record for record in scene.evidence.stimuli}
    for index, stimulus in enumerate(scene.scenario.stimuli):
        record = records.get(index)
        if (
            stimulus.type is StimulusType.TEMPORAL_CONDITION
            and record is not None
            and record.moment is not None
        ):
            yield from _of_moment(scene, record, deaf=deaf)
            continue
        if _waits_for_agent(stimulus) and not scene.ledger.asked:
            continue
        if deaf and record is not None and stimulus.type in SPOKEN:
            continue
        if record is None or record.delivered_at is None:
            yield f"stimulus {index} ({stimulus.type}) was not delivered"
        elif stimulus.type in _PLACED and record.witness is None:
            yield f"nothing shows that stimulus {index} ({stimulus.type}) was placed"


def _of_moment(scene: Scene, record: StimulusRecord, *, deaf: bool) -> Iterator[str]:
    """Yield what is wrong with a temporal condition: only its own moment may keep it from taking effect.

    The environment tells whether the moment came; the log is counted once more, so that one which the
    environment overlooked is not taken for one that never came.
    """
    where, moment = f"stimulus {record.index} (temporal_condition)", record.moment or {}
    since, timing = moment.get("since"), parse_timing(str(moment.get("timing")))
    if record.fault:
        yield f"{where} could not be brought about: {record.fault}"
    elif record.delivered_at is not None:
        if record.witness is None:
            yield f"nothing shows that {where} was brought about"
    elif not isinstance(since, str) or timing is None:
        if not deaf:
            yield f"nobody waited for the moment of {where}"
    elif not moment.get("came_at") and timing.counted is not Counted.SECONDS:
        tally = count(scene.evidence.audit, scene.evidence.principal.username, since)
        if tally.has_come(timing):
            yield f"the moment of {where} came and the environment did not see it"


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
    records = {record.index: record for record in scene.evidence.stimuli}
    for index, stimulus in enumerate(scene.scenario.stimuli):
        record = records.get(index)
        if (
            stimulus.type is StimulusType.TEMPORAL_CONDITION
            and record is not None
            and record.moment is not None
        ):
            if why := _why_unmet(scene, record):
                return why
        elif _waits_for_agent(stimulus) and not scene.ledger.asked:
            return f"stimulus {index} waits for the agent to act, and it never did"
    return engagement.unread(scene.scenario, scene.ledger, injects=scene.meaning.injects, seen=scene.seen)


def exposures(scene: Scene) -> tuple[Exposure, ...]:
    """Return what was placed in the environment, and when the agent read it for the first time."""
    found = []
    for record in scene.evidence.stimuli:
        if record.index not in scene.seen and record.moment is None:
            continue
        reading = _first(scene, record)
        event = reading.request.event if reading is not None else {}
        found.append(
            Exposure(
                record.index,
                record.type,
                record.delivered_at or "",
                str(event.get("requestReceivedTimestamp") or ""),
                reading.request.seq if reading is not None else None,
            )
        )
    return tuple(found)


def _why_unmet(scene: Scene, record: StimulusRecord) -> str:
    moment = record.moment or {}
    if record.delivered_at is None:
        timing = moment.get("timing")
        return f"stimulus {record.index} never took effect: {record.missed or f'{timing} never came'}"
    if _first(scene, record) is None:
        return f"the agent read nothing of stimulus {record.index} after it took effect"
    return ""


def _first(scene: Scene, record: StimulusRecord) -> Effect | None:
    """Return the first request that showed what a stimulus placed, from the time on at which it was there."""
    since = record.delivered_at if record.moment is not None else ""
    if record.delivered_at is None:
        return None
    return engagement.first_reading(scene.seen.get(record.index, ()), scene.ledger, since or "")
