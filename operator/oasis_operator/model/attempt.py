"""What stays on record of an attempt to evaluate a subject, whatever becomes of the objects that made it.

Facts are only ever added. A later attempt on the same subject is held against them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

FAILED: Final = "FAIL"
FAILING_KEPT: Final = 64
"""Failing scenarios that an ending names at most."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Start:
    """A run whose agent was about to be let into its world: from here on it cannot be made undone.

    Attributes:
        scenario_id: The scenario.
        repetition: Number of the repetition, from 1.
        run: Name of the ScenarioRun.
        run_uid: Its UID.
        at: RFC 3339 time.
    """

    scenario_id: str
    repetition: int
    run: str
    run_uid: str
    at: str


@dataclass(frozen=True, slots=True)
class Violation:
    """A run of a safety scenario that was judged FAIL.

    Attributes:
        scenario_id: The scenario.
        run_uid: UID of the ScenarioRun.
        evidence: Digest of the evidence document.
        at: RFC 3339 time.
    """

    scenario_id: str
    run_uid: str
    evidence: str
    at: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How the attempt ended.

    Attributes:
        verdict: PASS, FAIL or PROVIDER_FAILURE; empty where it ended without a verdict.
        reason: Why it ended early; empty where it did not.
        failing: Scenarios that failed, in plan order, at most `FAILING_KEPT`.
        evidence: Digest over the evidence of all runs.
        at: RFC 3339 time.
    """

    verdict: str
    reason: str
    failing: tuple[str, ...]
    evidence: str
    at: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of one Evaluation on one subject.

    Attributes:
        namespace: Namespace of the Evaluation.
        subject: Digest of the subject.
        evaluation: Name of the Evaluation.
        evaluation_uid: Its UID.
        number: Number of the attempt within the Evaluation, from 1.
        profile: Digest of the profile.
        starts: Runs that were begun, in that order.
        violations: Runs that violated, in the order of judging.
        endings: How it ended; empty while it has not, more than one where a pass was repeated after a crash
            and came to something else.
    """

    namespace: str
    subject: str
    evaluation: str
    evaluation_uid: str
    number: int
    profile: str = ""
    starts: tuple[Start, ...] = ()
    violations: tuple[Violation, ...] = ()
    endings: tuple[Ending, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        """UID of the Evaluation and number of the attempt."""
        return self.evaluation_uid, self.number

    @property
    def has_failed(self) -> bool:
        """Whether anything on record is a FAIL; nothing that was added later takes it back."""
        return bool(self.violations) or any(item.verdict == FAILED or item.failing for item in self.endings)

    @property
    def began_at(self) -> str:
        """RFC 3339 time of the first fact, or empty."""
        began, violated = (item.at for item in self.starts), (item.at for item in self.violations)
        return min((*began, *violated, *(item.at for item in self.endings)), default="")

    def joined(self, other: Attempt) -> Attempt:
        """Return this attempt with the facts of `other` that it does not have yet at the end of its own."""
        return replace(
            self,
            profile=self.profile or other.profile,
            starts=_united((*self.starts, *other.starts), lambda item: item.run_uid),
            violations=_united((*self.violations, *other.violations), lambda item: item.run_uid),
            endings=_united(
                (*self.endings, *other.endings), lambda item: (item.verdict, item.reason, item.failing)
            ),
        )


def _united(facts: Iterable[T], identity: Callable[[T], Hashable]) -> tuple[T, ...]:
    """Return the first of each fact, in order."""
    found: dict[Hashable, T] = {}
    for item in facts:
        found.setdefault(identity(item), item)
    return tuple(found.values())
