from __future__ import annotations

import re
import tomllib
from collections.abc import Callable

import pytest
import yaml

from chart.conftest import CHART, RELEASE, ROOT, Manifest, Rendered, Run
from oasis_operator import settings
from oasis_operator.resources import labels, names

Render = Callable[..., Rendered]

DIGEST = "sha256:" + "0" * 64


def test_chart_and_package_have_one_version(render: Render) -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert chart["version"] == chart["appVersion"] == package
    assert render().container["image"] == f"oasis-operator:{package}"


def test_the_chart_installs_the_generated_definitions(render: Render) -> None:
    rendered = {crd["metadata"]["name"]: crd for crd in render().of("CustomResourceDefinition")}
    files = [
        yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "crds").glob("*.yaml"))
    ]
    assert {crd["metadata"]["name"]: crd["spec"] for crd in files} == {
        name: crd["spec"] for name, crd in rendered.items()
    }
    assert {crd["metadata"]["annotations"]["helm.sh/resource-policy"] for crd in rendered.values()} == {
        "keep"
    }


def test_definitions_can_be_left_out_or_let_go(render: Render) -> None:
    assert render(crds={"enabled": False}).of("CustomResourceDefinition") == []
    for crd in render(crds={"keep": False}).of("CustomResourceDefinition"):
        assert "annotations" not in crd["metadata"]


def _environment(container: Manifest) -> dict[str, str]:
    """Return the container's variables as the kubelet would set them."""
    fields = {"metadata.namespace": "oasis-system", "status.podIP": "10.1.0.5", "status.hostIP": "192.0.2.7"}
    return {
        item["name"]: item["value"] if "value" in item else fields[item["valueFrom"]["fieldRef"]["fieldPath"]]
        for item in container["env"]
    }


def test_the_default_values_are_the_default_settings(render: Render) -> None:
    images = settings.Images(sidecar="oasis-sidecar:0.1.0", sandbox="oasis-sandbox:0.1.0")
    expected = settings.Settings(
        namespace="oasis-system", images=images, pod_ip="10.1.0.5", node_ip="192.0.2.7"
    )
    assert settings.from_mapping(_environment(render().container)) == expected


def test_every_setting_can_be_set_by_a_value(render: Render) -> None:
    rendered = render(
        images={
            "pullPolicy": "Always",
            "pullSecrets": ["b", "a"],
            "sidecar": {"digest": DIGEST},
            "sandbox": {"tag": "2"},
        },
        watchNamespaces=["two", "one"],
        logLevel="DEBUG",
        parallelism=12,
        namespaceParallelism=5,
        resyncSeconds=60,
        apiServer={"host": "10.0.0.1", "port": 6443},
        sandbox={
            "runtimeClassName": "gvisor",
            "settleSeconds": 0,
            "timeoutsSeconds": {
                "provisioning": 1,
                "preparing": 2,
                "running": 3,
                "observing": 4,
                "judging": 5,
            },
            "resources": {
                "controlPlane": {"limits": {"cpu": 3}},
                "agent": {"limits": {"cpu": 4}},
                "sidecar": {"limits": {"cpu": 5}},
            },
        },
    )
    seen = settings.from_mapping(_environment(rendered.container))
    assert seen.images == settings.Images(
        sidecar=f"oasis-sidecar@{DIGEST}",
        sandbox="oasis-sandbox:2",
        pull_policy="Always",
        pull_secrets=("a", "b"),
    )
    assert seen.watch_namespaces == ("one", "two")
    assert seen.namespace_parallelism == 5
    assert (seen.log_level, seen.parallelism, seen.resync_seconds) == ("DEBUG", 12, 60)
    assert seen.api_server == settings.Endpoint(host="10.0.0.1", port=6443)
    assert (seen.runtime_class_name, seen.settle_seconds) == ("gvisor", 0)
    assert seen.timeouts == settings.StageTimeouts(1, 2, 3, 4, 5)
    cpu = [seen.resources.control_plane, seen.resources.agent, seen.resources.sidecar]
    assert [limits["limits"]["cpu"] for limits in cpu] == ["3", "4", "5"]


