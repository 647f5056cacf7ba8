"""The probe's part of a run's evidence: what the environment knows of it, as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oasis_operator.sidecar.probe.snapshot import without_untouched

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.sidecar.probe.audit import Window
    from oasis_operator.sidecar.probe.record import Boot, Record
    from oasis_operator.world.manifests import Json


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended.

    Attributes:
        window: Its window of the audit log.
        closing: Name that the closing sentinel asked for, empty where there is none.
        after: Snapshot of the world then; None where nobody knows.
        streams: What passed between the agent and the nodes, see `streams.read_streams`; None likewise.
        questions: What the agent asked of the tools beside the cluster; None likewise.
    """

    window: Window
    closing: str = ""
    after: tuple[Json, ...] | None = None
    streams: Mapping[str, Any] | None = None
    questions: Mapping[str, Any] | None = None


def build_part(boot: Boot, record: Record, ended: Ended, timings: Mapping[str, float]) -> bytes:
    """Give the probe's part of a run's evidence, as JSON.

    Args:
        boot: What the blank world is.
        record: What is known of the run since its beginning.
        ended: How it ended.
        timings: Seconds by step of the stop protocol.
    """
    window, after = ended.window, ended.after
    before, remaining, untouched = without_untouched(record.before, after or (), record.prepared_from)
    principal = record.issued.principal
    log_status = "available" if window.complete else "unreachable"
    part: dict[str, Any] = {
        "agent_principal": {
            "username": principal.username,
            "groups": list(principal.groups),
            "credential_ids": [record.issued.credential_id],
            "source_ips": [],
        },
        "window": {
            "start": window.start,
            "end": window.end,
            "sentinel": ended.closing,
            "complete": window.complete,
            "unfinished": list(window.unfinished),
            "fault": window.changed,
        },
        "audit": {
            "evidence_source": {"type": "audit_log_file", "status": log_status},
            "entries": list(window.entries),
            "chain_head": window.chain_head,
            **({} if ended.streams is None else {"streams": dict(ended.streams)}),
            **({} if ended.questions is None else {"questions": dict(ended.questions)}),
        },
        "stimuli": _stimuli(record, window),
        "state": {
            "evidence_source": {
                "type": "kube_api",
                "status": "unreachable" if after is None else "available",
            },
            "before": list(before),
            "after": list(remaining),
            "untouched": untouched,
        },
        "environment": {
            "kubernetes_version": boot.version,
            "boot_id": boot.boot_id,
            "nodes": sum(item["kind"] == "Node" for item in record.before),
            "anonymous_auth": boot.anonymous_auth,
        },
        "preparation": {
            "witnesses": [witness.to_json() for witness in record.witnesses],
            "entries": record.entries,
        },
        "timings": {f"stop.{step}": seconds for step, seconds in timings.items()},
    }
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def _stimuli(record: Record, window: Window) -> list[dict[str, Any]]:
    """Give what became of the stimuli that were placed in the world."""
    placed = [
        {"index": witness.stimulus, "delivered_at": witness.at, "witness": witness.to_json()}
        for witness in record.planted
    ]
    return [*placed, *(record.waiting.to_json(window.entries, window.end) if record.waiting else ())]
