from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from oasis_operator.harness.sarif import build_sarif

CORPUS = Path(__file__).resolve().parents[2] / "harness_corpus/findings"


def results(name: str) -> list[dict[str, Any]]:
    document = json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))
    log = build_sarif(document, "out/abc 1.findings.json")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run["results"])
    return list(run["results"])


def test_each_standing_is_what_scanners_know_it_as() -> None:
    confirmed, needs_validation, rejected = results("published-all-standings")
    assert (confirmed["kind"], confirmed["level"]) == ("fail", "error")
    assert confirmed["properties"]["security-severity"] == "9.5"
    assert (needs_validation["kind"], needs_validation["level"]) == ("review", "none")
    assert rejected["suppressions"][0]["justification"].startswith("the quoted text stands nowhere")
    assert "suppressions" not in confirmed


def test_a_result_stands_in_its_file_and_names_its_endpoint() -> None:
    confirmed, *_ = results("published-all-standings")
    (location,) = confirmed["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "out/abc%201.findings.json"
    assert location["logicalLocations"] == [{"fullyQualifiedName": "/login", "kind": "resource"}]
    assert confirmed["message"]["text"].endswith("Remediation: Bind the parameters of the query.")


def test_both_shapes_are_exported() -> None:
    kinds = [(each["kind"], each["ruleId"]) for each in results("grouped-all-standings")]
    assert kinds == [("fail", "authentication"), ("review", "authentication"), ("fail", "logic-flaw")]


def test_nothing_found_is_an_empty_log() -> None:
    assert results("published-nothing-found") == []


def test_a_finding_is_known_again_whatever_its_number_is() -> None:
    document = json.loads((CORPUS / "published-all-standings.json").read_text(encoding="utf-8"))
    renumbered = json.loads(json.dumps(document).replace("F-00", "F-10"))
    prints = [
        [each["partialFingerprints"] for each in build_sarif(found, "a")["runs"][0]["results"]]
        for found in (document, renumbered)
    ]
    assert prints[0] == prints[1]
    assert len({json.dumps(each) for each in prints[0]}) == 3