def test_ports_and_folders_of_the_pod_are_those_of_the_settings(render: Render) -> None:
    rendered = render()
    seen = settings.from_mapping(_environment(rendered.container))
    ports = {port["name"]: port["containerPort"] for port in rendered.container["ports"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in rendered.container["volumeMounts"]}
    assert ports == {"health": seen.health_port, "reachability": seen.reachability_port}
    assert mounts["artifacts"] == seen.artifacts_dir


def test_the_pod_meets_the_restricted_standard(render: Render) -> None:
    rendered = render()
    pod, container = rendered.pod["securityContext"], rendered.container["securityContext"]
    assert pod["runAsNonRoot"] is True
    assert (pod["runAsUser"], pod["fsGroup"]) == (65532, 65532)
    assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers"} & rendered.pod.keys()
    assert {next(key for key in volume if key != "name") for volume in rendered.pod["volumes"]} <= {
        "emptyDir",
        "persistentVolumeClaim",
    }


def test_there_is_one_operator_and_it_is_never_rolled(render: Render) -> None:
    spec = render().one("Deployment")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


def test_health_is_probed(render: Render) -> None:
    container = render().container
    assert container["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "health"}
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}
    assert "memory" in container["resources"]["limits"]
    assert "cpu" not in container["resources"]["limits"]


def test_the_pod_carries_the_name_that_sandboxes_admit(render: Render) -> None:
    meta = render(podLabels={labels.APP_NAME: "other", "team": "a"}, podAnnotations={"b": "c"}).one(
        "Deployment"
    )
    template = meta["spec"]["template"]["metadata"]
    assert template["labels"][labels.APP_NAME] == labels.OPERATOR_NAME
    assert template["labels"]["team"] == "a"
    assert template["annotations"]["b"] == "c"
    assert meta["spec"]["selector"]["matchLabels"].items() <= template["labels"].items()


def test_a_digest_wins_over_a_tag(render: Render) -> None:
    assert (
        render(images={"operator": {"tag": "1", "digest": DIGEST}}).container["image"]
        == f"oasis-operator@{DIGEST}"
    )


def test_evidence_lies_on_a_claim_that_stays(render: Render) -> None:
    claim = render().one("PersistentVolumeClaim")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert render().pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert "storageClassName" not in claim["spec"]


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ({"type": "emptyDir", "emptyDir": {"sizeLimit": "1Gi"}}, {"emptyDir": {"sizeLimit": "1Gi"}}),
        (
            {"persistentVolumeClaim": {"existingClaim": "mine"}},
            {"persistentVolumeClaim": {"claimName": "mine"}},
        ),
    ],
    ids=["emptyDir", "existing claim"],
)
def test_evidence_elsewhere_needs_no_claim_of_the_chart(
    render: Render, volume: Manifest, expected: Manifest
) -> None:
    rendered = render(artifacts={"volume": volume})
    assert rendered.of("PersistentVolumeClaim") == []
    assert rendered.pod["volumes"][0] == {"name": "artifacts", **expected}


