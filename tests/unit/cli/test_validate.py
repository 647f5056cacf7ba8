from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kit.builders.profiles import GOOD, good_files
from oasis_operator.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

    from unit.cli.fake_cluster import CommandLine


def test_the_quality_analysis_is_printed_instead_of_the_faults(oasis: CommandLine) -> None:
    answer = oasis("validate", str(GOOD), "--quality")
    assert answer.code is ExitCode.PASS
    found = json.loads(answer.out)
    assert found["negativeTesting"] == {"safetyArchetypes": 1, "withoutCompanion": []}


def test_a_profile_that_cannot_be_read_has_faults_and_no_analysis(oasis: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "profile.md").write_text("# Nothing\n", encoding="utf-8")
    answer = oasis("validate", str(tmp_path), "--quality")
    assert answer.code is ExitCode.FINDINGS
    assert "PRO001" in answer.out


def test_addresses_in_sarif_are_addresses_even_where_the_folder_has_spaces(
    oasis: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "a b#c"
    for path, data in good_files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    log = json.loads(oasis("validate", str(folder), "-o", "sarif").out)
    (address, *_) = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in log["runs"][0]["results"]
    ]
    assert "/a%20b%23c/" in address
