from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.challenges import challenge_body
from kit.builders.harness_runs import ACTIONS, IDOR
from oasis_operator.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from unit.cli.fake_cluster import CommandLine


def evidence(**changes: Any) -> str:
    transcript = {
        "evidence_source": {"type": "agent_transcript", "status": "available"},
        "outcome": "answered",
        "actions": list(ACTIONS),
        "final_answer": json.dumps({"findings": [IDOR]}),
        "delivered_at": "2026-11-30T08:00:00.000000Z",
        "finished_at": "2026-11-30T08:05:00.000000Z",
        "model": "m-1",
        "usage": {"input": 1000, "output": 200, "estimated": False, "steps": 5},
    }
    return json.dumps(
        {"subject": {"agent": "hunter", "digest": "sha256:1"}, "transcript": {**transcript, **changes}}
    )


@pytest.fixture
def run(tmp_path: Path, oasis: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "challenge.json").write_text(json.dumps(challenge_body()))

    def call(*options: str, text: str = "", **variables: str) -> Any:
        (tmp_path / "evidence.json").write_text(text or evidence())
        for name, value in {
            "": "true",
            "COVERAGE": "true",
            "OUTPUT_DIR": str(tmp_path / "out"),
            **variables,
        }.items():
            monkeypatch.setenv("OASIS_HARNESS" + (f"_{name}" if name else ""), value)
        files = (str(tmp_path / "evidence.json"), "--challenge", str(tmp_path / "challenge.json"))
        return oasis("harness", *files, *options)

    return call


def test_the_three_documents_of_a_run_are_written_and_valid(
    run: Any, oasis: CommandLine, tmp_path: Path
) -> None:
    answer = run("--run", "r1", MAX_STEPS="5")
    assert answer.code is ExitCode.PASS
    out = tmp_path / "out"
    names = ["r1.coverage-ledger.json", "r1.findings.json", "r1.harness.json"]
    assert answer.out.splitlines() == [str(out / name) for name in names]
    challenge, recorded = str(tmp_path / "challenge.json"), str(tmp_path / "evidence.json")
    assert oasis("validate-ledger", str(out / names[0]), "--challenge", challenge).code is ExitCode.PASS
    assert oasis("validate-findings", str(out / names[1]), "--evidence", recorded).code is ExitCode.PASS
    assert oasis("validate-harness", str(out / names[2])).code is ExitCode.PASS
    document = json.loads((out / names[2]).read_text())
    assert document["budget"]["steps"] == {"used": 5, "limit": 5, "exceeded": True}
    assert document["budget"]["tokens"]["used"] == 1200
    assert document["budget"]["timeSeconds"]["used"] == 300
    assert document["error"] is None
    assert document["findings"]["findings"][0]["discoveredBy"] == "hunter"
    assert set(document["digests"]) == {"evidence", "challenge", "findings", "coverageLedger"}


def test_the_grouped_shape_is_an_option(run: Any, oasis: CommandLine, tmp_path: Path) -> None:
    assert run("--run", "r1", "--grouped").code is ExitCode.PASS
    findings = tmp_path / "out/r1.findings.json"
    assert len(json.loads(findings.read_text())["needs_validation"]) == 1
    assert oasis("validate-findings", str(findings)).code is ExitCode.PASS


def test_off_nothing_is_written(run: Any, tmp_path: Path) -> None:
    assert run(**{"": "false"}).code is ExitCode.USAGE
    assert not (tmp_path / "out").exists()


def test_a_stopped_run_keeps_its_error(run: Any, tmp_path: Path) -> None:
    error = "Harness budget exceeded: Step budget exceeded (3/3)"
    text = evidence(outcome="budget", detail=error, final_answer="")
    assert run("--run", "r1", text=text, COVERAGE="false").code is ExitCode.PASS
    document = json.loads((tmp_path / "out/r1.harness.json").read_text())
    assert (document["error"], document["coverageLedger"]) == (error, None)
    assert not (tmp_path / "out/r1.coverage-ledger.json").exists()


@pytest.mark.parametrize("text", ["{}", "nothing", evidence(delivered_at=None)])
def test_what_is_no_evidence_of_a_run_is_refused(run: Any, text: str) -> None:
    assert run(text=text).code is ExitCode.USAGE


def test_a_run_cannot_be_named_out_of_its_folder(run: Any) -> None:
    assert run("--run", "../r1").code is ExitCode.USAGE
