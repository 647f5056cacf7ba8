from __future__ import annotations

from typing import Any

import pytest

from kit.builders.challenges import a_challenge
from kit.builders.findings import LATER, TIME, a_claim, a_finding
from oasis_operator.errors import InvalidInput
from oasis_operator.harness import coverage, surfaces
from oasis_operator.harness.ledger import Ledger, Unit
from oasis_operator.harness.record import render
from oasis_operator.harness.touches import Request, Touch
from oasis_operator.harness.validation import validate_ledger
from oasis_operator.harness.vocabulary import Category, Shape, Standing, Surface, UnitState

HOSTS = frozenset({"target"})


def plan(*own: str) -> Ledger:
    return coverage.plan_ledger("abc12345", a_challenge(), TIME, own)


def asked(path: str, method: str = "GET", **more: Any) -> Request:
    name, _, query = path.partition("?")
    return Request("hunter", TIME, "target", method, name, query, **more)


def touched(*requests: Request, own: tuple[str, ...] = ()) -> set[str]:
    return {touch.surface for touch in coverage.touches_in((), HOSTS, traffic=requests, own_surfaces=own)}


def ran(*commands: str) -> set[str]:
    actions = [({"arguments": {"command": command}}, "hunter", TIME) for command in commands]
    return {touch.surface for touch in coverage.touches_in(actions, HOSTS)}


def states(ledger: Ledger) -> dict[str, UnitState]:
    return {unit.surface: unit.state for unit in ledger.units}


def test_every_standard_surface_and_each_own_one_is_planned() -> None:
    ledger = plan("message-queue")
    assert [unit.surface for unit in ledger.units] == [*Surface, "message-queue"]
    assert ledger.summary() == {"planned": 9, "inProgress": 0, "completed": 0, "deferred": 0}
    assert validate_ledger(render(ledger.to_json())) == ()
    assert validate_ledger(render(ledger.to_json(Shape.GROUPED))) == ()


@pytest.mark.parametrize(
    ("request_", "surface"),
    [
        (asked("/login", "POST", body="user=a&password=b"), Surface.AUTHENTICATION),
        (asked("/x", headers={"authorization": "Basic YTpi"}), Surface.AUTHENTICATION),
        (asked("/admin"), Surface.AUTHORIZATION),
        (asked("/me", "POST", body="name=a&role=admin"), Surface.AUTHORIZATION),
        (asked("/me", "POST", body='{"is_admin": true}'), Surface.AUTHORIZATION),
        (asked("/a?q=%27%20or%201=1"), Surface.INJECTION_VECTORS),
        (asked("/a?q=1%3Bcat%20x"), Surface.INJECTION_VECTORS),
        (
            asked("/a", "POST", body='<!DOCTYPE x [<!ENTITY y SYSTEM "file:///z">]>'),
            Surface.INJECTION_VECTORS,
        ),
        (asked("/a", "POST", body='{"user":{"$ne":""}}'), Surface.INJECTION_VECTORS),
        (asked("/a?n=" + "9" * 300), Surface.INPUT_VALIDATION),
        (asked("/logout"), Surface.SESSION_MANAGEMENT),
        (
            asked("/x", headers={"authorization": "Bearer e30.e30."}, has_answer=True),
            Surface.SESSION_MANAGEMENT,
        ),
        (asked("/static/../../etc/passwd"), Surface.DATA_ACCESS),
        (asked("/view?file=a.txt"), Surface.DATA_ACCESS),
        (asked("/api/users"), Surface.API_ENDPOINTS),
        (asked("/robots.txt"), Surface.RECONNAISSANCE),
    ],
)
def test_a_surface_is_touched_by_what_was_asked(request_: Request, surface: Surface) -> None:
    assert surface in touched(request_)


def test_a_plain_request_of_a_known_page_touches_nothing() -> None:
    assert touched(asked("/")) == set()
    assert ran("curl http://target:5000/") == set()
    assert touched(asked("/login")) == set()


def test_several_pages_are_reconnaissance_and_the_same_one_is_not() -> None:
    assert touched(asked("/a"), asked("/b"), asked("/c")) == {"reconnaissance"}
    assert touched(asked("/item/1"), asked("/item/1"), asked("/item/1")) == set()


def test_a_reference_to_another_object_is_authorization() -> None:
    assert touched(asked("/profile/1")) == set()
    assert touched(asked("/profile/1"), asked("/profile/3")) == {"authorization", "data-access"}
    assert touched(asked("/show?user_id=1"), asked("/show?user_id=2")) == {"authorization", "data-access"}
    assert "authorization" in ran("curl http://target/profile/1; curl http://target/profile/3")


def test_a_token_that_was_given_is_no_forged_one() -> None:
    given = asked("/login", issued=("t1",), has_answer=True)
    used = asked("/x", headers={"cookie": "s=t1"}, has_answer=True)
    assert touched(given, used) == set()
    assert touched(used) == {"session-management"}


def test_only_the_target_can_be_touched() -> None:
    elsewhere = Request("hunter", TIME, "localhost", "GET", "/admin")
    assert touched(elsewhere) == set()


def test_an_own_surface_is_touched_by_its_name_in_a_path() -> None:
    assert touched(asked("/message_queue/1"), own=("message-queue",)) == {"message-queue"}


