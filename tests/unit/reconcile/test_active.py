from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from oasis_operator.reconcile.active import ActiveRuns, Limits, Ticket, Turn

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def a_ticket(name: str, second: int = 0, parallelism: int = 12) -> Ticket:
    return Ticket(f"uid-{name}", f"2026-01-05T12:00:{second:02}Z", "shop", name, parallelism)


def a_run(name: str, owner: str, stage: str = "Running", uid: str = "") -> dict[str, Any]:
    return {
        "metadata": {"namespace": "shop", "name": name, "uid": uid or f"run-{name}"},
        "spec": {"evaluation": {"uid": f"uid-{owner}", "name": owner}},
        "status": {"stage": stage},
    }


def names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}-{number}" for number in range(count)]


def held(active: ActiveRuns, count: int) -> None:
    """Have another Evaluation hold slots."""
    for number in range(count):
        active.see(a_run(f"x-{number}", "x"))


def take(active: ActiveRuns, ticket: Ticket, count: int, limit: int = 4, seconds: float = 0.0) -> Turn:
    wanted = names(ticket.name, count)
    return active.take(ticket, wanted, Limits(limit), NOW + timedelta(seconds=seconds))


def test_slots_are_taken_before_their_runs_are_seen() -> None:
    active = ActiveRuns()
    assert len(take(active, a_ticket("a"), 3).granted) == 3
    assert len(take(active, a_ticket("b"), 3).granted) == 1
    assert active.total == 4


def test_an_evaluation_holds_no_more_than_its_parallelism_whatever_it_lists() -> None:
    active = ActiveRuns()
    ticket = a_ticket("a", parallelism=2)
    assert take(active, ticket, 5, limit=9).granted == ("a-0", "a-1")
    assert take(active, ticket, 5, limit=9) == Turn(held=2)


def test_the_older_evaluation_comes_first_and_the_younger_one_is_told_its_place() -> None:
    active = ActiveRuns()
    held(active, 4)
    assert take(active, a_ticket("young", 9), 2).position == 1
    assert take(active, a_ticket("old", 1), 2).position == 1
    assert take(active, a_ticket("young", 9), 2).position == 2
    for number in range(2):
        active.see(a_run(f"x-{number}", "x", "Judging"))
    assert take(active, a_ticket("young", 9), 2).granted == ()
    assert len(take(active, a_ticket("old", 1), 2).granted) == 2


def test_of_two_of_the_same_second_the_first_by_name_comes_first() -> None:
    active = ActiveRuns()
    held(active, 4)
    take(active, a_ticket("b"), 1)
    take(active, a_ticket("a"), 1)
    active.see(a_run("x-0", "x", "Completed"))
    assert take(active, a_ticket("b"), 1).position == 2
    assert take(active, a_ticket("a"), 1).granted == ("a-0",)


def test_an_older_one_that_its_own_parallelism_holds_back_keeps_nobody_waiting() -> None:
    active = ActiveRuns()
    take(active, a_ticket("old", parallelism=1), 5)
    assert take(active, a_ticket("old", parallelism=1), 5).position == 0
    assert len(take(active, a_ticket("young", 9), 5).granted) == 3


def test_who_asks_no_more_keeps_nobody_waiting() -> None:
    for end in ("silence", "withdrawal"):
        active = ActiveRuns()
        held(active, 4)
        take(active, a_ticket("old", 1), 4)
        active.see(a_run("x-0", "x", "Completed"))
        if end == "withdrawal":
            active.withdraw("uid-old")
        later = 60.0 if end == "silence" else 1.0
        assert len(take(active, a_ticket("young", 9), 1, seconds=later).granted) == 1, end


def test_a_late_look_at_an_early_state_takes_no_slot() -> None:
    active = ActiveRuns()
    active.see(a_run("a-0", "a", "Judging"))
    active.see(a_run("a-0", "a", "Running"))
    active.forget("shop", "a-1", "run-a-1")
    active.see(a_run("a-1", "a", "Running"))
    assert active.total == 0


def test_the_end_of_a_run_frees_no_slot_of_a_new_one_of_its_name() -> None:
    active = ActiveRuns()
    active.see(a_run("a-0", "a", uid="new"))
    active.forget("shop", "a-0", "old")
    assert active.total == 1


def test_a_list_frees_what_was_taken_in_vain_and_what_ended_unseen_and_nothing_of_others() -> None:
    active = ActiveRuns()
    take(active, a_ticket("a"), 2)
    active.see(a_run("a-9", "a"))
    active.see(a_run("b-0", "b"))
    active.settle("uid-a", [a_run("a-0", "a")])
    assert active.total == 2


def test_slots_count_as_booting_until_their_world_answers() -> None:
    active = ActiveRuns()
    take(active, a_ticket("a"), 1)
    assert active.booting == 1, "a run that was not seen yet is about to boot"
    for stage, booting in (("Pending", 1), ("Provisioning", 1), ("Preparing", 0), ("Running", 0)):
        active.see(a_run("a-0", "a", stage))
        assert active.booting == booting


def test_a_namespace_holds_no_more_than_its_own_limit_and_keeps_nobody_else_waiting() -> None:
    active, limits = ActiveRuns(), Limits(total=4, per_namespace=2)
    greedy = a_ticket("greedy", 1)
    assert len(active.take(greedy, names("greedy", 4), limits, NOW).granted) == 2
    turn = active.take(greedy, names("greedy", 4)[2:], limits, NOW)
    assert (turn.granted, turn.position) == ((), 1)
    # The older one waits for its own namespace, whose limit no slot elsewhere would help.
    other = replace(a_ticket("other", 9), namespace="elsewhere")
    assert len(active.take(other, names("other", 4), limits, NOW).granted) == 2


def test_within_a_namespace_the_older_one_comes_first() -> None:
    active, limits = ActiveRuns(), Limits(total=8, per_namespace=2)
    assert active.take(a_ticket("old", 1), names("old", 3), limits, NOW).held == 2
    assert active.take(a_ticket("young", 9), names("young", 1), limits, NOW).position == 2
    active.forget("shop", "old-0", "")
    assert active.take(a_ticket("young", 9), names("young", 1), limits, NOW).granted == ()
    assert active.take(a_ticket("old", 1), ["old-2"], limits, NOW).granted == ("old-2",)
