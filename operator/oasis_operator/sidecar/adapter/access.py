"""The access files of an agent: a service account's folder, and a kubeconfig that says the same."""

from __future__ import annotations

import base64
import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from oasis_operator.wire.release import Credential

# JSON strings are YAML scalars too, which spares the sidecar a YAML writer.
_KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters:
- name: kubernetes
  cluster:
    server: {server}
    certificate-authority-data: {ca}
contexts:
- name: default
  context:
    cluster: kubernetes
    namespace: {namespace}
    user: default
current-context: default
users:
- name: default
  user:
    token: {token}
"""


def is_written(folder: Path) -> bool:
    """Tell whether access was given before, by this process or by one that it replaces."""
    return (folder / "token").exists()


def write_access(folder: Path, credential: Credential) -> None:
    """Write ``config``, ``ca.crt``, ``namespace`` and ``token``, each whole or not at all, for all to read.

    The token comes last: where it stands, the others do.

    Raises:
        OSError: The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "config", _kubeconfig(credential))
    _write(folder / "ca.crt", credential.ca)
    _write(folder / "namespace", credential.namespace)
    _write(folder / "token", credential.token)


def _kubeconfig(credential: Credential) -> str:
    return _KUBECONFIG.format(
        server=json.dumps(credential.server),
        ca=base64.b64encode(credential.ca.encode()).decode(),
        namespace=json.dumps(credential.namespace),
        token=json.dumps(credential.token),
    )


def _write(path: Path, content: str) -> None:
    partial = path.with_name(f".{path.name}")
    partial.unlink(missing_ok=True)
    # The agent runs as another user, which no mask of this process may keep out.
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, 0o444)
        file.write(content)
    partial.replace(path)
