from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kit.builders.challenges import a_challenge, challenge_body
from kit.builders.harness_runs import ACTIONS, IDOR, VERSIONS, run_facts
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.harness.conclusion import conclude
from oasis_operator.harness.configuration import Configuration
from oasis_operator.harness.coverage import plan_ledger

if TYPE_CHECKING:
    from unit.cli.fake_cluster import CommandLine

CORPUS = Path(__file__).resolve().parents[2] / "harness_corpus"
VALID = {
    "validate-findings": CORPUS / "findings/published-all-standings.json",
    "validate-ledger": CORPUS / "ledger/published-every-state.json",
}


@pytest.mark.parametrize("command", VALID)
def test_a_valid_document_is_said_to_be_valid(oasis: CommandLine, command: str) -> None:
    answer = oasis(command, str(VALID[command]))
    assert answer.code is ExitCode.PASS
    assert answer.out.splitlines() == [f"{VALID[command]}: valid", "1 files, 0 problems"]


def test_each_problem_of_each_file_is_told_with_its_place(oasis: CommandLine) -> None:
    wrong = CORPUS / "ledger/grouped-excerpt.json"
    answer = oasis("validate-ledger", str(VALID["validate-ledger"]), str(wrong))
    assert answer.code is ExitCode.FINDINGS
    lines = answer.out.splitlines()
    assert lines[0].endswith(": valid")
    assert lines[4] == f"{wrong}: /summary/total: 10: the units count to 1"
    assert lines[-1] == "2 files, 4 problems"


def test_scripts_read_json(oasis: CommandLine) -> None:
    wrong = CORPUS / "findings/no-such-day.json"
    answer = oasis("validate-findings", str(wrong), "-o", "json")
    assert answer.code is ExitCode.FINDINGS
    assert json.loads(answer.out) == {
        "valid": False,
        "files": [
            {
                "file": wrong.as_posix(),
                "valid": False,
                "problems": [
                    {
                        "pointer": "/timestamp",
                        "code": "time",
                        "message": '"2026-02-30T00:00:00Z": no calendar has such a time',
                    }
                ],
            }
        ],
    }


def test_a_file_that_is_not_there_is_wrong_usage_and_no_finding(oasis: CommandLine, tmp_path: Path) -> None:
    assert oasis("validate-findings", str(tmp_path / "none.json")).code is ExitCode.USAGE
    assert oasis("validate-ledger").code is ExitCode.USAGE


def test_a_file_is_never_read_beyond_its_bound(oasis: CommandLine, tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(1 << 30)
    answer = oasis("validate-findings", str(large))
    assert answer.code is ExitCode.FINDINGS
    assert "want at most 16777216" in answer.out


def test_text_of_a_hostile_file_cannot_move_the_cursor(oasis: CommandLine, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile.json"
    hostile.write_text('{"runId":"a","findings":[],"\\u001b[2Jx":1}')
    answer = oasis("validate-findings", str(hostile))
    assert answer.code is ExitCode.FINDINGS
    assert "\x1b" not in answer.out


def test_a_ledger_is_held_against_the_plan_of_its_challenge(oasis: CommandLine, tmp_path: Path) -> None:
    challenge = tmp_path / "challenge.json"
    challenge.write_text(json.dumps(challenge_body()))
    ledger = tmp_path / "run.coverage-ledger.json"
    document = plan_ledger("run", a_challenge(), "2026-09-19T15:30:00Z").to_json()
    ledger.write_text(json.dumps(document))
    options = ("validate-ledger", str(ledger), "--challenge", str(challenge))
    assert oasis(*options).code is ExitCode.PASS
    assert "COV-009 (queue) was planned and is missing" in oasis(*options, "--surface", "queue").out
    document["units"] = document["units"][1:]
    document["summary"]["planned"] = 7
    ledger.write_text(json.dumps(document))
    answer = oasis(*options)
    assert answer.code is ExitCode.FINDINGS
    assert "/units: COV-001 (reconnaissance) was planned and is missing" in answer.out
    assert oasis("validate-ledger", str(ledger)).code is ExitCode.PASS
    challenge.write_text("{}")
    assert oasis(*options).code is ExitCode.USAGE
    assert oasis("validate-ledger", str(ledger), "--surface", "queue").code is ExitCode.USAGE


def test_a_harness_document_is_checked_with_what_is_in_it(oasis: CommandLine, tmp_path: Path) -> None:
    record = tmp_path / "run.harness.json"
    document = conclude(Configuration(coverage=True), run_facts(IDOR), VERSIONS).to_json()
    record.write_text(json.dumps(document))
    assert oasis("validate-harness", str(record)).code is ExitCode.PASS
    document["iterations"] = 99
    record.write_text(json.dumps(document))
    answer = oasis("validate-harness", str(record))
    assert answer.code is ExitCode.FINDINGS
    assert "/iterations: 99: the budget counts 3 steps" in answer.out
    assert "use oasis validate-harness" in oasis("validate-findings", str(record)).out


def test_findings_are_held_against_the_recorded_transcript(oasis: CommandLine, tmp_path: Path) -> None:
    evidence = tmp_path / "evidence.json"
    evidence.write_text(json.dumps({"transcript": {"actions": list(ACTIONS)}}))
    findings = tmp_path / "run.findings.json"
    document = conclude(Configuration(), run_facts(IDOR), VERSIONS).findings.to_json()
    findings.write_text(json.dumps(document))
    options = ("validate-findings", str(findings), "--evidence", str(evidence))
    assert oasis(*options).code is ExitCode.PASS
    document["findings"][0]["trace"]["commands"] = ["curl http://target:5000/never"]
    findings.write_text(json.dumps(document))
    answer = oasis(*options)
    assert answer.code is ExitCode.FINDINGS
    assert "was not sent in the steps that it names" in answer.out
    assert oasis("validate-findings", str(findings)).code is ExitCode.PASS
    evidence.write_text("{}")
    assert oasis(*options).code is ExitCode.USAGE
