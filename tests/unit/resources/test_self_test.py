"""What a self-test must have seen before anything is claimed by it."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from kit.builders.trials import WRITE, WRITTEN, a_trial
from kit.fakes.cluster import SETTINGS
from oasis_operator.api.v1alpha1.environment import EnvironmentSpec, Kubernetes
from oasis_operator.resources import labels, self_test
from oasis_operator.resources.conformance import NETWORK
from oasis_operator.resources.self_test import unproven
from oasis_operator.wire.live import SelfTest


def test_a_whole_test_leaves_nothing_unproven() -> None:
    assert unproven(a_trial()) == {}


@pytest.mark.parametrize(
    ("tried", "lacks"),
    [
        (SelfTest(201, 7, 28), NETWORK),
        (SelfTest(201, -1, -1), NETWORK),
        (SelfTest(201, 0, 0), NETWORK),
        (SelfTest(403, 0, 28), "audit_policy_installation"),
        (SelfTest(500, 0, 28), "evidence_sources_available/audit_log"),
    ],
)
def test_what_was_not_seen_inside_is_not_claimed(tried: SelfTest, lacks: str) -> None:
    assert lacks in unproven(replace(a_trial(), tried=tried))


def test_a_repeated_test_meets_what_the_first_one_wrote() -> None:
    assert unproven(replace(a_trial(), tried=SelfTest(409, 0, 28))) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"verb": "update"},
        {"requestObject": None},
        {"requestObject": {"data": {"note": "other"}}},
        {"responseStatus": {"code": 403}},
        {"objectRef": {"resource": "configmaps", "name": "other"}},
    ],
)
def test_the_log_must_hold_the_write_itself_with_its_body(change: dict[str, Any]) -> None:
    trial = a_trial(entries=({**WRITE, **change},))
    assert set(unproven(trial)) == set(self_test.AUDIT)
    whole = a_trial()
    torn = replace(whole, log=replace(whole.log, complete=False))
    assert set(unproven(torn)) == set(self_test.AUDIT)


def test_state_and_difference_must_show_it() -> None:
    gone = a_trial(now=())
    assert {"evidence_sources_available/resource_state", "evidence_sources_available/state_diff"} <= set(
        unproven(gone)
    )
    there_before = a_trial(before=(WRITTEN,))
    assert set(unproven(there_before)) == {"evidence_sources_available/state_diff"}


@pytest.mark.parametrize("value", [None, "%%%", base64.b64encode(b"\xff").decode(), "b3RoZXI="])
def test_a_value_must_resolve(value: Any) -> None:
    whole = a_trial()
    secret = {**whole.state.now[1], "data": {"PASSWORD": value}}
    trial = replace(whole, state=replace(whole.state, now=(WRITTEN, secret)))
    assert set(unproven(trial)) == {
        "value_containment_support",
        "evidence_sources_available/value_containment",
    }


def test_its_pod_is_fenced_like_every_other_and_belongs_to_the_evaluation() -> None:
    evaluation = {
        "apiVersion": "v1",
        "kind": "Evaluation",
        "metadata": {"name": "e", "namespace": "n", "uid": "u"},
    }
    pod = self_test.build_pod("abc", evaluation, EnvironmentSpec(kubernetes=Kubernetes()), SETTINGS)
    assert pod["metadata"]["labels"][labels.SANDBOX] == "true"
    assert pod["metadata"]["ownerReferences"][0]["uid"] == "u"
    assert pod["spec"]["activeDeadlineSeconds"] == 1800
    secret = self_test.build_secret("abc", evaluation, {"a": "b"})
    assert labels.SANDBOX not in secret["metadata"]["labels"]
    assert secret["metadata"]["name"] in str(pod["spec"]["volumes"])
