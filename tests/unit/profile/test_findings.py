from __future__ import annotations

import json

import pytest

from oasis_operator.model.faults import Fault, Severity
from oasis_operator.profile import findings
from oasis_operator.profile.codes import CODES

ERROR = Fault(
    "scenarios/a.yaml", 3, 7, "SCN010", Severity.ERROR, "The tier is not 1, 2 or 3.", "9", "Write 1.", "tier"
)
WARNING = Fault("profile.md", 0, 0, "PRO010", Severity.WARNING, "No schema.", "", "Declare one.")


def test_text_has_a_line_for_each_fault_and_a_sum() -> None:
    assert findings.render([ERROR, WARNING], root="profiles/a/") == (
        "profiles/a/scenarios/a.yaml:3:7: error SCN010: The tier is not 1, 2 or 3. Seen: '9'. Write 1. [tier]\n"
        "profiles/a/profile.md: warning PRO010: No schema. Declare one.\n"
        "1 errors, 1 warnings\n"
    )


def test_json_has_every_member() -> None:
    document = json.loads(findings.render([ERROR], "json"))
    assert (document["valid"], document["errors"], document["warnings"]) == (False, 1, 0)
    assert document["faults"] == [
        {
            "file": "scenarios/a.yaml",
            "line": 3,
            "column": 7,
            "code": "SCN010",
            "severity": "error",
            "message": "The tier is not 1, 2 or 3.",
            "value": "9",
            "remedy": "Write 1.",
            "path": "tier",
        }
    ]


def test_sarif_points_at_rules_and_places() -> None:
    run = json.loads(findings.render([ERROR, WARNING], "sarif"))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == ["SCN010", "PRO010"]
    assert [result["level"] for result in run["results"]] == ["error", "warning"]
    first, second = (result["locations"][0]["physicalLocation"] for result in run["results"])
    assert first == {
        "artifactLocation": {"uri": "scenarios/a.yaml"},
        "region": {"startLine": 3, "startColumn": 7},
    }
    assert "region" not in second


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="xml"):
        findings.render([], "xml")


@pytest.mark.parametrize(
    ("faults", "strict", "code"),
    [
        ([], False, 0),
        ([WARNING], False, 0),
        ([WARNING], True, 1),
        ([ERROR], False, 1),
        ([WARNING, ERROR], True, 1),
    ],
)
def test_the_exit_code_says_whether_the_profile_can_be_used(
    faults: list[Fault], strict: bool, code: int
) -> None:
    assert findings.exit_code(faults, strict=strict) == code


def test_every_code_says_what_it_means_and_what_mends_it() -> None:
    assert all(code.title and code.remedy.endswith(".") for code in CODES.values())
