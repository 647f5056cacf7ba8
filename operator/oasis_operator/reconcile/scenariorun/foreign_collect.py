"""The evidence of a run from a foreign provider: all observations that the scenario needs, put together.

One observation that fails does not keep the others from being made: what they show can still be a violation.

Spec: 05-reporting §1.1, 08-provider-conformance §3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.ports.provider import ProviderRefusal
from oasis_operator.reconcile.scenariorun import collecting
from oasis_operator.resources import evidence, foreign_evidence
from oasis_operator.resources.foreign_evidence import Observations
from oasis_operator.wire.observation import ObservationType, ObserveRequest
from oasis_operator.wire.provider import SnapshotRequest
from oasis_operator.world.plan import build_plan

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping
    from datetime import datetime
    from typing import TypeVar

    from oasis_operator.model.scenario import Scenario
    from oasis_operator.ports.artifacts import Artifact
    from oasis_operator.ports.provider import Provider
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.scenariorun.observe import Observed
    from oasis_operator.resources.provider_access import ProviderReach
    from oasis_operator.resources.provision_record import Provision
    from oasis_operator.wire.observation import ObserveAnswer
    from oasis_operator.wire.provider import ResourceRef

    T = TypeVar("T")

_NOT_THERE = 404
_ANY_MOMENT = "2000-01-01T00:00:00Z"


async def observe(
    provider: Provider,
    reach: ProviderReach,
    environment_id: str,
    wanted: Scenario,
    declared: Mapping[str, Any],
) -> Observations:
    """Make all observations that a scenario needs; never raises, what fails is named.

    The audit log comes first and whole: no time is given, since clocks differ.
    """
    faults: list[tuple[str, str]] = []
    request = ObserveRequest(environment_id, ObservationType.AUDIT_LOG.value, {})
    audit = await _tried(provider.observe(reach, request), "audit", faults)
    after = await _tried(provider.snapshot(reach, SnapshotRequest(environment_id)), "state", faults)
    found: dict[ObservationType, list[ObserveAnswer]] = {}
    absent: list[ResourceRef] = []
    for kind in foreign_evidence.needed(wanted, declared):
        for reference in foreign_evidence.wanted_resources(wanted):
            asked = ObserveRequest(environment_id, kind.value, reference.to_json())
            try:
                found.setdefault(kind, []).append(await provider.observe(reach, asked))
            except ProviderRefusal as error:
                if error.status == _NOT_THERE and kind is ObservationType.RESOURCE_STATE:
                    absent.append(reference)
                elif error.status != _NOT_THERE:
                    faults.append(("state", error.message))
            except errors.ProviderFault as error:
                faults.append(("state", error.message))
    return Observations(
        audit=audit,
        after=after,
        states=tuple(found.get(ObservationType.RESOURCE_STATE, ())),
        diffs=tuple(found.get(ObservationType.STATE_DIFF, ())),
        absent=tuple(absent),
        faults=tuple(faults),
    )


async def store(
    deps: Deps, seen: Observed, of: tuple[Scenario, Provision, Observations], now: datetime
) -> tuple[Artifact, tuple[str, ...]]:
    """Complete the document, match and redact values, and store it; return why it is not whole as well.

    Raises:
        ProviderFault: The transcript that was kept is gone, or a value of the scenario cannot be found.
    """
    wanted, record, observed = of
    draft = await deps.artifacts.draft(seen.objects.id)
    if draft is None:
        raise errors.ProviderFault(
            "the transcript that was kept is gone from the store", reason="ArtifactMissing"
        )
    document = collecting.json_object(draft, "the kept part of the evidence")
    before = dict(record.before or {})
    built = foreign_evidence.build(
        observed, before, str(before.get("agent_principal") or ""), document["transcript"]
    )
    whole = evidence.with_probe_part(
        document, built.part, None, collecting.timings(seen.run.status.timings, now)
    )
    content = await deps.judge.attest(whole, _values(wanted), None)
    return await deps.artifacts.put(content), built.faults


def _values(wanted: Scenario) -> Mapping[str, str]:
    """Return the registered values: the provider was given them as the scenario's state has them.

    Spec: 08-provider-conformance §3.2.
    """
    references = dict.fromkeys(one.value_ref for one in wanted.verification.value_containment)
    state = wanted.preconditions.environment.state
    return build_plan(state, containment=tuple(references), now=_ANY_MOMENT).values


async def _tried(question: Awaitable[T], part: str, faults: list[tuple[str, str]]) -> T | None:
    try:
        return await question
    except errors.ProviderFault as error:
        faults.append((part, error.message))
        return None
