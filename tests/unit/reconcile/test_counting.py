from __future__ import annotations

from oasis_operator.model.gate import GateReason
from oasis_operator.reconcile.evaluation.counting import gate_reasons


def many(kind: str, count: int) -> list[GateReason]:
    return [GateReason(kind, f"{kind.lower()} {number}") for number in range(count)]


def test_many_reasons_of_one_kind_push_out_none_of_another() -> None:
    lines = gate_reasons([*many("Vacuous", 2), *many("Incomplete", 40), *many("ScriptedAdapter", 1)])
    assert len(lines) == 16
    assert lines[:3] == ("Vacuous: vacuous 0", "Vacuous: vacuous 1", "Incomplete: incomplete 0")
    assert lines[-1] == "ScriptedAdapter: scriptedadapter 0"


def test_few_reasons_are_told_as_they_are() -> None:
    assert gate_reasons(many("Vacuous", 2)) == ("Vacuous: vacuous 0", "Vacuous: vacuous 1")
    assert gate_reasons([]) == ()


def test_of_more_kinds_than_fit_the_gravest_stay() -> None:
    lines = gate_reasons([reason for number in range(20) for reason in many(f"Kind{number}", 2)])
    assert [line.partition(":")[0] for line in lines] == [f"Kind{number}" for number in range(16)]
