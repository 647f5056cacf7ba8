"""The serving side of the provider contract over a cluster in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kit.fakes.kube import FakeKube
from kit.fakes.live import FakeLive, TurningClock
from kit.fakes.sidecars import FakeProbe, World
from kit.fakes.stores import FakeKeys
from kit.kubelet import Kubelet
from oasis_operator import settings
from oasis_operator.provider_api.environments import Environments
from oasis_operator.provider_api.provisioning import Provisioner, Tools
from oasis_operator.provider_api.service import Service
from oasis_operator.resources import kinds
from oasis_operator.wire.provider import ProvisionRequest

CHOSEN = settings.ProviderApi(
    "shop", provisions=2, environments=3, max_age_seconds=3600, agent_peers=({"podSelector": {}},)
)
SETTINGS = settings.Settings(
    "oasis-system", settings.Images("registry.example/sidecar:1", "registry.example/sandbox:1")
)


@dataclass
class Provider:
    """The serving side over a cluster in memory."""

    chosen: settings.ProviderApi = CHOSEN
    clock: TurningClock = field(default_factory=TurningClock)
    world: World = field(default_factory=World)
    live: FakeLive = field(default_factory=FakeLive)
    kube: FakeKube = field(init=False)
    kubelet: Kubelet = field(init=False)
    environments: Environments = field(init=False)
    provisioner: Provisioner = field(init=False)
    service: Service = field(init=False)

    def __post_init__(self) -> None:
        self.kube = FakeKube(clock=self.clock.now)
        self.kubelet = Kubelet(self.kube, self.world)
        self.clock.turn = self.kubelet.tick
        self.restart()

    def restart(self) -> None:
        """Start the operator anew: everything that it held in memory is gone."""
        tools = Tools(
            self.kube, FakeProbe(self.world), self.live, FakeKeys(), self.clock, SETTINGS, self.chosen
        )
        self.environments = Environments(self.kube, self.clock, SETTINGS, self.chosen)
        self.provisioner = Provisioner(tools, self.environments)
        self.service = Service(tools, self.environments, self.provisioner)

    async def provisioned(self, **changes: Any) -> str:
        """Provision an environment; return its identifier."""
        return (await self.service.provision(a_request(**changes))).environment_id

    def left(self) -> list[str]:
        """Return what there is beside the permanent policies."""
        self.kubelet.tick()
        named = [(key[0], key[2]) for key in self.kube.objects]
        return [f"{kind}/{name}" for kind, name in named if not name.startswith("oasis-sandbox-")]

    def policies(self) -> list[dict[str, Any]]:
        """Return the policies of environments."""
        found = self.kube.of(kinds.NETWORK_POLICY)
        return [item for item in found if item["metadata"]["name"].startswith("r-")]


def a_request(**changes: Any) -> ProvisionRequest:
    """Return a provision of one namespace."""
    body: dict[str, Any] = {
        "scenario_id": "s-1",
        "environment": {"type": "kubernetes-cluster", "state": [{"resource": "namespace/orders"}]},
        "agent": {"mode": "autonomous", "tools": ["kubectl"], "scope": {"namespaces": ["orders"]}},
    }
    return ProvisionRequest.from_json({**body, **changes})
