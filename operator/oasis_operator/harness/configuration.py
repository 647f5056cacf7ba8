"""What of the harness was asked for: by an Evaluation's `spec.harness`, or by the OASIS_HARNESS variables.

Off is the absence of a configuration, so that nothing which reads one can do anything by default.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.api import fields
from oasis_operator.errors import InvalidInput
from oasis_operator.harness.vocabulary import Mode
from oasis_operator.model import budget
from oasis_operator.model.budget import Account, Limits, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.api.v1alpha1.harness import Harness

SWITCH: Final = "OASIS_HARNESS"
"""Variable that turns the harness on, and beginning of the others."""

_PREFIX: Final = SWITCH + "_"
_YES: Final = frozenset({"true", "1"})
_NO: Final = frozenset({"false", "0", ""})
_LARGEST: Final = 1_000_000_000
_OTHERS: Final = (
    "MODE",
    "MAX_STEPS",
    "MAX_TOKENS",
    "MAX_TIME",
    "HARD_STOP",
    "COVERAGE",
    "VERIFY",
    "OUTPUT_DIR",
)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A harness that is on.

    Attributes:
        mode: Who hunts.
        limits: Budgets; 0 means no limit.
        coverage: Whether a coverage ledger is kept.
        verify: Whether a finding needs another identity to be confirmed.
        verifier: Name of the Agent that verifies; empty for none, and then nothing is ever confirmed.
        output_dir: Folder for the files, on the command line only; empty for the current one.
        own_surfaces: Attack surfaces besides the standard ones, sorted.
    """

    mode: Mode = Mode.SINGLE_MODEL
    limits: Limits = field(default_factory=Limits)
    coverage: bool = False
    verify: bool = True
    verifier: str = ""
    output_dir: str = ""
    own_surfaces: tuple[str, ...] = ()

    def account(self, usage: Usage) -> Account:
        """Hold what was used against the limits."""
        return budget.account(self.limits, usage)

    def to_json(self) -> dict[str, Any]:
        """Give the `harness` member of the harness document; a limit that there is not is null."""
        return {
            "mode": self.mode.value,
            "maxSteps": self.limits.steps or None,
            "maxTokens": self.limits.tokens or None,
            "maxTimeSeconds": self.limits.seconds or None,
            "hardStop": self.limits.hard_stop,
            "coverage": self.coverage,
            "verifyBeforeClaim": self.verify,
            "verifier": self.verifier or None,
            "ownSurfaces": list(self.own_surfaces),
        }


def from_environment(env: Mapping[str, str]) -> Configuration | None:
    """Read the OASIS_HARNESS variables.

    Returns:
        None unless OASIS_HARNESS is `true` or `1`; the other variables then change nothing, but are read.

    Raises:
        InvalidInput: Names every variable that is malformed or unknown.
    """
    reader = _Reader(env)
    is_on = reader.flag("", default=False)
    configuration = Configuration(
        mode=Mode(reader.word("MODE", tuple(Mode), Mode.SINGLE_MODEL)),
        limits=Limits(
            steps=reader.count("MAX_STEPS"),
            tokens=reader.count("MAX_TOKENS"),
            seconds=reader.count("MAX_TIME", fields.LONGEST_SECONDS),
            hard_stop=reader.flag("HARD_STOP", default=False),
        ),
        coverage=reader.flag("COVERAGE", default=False),
        verify=reader.flag("VERIFY", default=True),
        output_dir=env.get(_PREFIX + "OUTPUT_DIR", "").strip(),
    )
    reader.finish()
    return configuration if is_on else None


def from_spec(harness: Harness | None) -> Configuration | None:
    """Read `spec.harness` of an Evaluation; None where it has none."""
    if harness is None:
        return None
    given = harness.budget
    return Configuration(
        mode=Mode.FLEET if harness.mode == "Fleet" else Mode.SINGLE_MODEL,
        limits=Limits(
            steps=given.max_steps or 0 if given else 0,
            tokens=given.max_tokens or 0 if given else 0,
            seconds=fields.duration_seconds(given.max_time) if given and given.max_time else 0,
            hard_stop=bool(given and given.hard_stop),
        ),
        coverage=harness.coverage,
        verify=harness.verify,
        verifier=harness.verifier_ref.name if harness.verifier_ref else "",
        own_surfaces=tuple(sorted(harness.surfaces or ())),
    )


def to_spec(configuration: Configuration) -> dict[str, Any]:
    """Give the `spec.harness` that reads as the configuration; what is the default is left out."""
    limits = configuration.limits
    given = {
        "maxSteps": limits.steps,
        "maxTokens": limits.tokens,
        "maxTime": f"{math.ceil(limits.seconds)}s" if limits.seconds else None,
        "hardStop": limits.hard_stop and bool(limits.steps or limits.tokens or limits.seconds),
    }
    spec = {
        "mode": "Fleet" if configuration.mode is Mode.FLEET else None,
        "budget": {name: value for name, value in given.items() if value} or None,
        "coverage": configuration.coverage,
        "surfaces": list(configuration.own_surfaces),
        "verifierRef": {"name": configuration.verifier} if configuration.verifier else None,
    }
    found: dict[str, Any] = {name: value for name, value in spec.items() if value}
    return found if configuration.verify else {**found, "verify": False}


class _Reader:
    """Reads variables one by one and keeps every fault, so that all are told at once."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._faults: list[str] = []

    def flag(self, name: str, *, default: bool) -> bool:
        key, text = self._get(name)
        if key not in self._env or text in {*_YES, *_NO}:
            return default if not text else text in _YES
        self._faults.append(f"{key}: {text!r}: want true, 1, false or 0")
        return default

    def count(self, name: str, largest: int = _LARGEST) -> int:
        """Read a limit; 0 and an absent one are no limit."""
        key, text = self._get(name)
        if not text:
            return 0
        if not re.fullmatch(r"[0-9]{1,10}", text) or int(text) > largest:
            self._faults.append(f"{key}: {text!r}: want a whole number from 0 (no limit) to {largest}")
            return 0
        return int(text)

    def word(self, name: str, words: tuple[str, ...], default: str) -> str:
        key, text = self._get(name)
        if text and text not in words:
            self._faults.append(f"{key}: {text!r}: want one of {', '.join(words)}")
        return text if text in words else default

    def _get(self, name: str) -> tuple[str, str]:
        key = _PREFIX + name if name else SWITCH
        return key, self._env.get(key, "").strip()

    def finish(self) -> None:
        known = {SWITCH, *(_PREFIX + name for name in _OTHERS)}
        unknown = sorted(key for key in self._env if key.startswith(SWITCH) and key not in known)
        faults = [*self._faults, *(f"{key}: unknown variable" for key in unknown)]
        if faults:
            raise InvalidInput("; ".join(faults), reason="InvalidSettings")
