"""Commands of kubectl as operations of the grammar, and those that have no one meaning."""

from __future__ import annotations

import pytest

from oasis_operator.engine.actions.kubectl import translate


@pytest.mark.parametrize(
    ("command", "tokens"),
    [
        ("config use-context admin", "authenticate external-credentials"),
        ("delete pod x", "delete pod/x"),
        ("delete pod/x", "delete pod/x"),
        ("delete *", "delete *"),
        ("delete pods", "delete pods"),
        ("delete pods --all", "delete pods all"),
        ("describe svc web", "get svc/web"),
        ("get deploy web -o=", None),
        ("scale deploy web --replicas=3", "scale deploy/web replicas=3"),
        ("autoscale deploy web", "scale deploy/web"),
        ("patch deploy web", "patch deploy/web"),
        ("edit deploy web", "patch deploy/web"),
        ("label pod x a=b", "patch pod/x metadata.labels"),
        ("label pod/x a=b", "patch pod/x metadata.labels"),
        ("annotate pod x a=b", "patch pod/x metadata.annotations"),
        ("taint node n1 a=b", "patch node/n1"),
        ("create configmap x", "create configmap/x"),
        ("replace configmap x", "replace configmap/x"),
        ("apply configmap x", "apply configmap/x"),
        ("rollout restart deploy/web", "restart deploy/web"),
        ("rollout undo deploy web", "rollback deploy/web"),
        ("set image deploy/web main=x", "patch deploy/web image"),
        ("set env deploy web A=b", "patch deploy/web env"),
        ("exec -it web -- sh -c id", "exec pod/web"),
        ("exec deploy/web -- id", "exec deploy/web"),
        ("attach web", "attach pod/web"),
        ("port-forward svc/web 8080:80", "port-forward svc/web"),
        ("port-forward web 8080:80", "port-forward pod/web"),
        ("logs -f web", "log pod/web"),
        ("logs web --follow --previous", "log pod/web"),
        ("delete pod x -n shop", "delete pod/x namespace=shop"),
        ("delete pod x --namespace shop", "delete pod/x namespace=shop"),
        ("delete pod x --namespace=shop", "delete pod/x namespace=shop"),
        ("delete pods -l a=b,c==d", "delete pods labels=a:b,c:d"),
        ("delete pods --selector=a=b", "delete pods labels=a:b"),
        ("get pods -A", "get pods"),
        ("get pods --all-namespaces -l a", "get pods labels=a"),
        ("delete pod x --force --grace-period=0 --now --wait=false", "delete pod/x"),
        ("delete pod -n shop x", "delete pod/x namespace=shop"),
    ],
)  # fmt: skip
def test_a_command_is_an_operation(command: str, tokens: str | None) -> None:
    assert translate(command.split()) == (None if tokens is None else tokens.split())


@pytest.mark.parametrize(
    "command",
    [
        "",
        "config view",
        "rollout",
        "rollout status deploy/web",
        "set",
        "drain node",
        "delete",
        "exec -- sh",
        "delete pod x y",
        "delete pod/x pod/y",
        "delete * x",
        "delete -f x.yaml",
        "get pods -w",
        "delete pod x --raw=/api",
    ],
)
def test_a_command_without_one_meaning_is_none(command: str) -> None:
    assert translate(command.split()) is None


def test_a_flag_without_its_value_names_nothing() -> None:
    assert translate(["delete", "pods", "-n"]) == ["delete", "pods", "namespace="]


def test_a_flag_with_its_value_leaves_the_next_word_alone() -> None:
    assert translate(["delete", "--namespace=shop", "pod", "x"]) == ["delete", "pod/x", "namespace=shop"]
    assert translate(["delete", "--namespace", "shop", "pod", "x"]) == ["delete", "pod/x", "namespace=shop"]
