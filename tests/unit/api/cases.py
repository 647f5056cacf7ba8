"""Objects that the API must take and objects that it must refuse, shared by the tests of model, schema and API server."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from oasis_operator.api import definitions, fields

Object = dict[str, Any]

DIGEST = "sha256:" + "a" * 64
IDENTITY = {"name": "idle", "version": "1.0.0"}
KINDS = {definition.kind: definition for definition in definitions.ALL}

SCRIPTED: Object = {"scripted": {"identity": IDENTITY}, "mode": "Autonomous"}
HTTP: Object = {"http": {"port": 8080}, "image": "agent:1", "mode": "ReadOnly"}
KUBERNETES: Object = {"kubernetes": {"nodes": 3}, "tier": 1}
EVALUATION: Object = {
    "agentRef": {"name": "idle"},
    "environmentRef": {"name": "small"},
    "profile": {"bundled": "software-infrastructure"},
    "tier": 1,
}
RUN: Object = {
    "evaluation": {"name": "first", "uid": "6f7c"},
    "scenarioID": "infra.safety.be.zone-violation-001",
    "scenarioDigest": DIGEST,
    "profile": {
        "name": "software-infrastructure",
        "version": "0.2.0-rc3",
        "digest": DIGEST,
        "source": {"bundled": "software-infrastructure"},
    },
    "repetition": 1,
    "attempt": 1,
    "agentRef": {"name": "idle"},
    "environmentRef": {"name": "small"},
    "subjectDigest": DIGEST,
}
STEPS: list[Object] = [
    {"request": {"method": "PATCH", "path": "/api/v1/pods", "body": [{"op": "add"}, 1, None]}},
    {"pauseSeconds": 3},
]
SECRET_ENV = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "model", "key": "api-key"}}}
EXACTLY_ONE = "exactly one of"


@dataclass(frozen=True)
class Case:
    """One spec of a kind; `message` is part of the refusal, None where it must be taken."""

    name: str
    kind: str
    spec: Object
    message: str | None = None

    def body(self, name: str = "case", namespace: str = "default") -> Object:
        return body_of(self.kind, self.spec, name, namespace)


@dataclass(frozen=True)
class Change:
    """One update of a spec; `message` is part of the refusal, None where it must be taken."""

    name: str
    kind: str
    before: Object
    after: Object
    message: str | None = None


def body_of(kind: str, spec: Object, name: str = "case", namespace: str = "default") -> Object:
    """Return a whole object."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": fields.API_VERSION, "kind": kind, "metadata": metadata, "spec": copy.deepcopy(spec)}


def _scripted(**more: Any) -> Object:
    return {**SCRIPTED, "scripted": {"identity": IDENTITY, **more}}


TAKEN = (
    Case("an idle scripted agent", "Agent", SCRIPTED),
    Case(
        "a scripted agent with steps and a witness",
        "Agent",
        _scripted(
            scripts=[{"scenarios": ["infra.safety.*"], "steps": STEPS}], witness="Satisfying", answer="done"
        ),
    ),
    Case(
        "an http agent with everything",
        "Agent",
        {
            **HTTP,
            "command": ["/agent"],
            "args": ["--serve"],
            "env": [{"name": "LEVEL", "value": ""}, SECRET_ENV],
            "imagePullSecrets": [{"name": "registry"}],
            "podTemplate": {
                "resources": {"requests": {"cpu": 1, "memory": "64Mi"}, "limits": {"cpu": "1500m"}},
                "runtimeClassName": "gvisor",
                "nodeSelector": {"kubernetes.io/arch": "amd64"},
                "securityContext": {"runAsUser": 1000},
            },
            "tools": ["kubectl"],
        },
    ),
    Case(
        "a configuration of scalars",
        "Agent",
        {**SCRIPTED, "configuration": {"zone_model": True, "interface_type": "cli", "depth": 3}},
    ),
    Case("an environment of defaults", "Environment", {"kubernetes": {}}),
    Case(
        "an environment with resources",
        "Environment",
        {
            "kubernetes": {"nodes": 10, "settleSeconds": 0, "resources": {"limits": {"memory": "2Gi"}}},
            "tier": 3,
        },
    ),
    Case("the shortest evaluation", "Evaluation", EVALUATION),
    Case(
        "an evaluation with everything",
        "Evaluation",
        {
            **EVALUATION,
            "profile": {"configMap": {"name": "profile"}},
            "select": {
                "classes": ["safety", "capability"],
                "categories": ["boundary-enforcement"],
                "scenarios": ["*.be.*"],
            },
            "parallelism": 12,
            "repetitions": 20,
            "timeouts": {"provisioning": "90s", "running": "1h30m", "judging": "1500ms"},
            "unassessable": "Report",
            "retention": {"ttlAfterFinished": "24h"},
            "state": "Suspend",
            "runToken": "2026-11-30",
            "evaluator": "Platform team",
        },
    ),
    Case("a run", "ScenarioRun", RUN),
)

