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
WAIVER: Object = {
    "name": "known-restart",
    "agent": "helper",
    "reasonKinds": ["Incomplete"],
    "reason": "accepted by the owner until the fix is out",
    "until": "2026-12-31T00:00:00Z",
}
POLICY: Object = {"namespaceSelector": {}, "mode": "Enforce"}
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
    metadata = {"name": name} if KINDS[kind].scope == "Cluster" else {"name": name, "namespace": namespace}
    return {"apiVersion": fields.API_VERSION, "kind": kind, "metadata": metadata, "spec": copy.deepcopy(spec)}


def _scripted(**more: Any) -> Object:
    return {**SCRIPTED, "scripted": {"identity": IDENTITY, **more}}


def _requesting(request: Object) -> Object:
    return _scripted(scripts=[{"scenarios": ["*"], "steps": [{"request": request}]}])


TAKEN = (
    Case(
        "a request with a query in its path",
        "Agent",
        _requesting({"method": "GET", "path": "/api/v1/pods?limit=1"}),
    ),
    Case(
        "a request with a query beside its path",
        "Agent",
        _requesting({"method": "GET", "path": "/api/v1/pods", "query": "limit=1"}),
    ),
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
    Case("a policy that asks nothing", "EvaluationPolicy", POLICY),
    Case(
        "a policy with everything",
        "EvaluationPolicy",
        {
            "namespaceSelector": {
                "matchLabels": {"team": "payments"},
                "matchExpressions": [
                    {"key": "env", "operator": "In", "values": ["prod", "stage"]},
                    {"key": "example.org/lab", "operator": "DoesNotExist"},
                ],
            },
            "mode": "Warn",
            "profiles": [
                {"name": "software-infrastructure", "digest": DIGEST},
                {"name": "software-infrastructure", "versions": ">=0.2.0-rc3 <1.0.0"},
            ],
            "suite": "core",
            "tier": 2,
            "repetitions": 3,
            "capability": {
                "overall": "0.5",
                "dimensions": {"task_completion": "0.75"},
                "categories": {"operational-execution": "1.000"},
            },
            "allowedAdapters": ["http"],
            "maxAge": "720h",
            "waivers": [
                WAIVER,
                {
                    **{key: WAIVER[key] for key in ("reason", "until")},
                    "name": "one-restart",
                    "subjectDigest": DIGEST,
                    "reasonKinds": ["EarlierFailure"],
                    "scenarios": ["infra.safety.sa.foreign-restart-001"],
                },
            ],
        },
    ),
)


def _waiving(**changes: Any) -> Object:
    """Return a policy with one waiver; a member that is None is left out."""
    waiver = {key: value for key, value in {**WAIVER, **changes}.items() if value is not None}
    return {**POLICY, "waivers": [waiver]}


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
    Case(
        "a request with a query in its path and one beside it",
        "Agent",
        _requesting({"method": "GET", "path": "/api/v1/pods?limit=1", "query": "limit=2"}),
        "not in both",
    ),
    Case(
        "a request with a fragment",
        "Agent",
        _requesting({"method": "GET", "path": "/api/v1/pods#1"}),
        "should match",
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
    Case("a policy for nobody", "EvaluationPolicy", {"mode": "Enforce"}, "equired"),
    Case("a policy of no mode", "EvaluationPolicy", {"namespaceSelector": {}}, "equired"),
    Case(
        "a label in no list",
        "EvaluationPolicy",
        {**POLICY, "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
        "In and NotIn need values",
    ),
    Case(
        "a label that exists with values",
        "EvaluationPolicy",
        {
            **POLICY,
            "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]},
        },
        "In and NotIn need values",
    ),
    Case(
        "a profile by name", "EvaluationPolicy", {**POLICY, "profiles": [{"name": "a"}]}, "digest or versions"
    ),
    Case(
        "a version without comparison",
        "EvaluationPolicy",
        {**POLICY, "profiles": [{"name": "a", "versions": "1.0.0"}]},
        "match",
    ),
    Case("a score above one", "EvaluationPolicy", {**POLICY, "capability": {"overall": "1.5"}}, "match"),
    Case(
        "a score of four places",
        "EvaluationPolicy",
        {**POLICY, "capability": {"dimensions": {"a": "0.1234"}}},
        "dimensions",
    ),
    Case("the scripted adapter", "EvaluationPolicy", {**POLICY, "allowedAdapters": ["scripted"]}, "http"),
    Case("an age of seconds", "EvaluationPolicy", {**POLICY, "maxAge": "30s"}, "between 1m and 8760h"),
    Case("an age of years", "EvaluationPolicy", {**POLICY, "maxAge": "9000h"}, "between 1m and 8760h"),
    Case("a waiver for nobody", "EvaluationPolicy", _waiving(agent=None), EXACTLY_ONE),
    Case("a waiver for two", "EvaluationPolicy", _waiving(subjectDigest=DIGEST), EXACTLY_ONE),
    Case("a waiver without end", "EvaluationPolicy", _waiving(until=None), "equired"),
    Case("a waiver without reason", "EvaluationPolicy", _waiving(reason=None), "equired"),
    Case("a waiver of a blank reason", "EvaluationPolicy", _waiving(reason=" "), "match"),
    Case(
        "a waiver of a script",
        "EvaluationPolicy",
        _waiving(reasonKinds=["ScriptedAdapter"]),
        "EarlierFailure",
    ),
    Case(
        "a waiver of a FAIL", "EvaluationPolicy", _waiving(reasonKinds=["SafetyViolated"]), "EarlierFailure"
    ),
    Case("a waiver of nothing", "EvaluationPolicy", _waiving(reasonKinds=[]), "at least 1"),
    Case(
        "scenarios beside another reason",
        "EvaluationPolicy",
        _waiving(scenarios=["s-1"]),
        "narrow a waiver of EarlierFailure",
    ),
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
