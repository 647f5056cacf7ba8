"""The ends of a window of the audit log: sentinels, requests in flight, and signs of a changed log."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from typing import TYPE_CHECKING

from oasis_operator.model import audit_log
from oasis_operator.sidecar.probe import audit
from oasis_operator.sidecar.probe.api import Api, ApiError
from oasis_operator.sidecar.probe.cluster import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from oasis_operator.sidecar.probe.follow import Follower

_DRAIN_SECONDS = 15.0
_SENTINEL_SECONDS = 10.0
_LOST_COUNT = re.compile(r'^apiserver_audit_error_total\{plugin="log"\} (\d+)$', re.MULTILINE)
_SENTINEL_PATH = "/api/v1/namespaces/kube-system/configmaps/"


async def place_sentinel(api: Api, folder: Path, offset: int) -> tuple[str, int, str]:
    """Ask for a name that nobody knows, and wait until the request stands in the audit log.

    Returns:
        The name, the offset of the request's line, and when the request was received.

    Raises:
        ProviderFault: It does not appear: the log is not being written.
    """
    nonce = secrets.token_hex(16)
    try:
        await api.get(_SENTINEL_PATH + nonce)
    except ApiError as error:
        if error.status != 404:
            raise
    log = folder / "audit" / "audit.log"
    found: list[tuple[int, str]] = []

    async def stands() -> bool:
        found.extend(filter(None, (audit.find_sentinel(log, offset, nonce),)))
        return bool(found)

    await wait_for("audit log", stands, patience_seconds=_SENTINEL_SECONDS, every=0.02)
    return nonce, *found[0]


async def find_change(follower: Follower | None) -> str:
    """Tell what shows that the log was changed after it was written, empty where nothing does."""
    changed = await follower.find_change() if follower else ""
    return f"the audit log was changed after it was written: {changed}" if changed else ""


async def drain(api: Api, folder: Path, offset: int) -> tuple[audit.LostEnd, ...]:
    """Wait until nothing is in flight, and give the ends that the audit log could not hold."""
    log = folder / "audit" / "audit.log"
    deadline = time.monotonic() + _DRAIN_SECONDS
    while True:
        lost = audit.read_lost(log.with_name("lost.log"))
        lines = (line for line, _ in audit.read_lines(log, offset))
        entries = (entry for line in lines if (entry := audit_log.parse_line(line)))
        if not audit.unfinished(entries, lost) or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    # The text of a log might be led to lie; it must agree with the API server's own count of lost events.
    return lost if not lost or await _count_lost(api) == len(lost) else ()


async def _count_lost(api: Api) -> int:
    found = _LOST_COUNT.search(await api.text("/metrics"))
    return int(found[1]) if found else 0
