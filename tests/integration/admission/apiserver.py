"""An API server with its store and nothing else, for tests of admission."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

CACHE = Path(os.environ.get("OASIS_BIN_CACHE", Path.home() / ".cache" / "oasis-operator" / "bin"))
READY_SECONDS = 90


def find(name: str) -> Path | None:
    """Return the newest cached binary of a name."""
    found = sorted(CACHE.glob(f"kubernetes-*/{name}"), key=lambda path: path.stat().st_mtime)
    return found[-1] if found else None


def free_port() -> int:
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class ApiServer:
    """Starts etcd and kube-apiserver, and speaks to it as its administrator or in somebody's name."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._token = folder, secrets.token_hex(16)
        self._ports = (free_port(), free_port(), free_port())
        self._running: list[subprocess.Popen[bytes]] = []
        self._context = ssl._create_unverified_context()  # noqa: S323 - its certificate is made by itself

    def start(self) -> None:
        etcd, kube_apiserver = find("etcd"), find("kube-apiserver")
        assert etcd is not None
        assert kube_apiserver is not None
        key = rsa.generate_private_key(65537, 2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (self._folder / "sa.key").write_bytes(key)
        (self._folder / "tokens").write_text(f"{self._token},admin,admin,system:masters\n")
        client, peer, port = self._ports
        store = f"http://127.0.0.1:{client}"
        self._run(
            etcd, f"--data-dir={self._folder}/etcd", "--unsafe-no-fsync", f"--listen-client-urls={store}",
            f"--advertise-client-urls={store}", f"--listen-peer-urls=http://127.0.0.1:{peer}",
        )  # fmt: skip
        self._run(
            kube_apiserver, f"--etcd-servers={store}", f"--secure-port={port}", "--bind-address=127.0.0.1",
            f"--cert-dir={self._folder}/certs", f"--token-auth-file={self._folder}/tokens",
            "--authorization-mode=RBAC", "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._folder}/sa.key", "--service-cluster-ip-range=10.0.0.0/24",
            f"--service-account-signing-key-file={self._folder}/sa.key",
            # Nobody makes accounts for namespaces here, and none is needed.
            "--disable-admission-plugins=ServiceAccount",
        )  # fmt: skip
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if self.send("GET", "/readyz")[0] == 200:
                    return
            time.sleep(0.2)
        raise AssertionError((self._folder / "kube-apiserver.log").read_text()[-3000:])

    def stop(self) -> None:
        for process in reversed(self._running):
            process.terminate()
        for process in reversed(self._running):
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(15)

    def send(
        self, method: str, path: str, body: Any = None, *, user: str = "", kind: str = "application/json"
    ) -> tuple[int, Any]:
        """Send a request, as the administrator or in the name of `user`."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        if user:
            headers["Impersonate-User"] = user
        data = json.dumps(body, ensure_ascii=False).encode() if body is not None else None
        request = urllib.request.Request(
            f"https://127.0.0.1:{self._ports[2]}{path}", data=data, headers=headers, method=method
        )
        try:
            with urllib.request.urlopen(request, context=self._context, timeout=30) as answer:  # noqa: S310
                content, code = answer.read(), answer.status
                warnings = answer.headers.get_all("Warning") or []
        except urllib.error.HTTPError as refusal:
            content, code, warnings = refusal.read(), refusal.code, []
        try:
            told = json.loads(content)
        except ValueError:
            told = content.decode()
        if warnings and isinstance(told, dict):
            told["warnings"] = warnings
        return code, told

    def apply(self, path: str, body: Any) -> Any:
        """Apply an object; a refusal fails the test."""
        code, answer = self.send(
            "PATCH", f"{path}?fieldManager=test&force=true", body, kind="application/apply-patch+yaml"
        )
        assert code in (200, 201), answer
        return answer

    def _run(self, program: Path, *arguments: str) -> None:
        with (self._folder / f"{program.name}.log").open("wb") as log:
            self._running.append(subprocess.Popen([program, *arguments], stdout=log, stderr=log))