REFUSED = (
    Case("no adapter", "Agent", {"mode": "ReadOnly"}, EXACTLY_ONE),
    Case("two adapters", "Agent", {**SCRIPTED, "http": {"port": 80}}, EXACTLY_ONE),
    Case("http without image", "Agent", {"http": {"port": 8080}, "mode": "ReadOnly"}, "http needs image"),
    Case("scripted with an image", "Agent", {**SCRIPTED, "image": "a"}, "no container of its own"),
    Case("scripted with a pod template", "Agent", {**SCRIPTED, "podTemplate": {}}, "no container of its own"),
    Case("the adapter's port", "Agent", {**HTTP, "http": {"port": 8443}}, "belongs to the adapter"),
    Case("an empty step", "Agent", _scripted(scripts=[{"scenarios": ["*"], "steps": [{}]}]), EXACTLY_ONE),
    Case(
        "a step that both asks and waits",
        "Agent",
        _scripted(scripts=[{"scenarios": ["*"], "steps": [{**STEPS[0], "pauseSeconds": 1}]}]),
        EXACTLY_ONE,
    ),
    Case("a variable without value", "Agent", {**HTTP, "env": [{"name": "A"}]}, EXACTLY_ONE),
    Case("a variable with two values", "Agent", {**HTTP, "env": [{**SECRET_ENV, "value": "x"}]}, EXACTLY_ONE),
    Case(
        "a variable from the Secret of a run",
        "Agent",
        {
            **HTTP,
            "env": [
                {
                    "name": "KEY",
                    "valueFrom": {"secretKeyRef": {"name": "r-abcdefgh27", "key": "cluster-ca.key"}},
                }
            ],
        },
        "belongs to the Secrets of scenario runs",
    ),
    Case(
        "a variable of the operator",
        "Agent",
        {**HTTP, "env": [{"name": "KUBECONFIG", "value": "x"}]},
        "set by the operator",
    ),
    Case(
        "a variable of the API",
        "Agent",
        {**HTTP, "env": [{"name": "KUBERNETES_SERVICE_HOST", "value": "x"}]},
        "set by the operator",
    ),
    Case(
        "root",
        "Agent",
        {**HTTP, "podTemplate": {"securityContext": {"runAsUser": 0}}},
        "greater than or equal to 1",
    ),
    Case("no world", "Environment", {"tier": 1}, EXACTLY_ONE),
    Case("eleven nodes", "Environment", {"kubernetes": {"nodes": 11}}, "less than or equal to 10"),
    Case("tier four", "Environment", {**KUBERNETES, "tier": 4}, "less than or equal to 3"),
    Case("no tier", "Evaluation", {key: EVALUATION[key] for key in EVALUATION if key != "tier"}, "equired"),
    Case("no profile", "Evaluation", {**EVALUATION, "profile": {}}, EXACTLY_ONE),
    Case(
        "two profiles",
        "Evaluation",
        {**EVALUATION, "profile": {"bundled": "a", "configMap": {"name": "b"}}},
        EXACTLY_ONE,
    ),
    Case(
        "capability alone",
        "Evaluation",
        {**EVALUATION, "select": {"classes": ["capability"]}},
        "without safety",
    ),
    Case("thirteen at once", "Evaluation", {**EVALUATION, "parallelism": 13}, "less than or equal to 12"),
    Case(
        "a timeout of nothing",
        "Evaluation",
        {**EVALUATION, "timeouts": {"running": "0s"}},
        "between 1s and 24h",
    ),
    Case(
        "a timeout of two days",
        "Evaluation",
        {**EVALUATION, "timeouts": {"running": "48h"}},
        "between 1s and 24h",
    ),
    Case("a timeout without unit", "Evaluation", {**EVALUATION, "timeouts": {"running": "30"}}, "match"),
    Case("an ISO duration", "Evaluation", {**EVALUATION, "timeouts": {"running": "PT30S"}}, "match"),
    Case(
        "a run without evaluation",
        "ScenarioRun",
        {key: RUN[key] for key in RUN if key != "evaluation"},
        "equired",
    ),
    Case("a run of repetition zero", "ScenarioRun", {**RUN, "repetition": 0}, "greater than or equal to 1"),
    Case("a digest of another kind", "ScenarioRun", {**RUN, "subjectDigest": "md5:00"}, "match"),
)

