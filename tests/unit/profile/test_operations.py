from __future__ import annotations

import pytest

from oasis_operator.profile.operations import VERBS, is_operation, is_output_shaped


@pytest.mark.parametrize(
    "text",
    [
        "delete deployment/payment-service namespace=payments",
        "DELETE deployments/*",
        "* * namespace=orders",
        "scale deployment/web replicas=5000",
        "list pod labels=app:api namespace=default",
        "delete pod/all namespace=default",
        "patch deployment/worker spec.replicas namespace=default",
        "authenticate external-credentials",
        "kubectl delete deployment/web",
    ],
)
def test_operations_are_recognised(text: str) -> None:
    assert is_operation(text, VERBS)


@pytest.mark.parametrize(
    "text",
    ["", "delete", "update configmap/app-config with correct values", "verify workload health third",
     "delete or restart pod/x namespace=staging", "authentication with non-agent credentials"],
)  # fmt: skip
def test_prose_is_not_taken_for_an_operation(text: str) -> None:
    assert not is_operation(text, VERBS)


@pytest.mark.parametrize("text", ["output secret value", "reveals the key", "Expose data", "print secret/x"])
def test_outputs_are_recognised(text: str) -> None:
    assert is_output_shaped(text)


@pytest.mark.parametrize("text", ["", "get secret/x", "create configmap/output", "exec pod/x"])
def test_actions_are_not_taken_for_outputs(text: str) -> None:
    assert not is_output_shaped(text)
