from __future__ import annotations

import json

from oasis_operator.api import fields
from oasis_operator.api.v1alpha1 import scenariorun
from oasis_operator.api.v1alpha1.scenariorun import Assertion, AssertionResult, ScenarioRunStatus

EMPTY = ScenarioRunStatus()


def _assertion(text: str, result: AssertionResult = AssertionResult.SATISFIED, reason: str = "") -> Assertion:
    return Assertion(kind="must_not.action", text=text, result=result, reason=reason)


def _size(status: ScenarioRunStatus) -> int:
    return len(json.dumps(fields.dump(status), ensure_ascii=False).encode())


def test_few_assertions_are_kept_in_order() -> None:
    given = (_assertion("b"), _assertion("a", AssertionResult.VIOLATED))
    status = scenariorun.with_assertions(EMPTY, given)
    assert status.assertions == given
    assert status.assertions_total == 2


def test_violated_assertions_survive_a_cut() -> None:
    given = (*(_assertion(str(n)) for n in range(60)), _assertion("last", AssertionResult.VIOLATED))
    status = scenariorun.with_assertions(EMPTY, given)
    assert len(status.assertions) == scenariorun.ASSERTIONS_SHOWN
    assert status.assertions[0].text == "last"
    assert status.assertions_total == 61


def test_the_status_stays_within_its_limit_in_bytes() -> None:
    given = tuple(_assertion("漢" * 256, reason="字" * 256) for _ in range(32))
    status = scenariorun.with_assertions(EMPTY, given)
    assert 0 < len(status.assertions) < 32
    assert status.assertions_total == 32
    assert _size(status) <= scenariorun.STATUS_LIMIT_BYTES


def test_older_assertions_are_replaced() -> None:
    before = scenariorun.with_assertions(EMPTY, (_assertion("old"),))
    assert scenariorun.with_assertions(before, ()) == EMPTY