FROZEN = "what is evaluated is frozen"
CHANGES = (
    Change("the tier", "Evaluation", EVALUATION, {**EVALUATION, "tier": 2}, FROZEN),
    Change("the agent", "Evaluation", EVALUATION, {**EVALUATION, "agentRef": {"name": "other"}}, FROZEN),
    Change(
        "the environment",
        "Evaluation",
        EVALUATION,
        {**EVALUATION, "environmentRef": {"name": "other"}},
        FROZEN,
    ),
    Change("the profile", "Evaluation", EVALUATION, {**EVALUATION, "profile": {"bundled": "other"}}, FROZEN),
    Change(
        "a narrower selection", "Evaluation", EVALUATION, {**EVALUATION, "select": {"suite": "a"}}, FROZEN
    ),
    Change("a wider selection", "Evaluation", {**EVALUATION, "select": {"suite": "a"}}, EVALUATION, FROZEN),
    Change("a timeout", "Evaluation", EVALUATION, {**EVALUATION, "timeouts": {"running": "5s"}}, FROZEN),
    Change("the repetitions", "Evaluation", EVALUATION, {**EVALUATION, "repetitions": 2}, FROZEN),
    Change(
        "the unassessable rule", "Evaluation", EVALUATION, {**EVALUATION, "unassessable": "Report"}, FROZEN
    ),
    Change("the evaluator", "Evaluation", EVALUATION, {**EVALUATION, "evaluator": "x"}, FROZEN),
    Change(
        "a default spelled out",
        "Evaluation",
        EVALUATION,
        {**EVALUATION, "repetitions": 1, "unassessable": "Refuse"},
    ),
    Change("the tier with a new token", "Evaluation", EVALUATION, {**EVALUATION, "tier": 2, "runToken": "2"}),
    Change("the token taken away", "Evaluation", {**EVALUATION, "runToken": "2"}, {**EVALUATION, "tier": 2}),
    Change("the parallelism", "Evaluation", EVALUATION, {**EVALUATION, "parallelism": 4}),
    Change("the state", "Evaluation", EVALUATION, {**EVALUATION, "state": "Cancel"}),
    Change(
        "the retention", "Evaluation", EVALUATION, {**EVALUATION, "retention": {"ttlAfterFinished": "1h"}}
    ),
    Change(
        "a cancelled run resumed",
        "Evaluation",
        {**EVALUATION, "state": "Cancel"},
        EVALUATION,
        "stays cancelled",
    ),
    Change(
        "a cancelled run started anew",
        "Evaluation",
        {**EVALUATION, "state": "Cancel"},
        {**EVALUATION, "state": "Run", "runToken": "2"},
    ),
    Change("a run", "ScenarioRun", RUN, {**RUN, "attempt": 2}, "never changes"),
    Change("a run's timeouts", "ScenarioRun", RUN, {**RUN, "timeouts": {"running": "5s"}}, "never changes"),
    Change("a run written again", "ScenarioRun", RUN, RUN),
)
