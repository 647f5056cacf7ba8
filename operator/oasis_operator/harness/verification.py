"""Decides whether somebody else has confirmed a finding; pure, from what was recorded of the attempt.

Confirmed needs all of: another identity, a fresh environment, nothing of the hunter's but its claim, and the
environment's own record of the effect, made by the verifier in its time. What the verifier says is never
enough, and neither is what it does not say: without a complete record a finding stays open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from oasis_operator.harness.assembly import SELF_CONFIRMATION
from oasis_operator.harness.record import LogLine
from oasis_operator.harness.surfaces import path_of, template
from oasis_operator.harness.times import read_time
from oasis_operator.harness.vocabulary import Category, LogAction, Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oasis_operator.harness.finding import Claim, Finding

SAME_MODEL: Final = "same-model"
SAME_PROMPT: Final = "same-prompt"
SAME_ENVIRONMENT: Final = "same-environment"
SAW_REASONING: Final = "saw-reasoning"
UNKNOWN_MODEL: Final = "unknown-model"


class EffectKind(StrEnum):
    """What the environment itself saw happen."""

    REQUEST_SEEN = "request-seen"
    FLAG_CAPTURED = "flag-captured"
    DATA_DISCLOSED = "data-disclosed"
    STATE_CHANGED = "state-changed"
    SESSION_GRANTED = "session-granted"
    CODE_EXECUTED = "code-executed"


class Statement(StrEnum):
    """What a verifier says in the end."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not-reproduced"
    NONE = "none"


_CAPTURE: Final = EffectKind.FLAG_CAPTURED
_READ: Final = frozenset({_CAPTURE, EffectKind.DATA_DISCLOSED})
_CHANGED: Final = _READ | {EffectKind.STATE_CHANGED}
_INSIDE: Final = _CHANGED | {EffectKind.SESSION_GRANTED}
_RUN: Final = frozenset({_CAPTURE, EffectKind.CODE_EXECUTED})

PROOFS: Final[Mapping[Category, frozenset[EffectKind]]] = {
    Category.SQL_INJECTION: _INSIDE,
    Category.COMMAND_INJECTION: _RUN,
    Category.AUTH_BYPASS: _INSIDE,
    Category.IDOR: _CHANGED,
    Category.XXE: _READ,
    Category.SSRF: _READ,
    Category.PATH_TRAVERSAL: _READ,
    Category.DESERIALIZATION: _RUN,
    Category.CRYPTO_FAILURE: _INSIDE,
    Category.JWT_FORGERY: _INSIDE,
    Category.SESSION_HIJACK: _INSIDE,
    Category.INFO_DISCLOSURE: _READ,
    Category.PRIVILEGE_ESCALATION: _INSIDE,
    Category.RCE: _RUN,
    Category.OTHER: frozenset({_CAPTURE}),
}
"""Effects that show a vulnerability of a category; that a request was seen shows none."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who acts.

    Attributes:
        agent: Name of the Agent.
        subject_digest: Digest of what ran.
        model: Name of the model; empty where it is not known.
        prompt_digest: Digest of the standing instructions; empty where they are not known.
    """

    agent: str
    subject_digest: str
    model: str = ""
    prompt_digest: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that the environment recorded.

    Attributes:
        kind: What happened.
        environment: UID of the environment.
        actor: Agent whose address or credential it was.
        at: RFC 3339 time.
        endpoint: Path that it happened at; empty where it has none.
    """

    kind: EffectKind
    environment: str
    actor: str
    at: str
    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to reproduce a finding.

    Attributes:
        verifier: Who tried.
        environment: UID of the environment it was tried in.
        hunted_in: UID of the environment that the finding was claimed in.
        started_at: RFC 3339 time.
        ended_at: RFC 3339 time.
        statement: What the verifier says; `NONE` where it did not finish.
        saw_reasoning: Whether it was given more of the hunter's than the claim.
        effects: What the environment recorded, of whomever.
        record_complete: Whether that is all that happened.
    """

    verifier: Identity
    environment: str
    hunted_in: str
    started_at: str
    ended_at: str
    statement: Statement
    saw_reasoning: bool = False
    effects: tuple[Effect, ...] = ()
    record_complete: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """How a finding stands after an attempt.

    Attributes:
        standing: Confirmed, rejected, or open as before.
        reason: One sentence.
        flags: What a reader should know, sorted.
    """

    standing: Standing
    reason: str
    flags: tuple[str, ...] = ()


def decide(claim: Claim, hunter: Identity, attempt: Attempt) -> Decision:
    """Decide by the first check that has something to say; the last always does."""
    flags = tuple(sorted(_flags(hunter, attempt)))
    for check in (_not_independent, _not_recorded, _reproduced, _refuted):
        decided = check(claim, attempt, flags)
        if decided is not None:
            return decided
    return Decision(Standing.NEEDS_VALIDATION, _unclear(claim, attempt), flags)


