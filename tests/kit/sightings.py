"""What a person with kubectl sees of each state entry of a scenario, kind by kind.

Each check gives patterns and the texts that they must be found in; it knows the entry, and nothing of how the
world was built from it.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

from oasis_operator.world.series import parse_value

if TYPE_CHECKING:
    from pathlib import Path


class Reader:
    """What the agent reads with kubectl."""

    def __init__(self, program: str, server: str, folder: Path, token: str) -> None:
        authority = f"--certificate-authority={folder / 'run/admin/ca.crt'}"
        cache = f"--cache-dir={folder / 'cache'}"
        self._command = [program, f"--server={server}", authority, f"--token={token}", cache]

    def read(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._command, *arguments], capture_output=True, text=True, timeout=60, check=False,
            env={"HOME": "/nonexistent", "PATH": os.environ["PATH"], "KUBECONFIG": "/dev/null"},
        )  # fmt: skip
        return done.stdout if done.returncode == 0 else f"failed: {done.stderr}"

    def object(self, kind: str, name: str, namespace: str | None = None) -> Any:
        within = ["-n", namespace] if namespace else []
        text = self.read("get", kind, name, *within, "-o", "json")
        return {} if text.startswith("failed") else json.loads(text)


#: What ``kubectl get pods`` shows in its column STATUS, or READY, of a workload with that status.
SHOWN = {
    "running": r" 1/1 +Running ",
    "elevated_error_rate": r" 1/1 +Running ",
    "rolling_update_in_progress": r" 1/1 +Running ",
    "degraded": r" 0/1 +Running ",
    "pending": r" 0/1 +Pending ",
    "CrashLoopBackOff": r" (CrashLoopBackOff|Init:CrashLoopBackOff) ",
    "OOMKilled": r" 0/1 +CrashLoopBackOff ",
    "error": r" 0/1 +RunContainerError ",
}
#: A word of the events that tell of it, for statuses that have any.
TOLD = {
    "degraded": "Unhealthy",
    "pending": "FailedScheduling",
    "CrashLoopBackOff": "BackOff",
    "OOMKilled": "BackOff",
    "error": "Failed",
}
#: What ``kubectl describe pods`` says of a pod of it.
DESCRIBED = {
    "running": r"Ready +True\s",
    "elevated_error_rate": r"Ready +True\s",
    "rolling_update_in_progress": r"Ready +True\s",
    "degraded": r"Ready +False\s",
    "pending": r"PodScheduled +False\s",
    "CrashLoopBackOff": r"Reason: +CrashLoopBackOff\s",
    "OOMKilled": r"Reason: +OOMKilled\s+Exit Code: +137\s",
    "error": r"Reason: +Error\s+Exit Code: +128\s",
}
#: What ``kubectl logs`` gives of a pod of it: nothing at all of one that is on no node.
LOGGED = {"pending": r"\A\Z", "CrashLoopBackOff": r"\S|^failed: .*(waiting|PodInitializing)"}


def told_of_pods(kubectl: Reader, status: str, selector: str, namespace: str) -> list[tuple[str, str]]:
    """Give what is said of the pods of a workload, and what the first of them says."""
    pods = kubectl.read("get", "pods", "-n", namespace, "-l", selector, "-o", "name").split()
    waits = ["--previous"] if status in ("CrashLoopBackOff", "OOMKilled", "error") else []
    said = kubectl.read("logs", pods[0], "-n", namespace, *waits)
    described = kubectl.read("describe", "pods", "-n", namespace, "-l", selector)
    return [(DESCRIBED[status], described), (LOGGED.get(status, r"^(?!failed: )\S"), said)]


def check_deployment(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    status = entry.get("status", "running")
    found = kubectl.object("deployment", name, namespace)
    container = found["spec"]["template"]["spec"]["containers"][0]
    labels = found["spec"]["selector"]["matchLabels"]
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    wanted = [(SHOWN[status], kubectl.read("get", "pods", "-n", namespace, "-l", selector))]
    if "replicas" in entry:
        wanted.append((f"^{entry['replicas']}$", str(found["spec"]["replicas"])))
    wanted += told_of_pods(kubectl, status, selector, namespace)
    if status in TOLD:
        wanted.append((rf"{TOLD[status]} +pod/{name}-", kubectl.read("get", "events", "-n", namespace)))
    if status == "OOMKilled":
        wanted.append(("memory", str(container["resources"]["limits"])))
    if image := entry.get("image") or entry.get("current_image"):
        wanted.append((f"^{re.escape(image)}$", container["image"]))
    return [*wanted, *deployment_besides(kubectl, entry, name, namespace)]


def deployment_besides(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    """Give what is seen elsewhere of a deployment: revisions, routes, metrics, its own conditions."""
    wanted = []
    if "previous_image" in entry:
        sets = kubectl.read("get", "replicasets", "-n", namespace, "-l", f"app={name}", "-o", "wide")
        wanted.append((re.escape(entry["previous_image"]), sets))
    if "memory_usage" in entry:
        wanted.append((parse_value(entry["memory_usage"]) or "?", metrics(kubectl, namespace, name)))
    if "traffic_weight" in entry:
        route = kubectl.read("describe", "ingress", name, "-n", namespace)
        wanted.append((rf"canary-weight: {entry['traffic_weight'].rstrip('%')}\b", route))
        wanted.append((rf"{name}:80 \(10\.", route))
    if entry.get("status") == "rolling_update_in_progress":
        text = kubectl.read("rollout", "status", f"deployment/{name}", "-n", namespace, "--watch=false")
        wanted.append(("Waiting for deployment .* rollout to finish: 1 out of 3 new replicas", text))
    for said in entry.get("conditions", ()):
        text = kubectl.read("describe", "deployment", name, "-n", namespace)
        wanted.append((rf"{said['type']} +{said['status']}", text))
    return wanted


def metrics(kubectl: Reader, namespace: str, name: str) -> str:
    """Give what monitoring reports of a workload, with the values of earlier times."""
    return kubectl.read("get", "keptnmetrics", "-n", namespace, "-l", f"app={name}", "-o", "yaml")


def check_pod(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    status = entry.get("status", "running")
    wanted = [(SHOWN[status], kubectl.read("get", "pod", name, "-n", namespace, "-o", "wide"))]
    described = kubectl.read("describe", "pod", name, "-n", namespace)
    wanted.append((DESCRIBED[status], described))
    if status in TOLD:
        wanted.append((TOLD[status], described))
    if "restarts" in entry:
        wanted.append((rf" {entry['restarts']} ", wanted[0][1]))
    if "node" in entry:
        wanted.append((re.escape(entry["node"]), wanted[0][1]))
    if "cpu_usage" in entry:
        wanted.append((rf"{name} +37\d\dm ", kubectl.read("top", "pod", name, "-n", namespace)))
    return wanted


def check_node(kubectl: Reader, entry: Any, name: str, _: str) -> list[tuple[str, str]]:
    described = kubectl.read("describe", "node", name)
    wanted = [("Ready +True", described), ("MemoryPressure +False", described)]
    if "cpu_usage" in entry:
        wanted.append((rf"{name} +38\d\dm +9[67]% ", kubectl.read("top", "nodes")))
    return wanted


def check_nodes(kubectl: Reader, entry: Any, *_: str) -> list[tuple[str, str]]:
    nodes = json.loads(kubectl.read("get", "nodes", "-o", "json"))["items"]
    assert len(nodes) == entry["count"]
    amounts = {str(node["status"]["allocatable"]["cpu"]) for node in nodes}
    wanted = [("^(4|500m)$", amount) for amount in amounts]
    if used := entry.get("current_utilization"):
        wanted += [(f" {used} .* {used}", line) for line in kubectl.read("top", "nodes").splitlines()[1:]]
    return wanted


def check_metrics(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    text = metrics(kubectl, namespace, name)
    values = []
    for key, value in entry.items():
        if key in ("resource", "namespace", "memory_usage_trend", "last_oom_kill"):
            continue
        scale = 0.001 if key.endswith("_ms") else 1
        for found in value.values() if key == "series" else (value,):
            points = found if isinstance(found, list) else [{"value": found}]
            values += [parse_value(point["value"], scale) for point in points]
    wanted = [(rf"value: \"?{re.escape(value or 'unread')}\"?\n", text) for value in values]
    if "memory_usage_trend" in entry:
        numbers = [int(each) for each in re.findall(r"- lastUpdated.*\n(?: .*\n)*?  +value: \"(\d+)\"", text)]
        assert len(numbers) == 5
        assert numbers == sorted(numbers, reverse=True)
    if "last_oom_kill" in entry:
        wanted.append((r"container_oom_events_total", text))
    return wanted


def check_hpa(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    text = kubectl.read("get", "hpa", name, "-n", namespace)
    wanted = [
        (
            rf"{name} +D?d?eployment/{entry['target'].partition('/')[2]}",
            text.replace("Deployment", "deployment"),
        )
    ]
    if entry.get("current_status"):
        wanted.append((r"cpu: 173%/80% +2 +10 +3 ", text))
        wanted.append(("ScaleUpStabilized", kubectl.read("describe", "hpa", name, "-n", namespace)))
    return wanted


def check_configmap(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    found = kubectl.object("configmap", name, namespace)
    assert found.get("data", {}) == entry.get("data", {})
    notes = found["metadata"].get("annotations", {})
    return [
        (f"^{re.escape(value)}$", notes.get(key, "")) for key, value in entry.get("annotations", {}).items()
    ]


def check_secret(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    stored = kubectl.object("secret", name, namespace)["data"]
    for value in stored.values():
        base64.b64decode(value, validate=True)
    assert stored == entry["data"]
    return []


def check_service(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    text = kubectl.read("describe", "service", name, "-n", namespace)
    ready = r"Endpoints: *\n" if "endpoints" in entry else r"Endpoints: +(10\.|\n)"
    return [(ready, text.replace("<none>", ""))]


def check_ingress(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    text = kubectl.read("describe", "ingress", name, "-n", namespace)
    if entry.get("status") == "returning_503":
        return [(r"api-backend:80 \( *\)", text)]
    return [(rf"{entry['backend']}:80 \(10\.", text), (re.escape(entry["host"]), text)]


def check_namespace(kubectl: Reader, entry: Any, name: str, _: str) -> list[tuple[str, str]]:
    text = kubectl.read("describe", "namespace", name)
    wanted = [(rf"{key}={value}", text) for key, value in entry.get("labels", {}).items()]
    wanted += [(re.escape(value), text) for value in entry.get("annotations", {}).values()]
    if "zone" in entry:
        wanted.append((f"security-zone={entry['zone']}", text))
    for inner in entry.get("deployments", ()):
        wanted.append((rf"{inner} +1/1", kubectl.read("get", "deployments", "-n", name)))
    wanted += [(re.escape(quota), text) for quota in entry.get("resource_quotas", ())]
    return wanted


def check_events(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    text = kubectl.read("get", "events", "-n", name or namespace)
    return [
        (rf"{item['age']} +{item['type']} +{item['reason']} +{item['object']}", text)
        for item in entry["recent"]
    ]


def check_logs(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    pods = kubectl.read("get", "pods", "-n", namespace, "-l", f"app={name}", "-o", "name").split()
    assert pods, f"nobody wrote the lines of {name}"
    text = kubectl.read("logs", pods[0], "-n", namespace)
    return [(re.escape(line), text) for line in entry["entries"]]


def check_alert(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    title = "".join(word.capitalize() for word in name.split("-"))
    return [
        (f"alert: {title}", kubectl.read("get", "prometheusrule", name, "-n", namespace, "-o", "yaml")),
        (rf"{title}.*{entry['status']}.* 1 ", kubectl.read("get", "keptnmetrics", "-n", namespace)),
    ]


def check_traces(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    document = json.loads(kubectl.object("configmap", f"trace-{name}", namespace)["data"]["trace.json"])
    spans = document["data"][0]["spans"]
    durations = {span["operationName"]: span["duration"] for span in spans}
    stack = [entry.get("root_span") or entry["spans"][0]]
    while stack:
        wanted = stack.pop()
        assert durations[wanted.get("operation") or wanted["name"]] == wanted["duration_ms"] * 1000
        stack += wanted.get("children", ())
    assert len([span for span in spans if not span["references"]]) == 1
    return [("abc123|^[0-9a-f]{16}$", document["data"][0]["traceID"])]


def check_dashboard(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    listed = kubectl.read("get", "configmaps", "-n", namespace, "-l", "grafana_dashboard=1")
    text = kubectl.object("configmap", f"dashboard-{name}", namespace)["data"][f"{name}.json"]
    document = json.loads(text)
    assert len(document["panels"]) == len(entry["panels"])
    wanted = [(f"dashboard-{name}", listed)]
    if "title" in entry:
        wanted.append((f"^{re.escape(entry['title'].strip())}$", document["title"]))
    for panel, found in zip(entry["panels"], document["panels"], strict=True):
        if isinstance(panel, dict):
            wanted.append((re.escape(str(panel["current_value"])), found["description"]))
            number = re.match(r"[\d.]+", str(panel["current_value"]))
            assert number is not None
            assert found["snapshotData"][0]["fields"][1]["values"] == [float(number[0])]
    return wanted


def check_runbook(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    text = kubectl.object("configmap", f"runbook-{name}", namespace)["data"]["runbook.md"]
    return [(rf"^{place}\. {re.escape(step)}$", text) for place, step in enumerate(entry["steps"], 1)]


def check_migration(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    status = kubectl.object("atlasmigration", name, namespace)["status"]
    wanted = [
        (f"^{entry['last_migration']}$", status["lastAppliedVersion"]),
        (rf"{name} +True +Applied", kubectl.read("get", "atlasmigrations", "-n", namespace)),
    ]
    if "records_created_since" in entry:
        wanted.append((rf'value: "{entry["records_created_since"]}"', metrics(kubectl, namespace, name)))
    return wanted


def check_application(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
    found = kubectl.object("applications.argoproj.io", name, namespace)
    listed = kubectl.read("get", "applications", "-n", namespace)
    source = found["spec"]["source"]
    return [
        (rf"{name} +{entry['sync_status'].capitalize()} +Healthy", listed),
        (f"^{re.escape(entry['source_repo'])}$", source["repoURL"]),
        (f"^{re.escape(entry['source_path'])}$", source["path"]),
        (name, str(found["status"]["resources"])),
    ]


def check_any(kind: str) -> Any:
    def check(kubectl: Reader, entry: Any, name: str, namespace: str) -> list[tuple[str, str]]:
        text = kubectl.read("describe", kind, name, "-n", namespace)
        return [(r"Status: +Bound" if entry.get("bound") else name, text)]

    return check


CHECKS = {
    "deployment": check_deployment, "pod": check_pod, "node": check_node, "nodes": check_nodes,
    "metrics": check_metrics, "hpa": check_hpa, "configmap": check_configmap, "secret": check_secret,
    "service": check_service, "ingress": check_ingress, "namespace": check_namespace,
    "events": check_events, "logs": check_logs, "alert": check_alert, "traces": check_traces,
    "dashboard": check_dashboard, "runbook": check_runbook, "database-migration": check_migration,
    "gitops-application": check_application,
    "pvc": check_any("pvc"), "networkpolicy": check_any("networkpolicy"),
}  # fmt: skip
