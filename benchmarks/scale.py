"""What the operator takes with thousands of finished ScenarioRuns: memory, its peak, lag, first look.

Against a real API server and etcd as plain processes, without nodes: `--runs 1000,2500,5000` gives one line
for each number, from which growth can be read. Each finished run has a status of `--status-bytes`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("OASIS_BIN_CACHE", Path.home() / ".cache" / "oasis-operator" / "bin"))
GROUP = "oasis-operator.dev/v1alpha1"
NAMESPACE = "scale"
_AT_ONCE = 16
_REST_SECONDS = 20
_HEAD = """| finished runs | resident MiB | peak MiB | ready after s | worst lag s |
|---|---|---|---|---|"""
_DIGEST = "sha256:" + "5" * 64


def free_port() -> int:
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def program(name: str) -> str:
    found = sorted(CACHE.glob(f"*/{name}"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise SystemExit(f"{name} is missing: make binaries")
    return str(found[-1])


@contextlib.contextmanager
def running(
    command: list[str], log: Path, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=env)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)


@contextlib.contextmanager
def api_server(folder: Path) -> Iterator[tuple[str, str]]:
    """Run etcd and an API server that trusts one token; gives address and token."""
    clients, peers, port, token = free_port(), free_port(), free_port(), secrets.token_hex(16)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (folder / "sa.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    (folder / "tokens").write_text(f'{token},bench,1,"system:masters"\n')
    etcd = [program("etcd"), f"--data-dir={folder / 'etcd'}", "--unsafe-no-fsync"]
    etcd += [
        f"--listen-client-urls=http://127.0.0.1:{clients}",
        f"--advertise-client-urls=http://127.0.0.1:{clients}",
    ]
    etcd += [f"--listen-peer-urls=http://127.0.0.1:{peers}"]
    server = [
        program("kube-apiserver"),
        f"--etcd-servers=http://127.0.0.1:{clients}",
        f"--secure-port={port}",
    ]
    server += [f"--cert-dir={folder / 'certificates'}", f"--token-auth-file={folder / 'tokens'}"]
    server += ["--authorization-mode=AlwaysAllow", "--service-account-issuer=https://bench.invalid"]
    server += [f"--service-account-key-file={folder / 'sa.key'}", "--service-cluster-ip-range=10.0.0.0/24"]
    server += [f"--service-account-signing-key-file={folder / 'sa.key'}"]
    with running(etcd, folder / "etcd.log"), running(server, folder / "server.log"):
        yield f"https://127.0.0.1:{port}", token


class Api:
    """Writes objects, several at once."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._session, self._address = session, address
        self._turn = asyncio.Semaphore(_AT_ONCE)

    async def send(self, method: str, path: str, body: Any) -> dict[str, Any]:
        async with self._turn, self._session.request(method, self._address + path, json=body) as answer:
            found: dict[str, Any] = await answer.json()
            if answer.status >= 400 and answer.status != 409:
                raise SystemExit(f"{method} {path}: {answer.status} {found.get('message')}")
            return found

    async def until_ready(self, path: str = "/readyz") -> None:
        for _ in range(240):
            with contextlib.suppress(aiohttp.ClientError):
                async with self._session.get(self._address + path) as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.5)
        raise SystemExit(f"{path} does not answer")

    async def install(self) -> None:
        """Create namespace, definitions and the Evaluation that the runs belong to."""
        await self.send("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        for file in sorted((ROOT / "crds").glob("*.yaml")):
            body = yaml.safe_load(file.read_text())
            await self.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
        await self.until_ready(f"/apis/{GROUP}/scenarioruns")

    async def finished(self, number: int, status_bytes: int) -> None:
        """Create one finished run."""
        path = f"/apis/{GROUP}/namespaces/{NAMESPACE}/scenarioruns"
        made = await self.send("POST", path, a_run(number))
        if made.get("kind") == "ScenarioRun":
            await self.send("PUT", f"{path}/run-{number}/status", {**made, "status": a_status(status_bytes)})


def a_run(number: int) -> dict[str, Any]:
    return {
        "apiVersion": GROUP,
        "kind": "ScenarioRun",
        "metadata": {"name": f"run-{number}", "namespace": NAMESPACE},
        "spec": {
            "evaluation": {"name": "check", "uid": "00000000-0000-0000-0000-000000000000"},
            "scenarioID": "s-1",
            "scenarioDigest": _DIGEST,
            "profile": {
                "name": "bench",
                "version": "0.1.0",
                "digest": _DIGEST,
                "source": {"bundled": "bench"},
            },
            "repetition": 1,
            "attempt": 1,
            "agentRef": {"name": "helper"},
            "environmentRef": {"name": "small"},
            "subjectDigest": _DIGEST,
        },
    }


def a_status(size_bytes: int) -> dict[str, Any]:
    one = {
        "kind": "api_audit",
        "text": "t" * 240,
        "result": "Satisfied",
        "reason": "r" * 240,
        "evidence": ["audit#1"],
    }
    count = max(1, size_bytes // len(json.dumps(one)))
    return {"stage": "Completed", "outcome": "PASS", "observedGeneration": 1, "assertions": [one] * count}


def memory(pid: int) -> dict[str, float]:
    """Give MiB of one process: what is resident, and its peak."""
    lines = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line
    )
    return {name: int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")}


def kubeconfig(folder: Path, address: str, token: str) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "bench",
        "clusters": [{"name": "bench", "cluster": {"server": address, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "bench", "user": {"token": token}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
    }
    file = folder / "kubeconfig"
    file.write_text(json.dumps(document))
    return file


async def measure(folder: Path, config: Path, count: int) -> str:
    """Run the operator until it has looked at everything, and for a while longer."""
    port = free_port()
    settings = {
        "OASIS_NAMESPACE": NAMESPACE,
        "OASIS_SIDECAR_IMAGE": "bench.invalid/sidecar:1",
        "OASIS_SANDBOX_IMAGE": "bench.invalid/sandbox:1",
        "OASIS_API_SERVER_HOST": "127.0.0.1",
        "OASIS_ARTIFACTS_DIR": str(folder / "artifacts"),
        "OASIS_HEALTH_PORT": str(port),
        "OASIS_REACHABILITY_PORT": str(free_port()),
        "KUBECONFIG": str(config),
    }
    env = {**{name: value for name, value in os.environ.items() if not name.startswith("OASIS_")}, **settings}
    began, log = time.monotonic(), folder / f"operator-{count}.log"
    with running([sys.executable, "-m", "oasis_operator.main"], log, env) as process:
        async with aiohttp.ClientSession() as session:
            await Api(session, f"http://127.0.0.1:{port}").until_ready()
            ready, worst = time.monotonic() - began, 0.0
            for _ in range(_REST_SECONDS):
                await asyncio.sleep(1)
                async with session.get(f"http://127.0.0.1:{port}/metrics") as answer:
                    text = await answer.text()
                told = next(
                    line for line in text.splitlines() if line.startswith("oasis_event_loop_lag_seconds ")
                )
                worst = max(worst, float(told.split()[1]))
            used = memory(process.pid)
    return f"| {count} | {used['VmRSS']:.0f} | {used['VmHWM']:.0f} | {ready:.1f} | {worst:.2f} |"


async def run(counts: list[int], status_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with api_server(folder) as (address, token):
            trust = ssl.create_default_context()
            trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
            headers = {"Authorization": f"Bearer {token}"}
            connector = aiohttp.TCPConnector(ssl=trust)
            async with aiohttp.ClientSession(headers=headers, connector=connector) as session:
                api = Api(session, address)
                await api.until_ready()
                await api.install()
                config = kubeconfig(folder, address, token)
                size = len(json.dumps(a_status(status_bytes)))
                print(f"statuses of {size} bytes, load {os.getloadavg()[0]:.1f}")
                print(_HEAD)
                made = 0
                for count in counts:
                    await asyncio.gather(*(api.finished(n, status_bytes) for n in range(made, count)))
                    made = count
                    print(await measure(folder, config, count), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", default="0,2500,5000", help="numbers of finished runs, growing")
    parser.add_argument("--status-bytes", type=int, default=8192)
    options = parser.parse_args()
    asyncio.run(run([int(item) for item in options.runs.split(",")], options.status_bytes))


if __name__ == "__main__":
    main()
