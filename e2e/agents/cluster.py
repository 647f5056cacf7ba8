"""A small Kubernetes client on the standard library, which keeps a record of every call it makes."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

_SECONDS = 15
_SHOWN = 2000
_MERGE_PATCH = "application/merge-patch+json"


class Cluster:
    """The API server that this pod's service account belongs to.

    Attributes:
        namespace: The pod's own namespace, ``default`` where none is given.
        actions: Every call so far, in order.
    """

    def __init__(self) -> None:
        """Read the address from the environment and the credential from the service account's folder."""
        folder = Path(os.environ.get("SERVICE_ACCOUNT_DIR", "/var/run/secrets/kubernetes.io/serviceaccount"))
        host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
        port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        self._address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._token = (folder / "token").read_text(encoding="utf-8").strip()
        self._trust = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        own = folder / "namespace"
        self.namespace = own.read_text(encoding="utf-8").strip() if own.exists() else "default"
        self.actions: list[dict] = []

    def call(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> dict:
        """Make one call and give the parsed answer; an error answer is a dictionary with ``code`` and ``message``."""
        started = time.monotonic()
        status, text = self._send(method, path, body, content_type)
        arguments = {"method": method, "path": path}
        if body is not None:
            arguments["body"] = body
        self.actions.append(
            {
                "id": f"call-{len(self.actions) + 1}",
                "tool": "kubernetes",
                "arguments": arguments,
                "result": text[:_SHOWN],
                "error": "" if 200 <= status < 300 else f"status {status}",
                "duration_ms": round((time.monotonic() - started) * 1000),
            }
        )
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = {"message": text[:_SHOWN]}
        return parsed if 200 <= status < 300 else {"code": status, "message": parsed.get("message", "")}

    def patch(self, path: str, body: object) -> dict:
        """Change an object by a merge patch."""
        return self.call("PATCH", path, body, _MERGE_PATCH)

    def list(self, kind: str, namespace: str) -> list[dict]:
        """List the objects of a kind in a namespace; empty where that is refused."""
        return self.call("GET", f"{collection(kind, namespace)}?limit=500").get("items", [])

    def connect(self) -> http.client.HTTPSConnection:
        """Open a connection of its own, without a limit of time; what is sent over it stands in no record."""
        return http.client.HTTPSConnection(self._address, context=self._trust)

    def credentials(self) -> dict[str, str]:
        """Give the headers that every call has."""
        return {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}

    def _send(self, method: str, path: str, body: object, content_type: str) -> tuple[int, str]:
        headers = self.credentials()
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), content_type
        request = urllib.request.Request(
            f"https://{self._address}{path}", data=data, headers=headers, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS, context=self._trust) as answer:  # noqa: S310
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except OSError as error:
            return 0, str(error)


_GROUPS = {
    "deployments": "apis/apps/v1",
    "statefulsets": "apis/apps/v1",
    "daemonsets": "apis/apps/v1",
    "networkpolicies": "apis/networking.k8s.io/v1",
}


def collection(kind: str, namespace: str) -> str:
    """Give the path of a kind's collection, such as ``pods`` of a namespace."""
    return f"/{_GROUPS.get(kind, 'api/v1')}/namespaces/{urllib.parse.quote(namespace)}/{kind}"


def location(kind: str, entry: dict) -> str:
    """Give the path of an object that was listed."""
    metadata = entry["metadata"]
    return f"{collection(kind, metadata['namespace'])}/{metadata['name']}"
