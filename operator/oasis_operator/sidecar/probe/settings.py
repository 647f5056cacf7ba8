"""Where the probe finds its cluster and its own credentials; all of it from the environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from oasis_operator.errors import InvalidSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_NODES = 50


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """Settings of one probe.

    Attributes:
        cluster: Folder that the control plane shares with the probe.
        credentials: Folder with ``probe.crt``, ``probe.key`` and ``probe-token``.
        server: URL of the nested API server.
        host: Address that the probe listens on.
        port: Port that the probe listens on.
        nodes: Number of nodes, None to take the control plane's word.
    """

    cluster: Path
    credentials: Path
    server: str
    host: str
    port: int
    nodes: int | None


def read_settings(environment: Mapping[str, str]) -> ProbeSettings:
    """Read the settings.

    Raises:
        InvalidSpec: A number is none, or out of range.
    """
    nodes = environment.get("CLUSTER_NODES")
    return ProbeSettings(
        cluster=Path(environment.get("CLUSTER_RUN_DIR", "/run/cluster")),
        credentials=Path(environment.get("SIDECAR_DIR", "/etc/sidecar")),
        server=environment.get("CLUSTER_SERVER", "https://127.0.0.1:6443"),
        host=environment.get("SIDECAR_HOST", "0.0.0.0"),  # noqa: S104  # the operator comes from another pod
        port=_number(environment.get("SIDECAR_PORT", "8443"), "SIDECAR_PORT", 65535),
        nodes=_number(nodes, "CLUSTER_NODES", _MAX_NODES) if nodes else None,
    )


def _number(text: str, name: str, most: int) -> int:
    if not text.isdecimal() or not 0 < int(text) <= most:
        raise InvalidSpec(f"{name}: {text!r}: want a whole number from 1 to {most}")
    return int(text)
