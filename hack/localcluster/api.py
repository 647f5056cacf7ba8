"""A small client of the local cluster's API, enough to wait for things and to try them."""

import http.client
import json
import ssl
from typing import Any

from localcluster.errors import ClusterError
from localcluster.network import Network
from localcluster.settings import API_PORT, Paths

Body = dict[str, Any]


class Api:
    """Talks as the administrator, one connection per call, so it can be used before the server is up."""

    def __init__(self, paths: Paths, network: Network) -> None:
        """Use the administrator's certificate of this cluster."""
        self._host = network.node_address
        self._context = ssl.create_default_context(cafile=str(paths.pki / "ca.crt"))
        self._context.load_cert_chain(paths.pki / "admin.crt", paths.pki / "admin.key")

    def call(self, method: str, path: str, body: Body | None = None) -> tuple[int, Body]:
        """Send one request and return status and JSON answer; status 0 when the server is out of reach."""
        connection = http.client.HTTPSConnection(self._host, API_PORT, context=self._context, timeout=10)
        try:
            payload = json.dumps(body) if body is not None else None
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            response = connection.getresponse()
            text = response.read().decode()
        except OSError:
            return 0, {}
        finally:
            connection.close()
        return response.status, json.loads(text) if text.startswith("{") else {}

    def is_ready(self) -> bool:
        """Whether the server says that it is ready."""
        return self.call("GET", "/readyz")[0] == 200

    def read(self, path: str) -> Body | None:
        """An object; None when it is absent or the server does not answer."""
        status, body = self.call("GET", path)
        return body if status == 200 else None

    def create(self, path: str, body: Body) -> None:
        """Create an object; one that exists already is left as it is.

        Raises:
            ClusterError: The server refused it.
        """
        status, answer = self.call("POST", path, body)
        if status not in {200, 201, 202, 409}:
            raise ClusterError(
                f"creating {body['kind']} {body['metadata']['name']} failed: {answer.get('message', status)}"
            )

    def delete(self, path: str) -> None:
        """Delete an object, at once where it is a pod; absence is fine."""
        self.call("DELETE", f"{path}?gracePeriodSeconds=0")


def has_condition(item: Body | None, kind: str) -> bool:
    """Whether the object's status has the condition with status True."""
    conditions = (item or {}).get("status", {}).get("conditions", [])
    return any(c["type"] == kind and c["status"] == "True" for c in conditions)
