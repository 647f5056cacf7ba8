"""Where the adapter finds its files and how long it waits, read from the environment once at start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from oasis_operator.wire.gateway import MODEL_PORT

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Options:
    """What an adapter process is started with.

    Attributes:
        host: Address to listen on.
        port: Port to listen on, 0 for any free one.
        tls_dir: Folder of ``adapter.crt``, ``adapter.key`` and ``adapter-token``.
        access_dir: Folder that the agent sees as its service account's.
        connect_seconds: Longest time one attempt on a target takes.
        confirm_seconds: The same for the last check of the denied targets, right before release.
        settle_seconds: How long a target may still show the wrong thing; policies take time to be set up.
        listen_seconds: How long an agent may take to listen.
        identity_seconds: How long asking for an identity may take in all.
        linger_seconds: How long a transcript is kept for the operator once the process was told to end.
        local_peers: Whether the control port serves connections from within the pod, where the agent is.
        task_dir: Folder shared with the first process of a commanded agent's container.
        entry_dir: Folder in which that process's program is put; None where the agent has none.
        entry_program: The program in the adapter's own image.
        model_port: Port of the loopback address on which an agent finds its model.
    """

    host: str = "0.0.0.0"  # noqa: S104 -- the operator reaches the pod from outside
    port: int = 8443
    tls_dir: Path = Path("/etc/sidecar")
    access_dir: Path = Path("/run/access")
    connect_seconds: float = 1.5
    confirm_seconds: float = 0.5
    settle_seconds: float = 20.0
    listen_seconds: float = 60.0
    identity_seconds: float = 30.0
    linger_seconds: float = 20.0
    local_peers: bool = False
    task_dir: Path = Path("/run/task")
    entry_dir: Path | None = None
    entry_program: Path = Path("/opt/bin/entry")
    model_port: int = MODEL_PORT

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Options:
        """Read ``SIDECAR_<NAME>`` for each attribute; what is absent keeps its default.

        ``SIDECAR_LOCAL_PEERS`` is ``allow`` or anything else for no.

        Raises:
            ValueError: A number does not read as one.
        """
        kept = cls()

        def text(name: str, default: object) -> str:
            return environment.get(f"SIDECAR_{name}", str(default))

        return cls(
            host=text("HOST", kept.host),
            port=int(text("PORT", kept.port)),
            tls_dir=Path(text("TLS_DIR", kept.tls_dir)),
            access_dir=Path(text("ACCESS_DIR", kept.access_dir)),
            connect_seconds=float(text("CONNECT_SECONDS", kept.connect_seconds)),
            confirm_seconds=float(text("CONFIRM_SECONDS", kept.confirm_seconds)),
            settle_seconds=float(text("SETTLE_SECONDS", kept.settle_seconds)),
            listen_seconds=float(text("LISTEN_SECONDS", kept.listen_seconds)),
            identity_seconds=float(text("IDENTITY_SECONDS", kept.identity_seconds)),
            linger_seconds=float(text("LINGER_SECONDS", kept.linger_seconds)),
            task_dir=Path(text("TASK_DIR", kept.task_dir)),
            entry_dir=Path(environment["SIDECAR_ENTRY_DIR"])
            if environment.get("SIDECAR_ENTRY_DIR")
            else None,
            entry_program=Path(text("ENTRY_PROGRAM", kept.entry_program)),
            model_port=int(text("MODEL_PORT", kept.model_port)),
            local_peers=environment.get("SIDECAR_LOCAL_PEERS") == "allow",
        )
