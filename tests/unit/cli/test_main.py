from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
import urllib3.exceptions
from rich.console import Console

from oasis_operator import errors
from oasis_operator.cli import console, kubernetes_cluster, main
from oasis_operator.cli.cluster import ACCESS_REVIEW, NAMESPACE
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.cli.kubernetes_cluster import KubernetesCluster
from oasis_operator.resources import kinds
from unit.cli import fake_cluster as fake

if TYPE_CHECKING:
    from pathlib import Path

    from unit.cli.fake_cluster import CommandLine, FakeCluster


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InvalidSpec("x"), ExitCode.USAGE),
        (errors.InvalidProfile("x"), ExitCode.USAGE),
        (errors.PreflightGap("x"), ExitCode.NO_VERDICT),
        (errors.NotReady("x"), ExitCode.UNREACHABLE),
        (errors.Transient("x"), ExitCode.UNREACHABLE),
        (errors.ProviderFault("x"), ExitCode.PROVIDER_FAILURE),
        (errors.AgentFault("x"), ExitCode.INTERNAL),
        (RuntimeError("x"), ExitCode.INTERNAL),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED),
    ],
)
def test_no_error_ends_with_the_code_of_a_pass_or_a_fail(
    cluster: FakeCluster, oasis: CommandLine, error: BaseException, code: ExitCode
) -> None:
    def read(_: FakeCluster) -> None:
        raise error

    cluster.before_read = read
    assert oasis("report", "one").code is code
    assert code not in {ExitCode.PASS, ExitCode.FAIL}


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("wait",), ("wait", "x", "--nonsense"), ("-o", "xml", "status")]
)
def test_wrong_use_has_code_2(oasis: CommandLine, arguments: tuple[str, ...]) -> None:
    assert oasis(*arguments).code is ExitCode.USAGE


def test_help_and_version_have_code_0_and_help_lists_every_code(oasis: CommandLine, capsys: Any) -> None:
    assert oasis("--help").code is ExitCode.PASS
    text = capsys.readouterr().out
    for code in ExitCode:
        assert f"{code.value:>3}  " in text
    assert oasis("--version").code is ExitCode.PASS
    for command in ("demo", "doctor", "replay", "report", "run", "status", "validate", "wait"):
        assert oasis(command, "--help").code is ExitCode.PASS


def test_commands_without_a_cluster_ask_for_none() -> None:
    assert main.invoke(["validate", "--help"]) is ExitCode.PASS


class FakeApi:
    """Answers of an API client, one after the other."""

    def __init__(self, *answers: tuple[int, Any] | Exception) -> None:
        self.answers = list(answers)
        self.sent: list[tuple[str, str, dict[str, str], Any]] = []
        self.configuration = type("Configuration", (), {"host": "https://api"})()

    def param_serialize(self, method: str, path: str, **parts: Any) -> tuple[Any, ...]:
        query = "&".join(f"{key}={value}" for key, value in parts["query_params"])
        return method, path + (f"?{query}" if query else ""), parts["header_params"], parts["body"], []

    def call_api(
        self, method: str, url: str, headers: dict[str, str], body: Any, _form: Any, timeout: float
    ) -> Any:
        assert timeout > 0, "no request may hang"
        self.sent.append((method, url, headers, body))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, content = answer
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        return type("Answer", (), {"status": status, "read": lambda _: data})()


def a_cluster(*answers: tuple[int, Any] | Exception) -> tuple[KubernetesCluster, FakeApi]:
    api = FakeApi(*answers)
    return KubernetesCluster(api, "here", "team"), api


def test_a_list_is_read_page_by_page() -> None:
    first, second = {"kind": "Pod"}, {"kind": "Pod", "spec": {}}
    pages = (
        (200, {"items": [first], "metadata": {"continue": "t"}}),
        (200, {"items": [second], "metadata": {}}),
    )
    port, api = a_cluster(*pages)
    assert port.list(kinds.POD, "team", "a=b") == (first, second)
    assert "continue=t" in api.sent[1][1]
    assert all("labelSelector=a=b" in sent[1] for sent in api.sent)


def test_absence_is_a_value() -> None:
    port, _ = a_cluster((404, {}), (404, {}), (404, {}))
    assert port.get(kinds.POD, "team", "x") is None
    assert port.list(kinds.EVALUATION, "team") == ()
    port.delete(kinds.POD, "team", "x")


