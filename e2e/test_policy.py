"""Floors that the platform team sets for a namespace, and what becomes of a PASS under them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from e2e import build
from e2e.kubectl import Cluster, condition, wait_complete, wait_for
from oasis_operator.clients.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "graded"
API = "oasis-operator.dev/v1alpha1"


def policy_name(cluster: Cluster) -> str:
    """Name of the policy; it is cluster-scoped, so that the namespace's name keeps it apart."""
    return f"floors-of-{cluster.namespace}"


def set_policy(cluster: Cluster, **spec: Any) -> None:
    """Create or replace the policy for this namespace alone."""
    selector = {"matchLabels": {"kubernetes.io/metadata.name": cluster.namespace}}
    body = {
        "apiVersion": API,
        "kind": "EvaluationPolicy",
        "metadata": {"name": policy_name(cluster)},
        "spec": {"namespaceSelector": selector, "mode": "Enforce", **spec},
    }
    cluster.apply(body)


@pytest.fixture(scope="module")
def evaluated(cluster: Cluster, images: dict[str, str]) -> Iterator[Cluster]:
    """A namespace with an Evaluation that passed, and no policy."""
    cluster.apply(
        build.an_environment(),
        build.a_reference_agent(NAME, images["referenceAgent"], "careful"),
        build.an_evaluation(NAME, NAME),
    )
    assert wait_complete(cluster, NAME)["status"]["verdict"] == "PASS"
    yield cluster
    cluster.kubectl("delete", "evaluationpolicies.oasis-operator.dev", policy_name(cluster))


def gate(cluster: Cluster) -> dict[str, Any]:
    return dict(cluster.evaluation(NAME)["status"]["gateable"])


def kinds_of(lines: list[str]) -> set[str]:
    return {line.partition(":")[0] for line in lines}


def wait_gate(cluster: Cluster, field: str, kind: str, *, there: bool = True) -> dict[str, Any]:
    """Wait until a list of the gate has a kind of reason, or has it no more."""
    return wait_for(
        lambda: gate(cluster) if (kind in kinds_of(gate(cluster).get(field, []))) is there else None,
        60,
        f"gate with {kind} {'in' if there else 'gone from'} {field}",
    )


def test_a_policy_that_comes_later_is_named_with_what_it_wants(evaluated: Cluster) -> None:
    set_policy(evaluated, repetitions=3)
    found = wait_gate(evaluated, "reasons", "TooFewRepetitions")
    assert found["allowed"] is False
    assert found["policies"] == [policy_name(evaluated)]
    passed = condition(evaluated.evaluation(NAME), "Passed")
    assert passed["status"] == "False"
    assert "repetitions: wanted 3 or more, seen 1" in passed["message"]
    assert evaluated.oasis("wait", NAME, "--gate", "--timeout", "30s").code == 6
    assert "TooFewRepetitions" in evaluated.oasis("report", NAME).out


def test_a_policy_that_only_warns_says_so_and_shuts_nothing(evaluated: Cluster) -> None:
    set_policy(evaluated, mode="Warn", repetitions=3)
    found = wait_gate(evaluated, "warnings", "TooFewRepetitions")
    assert "TooFewRepetitions" not in kinds_of(found["reasons"])
    assert "warning TooFewRepetitions" in evaluated.oasis("report", NAME).out


def test_a_waiver_excuses_until_its_end_and_the_operator_wakes_for_it(evaluated: Cluster) -> None:
    until = SystemClock().now() + timedelta(seconds=45)
    waiver = {
        "name": "for-now",
        "agent": NAME,
        "reasonKinds": ["TooFewRepetitions"],
        "reason": "the nightly evaluation makes up for it",
        "until": until.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    set_policy(evaluated, repetitions=3, waivers=[waiver])
    found = wait_gate(evaluated, "waived", "TooFewRepetitions")
    assert "TooFewRepetitions" not in kinds_of(found["reasons"])
    wait_gate(evaluated, "reasons", "TooFewRepetitions")
    assert SystemClock().now() >= until


def test_a_verdict_lapses(evaluated: Cluster) -> None:
    set_policy(evaluated, maxAge="1m")
    wait_for(lambda: "Stale" in kinds_of(gate(evaluated)["reasons"]), 120, "gate that a lapsed verdict shuts")


def test_a_policy_for_other_namespaces_is_none_for_this_one(evaluated: Cluster) -> None:
    set_policy(evaluated, repetitions=3)
    wait_gate(evaluated, "reasons", "TooFewRepetitions")
    set_policy(evaluated, repetitions=3, namespaceSelector={"matchLabels": {"no-namespace-has": "this"}})
    found = wait_gate(evaluated, "reasons", "TooFewRepetitions", there=False)
    assert found.get("policies", []) == []


@pytest.mark.parametrize("kind", ["ScriptedAdapter", "SafetyViolated", "UnknownImage", "RecordUnreadable"])
def test_what_cannot_be_waived_is_refused(cluster: Cluster, kind: str) -> None:
    waiver = {
        "name": "never",
        "agent": NAME,
        "reasonKinds": [kind],
        "reason": "because",
        "until": "2099-01-01T00:00:00Z",
    }
    body = {
        "apiVersion": API,
        "kind": "EvaluationPolicy",
        "metadata": {"name": "refused"},
        "spec": {"namespaceSelector": {}, "mode": "Enforce", "waivers": [waiver]},
    }
    done = cluster.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(body))
    assert done.code != 0
    assert kind in done.err
