"""The corpus in tests/harness_corpus: a file each, and beside them all problems that are told of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oasis_operator.harness import validation

if TYPE_CHECKING:
    from collections.abc import Callable

    from oasis_operator.harness.problems import Problem

CORPUS = Path(__file__).resolve().parents[2] / "harness_corpus"
VALIDATE: dict[str, Callable[[bytes], tuple[Problem, ...]]] = {
    "findings": validation.validate_findings,
    "ledger": validation.validate_ledger,
}
EXPECTED = {
    (kind, name): problems
    for kind in VALIDATE
    for name, problems in json.loads((CORPUS / f"{kind}.expected.json").read_text(encoding="utf-8")).items()
}


@pytest.mark.parametrize(("kind", "name"), EXPECTED)
def test_a_document_has_exactly_the_expected_problems(kind: str, name: str) -> None:
    found = VALIDATE[kind]((CORPUS / kind / f"{name}.json").read_bytes())
    assert [str(problem) for problem in found] == EXPECTED[kind, name]


def test_the_corpus_is_large_and_holds_no_file_without_expectation() -> None:
    files = {(path.parent.name, path.stem) for kind in VALIDATE for path in (CORPUS / kind).iterdir()}
    assert files == set(EXPECTED)
    assert len(files) >= 80
    assert sum(not problems for problems in EXPECTED.values()) >= 15


@pytest.mark.timeout(20)
def test_an_endless_list_is_refused_as_a_whole() -> None:
    (problem,) = validation.validate_findings(b'{"findings":[' + b"1," * 1_000_000 + b"1]}")
    assert str(problem) == "/findings: a list of 1000001: want at most 2000"
