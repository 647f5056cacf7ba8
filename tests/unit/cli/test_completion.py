import pytest

from oasis_operator.cli import main
from oasis_operator.cli.exit_codes import ExitCode


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_the_program_for_what_may_follow(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.invoke(["completion", shell]) is ExitCode.PASS
    printed = capsys.readouterr().out
    assert "_OASIS_COMPLETE" in printed
    assert f"{shell}_complete" in printed


def test_a_shell_that_is_not_known_is_refused() -> None:
    assert main.invoke(["completion", "tcsh"]) is ExitCode.USAGE


def test_what_the_script_asks_for_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_OASIS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "oasis comp")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit):
        main.invoke([])
    assert "plain,completion" in capsys.readouterr().out.splitlines()
