"""One nested cluster with its probe, as plain processes, for the tests of this folder."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
CACHE = Path(os.environ.get("OASIS_BIN_CACHE", Path.home() / ".cache" / "oasis-operator" / "bin"))
TOKEN = "probe-token-of-the-tests"


def find_programs(target: Path) -> list[str]:
    """Link the cached binaries into one folder; give the names of those that are missing."""
    missing = []
    for name in PROGRAMS:
        found = sorted(CACHE.glob(f"*/{name}"), key=lambda path: path.stat().st_mtime)
        if found:
            (target / name).symlink_to(found[-1])
        else:
            missing.append(name)
    return missing


def build_launcher(target: Path) -> bool:
    """Build the launcher, and what evaluates PromQL, into the folder; false where there is no Go."""
    go = shutil.which("go")
    if go is None:
        return False
    environment = {**os.environ, "CGO_ENABLED": "0"}
    for name in ("launcher", "prometheus"):
        command = [go, "build", "-trimpath", "-o", str(target / name), "."]
        subprocess.run(command, cwd=ROOT / "sandbox" / name, env=environment, check=True, capture_output=True)
    return True


def make_seed(programs: Path) -> None:
    """Make what clusters begin with, as the image's build does."""
    environment = {"CLUSTER_BIN_DIR": str(programs), "CLUSTER_TERMINATION_LOG": str(programs / "termination")}
    command = [str(programs / "launcher"), "seed", str(programs / "seed")]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)