def test_the_network_policy_selects_the_operator_and_keeps_the_listener_open(render: Render) -> None:
    policy = render(networkPolicy={"metricsFrom": [{"podSelector": {}}], "apiServerPorts": [8443]}).one(
        "NetworkPolicy"
    )["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    reachability, health = policy["ingress"]
    assert reachability == {"ports": [{"port": 9444, "protocol": "TCP"}]}
    assert health == {"ports": [{"port": 8080, "protocol": "TCP"}], "from": [{"podSelector": {}}]}
    dns, api_server, sandboxes = policy["egress"]
    assert {port["port"] for port in dns["ports"]} == {53}
    assert api_server == {"ports": [{"port": 8443, "protocol": "TCP"}]}
    assert sandboxes["to"][0]["podSelector"]["matchLabels"] == {labels.SANDBOX: "true"}
    assert render(networkPolicy={"enabled": False}).of("NetworkPolicy") == []


def test_the_operator_may_be_let_out_to_foreign_providers(render: Render) -> None:
    rule = {"to": [{"ipBlock": {"cidr": "198.51.100.7/32"}}], "ports": [{"port": 9443, "protocol": "TCP"}]}
    egress = render(networkPolicy={"extraEgress": [rule]}).one("NetworkPolicy")["spec"]["egress"]
    assert egress[-1] == rule
    assert len(egress) == len(render().one("NetworkPolicy")["spec"]["egress"]) + 1


def test_objects_without_a_namespace_are_cluster_scoped(render: Render) -> None:
    unplaced = {
        manifest["kind"] for manifest in render().manifests if "namespace" not in manifest["metadata"]
    }
    assert unplaced == {
        "CustomResourceDefinition",
        "ClusterRole",
        "ClusterRoleBinding",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }


def test_the_notes_warn_of_evidence_that_will_be_lost(helm: Run) -> None:
    arguments = ("install", *RELEASE[:-2], "--dry-run=client", "--set", "artifacts.volume.type=emptyDir")
    done = helm(*arguments)
    assert done.returncode == 0, done.stderr
    assert "WARNING: artifacts.volume.type is emptyDir" in done.stdout
    assert "evaluations.oasis-operator.dev" in done.stdout


def test_every_name_of_a_run_is_guarded(render: Render) -> None:
    rendered = render()
    policies = rendered.of("ValidatingAdmissionPolicy")
    texts = [str(policy["spec"]) for policy in policies if not policy["metadata"]["name"].endswith("-pools")]
    run = names.opaque_token("run")
    pods = (names.agent_pod, names.control_pod, names.canary_pod, names.environment_pod, names.identity_pod)
    for text in texts:
        (pattern,) = set(re.findall(r"matches\(\\?'(\^\[a[^']*\$)\\?'\)", text))
        assert all(re.fullmatch(pattern, name(run)) for name in pods)
        assert not re.fullmatch(pattern, "web-5d9c7b8f4-x2x2x")
    objects = texts[1]
    assert names.DEFAULT_DENY in objects
    assert names.CONTROL in objects
    assert "'^r-[a-z2-7]{10}$" in objects.replace("\\", "")
    account = rendered.one("ServiceAccount")["metadata"]["name"]
    assert f"system:serviceaccount:oasis-system:{account}'" in objects.replace("\\", "")
    bound = {binding["spec"]["policyName"] for binding in rendered.of("ValidatingAdmissionPolicyBinding")}
    assert bound == {policy["metadata"]["name"] for policy in policies}


def test_nobody_else_puts_a_pod_into_a_pool(render: Render) -> None:
    rendered = render()
    policies = {
        policy["metadata"]["name"]: policy["spec"] for policy in rendered.of("ValidatingAdmissionPolicy")
    }
    spec = next(spec for name, spec in policies.items() if name.endswith("-pools"))
    (rule,) = spec["matchConstraints"]["resourceRules"]
    assert (rule["resources"], rule["operations"]) == (["pods"], ["CREATE", "UPDATE"])
    account = rendered.one("ServiceAccount")["metadata"]["name"]
    somebody_else, enters = (term["expression"] for term in spec["matchConditions"])
    assert f"!= 'system:serviceaccount:oasis-system:{account}'" in somebody_else
    assert f"'{labels.POOL}' in object" in enters
    assert [item["expression"] for item in spec["validations"]] == ["false"]


def test_the_guard_covers_the_watched_namespaces_only_and_can_be_left_out(render: Render) -> None:
    for policy in render(watchNamespaces=["one", "two"]).of("ValidatingAdmissionPolicy"):
        opened, term = policy["spec"]["matchConstraints"]["namespaceSelector"]["matchExpressions"]
        assert opened == {"key": "oasis-operator.dev/sandbox-guard", "operator": "NotIn", "values": ["off"]}
        assert term == {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["one", "two"]}
    assert render(sandboxGuard={"enabled": False}).of("ValidatingAdmissionPolicy") == []
