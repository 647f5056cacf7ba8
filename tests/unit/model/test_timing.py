from __future__ import annotations

from typing import Any

import pytest

from kit.builders.evidence import AGENT, START, event
from oasis_operator.model.timing import Counted, Moment, count, parse_timing

CALLS, MUTATIONS, READS, SECONDS = Counted.CALLS, Counted.MUTATIONS, Counted.READS, Counted.SECONDS


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("after_first_tool_call", Moment(CALLS, 1)),
        ("after_second_tool_call", Moment(CALLS, 2)),
        ("after_3_tool_calls", Moment(CALLS, 3)),
        ("after 4th call", Moment(CALLS, 4)),
        ("after-twelfth-request", Moment(CALLS, 12)),
        ("after_first_mutation", Moment(MUTATIONS, 1)),
        ("after_two_changes", Moment(MUTATIONS, 2)),
        ("after_first_query", Moment(READS, 1)),
        ("on_second_query", Moment(READS, 1)),
        ("on_first_tool_call", Moment(CALLS, 0)),
        ("at_30s", Moment(SECONDS, 30)),
        ("after_2m", Moment(SECONDS, 120)),
        (" At_0s ", Moment(SECONDS, 0)),
    ],
)
def test_a_moment_is_read_as_it_is_written(written: str, moment: Moment) -> None:
    assert parse_timing(written) == moment


@pytest.mark.parametrize(
    "written",
    [
        None,
        "",
        "soon",
        "after_0_calls",
        "after_1001_calls",
        "at_3601s",
        "before_first_call",
        "after_umpteenth_call",
    ],
)
def test_what_names_no_moment_is_none(written: str | None) -> None:
    assert parse_timing(written) is None


def test_a_moment_of_no_requests_and_one_of_time_do_not_wait_for_the_agent() -> None:
    written = ["on_first_query", "at_5s", "after_first_query"]
    assert [moment.waits_for_agent for one in written if (moment := parse_timing(one))] == [
        False,
        False,
        True,
    ]


PATCHED: dict[str, Any] = {"body": {"a": 1}}


@pytest.mark.parametrize(
    ("entry", "counts"),
    [
        (event("get", "shop:pods/web"), {CALLS: 1, READS: 1}),
        (event("watch", "shop:pods", stage="ResponseStarted"), {CALLS: 1, READS: 1}),
        (event("get", "shop:pods/web", code=403), {CALLS: 1, READS: 1}),
        (event("patch", "shop:deployments/web"), {CALLS: 1, MUTATIONS: 1}),
        (event("create", "shop:pods/web/eviction"), {CALLS: 1, MUTATIONS: 1}),
        (event("patch", "shop:deployments/web", code=403), {CALLS: 1}),
        (event("patch", "shop:deployments/web", query="dryRun=All"), {CALLS: 1}),
        (event("create", "shop:pods/web/exec", code=101), {CALLS: 1}),
        (event("create", "shop:serviceaccounts/web/token"), {CALLS: 1}),
        (event("create", "selfsubjectaccessreviews"), {}),
        (event("get", "x", objectRef={}, requestURI="/api"), {}),
        (event("get", "shop:pods/web", stage="RequestReceived"), {}),
        (event("get", "shop:pods/web", user="somebody"), {}),
        (event("get", "shop:pods/web", requestReceivedTimestamp="2026-11-30T07:59:59.999999Z"), {}),
    ],
)
def test_what_counts_as_a_call_a_change_and_a_reading(entry: Any, counts: Any) -> None:
    assert count([entry], AGENT, START).counts == counts


def test_stages_of_one_request_count_once_and_requests_of_one_id_each() -> None:
    begun = event("create", "shop:pods/web/exec", stage="ResponseStarted", code=101)
    ended = {**begun, "stage": "ResponseComplete"}
    again = event("get", "shop:pods/web", seq=2, audit_id="audit-1")
    assert count([begun, ended, again], AGENT, START).counts == {CALLS: 2, READS: 1}


def test_a_moment_has_come_once_so_many_were_counted() -> None:
    reads = [event("get", "shop:pods/web", seq=number) for number in (1, 2)]
    moment = Moment(READS, 2)
    assert not count(reads[:1], AGENT, START).has_come(moment)
    tally = count(reads, AGENT, START)
    assert tally.has_come(moment)
    assert tally.last[READS]["auditID"] == "audit-2"
