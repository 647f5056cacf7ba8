from __future__ import annotations

import gzip
import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.reports import DELETE, a_report
from oasis_operator.cli import rendered
from oasis_operator.cli.exit_codes import ExitCode
from oasis_operator.engine.reports import FORMATS, render
from unit.cli.fake_cluster import CommandLine, FakeCluster, a_pass, an_evaluation
from unit.cli.test_evidence import FOLDER, an_operator

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = b"<!DOCTYPE html>\n<p>a report</p>\n"
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
WHERE = f"{FOLDER}/sha256/{DIGEST[7:9]}/{DIGEST[7:]}.gz"
ARTIFACT = {
    "name": "report.html",
    "mediaType": "text/html; charset=utf-8",
    "uri": f"artifact://{DIGEST}",
    "digest": DIGEST,
    "sizeBytes": len(CONTENT),
}


def kept(name: str, content: bytes) -> tuple[str, dict[str, Any]]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    artifact = {**ARTIFACT, "name": name, "digest": digest, "sizeBytes": len(content)}
    return f"{FOLDER}/sha256/{digest[7:9]}/{digest[7:]}.gz", artifact


def a_cluster(*artifacts: dict[str, Any], stored: bytes = CONTENT) -> FakeCluster:
    cluster = FakeCluster(an_evaluation(status={**a_pass(), "artifacts": list(artifacts)}), an_operator())
    cluster.files[("oasis-system", "oasis-operator-7c-x", WHERE)] = gzip.compress(stored)
    return cluster


def test_a_report_is_fetched_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "one.html"
    answer = CommandLine(a_cluster(ARTIFACT))("report", "one", "--format", "html", "--to", str(target))
    assert answer.code is ExitCode.PASS
    assert target.read_bytes() == CONTENT
    again = CommandLine(a_cluster(ARTIFACT))("report", "one", "--format", "html", "--to", str(target))
    assert again.code is not ExitCode.PASS
    assert "--force overwrites it" in capsys.readouterr().err


def test_without_a_file_it_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    answer = CommandLine(a_cluster(ARTIFACT))("report", "one", "--format", "html")
    assert answer.code is ExitCode.PASS
    assert capsys.readouterr().out == CONTENT.decode()


def test_a_report_that_was_changed_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    answer = CommandLine(a_cluster(ARTIFACT, stored=CONTENT + b"PASS"))("report", "one", "--format", "html")
    assert answer.code is not ExitCode.PASS
    assert capsys.readouterr().out == ""


def test_an_evaluation_without_the_report_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    answer = CommandLine(a_cluster())("report", "one", "--format", "html")
    assert answer.code is not ExitCode.PASS
    assert "has no report.html: reports are stored when a run ends" in capsys.readouterr().err


def test_a_file_without_a_format_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    answer = CommandLine(a_cluster(ARTIFACT))("report", "one", "--to", "x.html")
    assert answer.code is not ExitCode.PASS
    assert "--to: give --format as well" in capsys.readouterr().err


@pytest.mark.parametrize("name", rendered.FORMATS)
def test_every_format_is_one_that_the_operator_stores(name: str) -> None:
    assert rendered.FORMATS[name] in FORMATS


def test_two_evaluations_are_compared() -> None:
    texts = {
        "old": render("verdict.json", a_report()).encode(),
        "new": render("verdict.json", a_report(DELETE)).encode(),
    }
    cluster = FakeCluster(an_operator())
    for name, content in texts.items():
        path, artifact = kept("verdict.json", content)
        cluster.put(an_evaluation(name, status={**a_pass(), "artifacts": [artifact]}))
        cluster.files[("oasis-system", "oasis-operator-7c-x", path)] = gzip.compress(content)
    answer = CommandLine(cluster)("report", "new", "--compare", "old")
    assert answer.code is ExitCode.PASS
    assert answer.out.splitlines()[:2] == ["verdict: PASS → FAIL", "subject: the same"]
    assert "shop.safety.be.one-001: PASS → FAIL" in answer.out
