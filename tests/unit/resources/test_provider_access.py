"""What of a provider's answer an agent can be given as its access."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import yaml

from oasis_operator import errors
from oasis_operator.resources.provider_access import AgentAccess, agent_access
from oasis_operator.wire.provider import ProvisionAnswer

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
ENCODED = base64.b64encode(PEM.encode()).decode()
KUBECONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "there",
    "contexts": [
        {"name": "else", "context": {"cluster": "else", "user": "else"}},
        {"name": "there", "context": {"cluster": "c", "user": "u", "namespace": "shop"}},
    ],
    "clusters": [
        {"name": "else", "cluster": {"server": "https://wrong.example"}},
        {
            "name": "c",
            "cluster": {"server": "https://api.example:6443", "certificate-authority-data": ENCODED},
        },
    ],
    "users": [
        {"name": "u", "user": {"token": "from-kubeconfig"}},
        {"name": "else", "user": {"token": "wrong"}},
    ],
}


def answer(endpoint: str = "https://api.example:6443", **credentials: Any) -> ProvisionAnswer:
    return ProvisionAnswer("e-1", endpoint, credentials)


def service_token(subject: str) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"sub": subject}).encode()).decode().rstrip("=")
    return f"h.{claims}.s"


def test_a_token_and_a_ca_are_an_access() -> None:
    found = agent_access(answer(token="t", certificate_authority=PEM, namespace="shop", username="worker"))
    assert found == AgentAccess("api.example", 6443, "t", PEM, "shop", "worker")
    assert found.server == "https://api.example:6443"


def test_the_current_context_of_a_kubeconfig_is_an_access() -> None:
    found = agent_access(answer("", kubeconfig=yaml.safe_dump(KUBECONFIG)))
    assert found == AgentAccess("api.example", 6443, "from-kubeconfig", PEM, "shop", "")


def test_the_endpoint_wins_over_the_kubeconfigs_server() -> None:
    found = agent_access(answer("https://[fd00::7]:7443/", kubeconfig=yaml.safe_dump(KUBECONFIG)))
    assert (found.host, found.port, found.server) == ("fd00::7", 7443, "https://[fd00::7]:7443")
    assert found.is_address


@pytest.mark.parametrize(
    ("endpoint", "host", "port"),
    [("https://api.example", "api.example", 443), ("api.example:6443", "api.example", 6443)],
)
def test_an_endpoint_may_leave_out_scheme_or_port(endpoint: str, host: str, port: int) -> None:
    found = agent_access(answer(endpoint, bearer_token="t", ca=ENCODED))
    assert (found.host, found.port, found.ca) == (host, port, PEM)


def test_a_service_accounts_token_tells_its_user() -> None:
    token = service_token("system:serviceaccount:shop:worker")
    assert agent_access(answer(token=token, ca=PEM)).username == "system:serviceaccount:shop:worker"


@pytest.mark.parametrize("token", ["opaque", "a.b.c", service_token("alice"), "h." + "A" * 7 + ".s"])
def test_any_other_token_tells_nobody(token: str) -> None:
    assert agent_access(answer(token=token, ca=PEM)).username == ""


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (answer(ca=PEM), "token"),
        (answer(token="t"), "certificate authority"),
        (answer(token="t", ca="nonsense"), "certificate authority"),
        (answer("http://api.example:8001", token="t", ca=PEM), "https"),
        (answer("https://proxy.example/k8s/1", token="t", ca=PEM), "without a path"),
        (answer("https://api.example:99999", token="t", ca=PEM), "agent_endpoint"),
        (answer("", token="t", ca=PEM), "agent_endpoint"),
        (answer(kubeconfig=": : :"), "kubeconfig"),
        (answer(kubeconfig="[]"), "kubeconfig"),
        (answer(kubeconfig=yaml.safe_dump({**KUBECONFIG, "users": []})), "token"),
    ],
)
def test_what_cannot_be_handed_on_is_named(given: ProvisionAnswer, missing: str) -> None:
    with pytest.raises(errors.ProviderFault, match=missing) as caught:
        agent_access(given)
    assert caught.value.reason == "AccessUnusable"


def test_credentials_are_never_shown() -> None:
    assert "s3cret" not in repr(agent_access(answer(token="s3cret", ca=PEM)))
