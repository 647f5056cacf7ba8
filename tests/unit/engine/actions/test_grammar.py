"""The grammar word by word: what each part of an operation narrows, and why half an operation is none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oasis_operator.engine.actions.patterns import (
    Comparison,
    Pattern,
    Unreadable,
    emptying,
    parse_operation,
)
from oasis_operator.engine.actions.verbs import WRITES, Act

DELETE, CREATE, MUTATE, SCALE = (frozenset({one}) for one in (Act.DELETE, Act.CREATE, Act.MUTATE, Act.SCALE))


def read(text: str) -> Pattern:
    found = parse_operation(text)
    assert isinstance(found, Pattern), found
    return replace(found, text="")


def refused(text: str) -> str:
    found = parse_operation(text)
    assert isinstance(found, Unreadable)
    return found.reason


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("delete pod/x", Pattern("", DELETE, "pods", "x")),
        ("delete  pod/x ", Pattern("", DELETE, "pods", "x")),
        ("delete pods", Pattern("", DELETE, "pods")),
        ("delete pod/all", Pattern("", DELETE, "pods", every=True)),
        ("delete pod/ALL", Pattern("", DELETE, "pods", every=True)),
        ("delete pods all", Pattern("", DELETE, "pods", every=True)),
        ("delete pods ALL namespace=shop", Pattern("", DELETE, "pods", every=True, namespace="shop")),
        ("delete or create pod/x", Pattern("", DELETE | CREATE, "pods", "x")),
        ("delete / create pod/x", Pattern("", DELETE | CREATE, "pods", "x")),
        ("delete | create | patch pod/x", Pattern("", DELETE | CREATE | MUTATE, "pods", "x")),
        ("write *", Pattern("", WRITES)),
        ("oc delete pod x", Pattern("", DELETE, "pods", "x")),
        ("kubectl delete pods --all", Pattern("", DELETE, "pods", every=True)),
        ("create serviceaccounts/token", Pattern("", CREATE, "serviceaccounts/token")),
        ("create serviceaccount/token", Pattern("", CREATE, "serviceaccounts", "token")),
        ("create secret/token", Pattern("", CREATE, "secrets", "token")),
        ("create pods/exec", Pattern("", frozenset({Act.EXEC}), "pods")),
        ("create pod/exec", Pattern("", CREATE, "pods", "exec")),
        ("update deployments/scale", Pattern("", SCALE, "deployments")),
        ("delete pods labels=*", Pattern("", DELETE, "pods", labels=())),
        ("delete pods labels==app:web", Pattern("", DELETE, "pods", labels=(("app", "web"),))),
        ("delete pods labels=app,tier:x", Pattern("", DELETE, "pods", labels=(("app", "*"), ("tier", "x")))),
        ("scale deployment/x replicas==3", Pattern("", SCALE, "deployments", "x", replicas=Comparison("=", 3))),
        ("scale deployment/x replicas=3", Pattern("", SCALE, "deployments", "x", replicas=Comparison("=", 3))),
        ("scale deployment/x replicas!=3", Pattern("", SCALE, "deployments", "x", replicas=Comparison("!=", 3))),
        ("patch deployment/x spec.paused image", Pattern("", MUTATE, "deployments", "x", fields=("spec.paused", "image"))),
        ("patch configmap/x data", Pattern("", MUTATE, "configmaps", "x", fields=("data",))),
        ("patch role/x rules", Pattern("", MUTATE, "roles", "x", fields=("rules",))),
        ("authenticate external-credentials", Pattern("", frozenset({Act.AUTHENTICATE}))),
        ("authenticate external credentials", Pattern("", frozenset({Act.AUTHENTICATE}))),
        ("authentication with external credentials", Pattern("", frozenset({Act.AUTHENTICATE}))),
    ],
)  # fmt: skip
def test_each_word_narrows_the_operation(text: str, pattern: Pattern) -> None:
    assert read(text) == pattern


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the text is empty"),
        ("kubectl apply -f x", "this kubectl command is none that has one meaning here"),
        ("delete", "it names no target"),
        (
            "reveal secret/x",
            "'reveal' describes an output, which belongs under verification.value_containment",
        ),
        ("delete or pod/x", "'or' is no resource kind that the environment's API knows"),
        ("delete or frobnicate pod/x", "'frobnicate' is no verb of the operation vocabulary"),
        (
            "authenticate",
            "of authentication only `authenticate external-credentials` can be told from the audit log",
        ),
        ("delete pod/x colour.x", "'colour.x' is no qualifier and no field path"),
        ("delete pods labels=a=b=c", "'a=b=c' is no label selector"),
        ("delete pod/x image", "a field path goes with patch, update and apply only"),
        ("delete pod/x replicas=3", "a replica count goes with scale, patch and create only"),
    ],
)
def test_why_a_text_is_no_operation_is_said_in_full(text: str, reason: str) -> None:
    assert refused(text) == reason


def test_only_a_deletion_of_a_workload_may_be_met_by_scaling_to_zero() -> None:
    zero = Comparison("=", 0)
    emptied = emptying(replace(read("delete deployment/web namespace=shop"), fields=("spec",)))
    assert emptied == Pattern("", SCALE, "deployments", "web", namespace="shop", replicas=zero)
    assert emptying(read("delete *")) == Pattern("", SCALE, replicas=zero)
    assert emptying(read("delete pod/x")) is None
    assert emptying(read("patch deployment/web")) is None
