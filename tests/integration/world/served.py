"""A host cluster in memory whose environment pods are real nested clusters, each on a loopback address of its own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import importlib
import os
import random
import signal
import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kit.fakes.kube import FakeKube
from oasis_operator.clients.clock import SystemClock
from oasis_operator.clients.live_http import HttpLiveEnvironment
from oasis_operator.clients.pki import RunKeys
from oasis_operator.clients.probe_http import HttpProbe
from oasis_operator.clients.sidecar_http import Channel
from oasis_operator.provider_api.provisioning import Tools
from oasis_operator.provider_api.serving import Serving
from oasis_operator.resources import kinds, network_policy
from oasis_operator.settings import Images, ProviderApi, Settings

if TYPE_CHECKING:
    from pathlib import Path

nested = sys.modules.get("world_nested") or importlib.import_module("nested")
NAMESPACE = "evaluations"
_COMMAND = "import sys; from oasis_operator.sidecar.probe.main import run_probe; sys.exit(run_probe([]))"


def _an_address() -> str:
    """Give a loopback address that tests at work beside this one do not have: their ports are the same."""
    return "127." + ".".join(str(random.randint(1, 254)) for _ in range(3))  # noqa: S311


@dataclass
class Node:
    """Runs the environment pods of a fake cluster as processes, and ends those of pods that are gone."""

    kube: FakeKube
    programs: Path
    folder: Path
    running: dict[str, list[subprocess.Popen[bytes]]] = field(default_factory=dict)
    doors: list[asyncio.Server] = field(default_factory=list)

    async def work(self) -> None:
        while True:
            pods = {item["metadata"]["name"]: item for item in self.kube.of(kinds.POD)}
            for name in set(self.running) - set(pods):
                await asyncio.to_thread(self.end, name)
            for name, pod in pods.items():
                if pod["metadata"].get("deletionTimestamp"):
                    await asyncio.to_thread(self.end, name)
                    self.kube.remove((kinds.POD.plural, NAMESPACE, name))
                elif name not in self.running:
                    address, port = _an_address(), nested.free_port()
                    self.doors.append(await _door(address, port))
                    await asyncio.to_thread(self.begin, name, pod, address, port)
            await asyncio.sleep(0.05)

    def begin(self, name: str, pod: dict[str, Any], address: str, port: int) -> None:
        folder = self.folder / name
        keys = self._keys(pod)
        for part in ("pki", "run", "data", "side"):
            (folder / part).mkdir(parents=True)
        for source, target in (("cluster-ca.crt", "pki/ca.crt"), ("cluster-ca.key", "pki/ca.key"),
                               ("probe.crt", "side/probe.crt"), ("probe.key", "side/probe.key"),
                               ("probe-token", "side/probe-token")):  # fmt: skip
            (folder / target).write_bytes(keys[source])
        environment = {
            "PATH": os.environ["PATH"],
            "POD_IP": address,
            "CLUSTER_BIN_DIR": str(self.programs),
            "CLUSTER_RUN_DIR": str(folder / "run"),
            "CLUSTER_DATA_DIR": str(folder / "data"),
            "CLUSTER_PKI_DIR": str(folder / "pki"),
            "CLUSTER_SEED_DIR": str(self.programs / "seed"),
            "CLUSTER_PORT": str(port),
            "CLUSTER_LISTEN": "127.0.0.1",
            "CLUSTER_TERMINATION_LOG": str(folder / "termination"),
            "CLUSTER_SERVER": f"https://127.0.0.1:{port}",
            "SIDECAR_DIR": str(folder / "side"),
            "SIDECAR_HOST": address,
            "SIDECAR_PORT": "8443",
        }
        self.running[name] = []
        for part, command in (("launcher", [self.programs / "launcher"]),
                              ("probe", [sys.executable, "-c", _COMMAND])):  # fmt: skip
            with (folder / f"{part}.log").open("wb") as log:
                process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            self.running[name].append(process)
        containers: list[dict[str, Any]] = [
            {"name": one, "ready": True, "restartCount": 0, "state": {"running": {}}}
            for one in ("control-plane", "probe")
        ]
        status = {
            "phase": "Running",
            "podIP": address,
            "hostIP": "192.0.2.1",
            "containerStatuses": containers,
        }

        def up(item: dict[str, Any]) -> None:
            item["status"] = status
            item["spec"]["nodeName"] = "node"

        self.kube.edit(kinds.POD, NAMESPACE, name, up)

    def end(self, name: str) -> None:
        for process in self.running.pop(name, []):
            process.send_signal(signal.SIGTERM)
            process.wait(20)

    def end_all(self) -> None:
        for door in self.doors:
            door.close()
        for name in list(self.running):
            self.end(name)

    def _keys(self, pod: dict[str, Any]) -> dict[str, bytes]:
        name = next(volume["secret"]["secretName"] for volume in pod["spec"]["volumes"] if "secret" in volume)
        data = self.kube.one(kinds.SECRET, NAMESPACE, name)["data"]
        return {key: base64.b64decode(value) for key, value in data.items()}


async def _door(address: str, port: int) -> asyncio.Server:
    """Lead from the port that a pod has to the one that its API server listens on."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
        writer.close()

    async def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            inner = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(carry(reader, inner[1]), carry(inner[0], writer), return_exceptions=True)
        writer.close()

    return await asyncio.start_server(enter, address, network_policy.API_PORT)


class NoTokens:
    """Nobody is known to this cluster."""

    async def review(self, token: str, audience: str) -> None:
        return None


class OwnProfiles:
    """Reads the bundled profiles."""

    async def read(self, namespace: str, source: dict[str, Any]) -> Any:
        from oasis_operator.clients.profile_files import bundled_root
        from oasis_operator.profile.reader import read_profile

        root = bundled_root() / source["bundled"]
        files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        return await asyncio.to_thread(read_profile, files)


@dataclass
class Provider:
    """The serving side over such a cluster."""

    kube: FakeKube
    node: Node
    chosen: ProviderApi
    serving: Serving
    stack: AsyncExitStack

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.chosen.port}"

    async def stop_serving(self) -> None:
        """End the process that serves, as far as that is possible within this one."""
        await self.stack.aclose()


async def start(stack: AsyncExitStack, programs: Path, folder: Path, port: int) -> Provider:
    """Serve; the stack ends everything."""
    kube = FakeKube(clock=SystemClock().now)
    node = Node(kube, programs, folder)
    working = asyncio.create_task(node.work())
    stack.callback(node.end_all)
    stack.callback(working.cancel)
    return await _serve(stack, kube, node, port)


async def serve_again(stack: AsyncExitStack, before: Provider, port: int) -> Provider:
    """Serve the same cluster from a process that knows nothing."""
    return await _serve(stack, before.kube, before.node, port)


async def _serve(stack: AsyncExitStack, kube: FakeKube, node: Node, port: int) -> Provider:
    chosen = ProviderApi(
        NAMESPACE, host="127.0.0.1", port=port, anonymous=True, agent_peers=({"podSelector": {}},)
    )
    settings = Settings("oasis-system", Images("sidecar", "sandbox"), settle_seconds=0, provider_api=chosen)
    channel = Channel()
    tools = Tools(
        kube, HttpProbe(channel), HttpLiveEnvironment(channel), RunKeys(), SystemClock(), settings, chosen
    )
    serving = Serving(tools, OwnProfiles(), NoTokens(), "0.0.0")  # type: ignore[arg-type]
    own = await stack.enter_async_context(AsyncExitStack())
    await serving.start(own, None)
    return Provider(kube, node, chosen, serving, own)
