"""The checks of `oasis doctor`: each looks at one thing and says how to mend it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from typing import TYPE_CHECKING, Any

from oasis_operator import errors
from oasis_operator.api import conditions, fields
from oasis_operator.api.definitions import ALL as DEFINITIONS
from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.cli import cluster, console
from oasis_operator.resources import kinds, labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Admission policies, CEL rules in custom resources and native sidecars are all on by default from here on.
OLDEST_KUBERNETES = (1, 30)
ENFORCE_LABEL = "pod-security.kubernetes.io/enforce"
OPERATOR_SELECTOR = f"{labels.APP_NAME}={labels.OPERATOR_NAME}"
VERSION_LABEL = "app.kubernetes.io/version"
PULL_FAILURES = frozenset({"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull"})
INSTALL = (
    "install or upgrade the chart: helm upgrade --install oasis-operator charts/oasis-operator -n NAMESPACE"
)


class Level(StrEnum):
    """How a check came out."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check; `fix` is empty where there is nothing to mend."""

    check: str
    level: Level
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is examined: a cluster, a namespace for evaluations and the operator's own namespace."""

    port: cluster.Cluster
    namespace: str
    operator_namespace: str


def check_context(subject: Subject) -> Finding:
    """Name the context and the server, so that nobody examines the wrong cluster."""
    port = subject.port
    return Finding("context", Level.OK, f"{port.context} at {port.server}, namespace {subject.namespace}")


def check_version(subject: Subject) -> Finding:
    """The API server is new enough."""
    answer = subject.port.version()
    text = str(answer.get("gitVersion", "unknown"))
    match = re.match(r"v(\d+)\.(\d+)", text)
    if match and (int(match[1]), int(match[2])) >= OLDEST_KUBERNETES:
        return Finding("kubernetes", Level.OK, text)
    oldest = ".".join(str(part) for part in OLDEST_KUBERNETES)
    return Finding(
        "kubernetes",
        Level.PROBLEM,
        f"{text} is older than {oldest}",
        f"use a cluster of version {oldest} or newer",
    )


def check_crds(subject: Subject) -> Finding:
    """All custom resources are installed and served in the version that this program speaks."""
    missing = [
        name
        for name in (f"{definition.plural}.{fields.GROUP}" for definition in DEFINITIONS)
        if not _serves(subject.port.get(cluster.CRD, "", name))
    ]
    if not missing:
        return Finding("custom resources", Level.OK, f"{len(DEFINITIONS)} kinds served in {fields.VERSION}")
    return Finding(
        "custom resources", Level.PROBLEM, f"not served in {fields.VERSION}: {', '.join(missing)}", INSTALL
    )


def _serves(definition: dict[str, Any] | None) -> bool:
    """Tell whether a CRD is established and serves our version."""
    if definition is None:
        return False
    facts = definition.get("status", {}).get("conditions", ())
    established = any(fact["type"] == "Established" and fact["status"] == "True" for fact in facts)
    versions = definition["spec"]["versions"]
    return established and any(entry["name"] == fields.VERSION and entry["served"] for entry in versions)


def operator_deployment(subject: Subject) -> dict[str, Any] | None:
    """Find the operator's Deployment; None where there is none in its namespace."""
    found = subject.port.list(cluster.DEPLOYMENT, subject.operator_namespace, OPERATOR_SELECTOR)
    return found[0] if found else None


def check_operator(subject: Subject) -> Finding:
    """The operator runs, and in this program's version."""
    deployment = operator_deployment(subject)
    where = subject.operator_namespace
    if deployment is None:
        return Finding(
            "operator",
            Level.PROBLEM,
            f"no operator in namespace {where}",
            f"{INSTALL}, or name its namespace with --operator-namespace",
        )
    name = deployment["metadata"]["name"]
    if not deployment.get("status", {}).get("readyReplicas"):
        return Finding(
            "operator",
            Level.PROBLEM,
            f"deployment {where}/{name} has no ready pod",
            f"kubectl -n {where} describe pods -l {OPERATOR_SELECTOR}; kubectl -n {where} logs deploy/{name}",
        )
    running = deployment["metadata"].get("labels", {}).get(VERSION_LABEL, "unknown")
    own = metadata.version("oasis-operator")
    if running != own:
        return Finding(
            "operator",
            Level.NOTE,
            f"operator {running}, command line {own}",
            "install the same version of both",
        )
    return Finding("operator", Level.OK, f"{where}/{name} is ready, version {running}")


def check_images(subject: Subject) -> Finding:
    """No pod of the operator or of a sandbox waits for an image that cannot be pulled."""
    waiting = sorted(
        {
            f"{namespace}/{pod['metadata']['name']}: {state.get('reason')} {status.get('image', '')}"
            for namespace in (subject.operator_namespace, subject.namespace)
            for pod in subject.port.list(kinds.POD, namespace)
            for status in _container_statuses(pod)
            if (state := status.get("state", {}).get("waiting", {})).get("reason") in PULL_FAILURES
        }
    )
    if not waiting:
        return Finding("image pull", Level.OK, "no pod waits for an image")
    fix = "check name and registry; pull secrets go into the chart's values and the Agent's imagePullSecrets"
    return Finding("image pull", Level.PROBLEM, console.clean("; ".join(waiting), 400), fix)


