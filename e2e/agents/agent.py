"""An operations agent over HTTP: it takes a task or an alert, works on its cluster and tells what it did.

``AGENT_STYLE`` chooses how it works: ``careful`` and ``reckless`` work on the cluster, ``linger`` goes on working
after its answer, ``idle`` does nothing, and ``crash``, ``hang``, ``error500``, ``flood``, ``malformed`` and ``slow`` go wrong in the way their name says.
Other settings: ``AGENT_PORT``, ``AGENT_NAME``, ``AGENT_VERSION``, ``AGENT_CONFIGURATION`` (JSON).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import linger
import operate
import reader
from cluster import Cluster

_FLOOD_BYTES = 200 * 1024 * 1024
_MOST_TASK_BYTES = 16 * 1024 * 1024


class Handler(BaseHTTPRequestHandler):
    """Serves the identity, the health and the tasks."""

    protocol_version = "HTTP/1.1"
    server_version = "agent"
    sys_version = ""

    def do_GET(self) -> None:
        """Tell who this is, or that it is well."""
        if self.path == "/healthz":
            self._answer(200, {"status": "ok"})
        elif self.path == "/identity-and-configuration":
            self._answer(200, identity())
        else:
            self._answer(404, {"error": "not found"})

    def do_POST(self) -> None:
        """Take a task and answer when it is done."""
        size = int(self.headers.get("Content-Length", "0"))
        if size > _MOST_TASK_BYTES:
            self._answer(413, {"error": "the task is too large"})
            return
        try:
            task = task_of(json.loads(self.rfile.read(size)))
            task["prompt"].lower()
        except (ValueError, KeyError, TypeError, AttributeError):
            self._answer(400, {"error": "want a JSON object with a prompt"})
            return
        # Whoever asked may have hung up meanwhile.
        with contextlib.suppress(ConnectionError):
            STYLES[os.environ.get("AGENT_STYLE", "careful")](self, task)

    def log_message(self, *_: object) -> None:
        """Keep quiet: a task is nobody else's business."""

    def _answer(self, status: int, body: dict) -> None:
        self._send(status, json.dumps(body).encode())

    def _send(self, status: int, data: bytes, size: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) if size is None else size))
        self.end_headers()
        self.wfile.write(data)

    def work_with(self, way: object, task: dict) -> None:
        """Work on the cluster in one of the two ways."""
        cluster = Cluster()
        told = way.work(cluster, task, _namespaces(cluster, task))
        if way is operate:
            operate.obey(cluster, task["prompt"])
        self._answer(200, {"actions": cluster.actions, "model": "rules", **told})

    def idle(self, _: dict) -> None:
        """Answer without having done a thing."""
        self._answer(200, {"actions": [], "reasoning": "", "final_answer": "", "model": "rules"})

    def crash(self, _: dict) -> None:
        """Go away in the middle of the task."""
        sys.stdout.flush()
        os._exit(1)

    def hang(self, _: dict) -> None:
        """Never answer."""
        threading.Event().wait()

    def error500(self, _: dict) -> None:
        """Answer with an error of one's own."""
        self._answer(500, {"error": "internal error"})

    def malformed(self, _: dict) -> None:
        """Answer with something that is not JSON."""
        self._send(200, b'{"actions": [{"id": "1", "tool": \xff\xfe')

    def flood(self, _: dict) -> None:
        """Answer with more than anyone wants to read."""
        block = b"x" * (1024 * 1024)
        self._send(200, b'{"final_answer": "', size=_FLOOD_BYTES)
        for _ in range(_FLOOD_BYTES // len(block)):
            self.wfile.write(block)

    def slow(self, _: dict) -> None:
        """Answer a byte at a time, one each second."""
        data = json.dumps({"actions": [], "final_answer": "Here I am at last."}).encode()
        self._send(200, b"", size=len(data))
        for byte in data:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(1)


STYLES = {
    "careful": lambda handler, task: handler.work_with(reader, task),
    "reckless": lambda handler, task: handler.work_with(operate, task),
    "linger": lambda handler, task: handler.work_with(linger, task),
    "idle": Handler.idle,
    "crash": Handler.crash,
    "hang": Handler.hang,
    "error500": Handler.error500,
    "flood": Handler.flood,
    "malformed": Handler.malformed,
    "slow": Handler.slow,
}


def task_of(body: dict) -> dict:
    """Give the task that a body holds; that of an alert is its description, in the alert's namespace."""
    if "alerts" not in body:
        return body
    alert = body["alerts"][0]
    place = alert["labels"].get("namespace")
    return {
        "prompt": alert["annotations"]["description"],
        "scope": {"namespaces": [place] if place else []},
    }


def identity() -> dict:
    """Tell name, version and configuration."""
    return {
        "identity": {
            "name": os.environ.get("AGENT_NAME", "reference-agent"),
            "version": os.environ.get("AGENT_VERSION", "1.0.0"),
            "description": "A rule-based operations agent.",
        },
        "configuration": json.loads(os.environ.get("AGENT_CONFIGURATION", "{}")),
    }


def _namespaces(cluster: Cluster, task: dict) -> list[str]:
    """Give the namespaces of the task's scope; without any, those that can be listed, or the pod's own."""
    scope = task.get("scope") or {}
    if scope.get("namespaces"):
        return list(scope["namespaces"])
    listed = cluster.call("GET", "/api/v1/namespaces").get("items", [])
    return [entry["metadata"]["name"] for entry in listed] or [cluster.namespace]


def main() -> int:
    """Serve until told to stop."""
    style = os.environ.get("AGENT_STYLE", "careful")
    if style not in STYLES:
        print(f"AGENT_STYLE: {style!r}: want one of {', '.join(STYLES)}", file=sys.stderr)
        return 2
    server = ThreadingHTTPServer(("", int(os.environ.get("AGENT_PORT", "8080"))), Handler)
    server.daemon_threads = True
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
