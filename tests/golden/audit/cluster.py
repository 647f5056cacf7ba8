"""The recorded cluster: its clients, what it holds, and how it is put back after an operation."""

from __future__ import annotations

import contextlib
import copy
import http.client
import importlib.util
import json
import os
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
KUBECTL = ROOT / "dist/bin/kubectl"
STATE = [item for item in yaml.safe_load_all((HERE / "state.yaml").read_text()) if item]
OURS = ("shop", "bank", "attic")
USERS = ("deployer", "viewer")
COLLECTIONS = {
    "/api/v1": "namespaces nodes pods services configmaps secrets serviceaccounts persistentvolumeclaims resourcequotas",
    "/apis/apps/v1": "deployments replicasets statefulsets",
    "/apis/batch/v1": "jobs cronjobs",
    "/apis/autoscaling/v2": "horizontalpodautoscalers",
    "/apis/policy/v1": "poddisruptionbudgets",
    "/apis/networking.k8s.io/v1": "ingresses networkpolicies",
    "/apis/rbac.authorization.k8s.io/v1": "roles rolebindings clusterroles clusterrolebindings",
}
#: Members that change by themselves; they would make every object of every recording a different one.
RESTLESS = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")
ACCESS = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: deployers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: deployer, namespace: shop}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: viewer, namespace: shop}
rules: [{apiGroups: ["", apps], resources: [pods, configmaps, deployments], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: viewers, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: viewer}
subjects: [{kind: ServiceAccount, name: viewer, namespace: shop}]
"""

Key = tuple[str, str, str]
Object = dict[str, Any]


def _load_nested() -> Any:
    path = ROOT / "tests/integration/world/nested.py"
    spec = importlib.util.spec_from_file_location("recorded_nested", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Cluster:
    """A nested control plane with the state of `state.yaml`."""

    def __init__(self, folder: Path) -> None:
        """Start it and wait until it holds the state."""
        nested = _load_nested()
        programs, run = folder / "programs", folder / "run"
        programs.mkdir()
        run.mkdir()
        missing = nested.find_programs(programs)
        if missing or not nested.build_launcher(programs):
            raise SystemExit(f"not built: {missing or 'launcher'}")
        self.folder = folder
        self.nested = nested.Nested(run, programs)
        self.tokens: dict[str, str] = {}
        self._connection: http.client.HTTPSConnection | None = None
        self._strangers: set[Key] = set()
        self.base: dict[Key, Object] = {}

    def start(self) -> None:
        self.nested.start()
        agent = {"mode": "autonomous", "tools": [], "scope": {"namespaces": ["shop"]}}
        prepared = self.nested.prepare([{"resource": "namespace/shop"}], agent)
        assert prepared["status"] == "ready", prepared
        self._strangers = {key for key in self._list() if key[0] not in ("nodes", "namespaces")}
        for user in USERS:
            self.admin("POST", "/api/v1/namespaces/shop/serviceaccounts", {"metadata": {"name": user}})
            asked = {"spec": {"expirationSeconds": 86400}}
            answer = self.admin("POST", f"/api/v1/namespaces/shop/serviceaccounts/{user}/token", asked)
            self.tokens[user] = answer["status"]["token"]
            self._write_kubeconfig(user, {"token": self.tokens[user]})
        keys = {
            "client-certificate": self.admin_file("client.crt"),
            "client-key": self.admin_file("client.key"),
        }
        self._write_kubeconfig("admin", keys)
        self._apply(ACCESS)
        self._make([item for item in STATE if item["kind"] == "Namespace"])
        self._make([item for item in STATE if item["kind"] != "Namespace"])
        self.settle()
        self.base = self.snapshot()

    def admin_file(self, name: str) -> str:
        return str(self.nested.folder / "run/admin" / name)

    @property
    def log(self) -> Path:
        return Path(self.nested.folder / "run/audit/audit.log")

    def admin(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """Speak as the administrator over one lasting connection; None for what is not found."""
        for attempt in (1, 2):
            if self._connection is None:
                context = ssl.create_default_context(cafile=self.admin_file("ca.crt"))
                context.load_cert_chain(self.admin_file("client.crt"), self.admin_file("client.key"))
                self._connection = http.client.HTTPSConnection(
                    "127.0.0.1", self.nested.port, context=context, timeout=30
                )
            try:
                data = None if body is None else json.dumps(body)
                self._connection.request(method, path, data, {"Content-Type": kind})
                answer = self._connection.getresponse()
                content = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self._connection = None
                if attempt == 2:
                    raise
        else:
            raise AssertionError("the last attempt returns or raises")
        if answer.status == 404:
            return None
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")
        return json.loads(content)

    def kubectl(self, words: list[str], user: str, text: str | None = None, **more: Any) -> Any:
        """Start a kubectl as a user; the caller waits for it."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "KUBECONFIG": str(self.folder / f"{user}.kubeconfig"),
            "KUBECACHEDIR": str(self.folder / f"cache-{user}"),
            **more,
        }
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [KUBECTL, *words], env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT
        )
        assert process.stdin is not None
        if text is not None:
            process.stdin.write(text.encode())
            process.stdin.close()
            process.stdin = None
        return process

    def snapshot(self) -> dict[Key, Object]:
        """Everything that belongs to the recorded state, without what changes by itself."""
        return {key: cleaned(item) for key, item in self._list().items() if key not in self._strangers}

    def _list(self) -> dict[Key, Object]:
        found: dict[Key, Object] = {}
        for base, names in COLLECTIONS.items():
            for plural in names.split():
                answer = self.admin("GET", f"{base}/{plural}")
                for item in answer["items"]:
                    metadata = item["metadata"]
                    namespace, name = metadata.get("namespace", ""), metadata["name"]
                    if namespace in ("", *OURS) and not (plural == "namespaces" and name.startswith("kube-")):
                        kind = answer["kind"].removesuffix("List")
                        version = base.removeprefix("/apis/").removeprefix("/api/")
                        found[plural, namespace, name] = {"apiVersion": version, "kind": kind, **item}
        return found

    def pods(self, app: str) -> list[str]:
        items = self.admin("GET", f"/api/v1/namespaces/shop/pods?labelSelector=app%3D{app}")["items"]
        return [item["metadata"]["name"] for item in items if "deletionTimestamp" not in item["metadata"]]

    def replica_set(self, app: str) -> str:
        items = self.admin("GET", f"/apis/apps/v1/namespaces/shop/replicasets?labelSelector=app%3D{app}")[
            "items"
        ]
        return str(next(item["metadata"]["name"] for item in items if item["spec"]["replicas"]))

    def node(self) -> str:
        """The node on which the pod `tool` is."""
        return str(self.admin("GET", "/api/v1/namespaces/shop/pods/tool")["spec"]["nodeName"])

    def settle(self) -> None:
        """Wait until the workloads have exactly the pods that they want, all of them running."""
        self.nested.wait(self._is_settled, "settling", 25)

    def _is_settled(self) -> bool:
        live = self._list()
        if any("deletionTimestamp" in item["metadata"] for item in live.values()):
            return False
        pods = [item for key, item in live.items() if key[0] == "pods"]
        wanted = sum(
            item["spec"].get("replicas", 1)
            for key, item in live.items()
            if key[0] in ("deployments", "statefulsets")
        )
        owned = [pod for pod in pods if pod["metadata"].get("ownerReferences")]
        images = {
            spec["image"]
            for key, item in live.items()
            if key[0] in ("deployments", "statefulsets")
            for spec in item["spec"]["template"]["spec"]["containers"]
        }
        return (
            len(owned) == wanted
            and all(pod["status"].get("phase") == "Running" for pod in pods)
            and all(pod["spec"]["containers"][0]["image"] in images for pod in owned)
        )

    def restore(self) -> None:
        """Put back what an operation changed."""
        for _ in range(60):
            work = self._differences()
            if not work:
                self.settle()
                if not self._differences():
                    return
                continue
            for key, item in work:
                self._put_back(key, item)
            time.sleep(0.4)
        raise AssertionError(f"cannot restore {[key for key, _ in self._differences()]}")

    def _differences(self) -> list[tuple[Key, Object | None]]:
        live = self._list()
        work: list[tuple[Key, Object | None]] = []
        for key, item in live.items():
            owned = key[0] in ("pods", "replicasets") and item["metadata"].get("ownerReferences")
            known = key in self.base or key in self._strangers
            altered = owned and key[0] == "pods" and _is_altered(item)
            if altered or (not known and not owned and key[2] != "kubernetes"):
                work.append((key, item))
        for key, item in self.base.items():
            if item["metadata"].get("ownerReferences"):
                continue
            if key not in live or comparable(cleaned(live[key])) != comparable(item):
                work.append((key, live.get(key)))
        return sorted(work, key=lambda pair: pair[0][0] != "namespaces")

    def _put_back(self, key: Key, live: Object | None) -> None:
        path, base = self._path(key), self.base.get(key)
        if live is not None and "deletionTimestamp" in live["metadata"] and key[0] != "configmaps":
            return
        if base is None or (live is not None and key[0] in ("pods", "jobs")):
            self.admin("DELETE", path, {"propagationPolicy": "Background", "gracePeriodSeconds": 0})
        elif live is None:
            named = [item for item in STATE if _names(item, key)]
            if named:
                self._make(named)
            elif key[0] == "nodes":
                self.admin("POST", "/api/v1/nodes", base)
        else:
            version = live["metadata"]["resourceVersion"]
            wanted = {**base, "metadata": {**base["metadata"], "resourceVersion": version}}
            with contextlib.suppress(RuntimeError):
                self.admin("PUT", path, wanted)

    def _path(self, key: Key) -> str:
        base = next(base for base, names in COLLECTIONS.items() if key[0] in names.split())
        return f"{base}/namespaces/{key[1]}/{key[0]}/{key[2]}" if key[1] else f"{base}/{key[0]}/{key[2]}"

    def _make(self, items: list[Object]) -> None:
        """Apply objects, a deployment by way of an older image so that there is something to go back to."""
        for item in items:
            if item["kind"] == "Deployment" and item["metadata"]["name"] in ("web", "api"):
                older = copy.deepcopy(item)
                older["spec"]["template"]["spec"]["containers"][0]["image"] = (
                    f"shop/{item['metadata']['name']}:0.9"
                )
                self._apply(yaml.safe_dump(older))
                time.sleep(1)
        self._apply(yaml.safe_dump_all(items))

    def _apply(self, text: str) -> None:
        process = self.kubectl(["apply", "-f", "-"], "admin", text)
        output, _ = process.communicate(timeout=60)
        if process.returncode and b"being terminated" not in output:
            raise SystemExit(output.decode())

    def _write_kubeconfig(self, user: str, credential: dict[str, str]) -> None:
        cluster = {
            "server": f"https://127.0.0.1:{self.nested.port}",
            "certificate-authority": self.admin_file("ca.crt"),
        }
        content = {
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "here", "cluster": cluster}],
            "users": [{"name": "me", "user": credential}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        }  # fmt: skip
        (self.folder / f"{user}.kubeconfig").write_text(json.dumps(content))