def write_certificate(certificate: Path, key_path: Path, name: str, *, authority: bool) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    present = datetime.fromtimestamp(time.time(), UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(present - timedelta(minutes=5))
        .not_valid_after(present + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key_path.write_bytes(private)


def free_port() -> int:
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Nested:
    """Starts a launcher and a probe, and speaks to both."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs = folder, programs
        self.port, self.probe_port = free_port(), free_port()
        # The tools beside a cluster have ports of their own, so each world has an address for them.
        self.tools_address = "127." + ".".join(str(random.randint(1, 254)) for _ in range(3))  # noqa: S311
        self.launcher: subprocess.Popen[bytes] | None = None
        self.probe: subprocess.Popen[bytes] | None = None
        for name in ("pki", "run", "data", "side"):
            (folder / name).mkdir()
        write_certificate(folder / "pki/ca.crt", folder / "pki/ca.key", "kubernetes", authority=True)
        write_certificate(folder / "side/probe.crt", folder / "side/probe.key", "sidecar", authority=False)
        (folder / "side/probe-token").write_text(TOKEN)

    def start(self) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "CLUSTER_BIN_DIR": str(self.programs),
            "CLUSTER_RUN_DIR": str(self.folder / "run"),
            "CLUSTER_DATA_DIR": str(self.folder / "data"),
            "CLUSTER_PKI_DIR": str(self.folder / "pki"),
            "CLUSTER_SEED_DIR": str(self.programs / "seed"),
            "CLUSTER_PORT": str(self.port),
            "CLUSTER_LISTEN": "127.0.0.1",
            "CLUSTER_TOOLS_LISTEN": self.tools_address,
            "CLUSTER_TERMINATION_LOG": str(self.folder / "termination"),
            "CLUSTER_SERVER": f"https://127.0.0.1:{self.port}",
            "SIDECAR_DIR": str(self.folder / "side"),
            "SIDECAR_HOST": "127.0.0.1",
            "SIDECAR_PORT": str(self.probe_port),
        }
        with (self.folder / "launcher.log").open("wb") as log:
            self.launcher = subprocess.Popen(
                [self.programs / "launcher"], env=environment, stdout=log, stderr=log
            )
        command = (
            "import sys; from oasis_operator.sidecar.probe.main import run_probe; sys.exit(run_probe([]))"
        )
        with (self.folder / "probe.log").open("wb") as log:
            self.probe = subprocess.Popen(
                [sys.executable, "-c", command], env=environment, stdout=log, stderr=log
            )
        self.wait(lambda: self.call("GET", "/healthz")[0] == 200, "health", 170)

    def stop_processes(self) -> None:
        for process in (self.probe, self.launcher):
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(20)

    def wait(self, ask: Any, what: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(OSError):
                if ask():
                    return
            if time.monotonic() > deadline:
                logs = "\n".join(
                    (self.folder / f"{name}.log").read_text()[-3000:] for name in ("launcher", "probe")
                )
                raise AssertionError(f"{what}: not within {seconds} s\n{logs}")
            time.sleep(0.05)

    def call(self, method: str, path: str, body: Any = None, *, token: str = TOKEN) -> tuple[int, Any]:
        """Speak to the probe."""
        context = ssl.create_default_context(cafile=self.folder / "side/probe.crt")
        context.check_hostname = False
        return _send(
            f"https://127.0.0.1:{self.probe_port}{path}",
            method,
            body,
            {"Authorization": f"Bearer {token}"},
            context,
        )

    def kube(
        self,
        token: str,
        method: str,
        path: str,
        body: Any = None,
        kind: str = "application/json",
        more: dict[str, str] | None = None,
    ) -> tuple[int, Any]:
        """Speak to the nested API server with a bearer token, or without credentials where it is empty."""
        context = ssl.create_default_context(cafile=self.folder / "run/admin/ca.crt")
        headers = {"Content-Type": kind, **(more or {})}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return _send(f"https://127.0.0.1:{self.port}{path}", method, body, headers, context)

    def ask(self, port: int, path: str, **query: Any) -> tuple[int, Any]:
        """Ask one of the tools beside the cluster."""
        text = "?" + urllib.parse.urlencode(query, doseq=True) if query else ""
        context = ssl.create_default_context()
        return _send(f"http://{self.tools_address}:{port}{path}{text}", "GET", None, {}, context)

    @contextlib.contextmanager
    def half_a_request(self, token: str, method: str, path: str, kind: str) -> Iterator[None]:
        """Send the beginning of a request and let it stand until the block ends."""
        context = ssl.create_default_context(cafile=self.folder / "run/admin/ca.crt")
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            f'Content-Type: {kind}\r\nContent-Length: 1000\r\n\r\n{{"data":'
        )
        with (
            socket.create_connection(("127.0.0.1", self.port)) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as secured,
        ):
            secured.sendall(head.encode())
            yield

    def admin(
        self, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> tuple[int, Any]:
        """Speak to the nested API server as its administrator."""
        context = ssl.create_default_context(cafile=self.folder / "run/admin/ca.crt")
        context.load_cert_chain(self.folder / "run/admin/client.crt", self.folder / "run/admin/client.key")
        return _send(f"https://127.0.0.1:{self.port}{path}", method, body, {"Content-Type": kind}, context)

    def prepare(self, state: list[Any], agent: dict[str, Any], **more: Any) -> dict[str, Any]:
        """Prepare and wait until it is over."""
        body = {"run_id": "run-1", "scenario_id": "a-scenario", "state": state, "agent": agent, **more}
        code, answer = self.call("POST", "/v1/prepare", body)
        assert code == 202, answer
        self.wait(lambda: self.call("GET", "/v1/prepare")[1]["status"] in ("ready", "failed"), "prepare", 90)
        return dict(self.call("GET", "/v1/prepare")[1])

    def stop(self) -> dict[str, Any]:
        """Stop and give the evidence part, fetched in small pieces."""
        code, answer = self.call("POST", "/v1/stop", {"run_id": "run-1"})
        assert code == 202, answer
        self.wait(lambda: self.call("GET", "/v1/stop")[1]["status"] in ("stopped", "failed"), "stop", 60)
        status = self.call("GET", "/v1/stop")[1]
        assert status["status"] == "stopped", status
        data = b""
        while len(data) < status["evidence"]["size_bytes"]:
            data += self.call("GET", f"/v1/evidence?offset={len(data)}&limit=65536")[1]
        import hashlib

        assert hashlib.sha256(data).hexdigest() == status["evidence"]["sha256"]
        return dict(json.loads(data))


def _send(
    url: str, method: str, body: Any, headers: dict[str, str], context: ssl.SSLContext
) -> tuple[int, Any]:
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, method=method, data=data, headers=headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:  # noqa: S310
            return answer.status, _parsed(answer.read(), answer.headers.get("Content-Type", ""))
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _parsed(error.read(), error.headers.get("Content-Type", ""))


def _parsed(data: bytes, kind: str) -> Any:
    return json.loads(data) if data and kind.startswith("application/json") else data
