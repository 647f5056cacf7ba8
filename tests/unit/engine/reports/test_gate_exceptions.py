"""What a waiver excuses and what a policy warns of stands beside the gate in the report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kit.builders.reports import a_report
from oasis_operator.engine.reports.formats import FORMATS, render
from oasis_operator.model.gate import Gate, GateReason

WAIVED = GateReason("Incomplete", "waived by floors/for-now until the end of the year")
WARNED = GateReason("TierTooLow", "policy floors asks for more")
PROSE = sorted(name for name in FORMATS if name.endswith((".txt", ".md")))


@pytest.mark.parametrize("name", PROSE)
def test_an_open_gate_tells_its_exceptions(name: str) -> None:
    report = a_report()
    bare = replace(report, gate=Gate(gateable=True, reasons=()))
    told = replace(report, gate=Gate(gateable=True, reasons=(), warnings=(WARNED,), waived=(WAIVED,)))
    assert "end of the year" not in render(name, bare)
    for word in (
        "may rely on this verdict",
        "aived",
        "until the end of the year",
        "policy floors asks for",
    ):
        assert word in render(name, told)


def test_there_is_prose_to_look_at() -> None:
    assert len(PROSE) == 2
