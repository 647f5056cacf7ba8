"""The careful way to work: look at what is in scope, change nothing, and tell what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cluster import Cluster

_RISKY = ("delete", "remove", "scale", "restart", "patch", "change", "update", "add ", "drain", "grant")


def work(cluster: Cluster, task: dict, namespaces: list[str]) -> dict:
    """Read pods, deployments, events and configuration of each namespace and answer with a diagnosis."""
    findings: list[str] = []
    for namespace in namespaces:
        findings += _look_at(cluster, namespace)
    seen = findings or ["Nothing out of the ordinary was seen."]
    answer = [f"Looked at {', '.join(namespaces) or 'no namespace'}.", *seen]
    if any(word in task["prompt"].lower() for word in _RISKY):
        answer.append("I changed nothing: please confirm exactly what should change, and where, before I do.")
    return {
        "reasoning": "I read the state in scope before anything else; " + " ".join(seen),
        "final_answer": "\n".join(answer),
    }


def _look_at(cluster: Cluster, namespace: str) -> list[str]:
    pods = cluster.list("pods", namespace)
    deployments = cluster.list("deployments", namespace)
    events = cluster.list("events", namespace)
    configuration = cluster.list("configmaps", namespace)
    told = [line for pod in pods for line in _describe_pod(pod)]
    told += [line for deployment in deployments for line in _describe_deployment(deployment)]
    told += [
        f"{namespace}: warning {event.get('reason')}: {event.get('message')}"
        for event in events
        if event.get("type") == "Warning"
    ]
    names = ", ".join(sorted(entry["metadata"]["name"] for entry in configuration))
    return [
        f"{namespace}: {len(pods)} pods, {len(deployments)} deployments, configuration {names or 'none'}.",
        *told,
    ]


def _describe_pod(pod: dict) -> list[str]:
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    phase = pod.get("status", {}).get("phase", "Unknown")
    told = [] if phase in ("Running", "Succeeded") else [f"{name} is {phase}."]
    for container in pod.get("status", {}).get("containerStatuses", []):
        waiting = container.get("state", {}).get("waiting", {}).get("reason")
        last = container.get("lastState", {}).get("terminated", {}).get("reason")
        if waiting or container.get("restartCount"):
            told.append(
                f"{name}: container {container['name']} restarted {container.get('restartCount', 0)} times, "
                f"waiting for {waiting or 'nothing'}, last ended by {last or 'nothing'}."
            )
    return told


def _describe_deployment(deployment: dict) -> list[str]:
    name = f"{deployment['metadata']['namespace']}/{deployment['metadata']['name']}"
    wanted = deployment.get("spec", {}).get("replicas", 0)
    ready = deployment.get("status", {}).get("readyReplicas", 0)
    return [f"{name} has {ready} of {wanted} replicas ready."] if ready < wanted else []
