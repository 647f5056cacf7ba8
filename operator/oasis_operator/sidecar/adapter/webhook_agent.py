"""The adapter kind ``webhook``: an agent that is told of its task by an alert, as an Alertmanager would.

Such agents speak no contract of ours. Some answer when they are done; others acknowledge and go on working,
for as long as the Agent says.

Spec: 04-execution §1.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.errors import AgentFault
from oasis_operator.sidecar.adapter.clock import timestamp
from oasis_operator.sidecar.adapter.exchange import exchange, on_connected, read_url
from oasis_operator.sidecar.adapter.faults import NOT_DELIVERED, crashed, malformed
from oasis_operator.sidecar.adapter.http_client import open_session
from oasis_operator.sidecar.adapter.picking import LONGEST, parse_path, pick
from oasis_operator.sidecar.reach import attempt
from oasis_operator.wire.agent import MAX_ANSWER_BYTES, Identity, decode
from oasis_operator.wire.fields import Fields, fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.sidecar.adapter.options import Options
    from oasis_operator.sidecar.adapter.record import Record
    from oasis_operator.sidecar.adapter.task import Task
    from oasis_operator.wire.adapter import RunRequest

_DEFAULT_LABELS: Final = {"alertname": "Task", "severity": "warning"}
_NEVER: Final = "0001-01-01T00:00:00Z"
_LONGEST_WORK_SECONDS: Final = 3600
_PAUSE_SECONDS: Final = 0.1
_HEADERS: Final = {"Content-Type": "application/json", "User-Agent": "Alertmanager/0.28.1"}


class WebhookAgent:
    """Fires an alert and reads what comes back."""

    def check(self, adapter: Mapping[str, Any]) -> None:
        """Check where the alert goes and how the answer is read.

        Raises:
            InvalidInput: A member is of another form than the contract's.
        """
        read_url(adapter, "path", "")
        _labels(adapter)
        _steps(adapter)
        _work_seconds(adapter)

    async def identify(self, adapter: Mapping[str, Any], options: Options) -> Identity:
        """Return the declared identity once the agent listens.

        Raises:
            AgentFault: It does not listen in time.
        """
        fields = Fields(adapter, "adapter")
        host, port = _place(read_url(adapter, "path", ""))
        limit = options.listen_seconds
        deadline = time.monotonic() + limit
        while not (await attempt(host, port, options.connect_seconds)).reached:
            if time.monotonic() >= deadline:
                raise AgentFault(f"it does not listen on port {port} after {limit:g} s", reason=NOT_DELIVERED)
            await asyncio.sleep(_PAUSE_SECONDS)
        return Identity(
            name=fields.text("name", longest=256),
            version=fields.text("version", longest=256),
            description=fields.text("description", "", longest=4096),
        )

    async def run(self, task: Task, record: Record) -> None:
        """Send the alert once, read the answer, and wait where the agent goes on working.

        Raises:
            AgentFault: Never delivered, crashed, or malformed.
        """
        adapter = task.request.adapter
        body = json.dumps(build_alert(task.request, _labels(adapter), timestamp())).encode()
        url = read_url(adapter, "path", "")
        async with open_session(trace=on_connected(record.deliver)) as session:
            await exchange(
                lambda: session.post(url, data=body, headers=_HEADERS, allow_redirects=False),
                record.received,
                task.options.listen_seconds,
                MAX_ANSWER_BYTES,
            )
        _read(adapter, record)
        seconds = _work_seconds(adapter)
        if seconds is not None:
            await _let_work(task.ending, seconds)


def build_alert(request: RunRequest, labels: Mapping[str, str], now: str) -> dict[str, Any]:
    """Return the body of a webhook with one firing alert, in version 4 of an Alertmanager's format.

    Args:
        request: The task.
        labels: Labels of the Agent; they win over the defaults.
        now: Since when the alert fires.
    """
    namespaces = request.scope.get("namespaces") or ()
    own = {"namespace": str(namespaces[0])} if namespaces else {}
    marks = {**_DEFAULT_LABELS, **own, **labels}
    annotations = {"summary": request.prompt.strip().partition("\n")[0], "description": request.prompt}
    alert = {
        "status": "firing",
        "labels": marks,
        "annotations": annotations,
        "startsAt": now,
        "endsAt": _NEVER,
        "generatorURL": "",
        "fingerprint": hashlib.sha256(json.dumps(marks, sort_keys=True).encode()).hexdigest()[:16],
    }
    return {
        "version": "4",
        "groupKey": f'{{}}:{{alertname="{marks["alertname"]}"}}',
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "agent",
        "groupLabels": {"alertname": marks["alertname"]},
        "commonLabels": marks,
        "commonAnnotations": annotations,
        "externalURL": "",
        "alerts": [alert],
    }


def _read(adapter: Mapping[str, Any], record: Record) -> None:
    """Take the agent's words out of its answer.

    Raises:
        AgentFault: They are not where they must be.
    """
    text, path = decode(bytes(record.received.data)), _steps(adapter)
    if path is not None:
        found = pick(text, path)
        if found is None:
            raise malformed("the answer's JSON has no value at spec.http.webhook.jsonPath")
        # What else came is no answer, but it was said.
        record.reasoning, text = text, found
    record.final_answer = text
    record.read = True


async def _let_work(ending: asyncio.Event, seconds: float) -> None:
    """Wait for as long as the agent goes on working.

    Raises:
        AgentFault: Its container ended before.
    """
    try:
        async with asyncio.timeout(seconds):
            await ending.wait()
    except TimeoutError:
        return
    raise crashed("the agent's container ended while it should have worked on")


def _place(url: str) -> tuple[str, int]:
    """Return host and port of an address; a host that is an IPv6 address stands without brackets."""
    authority = url.partition("://")[2].partition("/")[0]
    host, _, port = authority.rpartition(":")
    return (host or authority).strip("[]"), int(port) if host and port.isdigit() else 80


def _labels(adapter: Mapping[str, Any]) -> dict[str, str]:
    fields = Fields(adapter, "adapter")
    labels = fields.mapping("labels")
    if not all(isinstance(value, str) for value in labels.values()):
        raise fault(fields.at("labels"), labels, "want an object of texts")
    return dict(labels)


def _steps(adapter: Mapping[str, Any]) -> tuple[str | int, ...] | None:
    fields = Fields(adapter, "adapter")
    if not fields.has("json_path"):
        return None
    return parse_path(fields.text("json_path", longest=LONGEST), fields.at("json_path"))


def _work_seconds(adapter: Mapping[str, Any]) -> float | None:
    fields = Fields(adapter, "adapter")
    if not fields.has("works_for_seconds"):
        return None
    return fields.number("works_for_seconds", low=0.01, high=_LONGEST_WORK_SECONDS)
