"""What the stimuli of a scenario place in its world, and when.

A stimulus says what it places in one of two ways: a target and the text that is to be read there, or state
entries that hold from then on. A stimulus without a timing holds before the agent is let in; a temporal
condition is brought about when its moment has come.

Spec: 02-scenarios §1.4, 08-provider-conformance §3.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.model.scenario import SPOKEN, StimulusType
from oasis_operator.model.timing import WANTED, Moment, parse_timing
from oasis_operator.wire.probe_request import StateFault
from oasis_operator.world.entries import parse_entry
from oasis_operator.world.overlay import overlay
from oasis_operator.world.planting import Refused, find_place, plant
from oasis_operator.world.registry import BUILDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from oasis_operator.model.scenario import Stimulus
    from oasis_operator.wire.probe_request import StimulusPart
    from oasis_operator.world.overlay import Raw

_QUOTED: Final = re.compile(r'[^"]*:\s*"([^"]+)"\s*\.?\s*', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Injection:
    """What one stimulus places.

    Attributes:
        index: Position of the stimulus in the scenario.
        subjects: What it is about, as `kind/name` with a namespace, in the scenario's words.
        entries: What is laid over the state; empty where the state declares it already.
        text: What is to be read, word for word; empty where the entries say all.
        timing: The moment in the scenario's words; empty for before the prompt.
        moment: The same, read; None for before the prompt.
        objects: Objects that it makes or changes before the prompt, as (kind, namespace, name).
    """

    index: int
    subjects: tuple[str, ...]
    entries: tuple[Raw, ...]
    text: str = ""
    timing: str = ""
    moment: Moment | None = None
    objects: tuple[tuple[str, str, str], ...] = ()


def stimulus_parts(stimuli: Iterable[Stimulus]) -> Iterator[dict[str, Any]]:
    """Yield the stimuli that place something, as a probe reads them; what is only prose is left out."""
    for index, one in enumerate(stimuli):
        if not is_placed(one):
            continue
        text = planted_text(one)
        yield {
            "index": index,
            "type": str(one.type),
            "target": one.target or "",
            "text": text,
            "timing": one.timing or "",
            "state": one.extra.get("state"),
            "more": {name: value for name, value in one.extra.items() if name != "state"},
        }


def is_placed(stimulus: Stimulus) -> bool:
    """Tell whether a stimulus says exactly what it places: a text at a target, or state entries."""
    return stimulus.type not in SPOKEN and bool(planted_text(stimulus) or "state" in stimulus.extra)


def planted_text(stimulus: Stimulus) -> str:
    """Return what is to be read at a stimulus's target: its value, or what its description quotes at its end.

    A description quotes a text by a colon and one passage in double quotes, with nothing behind it, as those
    of the specification's own library do.
    """
    if stimulus.type in SPOKEN or not stimulus.target:
        return ""
    match = _QUOTED.fullmatch(stimulus.description or "")
    return stimulus.value or (match[1].replace("\\n", "\n") if match else "")


def read_injections(
    parts: Sequence[StimulusPart], state: Sequence[Raw], faults: list[StateFault]
) -> tuple[Injection, ...]:
    """Read what stimuli place in a declared state; each sees the state as those before it left it.

    Args:
        parts: The stimuli, in the scenario's order.
        state: The scenario's state.
        faults: Takes up what cannot be placed.
    """
    found = []
    for part in sorted(parts, key=lambda one: bool(one.timing)):
        try:
            injection = _read(part, state)
        except Refused as refused:
            faults.append(refused.of(part))
            continue
        state = overlay(state, injection.entries)
        found.append(injection)
    return tuple(found)


def _read(part: StimulusPart, state: Sequence[Raw]) -> Injection:
    is_temporal = part.type == StimulusType.TEMPORAL_CONDITION
    moment = parse_timing(part.timing) if part.timing else None
    if is_temporal and moment is None:
        raise Refused("timing", part.timing, WANTED)
    if part.timing and not is_temporal:
        raise Refused("timing", part.timing, f"contradicts type {part.type}; want type temporal_condition")
    entries, subjects = list(part.state), [_subject(raw) for raw in part.state]
    if part.text:
        planted = plant(find_place(part, state), part)
        subjects.append(_subject(planted))
        if not _stands_already(planted, part.text, state):
            entries.append(planted)
    return Injection(part.index, tuple(subjects), tuple(entries), part.text, part.timing, moment)


def _subject(raw: Raw) -> str:
    entry = parse_entry(-1, raw, BUILDERS)
    if isinstance(entry, StateFault):
        return str(raw.get("resource") or "")
    return f"{entry.kind}/{entry.name}" + (f" namespace={entry.namespace}" if entry.namespace else "")


def _stands_already(planted: Raw, text: str, state: Sequence[Raw]) -> bool:
    """Tell whether the state itself holds a text in the very member in which it would be planted."""
    kind, name = str(planted["resource"]).split("/", 1)
    for raw in state:
        entry = parse_entry(-1, raw, BUILDERS)
        if isinstance(entry, StateFault) or (entry.kind, entry.name) != (kind, name):
            continue
        for member in planted.keys() - {"resource", "namespace"}:
            if _holds(entry.fields.get(member), planted[member], text):
                return True
    return False


def _holds(declared: Any, planted: Any, text: str) -> bool:
    if isinstance(planted, dict):
        members: Mapping[str, Any] = declared if isinstance(declared, dict) else {}
        return any(_holds(members.get(key), value, text) for key, value in planted.items())
    if isinstance(planted, list):
        lines = [str(item.get("message")) if isinstance(item, dict) else str(item) for item in declared or ()]
        return text in "\n".join(lines)
    return isinstance(declared, str) and text in declared
