"""What a gateway process is started with, read from the environment and from files once."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from oasis_operator.errors import InvalidInput
from oasis_operator.wire.gateway import SECRET_KEY, Configuration, is_approved

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """Settings of one gateway.

    Attributes:
        configuration: What may be asked of which model.
        secret: From which the tokens of runs follow.
        key: The model's API key; empty for a server that wants none.
        host: Address to listen on.
        port: Port to listen on.
        tls_dir: Folder of certificate and key.
        journal: File of the books.
        call_seconds: Longest time of one call.
    """

    configuration: Configuration
    secret: str = field(repr=False)
    key: str = field(repr=False)
    host: str
    port: int
    tls_dir: Path
    journal: Path
    call_seconds: float

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> GatewaySettings:
        """Read `GATEWAY_<NAME>`; the key comes from a file, so that no environment holds it.

        Raises:
            ValueError: A variable does not read as what it is, or the API's origin is not approved.
            OSError: A file cannot be read.
        """

        def text(name: str, default: str) -> str:
            return environment.get(f"GATEWAY_{name}", default)

        tls_dir = Path(text("TLS_DIR", "/etc/sidecar"))
        key_file = Path(text("KEY_DIR", "/etc/model")) / SECRET_KEY
        try:
            configuration = Configuration.from_json(json.loads(text("CONFIGURATION", "null")))
        except InvalidInput as error:
            raise ValueError(f"GATEWAY_CONFIGURATION: {error.message}") from error
        if not is_approved(configuration.base_url, configuration.origins):
            raise ValueError(f"{configuration.base_url} is at no origin that the operator approves")
        secret = (tls_dir / "adapter-token").read_text(encoding="utf-8").strip()
        if not secret:
            raise ValueError("adapter-token: empty")
        return cls(
            configuration=configuration,
            secret=secret,
            key=key_file.read_text(encoding="utf-8").strip() if key_file.exists() else "",
            host=text("HOST", "0.0.0.0"),  # noqa: S104 - runs reach the pod from outside
            port=int(text("PORT", "8443")),
            tls_dir=tls_dir,
            journal=Path(text("JOURNAL", "/var/lib/gateway/journal")),
            call_seconds=float(text("CALL_SECONDS", "600")),
        )