def cleaned(item: Object) -> Object:
    """An object without its status and what changes by itself; of what something owns less."""
    metadata = {key: value for key, value in item["metadata"].items() if key not in RESTLESS}
    references = [{**one, "uid": ""} for one in metadata.get("ownerReferences", ())]
    if references:
        metadata["ownerReferences"] = references
    kept = {**{key: value for key, value in item.items() if key != "status"}, "metadata": metadata}
    if references and item["kind"] == "Pod":
        kept["spec"] = {
            "nodeName": item["spec"].get("nodeName"),
            "containers": _brief(item["spec"]["containers"]),
        }
    if references and item["kind"] == "ReplicaSet":
        metadata.pop("annotations", None)
    return kept


def comparable(item: Object) -> Object:
    """An object without what a controller writes into it."""
    metadata = {key: value for key, value in item["metadata"].items() if key != "labels"}
    annotations = metadata.get("annotations", {})
    metadata["annotations"] = {key: value for key, value in annotations.items() if "revision" not in key}
    labels = item["metadata"].get("labels", {})
    metadata["labels"] = {key: value for key, value in labels.items() if "controller-uid" not in key}
    if item["kind"] in ("Pod", "Job", "Service", "PersistentVolumeClaim", "Node"):
        names = (
            "selector",
            "replicas",
            "suspend",
            "parallelism",
            "taints",
            "unschedulable",
            "ephemeralContainers",
        )
        spec = {key: value for key, value in item["spec"].items() if key in names}
        if item["kind"] == "Job":
            spec.pop("selector", None)
        if item["kind"] == "Pod":
            spec["resources"] = [one.get("resources") for one in item["spec"]["containers"]]
        return {**item, "metadata": metadata, "spec": spec}
    return {**item, "metadata": metadata}


def _brief(containers: list[Object]) -> list[Object]:
    return [{"name": one["name"], "image": one["image"]} for one in containers]


def _is_altered(pod: Object) -> bool:
    return "seen" in pod["metadata"].get("labels", {}) or "ephemeralContainers" in pod["spec"]


def _names(item: Object, key: Key) -> bool:
    metadata = item["metadata"]
    plural = item["kind"].lower() + "s"
    plural = {"ingresss": "ingresses", "networkpolicys": "networkpolicies"}.get(plural, plural)
    if key[0] == "serviceaccounts" and key[2] == "default":
        return False
    return (plural, metadata.get("namespace", ""), metadata["name"]) == key
