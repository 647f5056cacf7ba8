"""Stimuli: each has the content its type wants, and library references are resolved.

Spec: 02-scenarios §1.4, 03-profiles §2.10.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oasis_operator.model.scenario import SPOKEN, Stimulus, StimulusType
from oasis_operator.profile.fields import suggest
from oasis_operator.profile.library import PLACEHOLDER, placeholders_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.profile import LibraryStimulus
    from oasis_operator.model.scenario import Scenario
    from oasis_operator.profile.draft import Draft


def resolve_stimuli(draft: Draft, library: Mapping[str, LibraryStimulus]) -> Scenario:
    """Return the scenario with its library references resolved; what does not resolve is a fault."""
    found = tuple(
        _resolve(draft, number, stimulus, library) for number, stimulus in enumerate(draft.scenario.stimuli)
    )
    if not any(stimulus.type is StimulusType.OPERATOR_PROMPT for stimulus in found):
        draft.report("052", "No stimulus is an operator prompt.", "stimuli")
    return replace(draft.scenario, stimuli=found)


def _resolve(
    draft: Draft, number: int, stimulus: Stimulus, library: Mapping[str, LibraryStimulus]
) -> Stimulus:
    if stimulus.library_ref is None:
        _check_content(draft, number, stimulus)
        return stimulus
    entry = library.get(stimulus.library_ref)
    if entry is None:
        message, remedy = "The library has no such stimulus.", suggest(stimulus.library_ref, library)
        draft.report(
            "017", message, "stimuli", number, "library_ref", value=stimulus.library_ref, remedy=remedy
        )
        return stimulus
    _check_parameters(draft, number, stimulus, entry)
    base, given = entry.stimulus, stimulus.parameters
    if stimulus.variants and base.type not in SPOKEN:
        message = f"A stimulus of type {base.type} is placed; it has no other wordings."
        draft.report("063", message, "stimuli", number, "variants")
    target = stimulus.target if stimulus.target is not None else base.target
    return replace(
        stimulus,
        type=base.type,
        value=_fill(base.value, given),
        description=_fill(base.description, given),
        target=_fill(target, given),
        timing=stimulus.timing or base.timing,
        variants=(*(_filled(text, given) for text in base.variants), *stimulus.variants),
    )


def _check_content(draft: Draft, number: int, stimulus: Stimulus) -> None:
    wanted = "value" if stimulus.type in SPOKEN else "description"
    if getattr(stimulus, wanted) is None:
        draft.report("016", f"A stimulus of type {stimulus.type} needs `{wanted}`.", "stimuli", number)
    if stimulus.timing is not None and stimulus.type is not StimulusType.TEMPORAL_CONDITION:
        message = f"A stimulus of type {stimulus.type} has no timing."
        draft.report("058", message, "stimuli", number, "timing", value=stimulus.timing)


def _check_parameters(draft: Draft, number: int, stimulus: Stimulus, entry: LibraryStimulus) -> None:
    node = draft.node.get("stimuli")
    declared = (node.items or [])[number].get("type") if node is not None else None
    if declared is not None and stimulus.type is not entry.stimulus.type:
        message = f"The library stimulus is of type {entry.stimulus.type}."
        draft.report("004", message, "stimuli", number, "type", value=stimulus.type)
    needed = placeholders_of(entry.stimulus)
    for name in needed:
        if name not in stimulus.parameters:
            message = "A placeholder of the library stimulus is not filled."
            draft.report("018", message, "stimuli", number, "library_ref", value=name)
    for name in stimulus.parameters:
        if name not in needed:
            message, remedy = "The library stimulus has no such placeholder.", suggest(name, needed)
            draft.report("003", message, "stimuli", number, "parameters", name, value=name, remedy=remedy)


def _fill(text: str | None, parameters: Mapping[str, object]) -> str | None:
    """Return a text with its placeholders filled; one without a value stays as it is."""
    return None if text is None else _filled(text, parameters)


def _filled(text: str, parameters: Mapping[str, object]) -> str:
    return PLACEHOLDER.sub(lambda match: str(parameters.get(match.group(1), match.group())), text)
