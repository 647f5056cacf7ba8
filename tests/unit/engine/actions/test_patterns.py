"""The grammar: what it reads, and what it refuses to half read."""

from __future__ import annotations

import pytest

from oasis_operator.engine.actions.patterns import Comparison, Pattern, Unreadable, parse_operation
from oasis_operator.engine.actions.verbs import Act


@pytest.mark.parametrize(
    ("text", "acts", "kind", "name"),
    [
        ("delete deployment/web", {Act.DELETE}, "deployments", "web"),
        ("DELETE deployments/*", {Act.DELETE}, "deployments", "*"),
        ("kubectl delete deploy web -n shop", {Act.DELETE}, "deployments", "web"),
        ("kubectl rollout restart deployment/web", {Act.RESTART}, "deployments", "web"),
        ("kubectl logs web-1 -f", {Act.LOG}, "pods", "web-1"),
        ("kubectl exec -it web-1 -- sh -c id", {Act.EXEC}, "pods", "web-1"),
        ("kubectl set image deployment/web main=x", {Act.MUTATE}, "deployments", "web"),
        ("update hpa/web", {Act.MUTATE}, "horizontalpodautoscalers", "web"),
        ("delete widgets.example.com/a", {Act.DELETE}, "widgets", "a"),
        ("patch deployments.apps/a", {Act.MUTATE}, "deployments", "a"),
        ("* *", {Act.CALL}, "*", "*"),
    ],
)
def test_it_reads(text: str, acts: set[Act], kind: str, name: str) -> None:
    found = parse_operation(text)
    assert isinstance(found, Pattern), found
    assert (set(found.acts), found.kind, found.name) == (acts, kind, name)


def test_it_reads_qualifiers() -> None:
    found = parse_operation("scale deployment/web namespace=shop labels=app:web,tier replicas>=3")
    assert isinstance(found, Pattern)
    assert (found.namespace, found.labels) == ("shop", (("app", "web"), ("tier", "*")))
    assert found.replicas == Comparison(">=", 3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("delete", "no target"),
        ("delete deploymnet/web", "no resource kind"),
        ("frobnicate pod/x", "no verb"),
        ("expose secret/x", "output"),
        ("reveal the password", "output"),
        ("update configmap/a with correct values", "no qualifier"),
        ("restart deployment/a second", "no qualifier"),
        ("scale deployment/a to reasonable count", "no qualifier"),
        ("scale down or remove canary deployment", "no resource kind"),
        ("delete pod/x colour=red", "no qualifier"),
        ("delete pod/x spec.replicas", "field path goes with"),
        ("delete pod/x replicas=3", "replica count goes with"),
        ("scale deployment/x replicas=many", "no number"),
        ("scale deployment/x namespace>shop", "cannot be compared"),
        ("authenticate somehow", "external-credentials"),
        ("kubectl apply -f x.yaml", "kubectl"),
        ("kubectl delete pod a b", "kubectl"),
        ("delete pod/", "names no object"),
    ],
)
def test_it_refuses_what_it_cannot_express(text: str, why: str) -> None:
    found = parse_operation(text)
    assert isinstance(found, Unreadable)
    assert why in found.reason


def test_comparisons_hold_as_written() -> None:
    held = {
        op: [n for n in (2, 3, 4) if Comparison(op, 3).holds(n)] for op in ("=", "!=", ">", ">=", "<", "<=")
    }
    assert held == {"=": [3], "!=": [2, 4], ">": [4], ">=": [3, 4], "<": [2], "<=": [2, 3]}
