"""The evidence of a run put together and stored: from its probe, or from what left it before it was lost.

Containment values are held in one call alone.

Spec: 08-provider-conformance §3.2, 08-provider-conformance §3.4.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.ports.judge import StreamedLog
from oasis_operator.reconcile.scenariorun import streaming
from oasis_operator.resources import evidence

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from oasis_operator.api.v1alpha1.scenariorun import StageTiming
    from oasis_operator.ports.artifacts import Artifact
    from oasis_operator.ports.sidecars import Access
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.scenariorun.actions import Collect
    from oasis_operator.reconcile.scenariorun.observe import Observed


async def collect(deps: Deps, seen: Observed, step: Collect, access: Access, now: datetime) -> Artifact:
    """Complete the document, hold its log against what was fetched, match and redact values, and store it.

    Raises:
        Transient: The probe does not answer.
        ProviderFault: The evidence is not what was announced, or the kept part is gone.
    """
    draft = await deps.artifacts.draft(seen.objects.id)
    if draft is None:
        raise errors.ProviderFault(
            "the transcript that was kept is gone from the store", reason="ArtifactMissing"
        )
    part = await deps.probe.evidence(access, step.size_bytes, step.sha256)
    values = await deps.probe.containment(access)
    fault = await streaming.pull_to_end(deps, seen, access)
    whole = _document(seen, draft, json_object(part, "the probe's evidence"), now)
    log = StreamedLog(deps.streams.path(seen.objects.id), fault)
    return await deps.artifacts.put(await deps.judge.attest(whole, values, log))


async def collect_stream(deps: Deps, seen: Observed, fault: str, now: datetime) -> Artifact | None:
    """Store what is known of a run whose environment can tell no more; None where nothing had left it.

    Nothing of it can become a PASS, but a violation on record stays one.

    Raises:
        ProviderFault: What was kept cannot be read.

    Spec: 01-core §3.6.
    """
    key = seen.objects.id
    draft, kept = await deps.artifacts.draft(key), await deps.streams.beginning(key)
    if draft is None or kept is None or not await deps.streams.size(key):
        return None
    beginning = json_object(kept, "the beginning of the run")
    whole = _document(seen, draft, beginning["part"], now)
    log = StreamedLog(deps.streams.path(key), f"the audit log was read no further: {fault}")
    return await deps.artifacts.put(await deps.judge.attest(whole, beginning["values"], log))


def _document(seen: Observed, draft: bytes, part: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    return evidence.with_probe_part(
        json_object(draft, "the kept part of the evidence"),
        part,
        seen.environment_pod,
        timings(seen.run.status.timings, now),
    )


def json_object(content: bytes, what: str) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        ProviderFault: It is none.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise errors.ProviderFault(f"{what} is not JSON", reason="EvidenceUnreachable") from error
    if not isinstance(value, dict):
        raise errors.ProviderFault(f"{what} is no object", reason="EvidenceUnreachable")
    return value


def timings(stages: tuple[StageTiming, ...], now: datetime) -> dict[str, float]:
    """Return the seconds that each stage took so far."""
    return {
        str(item.stage): round(((item.finished_at or now) - item.started_at).total_seconds(), 3)
        for item in stages
    }
