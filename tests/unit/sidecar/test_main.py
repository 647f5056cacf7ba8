from __future__ import annotations

import subprocess
import sys

import pytest

from oasis_operator.sidecar import main


@pytest.mark.parametrize("argv", [[], ["other"], ["--help"]])
def test_a_call_without_a_command_tells_the_commands(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(argv) == 2
    assert capsys.readouterr().err == "usage: oasis-sidecar probe|adapter|gateway|reach …\n"


def test_the_adapter_takes_no_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["adapter", "extra"]) == 2
    assert capsys.readouterr().err == "usage: oasis-sidecar adapter\n"


def test_reach_pays_for_the_standard_library_alone() -> None:
    code = (
        "import sys, oasis_operator.sidecar.main, oasis_operator.sidecar.reach;"
        "print([m for m in ('aiohttp', 'pydantic', 'yaml', 'oasis_operator.sidecar.adapter.main') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
