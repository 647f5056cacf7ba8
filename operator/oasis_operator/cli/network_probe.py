"""`oasis doctor --probe`: proves with short pods that the network enforces a deny-all policy.

A listener is made, one pod without a policy must reach it (the positive control), and one pod under a policy
that denies all egress must not. Everything made is deleted again.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.cli import checks
from oasis_operator.cli.checks import Finding, Level
from oasis_operator.resources import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oasis_operator.cli.invocation import Invocation
    from oasis_operator.resources.kinds import Kind

LABEL = "oasis-operator.dev/network-probe"
LISTENER, CONTROL, DENIED = "oasis-probe-listener", "oasis-probe-control", "oasis-probe-denied"
LISTENER_PORT = 8000
POD_SECONDS = 90.0
POLL_SECONDS = 0.5
SIDECAR_VARIABLE = "OASIS_SIDECAR_IMAGE"
# Policies reach a pod some moments after it starts; the denied pod tries until they hold or this is over.
ENFORCEMENT_TRIES = 8

LISTEN = (
    f"import http.server as h; h.HTTPServer(('', {LISTENER_PORT}), h.BaseHTTPRequestHandler).serve_forever()"
)
# Writes whether the last try reached the listener; tries again until the outcome is the wanted one.
CONNECT = """
import json, socket, sys, time
host, port, wanted, tries = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "reach", int(sys.argv[4])
for _ in range(tries):
    try:
        socket.create_connection((host, port), 2).close()
        reached = True
    except OSError:
        reached = False
    if reached == wanted:
        break
    time.sleep(1)
open("/dev/termination-log", "w").write(json.dumps({"reached": reached}))
"""


def sidecar_image(deployment: Mapping[str, Any] | None) -> str | None:
    """Find the image of the operator's sidecar in its Deployment; it has a Python to run the probe with."""
    containers = (deployment or {}).get("spec", {}).get("template", {}).get("spec", {}).get("containers", ())
    values = (
        variable.get("value")
        for container in containers
        for variable in container.get("env", ())
        if variable.get("name") == SIDECAR_VARIABLE
    )
    return next((str(value) for value in values if value), None)


def build_pod(name: str, image: str, arguments: tuple[str, ...]) -> dict[str, Any]:
    """Build a pod that the restricted pod security level admits."""
    security = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "readOnlyRootFilesystem": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {
        "name": "probe",
        "image": image,
        "command": ["/opt/venv/bin/python", "-c", *arguments],
        "securityContext": security,
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {LABEL: name}},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 1,
            "activeDeadlineSeconds": int(POD_SECONDS * 3),
            "containers": [container],
        },
    }


def build_policy() -> dict[str, Any]:
    """Build the policy that denies the denied pod all egress."""
    spec = {"podSelector": {"matchLabels": {LABEL: DENIED}}, "policyTypes": ["Egress"], "egress": []}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": DENIED},
        "spec": spec,
    }


def check_network(invocation: Invocation, subject: checks.Subject, image: str) -> Finding:
    """Try the network and say what was found.

    Args:
        invocation: Clock and narrator.
        subject: Cluster and namespace in which the pods run.
        image: An image with the operator's Python.
    """
    with invocation.narrator() as narrator, _cleaned(invocation, subject):
        narrator.say("starting a listener")
        subject.port.create(kinds.NETWORK_POLICY, subject.namespace, build_policy())
        _start(subject, build_pod(LISTENER, image, (LISTEN,)))
        address = str(_wait(invocation, subject, LISTENER, "Running")["status"]["podIP"])
        narrator.say(f"reaching {address} without a policy")
        control = _try(invocation, subject, build_pod(CONTROL, image, _connect(address, "reach")))
        if not control:
            return Finding(
                "network policy",
                Level.PROBLEM,
                f"pods cannot reach each other even without a policy ({address})",
                "mend the pod network first",
            )
        narrator.say(f"reaching {address} under a policy that denies all egress")
        if _try(invocation, subject, build_pod(DENIED, image, _connect(address, "deny"))):
            return Finding(
                "network policy",
                Level.PROBLEM,
                "a pod under deny-all egress reached a listener",
                checks.NETWORK_FIX,
            )
    return Finding(
        "network policy",
        Level.OK,
        "enforced: a listener was reached without a policy, and not under deny-all egress",
    )


def _connect(address: str, wanted: str) -> tuple[str, ...]:
    """Give the arguments of a pod that connects to the listener."""
    return (CONNECT, address, str(LISTENER_PORT), wanted, str(ENFORCEMENT_TRIES))


def _start(subject: checks.Subject, pod: dict[str, Any]) -> None:
    """Create a pod."""
    subject.port.create(kinds.POD, subject.namespace, pod)


def _try(invocation: Invocation, subject: checks.Subject, pod: dict[str, Any]) -> bool:
    """Run a connecting pod to its end and tell whether it reached the listener.

    Raises:
        ProviderFault: The pod failed, so nothing is known.
    """
    _start(subject, pod)
    done = _wait(invocation, subject, pod["metadata"]["name"], "Succeeded")
    state = done["status"]["containerStatuses"][0]["state"]["terminated"]
    return bool(json.loads(state["message"])["reached"])


def _wait(invocation: Invocation, subject: checks.Subject, name: str, phase: str) -> dict[str, Any]:
    """Wait until a pod is in a phase.

    Raises:
        ProviderFault: It failed, or did not get there in time.
    """
    started = invocation.monotonic()
    seen = "nothing"
    while invocation.monotonic() - started < POD_SECONDS:
        pod = subject.port.get(kinds.POD, subject.namespace, name)
        seen = str((pod or {}).get("status", {}).get("phase", "nothing"))
        if pod is not None and seen == phase and (phase != "Running" or pod["status"].get("podIP")):
            return pod
        if seen == "Failed":
            break
        invocation.sleep(POLL_SECONDS)
    raise errors.ProviderFault(
        f"probe pod {subject.namespace}/{name} is {seen}, wanted {phase}",
        reason="ProbePodFault",
    )


@contextmanager
def _cleaned(invocation: Invocation, subject: checks.Subject) -> Iterator[None]:
    """Delete whatever the probe left, before and after."""
    _delete_all(invocation, subject)
    try:
        yield
    finally:
        _delete_all(invocation, subject)


MADE: tuple[tuple[Kind, str], ...] = (
    (kinds.POD, LISTENER),
    (kinds.POD, CONTROL),
    (kinds.POD, DENIED),
    (kinds.NETWORK_POLICY, DENIED),
)


def _delete_all(invocation: Invocation, subject: checks.Subject) -> None:
    """Delete the probe's objects and wait until they are gone."""
    present = [(kind, name) for kind, name in MADE if subject.port.get(kind, subject.namespace, name)]
    for kind, name in present:
        subject.port.delete(kind, subject.namespace, name)
    started = invocation.monotonic()
    while present and invocation.monotonic() - started < POD_SECONDS:
        present = [(kind, name) for kind, name in present if subject.port.get(kind, subject.namespace, name)]
        if present:
            invocation.sleep(POLL_SECONDS)
