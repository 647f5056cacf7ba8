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
CLI: Object = {
    "cli": {"identity": IDENTITY, "prompt": {"by": "Argument"}},
    "image": "agent:1",
    "command": ["/agent"],
    "mode": "Autonomous",
}
MODEL: Object = {
    "openai": {"identity": IDENTITY, "api": "ChatCompletions"},
    "model": {"name": "m-1", "baseURL": "https://models.example/v1"},
    "mode": "Autonomous",
}
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


def _commanded(**more: Any) -> Object:
    return {**CLI, "cli": {**CLI["cli"], **more}}


def _modelled(**more: Any) -> Object:
    return {**MODEL, "model": {**MODEL["model"], **more}}


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
    Case("a model", "Agent", MODEL),
    Case("a container with a model", "Agent", {**HTTP, "model": MODEL["model"]}),
    Case(
        "a model with everything",
        "Agent",
        {
            "anthropic": {
                "identity": IDENTITY,
                "instructions": "Be careful.",
                "maxOutputTokens": 4096,
                "temperature": "0.25",
                "stream": False,
            },
            "model": {
                "name": "m-1",
                "baseURL": "http://10.0.0.7:8000/api",
                "secretRef": {"name": "key"},
            },
            "mode": "ReadOnly",
        },
    ),
    Case("a command", "Agent", CLI),
    Case(
        "a command with everything",
        "Agent",
        {
            **_commanded(
                prompt={"by": "File", "path": "/work/in/task.md"},
                answer={"source": "File", "path": "/work/out.json", "jsonPath": ".items[-1].text"},
                tty=True,
                successCodes=[0, 3],
            ),
            "args": ["--task", "/work/in/task.md"],
        },
    ),
    Case(
        "a command with a variable",
        "Agent",
        _commanded(prompt={"by": "Environment", "name": "TASK"}, answer={"source": "Output"}),
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
    Case("no pool", "Environment", {"kubernetes": {"warmPool": {"size": 0}}}),
    Case("a pool of environments", "Environment", {"kubernetes": {"warmPool": {"size": 64, "maxAge": "1m"}}}),
    Case("a foreign provider", "Environment", {"provider": {"url": "https://provider.example"}}),
    Case(
        "a foreign provider with everything",
        "Environment",
        {
            "provider": {
                "url": "https://provider.example:8443/base",
                "caRef": {"configMap": {"name": "provider-ca", "key": "bundle.pem"}},
                "tokenRef": {"name": "provider-token"},
                "provisionTimeout": "15m",
                "requestTimeout": "30s",
            },
            "tier": 2,
        },
    ),
    Case(
        "a foreign provider in plain text",
        "Environment",
        {"provider": {"url": "http://provider.example:8080", "plainText": True}},
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
    Case("a harness of defaults", "Evaluation", {**EVALUATION, "harness": {}}),
    Case(
        "a harness with everything",
        "Evaluation",
        {
            **EVALUATION,
            "harness": {
                "mode": "Fleet",
                "budget": {"maxSteps": 3, "maxTokens": 0, "maxTime": "10m", "hardStop": True},
                "coverage": True,
                "surfaces": ["message-queue"],
                "verify": True,
                "verifierRef": {"name": "verifier"},
            },
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
            "allowedAdapters": ["http", "cli", "openai", "anthropic"],
            "allowedProviders": ["https://worlds.example/base"],
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
    Case("scripted with an image", "Agent", {**SCRIPTED, "image": "a"}, "no container of their own"),
    Case(
        "scripted with a pod template", "Agent", {**SCRIPTED, "podTemplate": {}}, "no container of their own"
    ),
    Case(
        "a loop without a model",
        "Agent",
        {name: value for name, value in MODEL.items() if name != "model"},
        "need model",
    ),
    Case("a script with a model", "Agent", {**SCRIPTED, "model": MODEL["model"]}, "scripted takes none"),
    Case("a loop with an image", "Agent", {**MODEL, "image": "a"}, "no container of their own"),
    Case("a loop and a script", "Agent", {**MODEL, **SCRIPTED}, EXACTLY_ONE),
    Case("a model with a key in its address", "Agent", _modelled(baseURL="https://u:p@m.example"), "match"),
    Case("a model behind a query", "Agent", _modelled(baseURL="https://m.example/v1?k=v"), "match"),
    Case("a model of another scheme", "Agent", _modelled(baseURL="ftp://m.example"), "match"),
    Case(
        "a temperature of three",
        "Agent",
        {**MODEL, "openai": {**MODEL["openai"], "temperature": "3"}},
        "match",
    ),
    Case(
        "a model's key for an agent's container",
        "Agent",
        {
            **HTTP,
            "env": [{"name": "K", "valueFrom": {"secretKeyRef": {"name": "model", "key": "model-api-key"}}}],
        },
        "for the model gateway alone",
    ),
    Case("a command that is not named", "Agent", {**CLI, "command": []}, "cli needs image and command"),
    Case(
        "a command without an image",
        "Agent",
        {name: value for name, value in CLI.items() if name != "image"},
        "cli needs image and command",
    ),
    Case("a variable without a name", "Agent", _commanded(prompt={"by": "Environment"}), "Environment"),
    Case("a file for an argument", "Agent", _commanded(prompt={"by": "Argument", "path": "/a/b"}), "File"),
    Case("an answer file without a path", "Agent", _commanded(answer={"source": "File"}), "File"),
    Case(
        "a task over the service account",
        "Agent",
        _commanded(prompt={"by": "File", "path": "/var/run/secrets/task"}),
        "choose a folder",
    ),
    Case(
        "an answer in the first process's folder",
        "Agent",
        _commanded(answer={"source": "File", "path": "/run/task/out"}),
        "choose a folder",
    ),
    Case(
        "a path that climbs",
        "Agent",
        _commanded(answer={"source": "File", "path": "/work/../out"}),
        "choose a folder",
    ),
    Case("a file in the root", "Agent", _commanded(answer={"source": "File", "path": "/out"}), "match"),
    Case("a path that is none", "Agent", _commanded(answer={"source": "Output", "jsonPath": "$"}), "match"),
    Case("the adapter's port", "Agent", {**HTTP, "http": {"port": 8443}}, "belong to the adapter"),
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
    Case(
        "a world of two kinds",
        "Environment",
        {**KUBERNETES, "provider": {"url": "https://provider.example"}},
        EXACTLY_ONE,
    ),
    Case(
        "a provider in plain text unasked",
        "Environment",
        {"provider": {"url": "http://provider.example"}},
        "url must begin with https://, unless plainText is true",
    ),
    Case(
        "a token in plain text",
        "Environment",
        {"provider": {"url": "http://provider.example", "plainText": True, "tokenRef": {"name": "t"}}},
        "a token is never sent in plain text",
    ),
    Case(
        "certificates in plain text",
        "Environment",
        {
            "provider": {
                "url": "http://provider.example",
                "plainText": True,
                "caRef": {"secret": {"name": "ca"}},
            }
        },
        "caRef needs a url with https://",
    ),
    Case(
        "certificates from two places",
        "Environment",
        {
            "provider": {
                "url": "https://provider.example",
                "caRef": {"secret": {"name": "ca"}, "configMap": {"name": "ca"}},
            }
        },
        EXACTLY_ONE,
    ),
    Case(
        "a provider whose url has a query",
        "Environment",
        {"provider": {"url": "https://provider.example/?a=b"}},
        "should match",
    ),
    Case(
        "a pool that nothing could serve",
        "Environment",
        {"kubernetes": {"warmPool": {"size": 65}}},
        "less than or equal to 64",
    ),
    Case(
        "a pool of less than nothing",
        "Environment",
        {"kubernetes": {"warmPool": {"size": -1}}},
        "greater than or equal to 0",
    ),
    Case(
        "environments that expire while they boot",
        "Environment",
        {"kubernetes": {"warmPool": {"size": 2, "maxAge": "59s"}}},
        "maxAge must be 1m or longer",
    ),
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
        "a hunter that verifies itself",
        "Evaluation",
        {**EVALUATION, "harness": {"verifierRef": EVALUATION["agentRef"]}},
        "nobody verifies findings of their own",
    ),
    Case(
        "a verifier that may not verify",
        "Evaluation",
        {**EVALUATION, "harness": {"verify": False, "verifierRef": {"name": "verifier"}}},
        "leave one of them out",
    ),
    Case(
        "a hard stop at nothing",
        "Evaluation",
        {**EVALUATION, "harness": {"budget": {"hardStop": True, "maxSteps": 0}}},
        "to stop at",
    ),
    Case(
        "a standard surface as an own one",
        "Evaluation",
        {**EVALUATION, "harness": {"coverage": True, "surfaces": ["authorization"]}},
        "besides the standard ones",
    ),
    Case(
        "own surfaces without coverage",
        "Evaluation",
        {**EVALUATION, "harness": {"surfaces": ["message-queue"]}},
        "surfaces need coverage",
    ),
    Case(
        "a negative budget",
        "Evaluation",
        {**EVALUATION, "harness": {"budget": {"maxSteps": -1}}},
        "greater than or equal to 0",
    ),
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
    Case(
        "a provider without scheme",
        "EvaluationPolicy",
        {**POLICY, "allowedProviders": ["worlds"]},
        "allowedProviders",
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
    Change("a harness", "Evaluation", EVALUATION, {**EVALUATION, "harness": {}}, FROZEN),
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
