"""One API server for all tests of admission, with the chart's admission gate on it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

_spec = importlib.util.spec_from_file_location(
    "admission_apiserver", Path(__file__).with_name("apiserver.py")
)
assert _spec is not None
assert _spec.loader is not None
apiserver = importlib.util.module_from_spec(_spec)
sys.modules["admission_apiserver"] = apiserver
_spec.loader.exec_module(apiserver)

ROOT = Path(__file__).resolve().parents[3]
PATHS = {
    "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
}


def _helm() -> Path | None:
    found = sorted(apiserver.CACHE.glob("helm-*/helm"))
    return Path(os.environ["HELM"]) if "HELM" in os.environ else (found[-1] if found else None)


def render(**values: str) -> list[dict[str, Any]]:
    """Render the chart with its admission gate."""
    helm = _helm()
    assert helm is not None
    chosen = [f"--set={key.replace('_', '.')}={value}" for key, value in values.items()]
    command = [
        str(helm),
        "template",
        "oasis",
        str(ROOT / "charts/oasis-operator"),
        "--namespace",
        "oasis-system",
    ]
    done = subprocess.run(
        [*command, "--set=admissionGate.enabled=true", *chosen], capture_output=True, text=True, check=True
    )
    return [one for one in yaml.safe_load_all(done.stdout) if one]


OPERATOR = "system:serviceaccount:oasis-system:oasis-oasis-operator"
LIST = "/apis/oasis-operator.dev/v1alpha1/admissionlists"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
DIGEST = "sha256:" + "a" * 64


class Gate:
    """The admission gate as a user meets it."""

    def __init__(self, server: Any) -> None:
        self.server, self._published = server, 0

    def install(self, **values: str) -> None:
        """Install the policies of the chart, anew where other values are asked for."""
        for manifest in render(**values):
            meta = manifest["metadata"]
            if manifest["kind"] in PATHS and "admission-gate" in meta["name"]:
                self.server.apply(f"{PATHS[manifest['kind']]}/{meta['name']}", manifest)

    def grant(self, name: str, rules: list[dict[str, Any]], *subjects: dict[str, str]) -> None:
        """Give rights in the whole cluster."""
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
        }
        self.server.apply(f"{RBAC}/clusterroles/{name}", {**role, "rules": rules})
        binding = {**role, "kind": "ClusterRoleBinding", "subjects": list(subjects)}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        self.server.apply(f"{RBAC}/clusterrolebindings/{name}", {**binding, "roleRef": reference})

    def namespace(self, name: str, mode: str = "enforce", **labels: str) -> str:
        meta = {"name": name, "labels": {"oasis-operator.dev/admission": mode, **labels}}
        self.server.apply(
            f"/api/v1/namespaces/{name}", {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
        )
        return name

    def write(self, subjects: list[dict[str, Any]], *, age: float = 0.0, policies: Any = ()) -> None:
        """Write the list in the operator's name."""
        renewed = datetime.fromtimestamp(time.time() - age, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        spec = {"renewedAt": renewed, "subjects": subjects, "policies": list(policies)}
        body = {
            "apiVersion": "oasis-operator.dev/v1alpha1", "kind": "AdmissionList",
            "metadata": {"name": "oasis-oasis-operator"}, "spec": spec,
        }  # fmt: skip
        target, kind = f"{LIST}/oasis-oasis-operator", "application/merge-patch+json"
        code, answer = self.server.send("PATCH", target, {"spec": spec}, user=OPERATOR, kind=kind)
        if code == 404:
            code, answer = self.server.send("POST", LIST, body, user=OPERATOR)
        assert code in (200, 201), answer

    def publish(self, subjects: list[dict[str, Any]], *, policies: Any = ()) -> None:
        """Write the list, and wait until admission compares with it."""
        self._published += 1
        marker = {"name": "agent", "image": f"a@{DIGEST}", "args": [f"marker-{self._published}"]}
        text = f"image=71:{DIGEST}, command=[] args=[{part(marker['args'][0])}] env=[] model=0:,"
        named = [one["name"] for one in policies]
        own = {"text": text, "namespace": "markers", "evaluation": "marker", "policies": named}
        self.write([*subjects, own], policies=policies)
        eventually(lambda: self.create("markers", deployment(marker))[0] == 201, "the list in force")

    def create(self, namespace: str, body: dict[str, Any], *, user: str = "") -> tuple[int, str]:
        """Try to create an object; give the code, and what was said."""
        code, answer = self.server.send("POST", f"{path_of(body, namespace)}?dryRun=All", body, user=user)
        return code, " ".join(answer.get("warnings", ())) if code == 201 else answer["message"]


def part(text: str) -> str:
    return f"{len(text)}:{text},"


def path_of(body: dict[str, Any], namespace: str) -> str:
    version = body["apiVersion"]
    return f"/{'apis' if '/' in version else 'api'}/{version}/namespaces/{namespace}/{body['kind'].lower()}s"


def deployment(container: dict[str, Any], *, labels: Any = None, annotations: Any = None, **pod: Any) -> Any:
    return workload("Deployment", container, labels=labels, annotations=annotations, **pod)


def workload(kind: str, container: Any, *, labels: Any = None, annotations: Any = None, **pod: Any) -> Any:
    """Build a workload of a kind around a container."""
    groups = {"Pod": "v1", "ReplicationController": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}
    mark, never = {"app": "agent"}, {"restartPolicy": "Never"} if kind in ("Job", "CronJob") else {}
    meta = {"labels": mark, **({"annotations": annotations} if annotations else {})}
    template = {"metadata": meta, "spec": {"containers": [container], **never, **pod}}
    body: dict[str, Any] = {"apiVersion": groups.get(kind, "apps/v1"), "kind": kind}
    body["metadata"] = {"name": "agent", "labels": labels or {}}
    if kind == "Pod":
        return {
            **body,
            "metadata": {**body["metadata"], "annotations": annotations or {}},
            "spec": template["spec"],
        }
    selector = {} if kind in ("Job", "CronJob") else {"matchLabels": mark}
    spec: dict[str, Any] = {"template": template, **({"selector": selector} if selector else {})}
    if kind == "ReplicationController":
        spec["selector"] = mark
    if kind == "StatefulSet":
        spec["serviceName"] = "agent"
    if kind == "CronJob":
        spec = {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template}}}
    return {**body, "spec": spec}


