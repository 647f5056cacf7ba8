"""Puts a run's three documents together from what was recorded of it; the one way to make them.

The order is that of the run: claims are held against the transcript, verified by whoever tried, and credited
to the surfaces that the touches had moved; then the ledger is closed and everything written down.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from oasis_operator.harness import coverage
from oasis_operator.harness.assembly import Assembled, assemble
from oasis_operator.harness.claims import read_claims
from oasis_operator.harness.finding import FindingsReport
from oasis_operator.harness.record import LogLine, Record
from oasis_operator.harness.verification import verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from oasis_operator.harness.challenge import Challenge
    from oasis_operator.harness.configuration import Configuration
    from oasis_operator.harness.ledger import Ledger
    from oasis_operator.harness.touches import Request
    from oasis_operator.harness.verification import Attempt, Identity
    from oasis_operator.model.budget import Usage
    from oasis_operator.model.evidence import Transcript


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What was recorded of a run.

    Attributes:
        run_id: Names the run.
        challenge: What was attacked.
        hunter: Who hunted.
        transcript: What the hunter's adapter recorded.
        started_at: RFC 3339 time.
        completed_at: RFC 3339 time, after every attempt to verify.
        usage: What was used.
        hosts: Names of the targets, small letters.
        traffic: Requests that the environment recorded, in order; None where it recorded none.
        attempts: Tries to reproduce a finding, by its id.
        error: Why the run ended early; empty where it did not.
        digests: Of what the run used and left, by name.
    """

    run_id: str
    challenge: Challenge
    hunter: Identity
    transcript: Transcript
    started_at: str
    completed_at: str
    usage: Usage
    hosts: frozenset[str]
    traffic: Sequence[Request] | None = None
    attempts: Mapping[str, Attempt] = field(default_factory=dict)
    error: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)


def conclude(configuration: Configuration, facts: RunFacts, versions: Mapping[str, str]) -> Record:
    """Make the harness document of a run, with findings and ledger in it.

    Args:
        configuration: What was asked for.
        facts: What was recorded.
        versions: Of what took part, by name.
    """
    found, log = assemble(
        facts.transcript, read_claims(facts.transcript), facts.hunter.agent, facts.completed_at
    )
    if configuration.verify:
        found, verified = _verify_all(found, facts)
        log = (*log, *verified)
    findings = tuple(each.finding for each in found)
    return Record(
        configuration=configuration,
        started_at=facts.started_at,
        completed_at=facts.completed_at,
        usage=facts.usage,
        findings=FindingsReport(
            run_id=facts.run_id,
            challenge=facts.challenge.id,
            timestamp=facts.completed_at,
            mode=configuration.mode,
            findings=findings,
            verify_before_claim=configuration.verify,
        ),
        ledger=_ledger(configuration, facts, found) if configuration.coverage else None,
        error=facts.error,
        log=log,
        claims=tuple(each.to_json() for each in found),
        versions=versions,
        digests=facts.digests,
    )


def _verify_all(
    found: Iterable[Assembled], facts: RunFacts
) -> tuple[tuple[Assembled, ...], tuple[LogLine, ...]]:
    """Hold each finding against the attempt at it, where there was one."""
    results, log = [], []
    for each in found:
        attempt = facts.attempts.get(each.finding.id)
        if attempt is None:
            results.append(each)
            continue
        finding, line, flags = verify(each.finding, facts.hunter, attempt)
        results.append(replace(each, finding=finding, flags=tuple(sorted({*each.flags, *flags}))))
        log.append(line)
    return tuple(results), tuple(log)


def _ledger(configuration: Configuration, facts: RunFacts, found: Iterable[Assembled]) -> Ledger:
    planned = coverage.plan_ledger(
        facts.run_id, facts.challenge, facts.started_at, configuration.own_surfaces
    )
    touches = coverage.touches_in(
        [(action, facts.hunter.agent, facts.started_at) for action in _in_full(facts.transcript)],
        facts.hosts,
        traffic=facts.traffic,
        own_surfaces=configuration.own_surfaces,
    )
    ledger = coverage.apply_touches(planned, touches)
    ledger = coverage.credit_findings(ledger, [each.finding for each in found], facts.completed_at)
    return coverage.close_ledger(ledger, facts.completed_at, facts.error or "the run ended")


def _in_full(transcript: Transcript) -> Iterable[Mapping[str, Any]]:
    """Return the recorded actions; what was not recorded touched nothing that can be told."""
    return transcript.actions if transcript.source.is_available else ()
