"""Makes findings of claims: each is held against the recorded transcript, and none is ever confirmed here.

A claim is refused, and stands as rejected with its reason,

* where there is no transcript to hold it against;
* where it names no step, or one that there is not;
* where it quotes nothing, or something that stands nowhere in those steps;
* where all that it quotes is what the agent itself had put there: an echo shows nothing;
* where it says what another claim said already.

Commands, endpoints, payload and proof of a finding are those of the transcript, not those of the claim.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.harness.finding import Claim, Finding
from oasis_operator.harness.quotes import Place, Step, find_quote
from oasis_operator.harness.record import LogLine
from oasis_operator.harness.vocabulary import LogAction, Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.harness.claims import Told
    from oasis_operator.model.evidence import Transcript

HARNESS: Final = "oasis-harness"
"""Who refuses a claim."""

SELF_CONFIRMATION: Final = "self-confirmation"
"""Flag of a finding whose claimant says that it is confirmed."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A finding with what the published shape has no member for.

    Attributes:
        finding: Open, or rejected where its claim was refused.
        places: Where its evidence stands; empty where it was refused.
        flags: What a reader should know, sorted.
    """

    finding: Finding
    places: tuple[Place, ...] = ()
    flags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give the `claims` entry of the harness document."""
        claim = self.finding.claim
        return {
            "findingId": self.finding.id,
            "discoveredBy": self.finding.discovered_by,
            "evidence": [
                {"step": place.step, "part": place.part, "quote": place.quote} for place in self.places
            ],
            "endpoints": list(claim.endpoints),
            "payload": claim.payload,
            "confidence": {"level": claim.confidence.value, "reason": claim.confidence_reason},
            "severity": {
                "likelihood": claim.likelihood.value,
                "impact": claim.impact.value,
                "overallSeverity": claim.overall_severity.value,
            },
            "remediation": claim.remediation,
            "flags": list(self.flags),
        }


def assemble(
    transcript: Transcript, told: Sequence[Told], hunter: str, at: str
) -> tuple[tuple[Assembled, ...], tuple[LogLine, ...]]:
    """Make findings of claims.

    Args:
        transcript: What was recorded of the hunter.
        told: Its claims, in order.
        hunter: Who it is.
        at: RFC 3339 time of the refusals and of the log.

    Returns:
        A finding for each claim in the same order, `needs_validation` or `rejected`, and the log of both.
    """
    steps = tuple(Step.of(action) for action in transcript.actions)
    found: list[Assembled] = []
    seen: dict[tuple[object, ...], str] = {}
    for number, each in enumerate(told, start=1):
        name = f"F-{number:03}"
        reason, places = _resolve(transcript, steps, each.claim)
        claim = each.claim if reason else _grounded(each.claim, steps, places)
        key = (claim.category, claim.steps, claim.evidence)
        if not reason and key in seen:
            reason = f"says the same as {seen[key]}"
        if not reason:
            seen[key] = name
        flags = (SELF_CONFIRMATION,) if each.is_confirmed else ()
        finding = _refused(name, claim, hunter, at, reason) if reason else _open(name, claim, hunter)
        found.append(Assembled(finding, () if reason else places, flags))
    return tuple(found), tuple(line for each in found for line in _log(each, hunter, at))


def _resolve(transcript: Transcript, steps: Sequence[Step], claim: Claim) -> tuple[str, tuple[Place, ...]]:
    """Return why a claim is refused, else an empty text and where its evidence stands."""
    reason = _ungrounded(transcript, len(steps), claim)
    if reason:
        return reason, ()
    places = tuple(find_quote(quote, claim.steps, steps) for quote in claim.evidence)
    lost = [quote for quote, place in zip(claim.evidence, places, strict=True) if place is None]
    if lost:
        return f"quotes {lost[0][:80]!r}, which stands nowhere in the steps that it names", ()
    known = tuple(place for place in places if place is not None)
    if not any(place.part == "result" for place in known):
        return "quotes only what the agent itself had put in; no output shows the effect", ()
    return "", known


def _ungrounded(transcript: Transcript, count: int, claim: Claim) -> str:
    """Return why there is nothing to look up; empty where there is."""
    strange = [str(step) for step in claim.steps if not 1 <= step <= count]
    if not transcript.source.is_available:
        return "there is no recorded transcript to hold the claim against"
    if not claim.steps:
        return "names no step of the transcript"
    if strange:
        return f"names step {', '.join(strange)}, and the transcript has {count}"
    return "" if claim.evidence else "quotes no evidence"


def _grounded(claim: Claim, steps: Sequence[Step], places: Sequence[Place]) -> Claim:
    """Return a claim with what the transcript shows in the place of what was said."""
    cited = [steps[number - 1] for number in claim.steps]
    proofs = [place.quote for place in places if place.part == "result"]
    return replace(
        claim,
        commands=tuple(dict.fromkeys(step.asked for step in cited)),
        endpoints=tuple(each for each in claim.endpoints if any(each in step.arguments for step in cited)),
        payload=claim.payload if any(claim.payload in step.arguments for step in cited) else "",
        proof_output=proofs[0],
    )


def _refused(name: str, claim: Claim, hunter: str, at: str, reason: str) -> Finding:
    return Finding(name, claim, Standing.REJECTED, HARNESS, at, f"refused: {reason}", hunter)


def _open(name: str, claim: Claim, hunter: str) -> Finding:
    waits = "nobody else has reproduced it yet"
    return Finding(name, claim, Standing.NEEDS_VALIDATION, hunter, "", waits, hunter)


def _log(assembled: Assembled, hunter: str, at: str) -> list[LogLine]:
    finding = assembled.finding
    lines = [LogLine(at, finding.id, hunter, LogAction.DISCOVERED, "claimed by the hunter")]
    if SELF_CONFIRMATION in assembled.flags:
        message = "the hunter calls its own claim confirmed, which counts for nothing"
        lines.append(LogLine(at, finding.id, HARNESS, LogAction.NEEDS_REVIEW, message))
    if finding.standing is Standing.REJECTED:
        lines.append(LogLine(at, finding.id, HARNESS, LogAction.REJECTED, finding.reason))
    return lines
