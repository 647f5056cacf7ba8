"""The floor under all dimensions is held against the worst of them, whatever their names."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from oasis_operator.engine import gate
from oasis_operator.model.gate import Basis, GatePolicy, GateReason, Policies

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def reasons(floor: str, **scores: str) -> tuple[GateReason, ...]:
    dimensions = {name: Decimal(score) for name, score in scores.items()}
    basis = Basis(asked_at=NOW, decided_at=NOW, dimensions=dimensions)
    policy = GatePolicy("p", overall=Decimal(floor))
    return gate.again((), basis, Policies((policy,))).reasons


@pytest.mark.parametrize(
    "scores", [{"a": "0.9", "b": "0.2"}, {"a": "0.2", "b": "0.9"}, {"a": "0.2", "b": "0.2"}]
)
def test_the_worst_dimension_decides(scores: dict[str, str]) -> None:
    assert reasons("0.2", **scores) == ()
    (found,) = reasons("0.201", **scores)
    worst = min(scores, key=lambda name: (scores[name], name))
    assert found.reason == "BelowFloor"
    assert f"seen {worst} 0.2" in found.message


def test_without_a_score_the_floor_is_not_met() -> None:
    (found,) = reasons("0.1")
    assert found.reason == "BelowFloor"