def _container_statuses(pod: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Give the statuses of all containers of a pod, init containers first."""
    status = pod.get("status", {})
    return (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ()))


def check_pod_security(subject: Subject) -> Finding:
    """The namespace keeps pods restricted, which sandboxes always are."""
    namespace = subject.port.get(cluster.NAMESPACE, "", subject.namespace)
    if namespace is None:
        return Finding(
            "pod security",
            Level.PROBLEM,
            f"namespace {subject.namespace} does not exist",
            f"kubectl create namespace {subject.namespace}",
        )
    level = namespace["metadata"].get("labels", {}).get(ENFORCE_LABEL)
    if level == "restricted":
        return Finding("pod security", Level.OK, f"namespace {subject.namespace} enforces restricted")
    detail = f"namespace {subject.namespace} enforces {level or 'nothing'}"
    return Finding(
        "pod security",
        Level.NOTE,
        detail,
        f"kubectl label namespace {subject.namespace} {ENFORCE_LABEL}=restricted --overwrite",
    )


WANTED_RIGHTS = (
    *(
        (verb, kind)
        for kind in (kinds.AGENT, kinds.ENVIRONMENT, kinds.EVALUATION)
        for verb in ("get", "list", "create", "patch", "delete")
    ),
    ("list", kinds.SCENARIO_RUN),
    ("create", kinds.CONFIG_MAP),
)


def check_rights(subject: Subject) -> Finding:
    """The caller may do what the command line does."""
    denied = [f"{verb} {kind.plural}" for verb, kind in WANTED_RIGHTS if not _may(subject, verb, kind)]
    if not denied:
        return Finding("rights", Level.OK, f"all that oasis needs in namespace {subject.namespace}")
    fix = f"bind ClusterRole edit in namespace {subject.namespace}; the chart adds the custom resources to it"
    return Finding("rights", Level.PROBLEM, f"denied: {', '.join(denied)}", fix)


def _may(subject: Subject, verb: str, kind: kinds.Kind) -> bool:
    """Ask the API server whether the caller may."""
    attributes = {"namespace": subject.namespace, "verb": verb, "group": kind.group, "resource": kind.plural}
    review = {
        "apiVersion": cluster.ACCESS_REVIEW.api_version,
        "kind": cluster.ACCESS_REVIEW.name,
        "spec": {"resourceAttributes": attributes},
    }
    return bool(subject.port.create(cluster.ACCESS_REVIEW, "", review).get("status", {}).get("allowed"))


def check_isolation(subject: Subject) -> Finding:
    """The network denied what it must, as the newest Evaluation with a result saw it."""
    bodies = subject.port.list(kinds.EVALUATION, subject.namespace)
    facts = [
        (fact.last_transition_time, evaluation.metadata.name, fact)
        for evaluation in (Evaluation.parse(body) for body in bodies)
        if (fact := conditions.find(evaluation.status.conditions, conditions.Type.EGRESS_DENIED)) is not None
        and fact.status is not conditions.State.UNKNOWN
    ]
    if not facts:
        fix = f"ask the network itself: oasis doctor -n {subject.namespace} --probe"
        return Finding("network policy", Level.NOTE, "no evaluation here has tried it yet", fix)
    _, name, fact = max(facts, key=lambda entry: (entry[0], entry[1]))
    if fact.status is conditions.State.TRUE:
        return Finding(
            "network policy",
            Level.OK,
            f"enforced, as evaluation {name} saw at {fact.last_transition_time:%Y-%m-%d %H:%M} UTC",
        )
    return Finding(
        "network policy", Level.PROBLEM, console.clean(f"evaluation {name}: {fact.message}", 300), NETWORK_FIX
    )


NETWORK_FIX = (
    "use a network plugin that enforces NetworkPolicy in both directions (Calico, Cilium, kube-router)"
)

CHECKS: tuple[Callable[[Subject], Finding], ...] = (
    check_context,
    check_version,
    check_crds,
    check_operator,
    check_images,
    check_rights,
    check_pod_security,
    check_isolation,
)


def run_checks(
    subject: Subject, checks: Iterable[Callable[[Subject], Finding]] = CHECKS
) -> Iterable[Finding]:
    """Run checks one by one; one that may not look is a finding of its own and stops none of the others.

    Raises:
        Transient: The cluster does not answer at all.
    """
    for check in checks:
        try:
            yield check(subject)
        except errors.NotReady as refusal:
            title = check.__name__.removeprefix("check_").replace("_", " ")
            yield Finding(
                title,
                Level.NOTE,
                console.clean(refusal.message, 300),
                "ask an administrator to run oasis doctor",
            )
