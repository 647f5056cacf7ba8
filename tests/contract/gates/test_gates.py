"""Every gate reads every status alike: the command line, Argo CD's rule, Flux' expressions, and kstatus.

A status that one of them takes for a pass and another does not would let an agent through by the choice of the tool.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import celpy
import lupa
import pytest
import yaml
from celpy.adapter import json_to_cel

from oasis_operator.api.v1alpha1.evaluation import Evaluation
from oasis_operator.cli.outcome import read_outcome

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/gates"
LUA = (EXAMPLES / "argo-cd/health.lua").read_text()
FLUX = next(iter(yaml.safe_load_all((EXAMPLES / "flux/kustomization.yaml").read_text())))["spec"][
    "healthCheckExprs"
][0]
NOON = "2026-01-05T12:00:00Z"
GOOD, BAD, WAITING, PAUSED = "Healthy", "Degraded", "Progressing", "Suspended"
COUNTS = {"passed": 3, "failed": 0, "providerFailures": 0}


def condition(kind: str, status: str, reason: str = "Finished", generation: int = 2) -> dict[str, Any]:
    return {
        "type": kind, "status": status, "reason": reason, "message": "as it is",
        "lastTransitionTime": NOON, "observedGeneration": generation,
    }  # fmt: skip


def evaluation(status: Any = None, generation: int = 2, **spec: Any) -> dict[str, Any]:
    wanted = {
        "agentRef": {"name": "helper"}, "environmentRef": {"name": "small"},
        "profile": {"bundled": "software-infrastructure"}, "tier": 1, **spec,
    }  # fmt: skip
    meta = {
        "name": "check",
        "namespace": "shop",
        "uid": "u",
        "generation": generation,
        "resourceVersion": "1",
    }
    body = {
        "apiVersion": "oasis-operator.dev/v1alpha1",
        "kind": "Evaluation",
        "metadata": meta,
        "spec": wanted,
    }
    return (
        {**body, "status": {"observedGeneration": 2, **status}}
        if status is not None
        else {**body, "status": {"observedGeneration": -1}}
    )


def ended(verdict: str | None, passed: str, *, allowed: bool = False, **more: Any) -> dict[str, Any]:
    ready = "True" if passed == "True" else "False"
    facts = [condition("Complete", "True"), condition("Passed", passed), condition("Ready", ready)]
    if passed != "True":
        facts.append(condition("Stalled", "True"))
    told = {"verdict": verdict} if verdict else {}
    return {"conditions": facts, "gateable": {"allowed": allowed}, "counts": COUNTS, **told, **more}


GOING = {"conditions": [condition("Ready", "False", "Progressing"), condition("Reconciling", "True", "Progressing"),
                        condition("Complete", "False", "Progressing"), condition("Passed", "Unknown", "Pending")]}  # fmt: skip
PASSED = ended("PASS", "True", allowed=True)
SNAPSHOTS: dict[str, tuple[dict[str, Any], str]] = {
    "before the first status": (evaluation(), WAITING),
    "begun": (evaluation(GOING), WAITING),
    "a pass that a gate may rely on": (evaluation(PASSED), GOOD),
    "a pass of an older spec": (evaluation(PASSED, generation=3), WAITING),
    "a pass of an older run": (evaluation(PASSED, runToken="again"), WAITING),
    "a pass of this run": (evaluation({**PASSED, "runToken": "again"}, runToken="again"), GOOD),
    "a pass that no gate may rely on": (evaluation(ended("PASS", "False")), BAD),
    "a pass beside counts that forbid it": (evaluation({**PASSED, "counts": {"passed": 0}}), BAD),
    "a pass with a lost run": (evaluation({**PASSED, "counts": {"passed": 3, "providerFailures": 1}}), BAD),
    "a pass without counts": (evaluation({key: value for key, value in PASSED.items() if key != "counts"}), BAD),
    "a pass whose gate is not decided": (evaluation({key: value for key, value in PASSED.items() if key != "gateable"}), BAD),
    "a pass whose condition is of another generation": (evaluation({**PASSED, "conditions": [condition("Complete", "True"), condition("Passed", "True", generation=1), condition("Ready", "True")]}), BAD),
    "a failure": (evaluation(ended("FAIL", "False")), BAD),
    "a failure that a hand made gateable": (evaluation(ended("FAIL", "False", allowed=True)), BAD),
    "a provider failure": (evaluation(ended("PROVIDER_FAILURE", "False")), BAD),
    "no verdict": (evaluation(ended(None, "False")), BAD),
    "cancelled": (evaluation(ended(None, "False"), state="Cancel"), BAD),
    "stalled": (evaluation({"conditions": [condition("Stalled", "True", "NotFound"), condition("Ready", "False", "NotFound"), condition("Complete", "False")]}), BAD),
    "suspended": (evaluation(GOING, state="Suspend"), PAUSED),
    "suspended after its end": (evaluation(PASSED, state="Suspend"), GOOD),
    "a verdict without an end": (evaluation({**GOING, "verdict": "PASS", "gateable": {"allowed": True}, "counts": COUNTS}), WAITING),
}  # fmt: skip


def by_command_line(body: dict[str, Any]) -> str:
    found = read_outcome(Evaluation.parse(body))
    if found.gateable:
        return GOOD
    return BAD if found.complete or found.stalled else WAITING


def by_argo(body: dict[str, Any]) -> str:
    runtime = lupa.LuaRuntime(unpack_returned_tuples=True)
    judge = runtime.eval("function(text, object) obj = object; return load(text)() end")
    return str(judge(LUA, runtime.table_from(body, recursive=True))["status"])


def by_flux(body: dict[str, Any]) -> str:
    # Whichever of them is asked first: never do two hold.
    found = [name for name in ("inProgress", "failed", "current") if _cel(FLUX[name], body)]
    assert len(found) == 1, found
    return {"inProgress": WAITING, "failed": BAD, "current": GOOD}[found[0]]


def _cel(text: str, body: dict[str, Any]) -> bool:
    environment = celpy.Environment()
    given = {name: json_to_cel(body[name]) for name in ("metadata", "spec", "status")}
    return bool(environment.program(environment.compile(text)).evaluate(given))


def by_kstatus(body: dict[str, Any]) -> str:
    """Read by the rules of kstatus, in their order."""
    status = body.get("status") or {}
    if status.get("observedGeneration", body["metadata"]["generation"]) != body["metadata"]["generation"]:
        return WAITING
    facts = {item["type"]: item["status"] for item in status.get("conditions") or ()}
    if facts.get("Reconciling") == "True":
        return WAITING
    if facts.get("Stalled") == "True":
        return BAD
    return WAITING if facts.get("Ready") in ("False", "Unknown") else GOOD


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_every_gate_reads_a_status_alike(name: str) -> None:
    body, expected = SNAPSHOTS[name]
    assert by_argo(body) == expected
    unpaused = WAITING if expected == PAUSED else expected
    assert by_command_line(body) == unpaused
    assert by_flux(body) == unpaused


#: What kstatus cannot know: it has no eye for run tokens, counts or a gate, nor for a status that a hand edited.
BEYOND_KSTATUS = {
    "a pass of an older run", "a pass beside counts that forbid it", "a pass with a lost run", "a pass without counts",
    "a pass whose gate is not decided", "a pass whose condition is of another generation",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(SNAPSHOTS) - BEYOND_KSTATUS))
def test_kstatus_reads_what_the_operator_writes_alike(name: str) -> None:
    body, expected = SNAPSHOTS[name]
    assert by_kstatus(body) == (WAITING if expected == PAUSED else expected)


def test_the_manifests_of_the_examples_are_yaml() -> None:
    for path in EXAMPLES.rglob("*.yaml"):
        assert all(isinstance(item, dict) for item in yaml.safe_load_all(path.read_text())), path