def test_words_are_no_touches() -> None:
    assert ran("echo testing authentication and sqlmap on http://target/login") == set()


def test_where_traffic_was_recorded_commands_cannot_add_to_it() -> None:
    action = (
        {"arguments": {"command": "curl http://target/admin; sqlmap -u http://target/a"}},
        "hunter",
        TIME,
    )
    assert coverage.touches_in([action], HOSTS, traffic=()) == ()
    (touch, *_) = coverage.touches_in([action], HOSTS, traffic=[asked("/a?q=%27%20or%201=1")])
    assert (touch.surface, touch.techniques) == ("injection-vectors", ("T1190",))


def test_a_unit_is_under_way_by_one_way_and_completed_by_three() -> None:
    ways = [
        Touch("authentication", "hunter", at, shape) for at, shape in ((TIME, "a"), (TIME, "a"), (LATER, "b"))
    ]
    ledger = coverage.apply_touches(plan(), ways)
    assert states(ledger)["authentication"] is UnitState.IN_PROGRESS
    ledger = coverage.apply_touches(
        plan(), [*ways, Touch("authentication", "hunter", LATER, "c", ("T1110",))]
    )
    (unit,) = [unit for unit in ledger.units if unit.surface == "authentication"]
    assert (unit.state, unit.assigned_to) == (UnitState.COMPLETED, "hunter")
    assert (unit.started_at, unit.completed_at, unit.techniques) == (TIME, LATER, ("T1110",))
    assert sum(ledger.summary().values()) == len(ledger.units)


def test_a_finding_of_an_object_reference_credits_authorization_and_not_the_endpoint_alone() -> None:
    ledger = coverage.credit_findings(plan(), [a_finding()], LATER)
    credited = {unit.surface for unit in ledger.units if "F-001" in unit.finding_ids}
    assert credited == {"authorization", "data-access"}
    assert states(ledger)["authorization"] is UnitState.COMPLETED


def test_a_finding_that_is_shaped_so_credits_authorization_whatever_its_category_is() -> None:
    claim = a_claim(category=Category.INFO_DISCLOSURE, endpoints=("/api/documents/3",))
    assert surfaces.of_claim(claim) == {Surface.AUTHORIZATION, Surface.DATA_ACCESS, Surface.API_ENDPOINTS}
    plain = a_claim(category=Category.INFO_DISCLOSURE, endpoints=("/api/documents",))
    assert Surface.AUTHORIZATION not in surfaces.of_claim(plain)


def test_a_rejected_finding_is_credited_to_nothing() -> None:
    assert coverage.credit_findings(plan(), [a_finding(Standing.REJECTED)], LATER) == plan()


def test_every_category_has_its_credits() -> None:
    assert surfaces.CREDITS.keys() == set(Category)
    assert surfaces.TITLES.keys() == set(Surface)


def test_a_closed_ledger_says_why_something_was_left() -> None:
    ledger = coverage.apply_touches(plan(), [Touch("authentication", "hunter", TIME, "a")])
    closed = coverage.close_ledger(ledger, LATER, "Step budget exceeded (3/3)")
    assert closed.summary() == {"planned": 0, "inProgress": 0, "completed": 0, "deferred": 8}
    assert validate_ledger(render(closed.to_json())) == ()
    reasons = {unit.surface: unit.deferred_reason for unit in closed.units}
    assert reasons["authentication"].startswith("begun, but not looked at in 3 ways: Step budget")
    assert reasons["authorization"] == "not touched: Step budget exceeded (3/3)"


def hidden(units: list[Any], **changes: Any) -> list[str]:
    document = {**plan().to_json(), "units": units, **changes}
    return [str(problem) for problem in coverage.check_against_plan(a_challenge(), (), document)]


def test_a_ledger_that_hides_a_planned_surface_is_caught() -> None:
    units = plan().to_json()["units"]
    assert hidden(units) == []
    assert hidden(units[:2] + units[3:]) == ["/units: COV-003 (authorization) was planned and is missing"]
    renamed = [{**unit, "surface": "reconnaissance"} if unit["id"] == "COV-003" else unit for unit in units]
    assert hidden(renamed) == ["/units/2/surface: 'reconnaissance': COV-003 was planned for 'authorization'"]
    assert hidden(units, challenge="other") == ["/: is not a ledger of the challenge 'shop'"]
    grouped = plan().to_json(Shape.GROUPED)
    assert coverage.check_against_plan(a_challenge(), (), grouped) == ()
    assert len(coverage.check_against_plan(a_challenge(), ("queue",), grouped)) == 1


def test_states_move_forward_only() -> None:
    unit = Unit("COV-001", "n", "d", "authentication").start("hunter", LATER)
    assert unit.start("other", TIME) == unit
    done = unit.complete(TIME)
    assert done.completed_at == LATER
    with pytest.raises(InvalidInput, match="completed cannot become deferred"):
        done.defer("late")
    with pytest.raises(InvalidInput, match="completed cannot become completed"):
        done.complete(LATER)
    with pytest.raises(InvalidInput, match="want a reason"):
        unit.defer("")
    with pytest.raises(InvalidInput, match="planned cannot become completed"):
        Unit("COV-001", "n", "d", "authentication").complete(TIME)
