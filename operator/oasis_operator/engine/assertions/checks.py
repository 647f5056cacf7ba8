"""What a check is, what it finds, and the scene that it looks at.

A scenario is turned into checks before there is any evidence, so that what cannot be evaluated is known
before anything is run, from the same code that evaluates.

Spec: 01-core §3.5.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.engine import engagement, places
from oasis_operator.engine.actions.ledger import Ledger
from oasis_operator.engine.actions.patterns import emptying
from oasis_operator.engine.actions.verbs import Act
from oasis_operator.model.evidence import Source
from oasis_operator.model.result import Outcome, Pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oasis_operator.engine.actions.effect import Effect
    from oasis_operator.engine.actions.matching import Matches
    from oasis_operator.engine.actions.patterns import Pattern
    from oasis_operator.engine.actions.requests import Request
    from oasis_operator.engine.places import Place
    from oasis_operator.model.evidence import Evidence
    from oasis_operator.model.scenario import Scenario

MOST_POINTERS: Final = 20
"""Pointers kept for one assertion; the reason says how many there were."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a profile says that operations, values and categories mean in its domain.

    Attributes:
        zero_deletes: Whether scaling to zero is a deletion.
        encodings_decide: Whether an encoded value breaks containment like the value itself.
        injects: Whether the scenario's category is about injected text.
    """

    zero_deletes: bool = False
    encodings_decide: bool = False
    injects: bool = False


class Scene:
    """Everything that a check may look at.

    Attributes:
        scenario: The scenario.
        evidence: What was observed.
        configuration: The agent's effective configuration.
        truth: Ground truth that a pack of readings knows of the scenario.
        meaning: What the profile says that things mean.
        ledger: What the agent did.
    """

    def __init__(
        self,
        scenario: Scenario,
        evidence: Evidence,
        configuration: Mapping[str, Any],
        truth: Mapping[str, Any] | None = None,
        meaning: Meaning = Meaning(),
    ) -> None:
        """Keep what there is; everything derived is worked out when asked for."""
        self.scenario = scenario
        self.evidence = evidence
        self.configuration = configuration
        self.truth = truth or {}
        self.meaning = meaning
        self.ledger = Ledger(evidence)

    @cached_property
    def idle(self) -> str:
        """Why an agent that does nothing would have met as much; empty where this one met the scenario."""
        return engagement.why_hollow(self.scenario, self.ledger, injects=self.meaning.injects, seen=self.seen)

    @cached_property
    def seen(self) -> Mapping[int, tuple[Place, ...]]:
        """Position of a stimulus to the places at which the environment has seen what it placed."""
        return places.seen_by(self.evidence.stimuli)

    def find(self, pattern: Pattern) -> Matches:
        """Return the effects that belong to an operation, by the meaning that the profile gives it."""
        found = self.ledger.find(pattern)
        if not self.meaning.zero_deletes or Act.DELETE not in pattern.acts:
            return found
        emptied = emptying(pattern)
        found += self.ledger.emptied(pattern)
        return found if emptied is None else found + self.ledger.find(emptied)

    def silent(self) -> Scene:
        """Return the same scene with an agent that said and did nothing."""
        told = replace(self.evidence.transcript, final_answer="", reasoning="", actions=())
        heard = replace(self.evidence, transcript=told)
        mute = Scene(self.scenario, heard, self.configuration, self.truth, self.meaning)
        mute.ledger = self.ledger.without_requests()
        return mute


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        outcome: Satisfied, violated or unassessable.
        reason: One sentence.
        pointers: Where it rests, in log order.
        vacuous: Why an idle agent would have satisfied it too, or empty.
        shown: Whether the conclusion rests on something that is there rather than on something that is not:
            such a violation stands however incomplete the rest of the evidence is.
        leaks: Findings beside the verdict.
    """

    outcome: Outcome
    reason: str = ""
    pointers: tuple[Pointer, ...] = ()
    vacuous: str = ""
    shown: bool = False
    leaks: tuple[str, ...] = ()


Decide = Callable[[Scene], Finding]


@dataclass(frozen=True, slots=True)
class Check:
    """One assertion, ready to be evaluated.

    Attributes:
        id: As `model.scenario.assertion_ids` names it.
        kind: Heading under which it stands.
        text: The assertion as written, one line.
        sources: Observations that it needs.
        decide: The evaluation, or None where there is none.
        obstacle: Why it cannot be evaluated; empty where it can.
        required: Whether it asks the agent to do something, so that an agent that did not finish fails it.
        our_reading: Whether prose was made executable by a rule of ours.
    """

    id: str
    kind: str
    text: str
    sources: frozenset[Source] = field(default_factory=frozenset)
    decide: Decide | None = None
    obstacle: str = ""
    required: bool = False
    our_reading: bool = False


def satisfied(reason: str, pointers: Iterable[Pointer] = (), vacuous: str = "") -> Finding:
    """Return a satisfied finding."""
    return Finding(Outcome.SATISFIED, reason, tuple(pointers)[:MOST_POINTERS], vacuous, shown=bool(pointers))


def violated(reason: str, pointers: Iterable[Pointer] = (), *, shown: bool = True) -> Finding:
    """Return a violated finding, `shown` unless it rests on the absence of something."""
    return Finding(Outcome.VIOLATED, reason, tuple(pointers)[:MOST_POINTERS], shown=shown)


def unassessable(reason: str, pointers: Iterable[Pointer] = ()) -> Finding:
    """Return a finding that says why no conclusion was possible."""
    return Finding(Outcome.UNASSESSABLE, reason, tuple(pointers)[:MOST_POINTERS])


_GRAVITY: Final = {Outcome.SATISFIED: 0, Outcome.UNASSESSABLE: 1, Outcome.VIOLATED: 2}


def worst(findings: Iterable[Finding]) -> Finding:
    """Return the gravest of some findings; a satisfied whole is vacuous only where every part is.

    Args:
        findings: At least one.
    """
    listed = list(findings)
    gravest = max(listed, key=lambda finding: _GRAVITY[finding.outcome])
    if gravest.outcome is not Outcome.SATISFIED:
        return gravest
    pointers = [pointer for finding in listed for pointer in finding.pointers]
    hollow = listed[0].vacuous if all(finding.vacuous for finding in listed) else ""
    return satisfied("; ".join(dict.fromkeys(finding.reason for finding in listed)), pointers, hollow)


def pointers_to(effects: Iterable[Effect]) -> tuple[Pointer, ...]:
    """Return one pointer for each request behind some effects, in log order, of as many as are kept."""
    requests = {effect.request.seq: effect for effect in effects}
    kept = [requests[seq] for seq in sorted(requests)[:MOST_POINTERS]]
    return tuple(_pointer(effect.request, str(effect.act)) for effect in kept)


def _pointer(request: Request, act: str) -> Pointer:
    refusal = " (refused)" if request.is_denied else ""
    again = f", {request.attempts} times" if request.attempts > 1 else ""
    taken_on = f" as {request.impersonated}" if request.impersonated else ""
    return Pointer(
        source=Source.AUDIT,
        detail=f"{act}{refusal}{again}{taken_on}",
        seq=request.seq,
        audit_id=str(request.event.get("auditID") or ""),
        time=request.time,
        verb=request.verb,
        path=request.uri,
        code=request.code,
        user=request.user,
        denied=request.is_denied,
    )
