"""How a sidecar of a pod is reached: the pod's address and its Secret's CA and token."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.resources.pod_state import PodState


@dataclass(frozen=True, slots=True)
class Reach:
    """Address and credentials of one sidecar.

    Attributes:
        host: Pod address.
        ca: The run's CA in PEM; the serving certificate's name is `sidecar`.
        token: Bearer token of this sidecar.
        port: HTTPS port.
    """

    host: str
    ca: bytes
    token: str
    port: int = 8443

    def __repr__(self) -> str:
        """Name the address only: the token must not reach a log."""
        return f"Reach({self.host}:{self.port})"


def of(secret: Mapping[str, Any] | None, pod: PodState | None, token: str) -> Reach | None:
    """Return how a sidecar is reached; None without its Secret or its address."""
    if secret is None or pod is None or not pod.ip or pod.is_over:
        return None
    data = secret["data"]
    return Reach(
        host=pod.ip, ca=base64.b64decode(data["ca.crt"]), token=base64.b64decode(data[token]).decode()
    )
