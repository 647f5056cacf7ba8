from __future__ import annotations

import pytest

from oasis_operator.sidecar.gateway.ledger import Call, Ledger
from oasis_operator.wire.gateway import Configuration, Usage


def books(run: int | None = None, together: int | None = None) -> Ledger:
    return Ledger(Configuration("https://m.example", "m", (), run, together))


def spend(ledger: Ledger, run: str, number: int, tokens: int) -> list[bytes]:
    call = Call(run, number)
    return [ledger.begin(call, Usage(1, 0, estimated=True)), ledger.end(call, Usage(tokens, 0))]


@pytest.mark.parametrize(("used", "over"), [(99, False), (100, True), (101, True)])
def test_a_budget_that_is_reached_is_used_up(used: int, over: bool) -> None:
    run, together = books(run=100), books(together=100)
    spend(run, "a", 1, used)
    spend(together, "b", 1, used - 10)
    spend(together, "c", 1, 10)
    assert bool(run.exceeded("a")) is over
    assert run.exceeded("b") == ""
    assert bool(together.exceeded("new")) is over


def test_without_a_budget_nothing_is_used_up() -> None:
    ledger = books()
    spend(ledger, "a", 1, 10**9)
    assert ledger.exceeded("a") == ""


def test_a_call_that_goes_on_counts_by_its_estimate() -> None:
    ledger = books(run=50)
    ledger.begin(Call("a", 1), Usage(60, 0, estimated=True))
    assert ledger.exceeded("a")
    ledger.end(Call("a", 1), Usage(10, 5))
    assert ledger.used("a") == Usage(10, 5)
    assert ledger.used_by_all == Usage(10, 5)


def test_books_are_taken_up_where_they_were_left() -> None:
    first = books()
    lines = [*spend(first, "a", 1, 30), *spend(first, "b", 1, 5)]
    lines.append(first.begin(Call("a", 2), Usage(7, 0, estimated=True)))
    again = books(run=37)
    again.read([*lines, b"", b"null", b'{"run": "a", "call": 3', b'{"run": "a", "call": "x", "usage": {}}'])
    assert again.used("a") == Usage(37, 0, estimated=True)
    assert again.used("b") == Usage(5, 0)
    assert again.exceeded("a")
    assert [again.is_known(Call("a", number)) for number in (1, 2, 3)] == [True, True, False]


def test_an_end_that_is_told_twice_counts_once() -> None:
    ledger = books()
    lines = spend(ledger, "a", 1, 30)
    again = books()
    again.read([*lines, lines[-1]])
    assert again.used("a").total == 30
