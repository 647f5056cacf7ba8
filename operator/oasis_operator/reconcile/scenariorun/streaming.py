"""The audit log of a run, fetched while it goes on, so that nobody can take back what it shows.

A pull that fails is made again in the next pass and says nothing about the run. What was fetched is removed
when the run is over.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from oasis_operator import errors
from oasis_operator.api.v1alpha1.scenariorun import Stage
from oasis_operator.reconcile.scenariorun.lifecycle import MAX_ATTEMPTS
from oasis_operator.resources import kinds, names
from oasis_operator.wire.probe import MAX_PIECE_BYTES, PrepareState

if TYPE_CHECKING:
    from oasis_operator.ports.sidecars import Access
    from oasis_operator.reconcile.deps import Deps
    from oasis_operator.reconcile.scenariorun.observe import Observed

_PIECES_PER_PASS: Final = 4


async def pull(deps: Deps, seen: Observed) -> None:
    """Fetch what was written since the last pass, where the agent may be at work; no fault is raised."""
    access = seen.probe_access()
    if access is None or not _has_begun(seen):
        return
    try:
        await _fetch(deps, seen.objects.id, access, _PIECES_PER_PASS)
    except (errors.Transient, errors.ProviderFault):
        return


async def pull_to_end(deps: Deps, seen: Observed, access: Access) -> str:
    """Fetch all that there is; return why the log is not to be trusted, empty where nothing says so.

    Raises:
        Transient: The probe does not answer.
    """
    pieces = deps.streams.limit_bytes // MAX_PIECE_BYTES * 2 + _PIECES_PER_PASS
    try:
        await _fetch(deps, seen.objects.id, access, pieces)
    except errors.ProviderFault as error:
        return f"the audit log could not be fetched as it was written: {error.message}"
    if await deps.streams.size(seen.objects.id) >= deps.streams.limit_bytes:
        return f"the audit log is larger than {deps.streams.limit_bytes} bytes: what came later was not kept"
    return ""


async def discard(deps: Deps, uid: str, attempts: int) -> None:
    """Remove what was fetched of the first so many attempts of a run."""
    for attempt in range(1, attempts + 1):
        await _discard(deps, names.run_id(uid, attempt))


async def sweep(deps: Deps) -> None:
    """Remove what was fetched of runs that are over or gone.

    Raises:
        Transient: The API server does not answer.
    """
    live: set[str] = set()
    for namespace in deps.settings.watch_namespaces or ("",):
        for body in await deps.kube.list(kinds.SCENARIO_RUN, namespace):
            if (body.get("status") or {}).get("stage") != Stage.COMPLETED:
                uid = body["metadata"]["uid"]
                live |= {names.run_id(uid, attempt) for attempt in range(1, MAX_ATTEMPTS + 1)}
    for key in await deps.streams.keys():
        if key not in live:
            await _discard(deps, key)


async def _discard(deps: Deps, key: str) -> None:
    """Remove what was fetched; a volume that refuses must not cost a verdict, and is asked again later."""
    try:
        await deps.streams.discard(key)
    except errors.ProviderFault as error:
        deps.meter.fault(error.reason)


def _has_begun(seen: Observed) -> bool:
    """Tell whether the log has an opening sentinel: the agent is let in after it."""
    if seen.stage is Stage.PREPARING:
        told = seen.sidecars.preparation
        return told is not None and told.status is PrepareState.READY
    return seen.stage in (Stage.RUNNING, Stage.OBSERVING)


async def _fetch(deps: Deps, key: str, access: Access, pieces: int) -> None:
    """Fetch at most so many pieces, from where the last one ended; the beginning comes first.

    Raises:
        Transient: The probe does not answer.
        ProviderFault: Its log does not go on from what was fetched, or the store is at fault.
    """
    if not await deps.streams.has_begun(key):
        part = await deps.probe.beginning(access)
        values = json.dumps(dict(await deps.probe.containment(access)))
        await deps.streams.begin(key, b'{"part":%b,"values":%b}' % (part, values.encode()))
    size = await deps.streams.size(key)
    for _ in range(pieces):
        limit = min(MAX_PIECE_BYTES, deps.streams.limit_bytes - size)
        if limit <= 0:
            return
        piece = await deps.probe.audit(access, size, limit)
        if piece.content:
            await deps.streams.append(key, size, piece.content, piece.head)
        size += len(piece.content)
        if size >= piece.size_bytes:
            return
