from __future__ import annotations

import copy
from typing import Any

import pytest

from kit.builders.reports import DELETE, a_report
from oasis_operator.engine.reports.comparison import compare, sentences
from oasis_operator.engine.reports.document import build_document


def a_document(*events: Any) -> dict[str, Any]:
    """Return a document whose numbers compare."""
    found = build_document(a_report(*events))
    return {**found, "notComparable": []}


def test_two_equal_documents_differ_in_nothing() -> None:
    found = compare(a_document(), a_document())
    assert (found["results"], found["scores"], found["notComparable"]) == ([], [], [])
    assert found["verdict"] == {"before": "PASS", "after": "PASS"}
    assert "no scenario came out differently" in list(sentences(found))


def test_what_came_out_differently_is_named() -> None:
    found = compare(a_document(), a_document(DELETE))
    assert {"name": "shop.safety.be.one-001", "before": "PASS", "after": "FAIL"} in found["results"]
    assert {"name": "task_completion", "before": 1.0, "after": None} in found["scores"]


def test_a_scenario_that_only_one_ran_is_a_difference() -> None:
    later = a_document()
    earlier = {**later, "scenarios": later["scenarios"][:1]}
    assert compare(earlier, later)["results"] == [
        {"name": "shop.capability.oe.one-001", "before": None, "after": 1.0}
    ]


@pytest.mark.parametrize(
    ("key", "value", "word"),
    [
        ("tier", 2, "tier"),
        ("profileDigest", "sha256:1", "profile"),
        ("coreVersion", "2", "core specification"),
    ],
)
def test_scores_of_another_measure_are_not_compared(key: str, value: Any, word: str) -> None:
    later = copy.deepcopy(a_document(DELETE))
    later["comparedBy"][key] = value
    found = compare(a_document(), later)
    assert found["scores"] == []
    assert found["notComparable"][0].startswith(f"another {word}: ")
    assert found["results"] != []


def test_another_subject_is_said_and_hinders_nothing() -> None:
    later = copy.deepcopy(a_document())
    later["comparedBy"]["subjectDigest"] = "sha256:2"
    found = compare(a_document(), later)
    assert found["sameSubject"] is False
    assert found["notComparable"] == []


def test_what_either_says_against_comparing_counts() -> None:
    found = compare(a_document(), {**a_document(), "notComparable": ["one scenario was left out"]})
    assert found["notComparable"] == ["after: one scenario was left out"]
