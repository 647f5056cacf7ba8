"""The run as it is at a moment: nothing is ended by a look, and looks may follow each other.

A look at the log waits, for a bounded time, for the requests in flight and places a sentinel of its own, so
that whatever was answered before the look stands in what it gives.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from oasis_operator.errors import ProviderFault
from oasis_operator.sidecar.probe import audit, moments
from oasis_operator.sidecar.probe.snapshot import take_snapshot
from oasis_operator.sidecar.probe.window import drain, find_change, place_sentinel
from oasis_operator.wire.live import LiveLog, LiveState

if TYPE_CHECKING:
    from pathlib import Path

    from oasis_operator.sidecar.probe.api import Api
    from oasis_operator.sidecar.probe.record import Record


async def read_log(api: Api, folder: Path, record: Record) -> LiveLog:
    """Give the audit log from the opening sentinel to now.

    Raises:
        ApiError: The API server refused the sentinel.
        ProviderFault: It did not answer, or the log does not hold both ends.

    Spec: 08-provider-conformance §3.2, 05-reporting §1.1.
    """
    lost = await drain(api, folder, record.log_offset)
    closing, _, _ = await place_sentinel(api, folder, record.log_offset)
    lines = (line for line, _ in audit.read_lines(folder / "audit" / "audit.log", record.log_offset))
    window = await asyncio.to_thread(audit.build_window, lines, record.opening, closing, lost)
    if not window.start or not window.end:
        raise ProviderFault("audit log: does not hold both ends of the window", reason="EnvironmentFault")
    changed = await find_change(record.follower)
    return LiveLog(
        window.start, window.end, window.complete and not changed, changed or _why(window), window.entries
    )


async def read_state(api: Api, record: Record) -> LiveState:
    """Give the world as the agent found it, and as it is.

    Raises:
        ApiError: A list was refused.
        ProviderFault: The API server did not answer.
    """
    objects = await take_snapshot(api)
    return LiveState(moments.now(), record.prepared_from, record.provisioned, objects)


def _why(window: audit.Window) -> str:
    if window.unfinished:
        return f"{len(window.unfinished)} requests did not end: {', '.join(window.unfinished[:5])}"
    return f"{window.unreadable} lines of the log cannot be read" if window.unreadable else ""
