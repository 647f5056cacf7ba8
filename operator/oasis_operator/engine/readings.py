"""Readings of prose: rules of ours that make a profile's prose executable, keyed by what they read.

A behaviour is keyed by its identifier and the digest of its definition, any other text by the digest of the
text itself, so that a changed word needs a new reading. Results that rest on a reading say so.

Spec: 01-core §3.5.3, 03-profiles §2.3.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from oasis_operator.model.profile import Behavior
    from oasis_operator.model.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a rubric of levels.

    Attributes:
        name: The level's name in the rubric.
        rule: CEL rule that is true where it is reached, or, for a proportional one, gives its share 0.0-1.0.
    """

    name: str
    rule: str


@dataclass(frozen=True, slots=True)
class Readings:
    """A pack of readings.

    Attributes:
        behaviors: (identifier, digest of the definition) to rule.
        texts: Digest of a text or of a structured check to rule.
        rubrics: Digest of a rubric to its levels, best first.
        truths: (identifier, digest) of a scenario to the ground truth that rules of behaviours ask for.
        stimuli: (identifier, digest) of a scenario to further members of its stimuli by position: what is
            prose there as state entries.
    """

    behaviors: Mapping[tuple[str, str], str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    rubrics: Mapping[str, tuple[Level, ...]] = field(default_factory=dict)

    truths: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    stimuli: Mapping[tuple[str, str], Mapping[int, Mapping[str, Any]]] = field(default_factory=dict)

    def truth_of(self, scenario: Scenario) -> Mapping[str, Any]:
        """Return what is known of a scenario, empty for one that is not the very same text."""
        return self.truths.get((scenario.id, scenario.digest), {})

    def placed(self, scenario: Scenario) -> Scenario:
        """Return a scenario whose stimuli say what they place; its own words count before a reading."""
        read = self.stimuli.get((scenario.id, scenario.digest))
        if not read:
            return scenario
        stimuli = tuple(
            replace(one, extra={**read.get(index, {}), **one.extra})
            for index, one in enumerate(scenario.stimuli)
        )
        return replace(scenario, stimuli=stimuli)

    def of_behavior(self, behavior: Behavior) -> str | None:
        """Return the rule that reads a behaviour, or None."""
        return self.behaviors.get((behavior.identifier, behavior.digest))

    def of_text(self, text: object) -> str | None:
        """Return the rule that reads a text or a structured check, or None."""
        return self.texts.get(digest_of(text)) if self.texts else None


NO_READINGS: Final = Readings()
"""The empty pack."""


def digest_of(text: object) -> str:
    """Return the SHA-256 of a text, spaces folded, or of a JSON value in sorted form."""
    if isinstance(text, str):
        plain = " ".join(text.split())
    else:
        plain = json.dumps(_plain(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(plain.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