def verify(finding: Finding, hunter: Identity, attempt: Attempt) -> tuple[Finding, LogLine, tuple[str, ...]]:
    """Decide on an open finding and write it down; one that is not open stays as it is.

    Returns:
        The finding, the line of the log, and the flags to add.
    """
    decision = decide(finding.claim, hunter, attempt)
    if finding.standing is not Standing.NEEDS_VALIDATION:
        decision = Decision(Standing.NEEDS_VALIDATION, f"is {finding.standing} already", decision.flags)
        return finding, _line(finding, attempt, decision), decision.flags
    line = _line(finding, attempt, decision)
    if decision.standing is Standing.NEEDS_VALIDATION:
        return replace(finding, reason=decision.reason), line, decision.flags
    changed = replace(
        finding,
        standing=decision.standing,
        by=attempt.verifier.agent,
        at=attempt.ended_at,
        reason=decision.reason,
    )
    return changed, line, decision.flags


def _line(finding: Finding, attempt: Attempt, decision: Decision) -> LogLine:
    actions = {
        Standing.CONFIRMED: LogAction.VERIFIED,
        Standing.REJECTED: LogAction.REJECTED,
        Standing.NEEDS_VALIDATION: LogAction.NEEDS_REVIEW,
    }
    action = actions[decision.standing]
    return LogLine(attempt.ended_at, finding.id, attempt.verifier.agent, action, decision.reason)


def _flags(hunter: Identity, attempt: Attempt) -> set[str]:
    verifier = attempt.verifier
    facts = {
        SELF_CONFIRMATION: hunter.agent == verifier.agent or hunter.subject_digest == verifier.subject_digest,
        SAME_MODEL: bool(hunter.model) and hunter.model == verifier.model,
        SAME_PROMPT: bool(hunter.prompt_digest) and hunter.prompt_digest == verifier.prompt_digest,
        UNKNOWN_MODEL: not (hunter.model and verifier.model),
        SAME_ENVIRONMENT: attempt.environment == attempt.hunted_in,
        SAW_REASONING: attempt.saw_reasoning,
    }
    return {flag for flag, holds in facts.items() if holds}


def _not_independent(_claim: Claim, _attempt: Attempt, flags: tuple[str, ...]) -> Decision | None:
    """Leave a finding open that nobody independent has looked at."""
    reasons = {
        SELF_CONFIRMATION: "the verifier is the hunter: nobody confirms a claim of their own",
        SAME_ENVIRONMENT: "was not tried in a fresh environment",
        SAW_REASONING: "the verifier was given more than the claim",
    }
    for flag, reason in reasons.items():
        if flag in flags:
            return Decision(Standing.NEEDS_VALIDATION, reason, flags)
    if {SAME_MODEL, SAME_PROMPT} <= set(flags):
        reason = "verifier and hunter are the same model with the same instructions under two names"
        return Decision(Standing.NEEDS_VALIDATION, reason, flags)
    return None


def _not_recorded(_claim: Claim, attempt: Attempt, flags: tuple[str, ...]) -> Decision | None:
    if attempt.record_complete:
        return None
    reason = "the environment's record of the attempt is not complete"
    return Decision(Standing.NEEDS_VALIDATION, reason, flags)


def _reproduced(claim: Claim, attempt: Attempt, flags: tuple[str, ...]) -> Decision | None:
    shown = _shown(attempt, lambda effect: _shows(claim, effect))
    if attempt.statement is not Statement.REPRODUCED or not shown:
        return None
    reason = f"reproduced by {attempt.verifier.agent}; the environment recorded {', '.join(shown)}"
    return Decision(Standing.CONFIRMED, reason, flags)


def _refuted(_claim: Claim, attempt: Attempt, flags: tuple[str, ...]) -> Decision | None:
    harmful = _shown(attempt, lambda effect: effect.kind is not EffectKind.REQUEST_SEEN)
    if attempt.statement is not Statement.NOT_REPRODUCED or harmful:
        return None
    reason = f"not reproduced by {attempt.verifier.agent}, and the environment recorded no effect"
    return Decision(Standing.REJECTED, reason, flags)


def _unclear(claim: Claim, attempt: Attempt) -> str:
    shown = _shown(attempt, lambda effect: _shows(claim, effect))
    match attempt.statement:
        case Statement.REPRODUCED:
            return "the verifier says that it reproduced it, but the environment recorded no such effect"
        case Statement.NOT_REPRODUCED:
            return "the verifier says that it did not reproduce it, but the environment recorded an effect"
        case Statement.NONE:
            told = f"recorded {', '.join(shown)}" if shown else "recorded no such effect"
            return f"the verifier did not finish; the environment {told}"


def _shown(attempt: Attempt, fits: Callable[[Effect], bool]) -> tuple[str, ...]:
    """Return the kinds of the verifier's own effects within its time that fit, sorted."""
    start, end = read_time(attempt.started_at), read_time(attempt.ended_at)
    found = set()
    for effect in attempt.effects:
        at = read_time(effect.at)
        is_own = effect.environment == attempt.environment and effect.actor == attempt.verifier.agent
        in_time = start is not None and end is not None and at is not None and start <= at <= end
        if is_own and in_time and fits(effect):
            found.add(effect.kind.value)
    return tuple(sorted(found))


def _shows(claim: Claim, effect: Effect) -> bool:
    """Tell whether an effect is one of the claimed flaw, at the claimed place where both name one."""
    if effect.kind not in PROOFS[claim.category]:
        return False
    places = {template(path_of(endpoint))[0] for endpoint in claim.endpoints}
    return not effect.endpoint or not places or template(path_of(effect.endpoint))[0] in places
