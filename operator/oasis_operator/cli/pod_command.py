"""Runs one short command in a container through the API server, and gives what it wrote.

The connection is the exec subresource's over a WebSocket: channel 1 is what the command wrote, 2 its
complaints, 3 how it ended.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import websocket
from kubernetes import stream as kube_stream

from oasis_operator import errors
from oasis_operator.clients import kube_errors
from oasis_operator.ports.kube import NETWORK

if TYPE_CHECKING:
    from collections.abc import Sequence

IDLE_SECONDS = 60.0
COMPLAINT_CHARACTERS = 300
STDOUT, STDERR, OUTCOME = 1, 2, 3


@dataclass(slots=True)
class Written:
    """What came over the channels so far, by channel."""

    parts: dict[int, list[bytes]] = field(default_factory=lambda: {STDOUT: [], STDERR: [], OUTCOME: []})
    size_bytes: int = 0

    def take(self, stream: Any) -> bool:
        """Move what arrived out of the client's buffers; whether there was anything."""
        before = self.size_bytes
        for channel, parts in self.parts.items():
            if data := bytes(stream.read_channel(channel)):
                parts.append(data)
                self.size_bytes += len(data)
        return self.size_bytes > before

    def of(self, channel: int) -> bytes:
        """Give all of a channel."""
        return b"".join(self.parts[channel])


def run(api: Any, path: str, container: str, command: Sequence[str], limit_bytes: int) -> bytes:
    """Run a command without input and give its output.

    Args:
        api: A `kubernetes.client.ApiClient`.
        path: Request path of the pod.
        container: The container.
        command: Program and arguments; no shell is involved.
        limit_bytes: Most that it may write.

    Raises:
        NotReady: The caller may not, there is no such pod, or the command failed, with its complaint.
        Transient: No answer, or the connection broke.
        ProviderFault: It wrote more than the limit.
    """
    what = f"run {command[0]} in {path.rpartition('/')[2]}"
    query = [("container", container), ("stdout", "true"), ("stderr", "true")]
    query += [("command", word) for word in command]
    _, url, headers, *_ = api.param_serialize(
        "GET", f"{path}/exec", query_params=query, header_params={}, auth_settings=["BearerToken"]
    )
    # The client's stream module has no annotations.
    client: Any = kube_stream.ws_client
    try:
        stream = client.WSClient(
            api.configuration, client.get_websocket_url(url), headers, capture_all=False, binary=True
        )
        try:
            stream.sock.settimeout(IDLE_SECONDS)
            written = _follow(stream, what, limit_bytes)
        finally:
            # Its `close` leaves the connection open once the other side has said goodbye.
            stream.sock.shutdown()
    except websocket.WebSocketBadStatusException as refusal:
        raise _refused(refusal, what) from refusal
    except (websocket.WebSocketException, OSError) as failure:
        raise errors.Transient(f"{what}: {failure}", reason=NETWORK) from failure
    _require_success(written, what)
    return written.of(STDOUT)


def _follow(stream: Any, what: str, limit_bytes: int) -> Written:
    """Read until the connection ends."""
    written = Written()
    heard = time.monotonic()
    while stream.is_open():
        stream.update(timeout=1.0)
        if written.take(stream):
            heard = time.monotonic()
        if written.size_bytes > limit_bytes:
            raise errors.ProviderFault(
                f"{what}: wrote more than {limit_bytes} bytes", reason="ArtifactDamaged"
            )
        if time.monotonic() - heard > IDLE_SECONDS:
            raise errors.Transient(f"{what}: nothing came for {IDLE_SECONDS:g} s", reason=NETWORK)
    written.take(stream)
    return written


def _refused(refusal: websocket.WebSocketBadStatusException, what: str) -> errors.OasisError:
    """Give the error of a request that was answered by a status and not by a connection."""
    if refusal.status_code == 404:
        return errors.NotReady(f"{what}: not found", reason="NotFound")
    if refusal.status_code < 400:
        return errors.Transient(f"{what}: unexpected answer {refusal.status_code}", reason=NETWORK)
    return kube_errors.fault_of(refusal.status_code, refusal.resp_body or b"", what)


def _require_success(written: Written, what: str) -> None:
    """Raise what a command that failed, or whose end nobody saw, means.

    Raises:
        NotReady: It failed.
        Transient: The connection ended before the command did, so that its output may be a part.
    """
    try:
        outcome = json.loads(written.of(OUTCOME))
        succeeded = outcome.get("status") == "Success"
    except (ValueError, AttributeError) as failure:
        raise errors.Transient(f"{what}: the connection broke", reason=NETWORK) from failure
    if not succeeded:
        complaint = written.of(STDERR).decode("utf-8", "replace") or str(outcome.get("message"))
        raise errors.NotReady(f"{what}: {complaint[:COMPLAINT_CHARACTERS].strip()}", reason="CommandFailed")
