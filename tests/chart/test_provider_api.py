from __future__ import annotations

from collections.abc import Callable

import pytest

from chart.conftest import RELEASE, Manifest, Rendered, Run
from oasis_operator import settings

Render = Callable[..., Rendered]
ON: Manifest = {"enabled": True}


def chosen(rendered: Rendered) -> settings.ProviderApi:
    """Return what the operator makes of its variables."""
    given = {item["name"]: item.get("value", "x") for item in rendered.container["env"]}
    found = settings.from_mapping({**given, "OASIS_NAMESPACE": "oasis-system"}).provider_api
    assert found is not None
    return found


def test_it_is_off_by_default_and_leaves_nothing(render: Render) -> None:
    rendered = render()
    assert not [item for item in rendered.manifests if item["metadata"]["name"].endswith("-provider")]
    assert [port["name"] for port in rendered.container["ports"]] == ["health", "reachability"]
    assert not [item for item in rendered.container["env"] if "PROVIDER_API" in item["name"]]


def test_switched_on_it_has_a_service_whose_names_the_own_certificate_has(render: Render) -> None:
    rendered = render(providerApi=ON)
    found = chosen(rendered)
    service = next(item for item in rendered.of("Service") if item["metadata"]["name"].endswith("-provider"))
    name = service["metadata"]["name"]
    assert {name, f"{name}.oasis-system.svc", f"{name}.oasis-system.svc.cluster.local"} <= {
        *found.server_names
    }
    port = next(port for port in rendered.container["ports"] if port["name"] == "provider")
    assert service["spec"]["ports"][0]["targetPort"] == "provider"
    assert port["containerPort"] == found.port
    assert (found.namespace, found.audience, found.token_file) == ("oasis-system", "oasis-provider", "")
    ingress = rendered.one("NetworkPolicy")["spec"]["ingress"]
    assert [rule for rule in ingress if rule["ports"][0]["port"] == found.port] == [
        {"ports": [{"port": found.port, "protocol": "TCP"}]}
    ]


def test_every_value_arrives(render: Render) -> None:
    peer = {"namespaceSelector": {"matchLabels": {"a": "b"}}}
    rendered = render(
        watchNamespaces=["evals"],
        providerApi={
            **ON, "namespace": "evals", "environment": "small", "users": ["ci", "group"], "provisions": 2,
            "environments": 3, "maxAgeSeconds": 60, "agentPeers": [peer], "evaluatorPeers": [peer],
        },
    )  # fmt: skip
    found = chosen(rendered)
    assert (found.namespace, found.environment, found.users) == ("evals", "small", ("ci", "group"))
    assert (found.provisions, found.environments, found.max_age_seconds) == (2, 3, 60)
    assert found.agent_peers == (peer,)
    ingress = rendered.one("NetworkPolicy")["spec"]["ingress"]
    assert [rule["from"] for rule in ingress if rule["ports"][0]["port"] == found.port] == [[peer]]


def _roles(rendered: Rendered) -> dict[str, list[Manifest]]:
    roles = [*rendered.of("Role"), *rendered.of("ClusterRole")]
    return {item["kind"]: item["rules"] for item in roles if item["metadata"]["name"].endswith("-provider")}


def test_it_may_review_tokens_only_where_it_takes_those_of_the_cluster(render: Render) -> None:
    assert _roles(render(providerApi=ON)) == {
        "ClusterRole": [
            {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]}
        ]
    }
    fixed = render(providerApi={**ON, "tokenSecret": "the-token"})
    assert _roles(fixed) == {}
    found = chosen(fixed)
    assert (found.token_file, found.audience) == ("/etc/oasis/provider-token/token", "")
    mounts = {item["name"]: item["mountPath"] for item in fixed.container["volumeMounts"]}
    assert found.token_file.startswith(mounts["provider-token"])
    volumes = {item["name"]: item for item in fixed.pod["volumes"]}
    assert volumes["provider-token"]["secret"]["secretName"] == "the-token"


def test_a_given_certificate_is_mounted_and_an_own_one_needs_a_right_where_there_is_none(
    render: Render,
) -> None:
    elsewhere = {"watchNamespaces": ["evals"], "providerApi": {**ON, "namespace": "evals"}}
    rules = _roles(render(**elsewhere))["Role"]
    assert {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["oasis-provider-tls"],
            "verbs": ["get", "delete"]} in rules  # fmt: skip
    given = render(**{**elsewhere, "providerApi": {**ON, "namespace": "evals", "certificateSecret": "mine"}})
    assert "Role" not in _roles(given)
    mounts = {item["name"]: item["mountPath"] for item in given.container["volumeMounts"]}
    assert chosen(given).certificate_dir == mounts["provider-tls"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["watchNamespaces={evals}"], "want one of watchNamespaces"),
        (["providerApi.audience="], "want audience or tokenSecret"),
        (["providerApi.provisions=0"], "provisions"),
        (["providerApi.agentPeers=null"], "agentPeers"),
        (["providerApi.users={a b}"], "users"),
    ],
)
def test_what_cannot_work_is_refused_with_its_reason(values: list[str], said: str, helm: Run) -> None:
    given = [part for value in ("providerApi.enabled=true", *values) for part in ("--set", value)]
    done = helm("template", *RELEASE, *given)
    assert done.returncode != 0
    assert said in done.stderr