def eventually(look: Any, what: str, seconds: float = 20) -> None:
    """Look again and again: policies and their parameters arrive a moment after they were written."""
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.1)


@pytest.fixture(scope="session")
def gate(server: Any) -> Gate:
    one = Gate(server)
    everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    one.grant(
        "operator", everything, {"kind": "User", "name": OPERATOR, "apiGroup": "rbac.authorization.k8s.io"}
    )
    one.namespace("markers")
    one.install()
    nobody = deployment({"name": "agent", "image": f"a@{DIGEST}", "args": ["nobody"]})
    # Before the operator has published anything.
    eventually(lambda: "no params found" in one.create("markers", nobody)[1], "the gate shut")
    return one


@pytest.fixture(scope="session")
def server(tmp_path_factory: Any) -> Iterator[Any]:
    missing = [name for name in ("etcd", "kube-apiserver") if apiserver.find(name) is None]
    missing += [] if _helm() else ["helm"]
    if missing:
        reason = f"not built: {', '.join(missing)}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    one = apiserver.ApiServer(tmp_path_factory.mktemp("apiserver"))
    try:
        one.start()
        crd = yaml.safe_load((ROOT / "crds/oasis-operator.dev_admissionlists.yaml").read_text())
        one.apply(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd['metadata']['name']}", crd)
        yield one
    finally:
        one.stop()