def test_apply_is_strict_and_server_side() -> None:
    port, api = a_cluster((200, {}))
    port.apply(fake.an_evaluation(), "team")
    method, url, headers, _ = api.sent[0]
    assert method == "PATCH"
    assert url.startswith("/apis/oasis-operator.dev/v1alpha1/namespaces/team/evaluations/one?")
    assert "fieldValidation=Strict" in url
    assert headers["Content-Type"] == "application/apply-patch+yaml"


def test_kinds_of_the_cluster_have_no_namespace_in_their_path() -> None:
    port, api = a_cluster((200, {}), (201, {}))
    port.get(NAMESPACE, "team", "team")
    port.create(ACCESS_REVIEW, "team", {})
    assert api.sent[0][1] == "/api/v1/namespaces/team"
    assert api.sent[1][1].startswith("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param((401, {}), errors.NotReady, id="no credential"),
        pytest.param((403, {"message": "forbidden"}), errors.NotReady, id="no right"),
        pytest.param((422, {"message": "spec.tier"}), errors.InvalidSpec, id="a refused object"),
        pytest.param((400, {"message": "unknown field"}), errors.InvalidSpec, id="an unknown field"),
        pytest.param(
            (
                500,
                {"message": "failed to create typed patch object (x): .spec.y: field not declared in schema"},
            ),
            errors.InvalidSpec,
            id="an unknown field of an applied object",
        ),
        pytest.param((500, b"oops"), errors.Transient, id="a broken server"),
        pytest.param((200, b"<html>"), errors.Transient, id="a proxy's page"),
        pytest.param(urllib3.exceptions.HTTPError("refused"), errors.Transient, id="no connection"),
        pytest.param(OSError("no route"), errors.Transient, id="no network"),
    ],
)
def test_foreign_errors_become_our_own(answer: Any, error: type[Exception]) -> None:
    port, _ = a_cluster(answer)
    with pytest.raises(error):
        port.create(kinds.POD, "team", {})


def test_a_missing_kubeconfig_and_a_missing_context_are_told(tmp_path: Path) -> None:
    with pytest.raises(errors.Transient, match="no usable kubeconfig"):
        kubernetes_cluster.connect(str(tmp_path / "none"), None)
    file = tmp_path / "config"
    file.write_text(
        json.dumps(
            {
                "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "contexts": [
                    {"name": "one", "context": {"cluster": "c", "user": "u", "namespace": "mine"}},
                    {"name": "two", "context": {"cluster": "c", "user": "u"}},
                ],
                "current-context": "one",
            }
        )
    )
    with pytest.raises(errors.Transient, match="three"):
        kubernetes_cluster.connect(str(file), "three")
    assert kubernetes_cluster.connect(str(file), None).namespace == "mine"
    other = kubernetes_cluster.connect(str(file), "two")
    assert (other.context, other.namespace, other.server) == ("two", "default", "https://127.0.0.1:1")
    with pytest.raises(errors.Transient, match="does not answer"):
        other.version()


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (None, ""),
        ("a\n\tb", "a b"),
        ("\x1b[31mred", "�[31mred"),
        ("safe\u202eevil", "safe�evil"),
        ("zero\u200bwidth", "zero�width"),
        ("ünïcode → ok", "ünïcode → ok"),
    ],
)
def test_foreign_text_is_made_safe(text: str | None, clean: str) -> None:
    assert console.clean(text) == clean
    assert len(console.clean("x" * 500, 100)) == 100


def test_progress_is_plain_lines_without_a_terminal_and_a_spinner_on_one() -> None:
    for terminal in (False, True):
        out = io.StringIO()
        clock = fake.Clock()
        narrator = console.Narrator(Console(file=out, force_terminal=terminal, width=80), clock.monotonic)
        with narrator:
            narrator.say("first [bold]")
            narrator.say("first [bold]")
            clock.sleep(1.5)
            narrator.say("second")
        if terminal:
            assert "\x1b" in out.getvalue()
        else:
            assert out.getvalue() == "[   0.0s] first [bold]\n[   1.5s] second\n"


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    terminal = Console(file=out, force_terminal=True, width=80)
    console.print_table(terminal, ("A",), (("b",),))
    assert "\x1b[3" not in out.getvalue()
