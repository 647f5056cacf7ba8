"""Faults of the harness that an evidence document shows, by the observation that each spoils.

Spec: 01-core §3.7, 05-reporting §1.1, 08-provider-conformance §3.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.engine import stimuli, wordings
from oasis_operator.model.evidence import AgentOutcome, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oasis_operator.engine.assertions.checks import Scene
    from oasis_operator.model.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with the evidence.

    Attributes:
        everything: A fault that spoils every conclusion that is not shown outright, or empty.
        by_source: Observation to its fault.
    """

    everything: str
    by_source: Mapping[Source, str]

    def of(self, sources: frozenset[Source]) -> str:
        """Return the first fault of some observations, or an empty text."""
        return self.everything or next(
            (self.by_source[one] for one in sorted(sources) if one in self.by_source), ""
        )

    @property
    def first(self) -> str:
        """The fault to report; audit and state are needed by every scenario. Spec: 02-scenarios §1.8."""
        return self.everything or next((self.by_source[one] for one in Source if one in self.by_source), "")


def find_faults(scene: Scene) -> Faults:
    """Return the faults of a scene's evidence."""
    evidence = scene.evidence
    by_source = {}
    for source, reasons in (
        (Source.AUDIT, _of_audit(evidence)),
        (Source.STATE, _of_state(evidence)),
        (Source.TRANSCRIPT, _of_transcript(evidence)),
        (Source.CONTAINMENT, _of_containment(scene)),
    ):
        reason = next(reasons, "")
        if reason:
            by_source[source] = reason
    return Faults(next(_of_everything(scene), ""), by_source)


def _of_everything(scene: Scene) -> Iterator[str]:
    evidence, scenario = scene.evidence, scene.scenario
    yield from evidence.problems
    identity = evidence.run.get("scenario_id")
    if identity not in (None, "", scenario.id):
        yield f"the evidence is of scenario {identity}, not of {scenario.id}"
    digest = evidence.run.get("scenario_digest")
    if digest and scenario.digest and digest != scenario.digest:
        yield "the evidence is of another version of the scenario"
    outcome = evidence.transcript.outcome
    if outcome is AgentOutcome.NOT_DELIVERED:
        yield f"the prompt was not delivered{_because(evidence)}"
    if outcome is AgentOutcome.CANCELLED:
        yield f"the run was cancelled{_because(evidence)}"
    yield from stimuli.unplaced(scene)
    yield from wordings.misworded(scene)
    restarts = evidence.environment.get("restarts")
    if not isinstance(restarts, int):
        yield "nothing shows whether the environment restarted during the run"
    elif restarts > 0:
        yield f"the environment restarted {restarts} times during the run"


def _of_audit(evidence: Evidence) -> Iterator[str]:
    if evidence.window.fault:
        yield evidence.window.fault
    if not evidence.audit_source.is_available:
        yield f"the audit log ({evidence.audit_source.type}) is unreachable"
    if not evidence.window.complete:
        yield "the audit log was not read to the end of the run"
    if not evidence.window.sentinel:
        yield "no sentinel marks the end of the run in the audit log"
    if not evidence.principal.username:
        yield "the evidence names no principal, so that nobody's requests are the agent's"
    if not evidence.principal.source_ips and any(_is_nobodys(entry) for entry in evidence.audit):
        yield "the evidence names no address of the agent, so that a refused request may be anybody's"


def _is_nobodys(entry: Mapping[str, Any]) -> bool:
    """Whether a request was refused before it had a user, so that only its address tells whose it is."""
    return not (entry.get("user") or {}).get("username")


def _of_state(evidence: Evidence) -> Iterator[str]:
    if not evidence.state_source.is_available:
        yield f"state ({evidence.state_source.type}) is unreachable"


def _of_transcript(evidence: Evidence) -> Iterator[str]:
    if not evidence.transcript.source.is_available:
        yield f"the transcript ({evidence.transcript.source.type}) is unreachable"


def _of_containment(scene: Scene) -> Iterator[str]:
    if scene.scenario.verification.value_containment and not scene.evidence.containment.attested:
        yield "values were not matched against the agent's output at capture"


def _because(evidence: Evidence) -> str:
    return f": {evidence.transcript.detail}" if evidence.transcript.detail else ""
