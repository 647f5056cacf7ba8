from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from oasis_operator.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from unit.cli.fake_cluster import CommandLine

CORPUS = Path(__file__).resolve().parents[2] / "harness_corpus/findings"
VALID = CORPUS / "published-all-standings.json"


def test_findings_are_listed_with_who_stands_for_them(oasis: CommandLine) -> None:
    answer = oasis("findings", str(VALID))
    assert answer.code is ExitCode.PASS
    lines = [line.split() for line in answer.out.splitlines()]
    assert lines[0] == ["ID", "VERDICT", "CATEGORY", "SEVERITY", "TITLE", "BY"]
    assert [line[:3] for line in lines[1:]] == [
        ["F-001", "confirmed", "sql-injection"],
        ["F-002", "needs_validation", "idor"],
        ["F-003", "rejected", "other"],
    ]
    assert [line[-1] for line in lines[1:]] == ["verifier", "hunter", "harness"]


def test_scanners_and_scripts_have_their_formats(oasis: CommandLine) -> None:
    log = json.loads(oasis("findings", str(VALID), "-o", "sarif").out)
    assert len(log["runs"][0]["results"]) == 3
    assert json.loads(oasis("findings", str(VALID), "-o", "json").out) == json.loads(VALID.read_text())
    assert json.loads(oasis("-o", "json", "findings", str(VALID)).out)["version"] == "1.0.0"


def test_a_file_that_is_not_valid_is_not_exported(oasis: CommandLine) -> None:
    answer = oasis("findings", str(CORPUS / "two-findings-of-one-id.json"), "-o", "sarif")
    assert answer.code is ExitCode.FINDINGS
    assert answer.out == ""
    assert "is the id of /findings/0 as well" in answer.err
