from __future__ import annotations

from datetime import UTC, datetime, timedelta

from oasis_operator.reconcile.boots import Boots

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
ONE, TWO = ("shop", "one"), ("shop", "two")


def test_a_pools_own_boots_do_not_take_its_room_and_others_do() -> None:
    boots = Boots()
    boots.note(ONE, 1)
    assert boots.room(ONE, 2) == 2
    assert boots.room(TWO, 2) == 1
    boots.note(TWO, 3)
    assert boots.room(ONE, 2) == 0


def test_room_comes_back_when_boots_are_over() -> None:
    boots = Boots()
    boots.note(ONE, 2)
    boots.note(ONE, 0)
    assert boots.room(TWO, 2) == 2


def test_pressure_lasts_for_a_while_and_begins_anew() -> None:
    boots = Boots()
    assert not boots.is_pressed(NOW)
    boots.press(NOW)
    assert boots.is_pressed(NOW + timedelta(seconds=14))
    assert not boots.is_pressed(NOW + timedelta(seconds=15))
    boots.press(NOW + timedelta(seconds=14))
    assert boots.is_pressed(NOW + timedelta(seconds=20))
