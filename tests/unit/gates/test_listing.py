"""Who is on the list of admitted subjects, and for how long."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from kit.fakes.clock import START
from oasis_operator.api.v1alpha1.admissionlist import SUBJECTS_LISTED
from oasis_operator.gates.listing import build_listing

NOW = START
DIGEST = "sha256:" + "a" * 64


def condition(kind: str, state: str) -> dict[str, Any]:
    return {
        "type": kind, "status": state, "reason": "Finished", "message": "", "observedGeneration": 1,
        "lastTransitionTime": "2026-01-05T11:00:00Z",
    }  # fmt: skip


def evaluation(name: str = "check", verdict: str = "PASS", **status: Any) -> dict[str, Any]:
    """An Evaluation that is over; by default a gate may rely on it."""
    good = "True" if verdict == "PASS" else "False"
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": name, "generation": 1},
        "spec": {
            "agentRef": {"name": "helper"}, "environmentRef": {"name": "small"}, "tier": 1,
            "profile": {"bundled": "software-infrastructure"},
        },
        "status": {
            "observedGeneration": 1, "verdict": verdict, "counts": {"passed": 3},
            "conditions": [condition("Complete", "True"), condition("Passed", good), condition("Ready", good)],
            "gateable": {"allowed": verdict == "PASS", "policies": ["floors"]},
            "workload": {"text": "the-text", "rights": ["get pods"]},
            "digests": {"subject": DIGEST}, "completionTime": "2026-01-05T11:00:00Z", **status,
        },
    }  # fmt: skip


def policy(name: str = "floors", mode: str = "Enforce", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"namespaceSelector": {}, "mode": mode, **spec}}


def listed(*evaluations: dict[str, Any], policies: Any = ()) -> list[str]:
    return [one.evaluation for one in build_listing(evaluations, policies, NOW).spec.subjects]


def test_a_pass_that_a_gate_may_rely_on_is_listed_with_all_that_admission_compares() -> None:
    found = build_listing([evaluation()], [policy(evaluatedIn=["lab"]), policy("soft", "Warn")], NOW).spec
    (one,) = found.subjects
    assert (one.text, one.rights, one.namespace, one.policies) == (
        "the-text",
        ("get pods",),
        "shop",
        ("floors",),
    )
    assert [(item.name, item.evaluated_in) for item in found.policies] == [("floors", ("lab",))]
    assert found.renewed_at == NOW


def test_nothing_else_is_listed() -> None:
    older = evaluation()
    older["metadata"]["generation"] = 2
    assert listed(
        evaluation(verdict="FAIL"),
        evaluation(verdict="PROVIDER_FAILURE"),
        evaluation(gateable={"allowed": False}),
        evaluation(workload=None),
        evaluation(counts={"passed": 3, "providerFailures": 1}),
        evaluation(runToken="another"),
        older,
    ) == []  # fmt: skip


def test_an_end_is_passed_on_and_holds_though_nobody_has_looked_at_the_gate_since() -> None:
    soon, past = NOW + timedelta(minutes=5), NOW - timedelta(seconds=1)
    gate = {"allowed": True, "until": soon.isoformat()}
    assert build_listing([evaluation(gateable=gate)], (), NOW).spec.subjects[0].until == soon
    assert listed(evaluation(gateable={**gate, "until": past.isoformat()})) == []


def test_a_failure_under_another_declaration_of_the_same_workload_stands() -> None:
    other = evaluation("other", "FAIL", digests={"subject": "sha256:" + "b" * 64})
    assert listed(evaluation(), other) == []
    # What became of the very same subject is the gate's own business, which waivers may excuse.
    assert listed(evaluation(), evaluation("earlier", "FAIL")) == ["check"]


def test_a_policy_that_cannot_be_read_may_be_for_anybody() -> None:
    found = build_listing([evaluation()], [policy(tier=9)], NOW)
    assert found.spec.subjects == ()
    assert "EvaluationPolicy floors" in found.troubles[0]


def test_an_evaluation_that_cannot_be_read_stops_no_other_one() -> None:
    broken = evaluation("broken")
    broken["spec"]["tier"] = "x"
    found = build_listing([broken, evaluation()], (), NOW)
    assert [one.evaluation for one in found.spec.subjects] == ["check"]
    assert "shop/broken" in found.troubles[0]


def test_the_latest_are_kept_where_there_are_too_many() -> None:
    many = [
        evaluation(f"e-{number}", completionTime=(NOW - timedelta(minutes=number)).isoformat())
        for number in range(SUBJECTS_LISTED + 2)
    ]
    found = build_listing(many[::-1], (), NOW).spec
    assert (found.subjects[0].evaluation, len(found.subjects), found.left_out) == ("e-0", SUBJECTS_LISTED, 2)


def test_lapsed_verdicts_are_counted() -> None:
    stale = {"allowed": False, "reasons": ["Stale: policy floors: maxAge", "Incomplete: x"]}
    others = [evaluation(), evaluation(verdict="FAIL", gateable=stale)]
    assert build_listing([evaluation(gateable=stale), *others], (), NOW).lapsed == 1
