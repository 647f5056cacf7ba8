from __future__ import annotations

import json
from typing import Any

import pytest

from oasis_operator.database.audit import entries_of, read_lines


def line(message: str, **more: Any) -> dict[str, Any]:
    return {
        "timestamp": "2026-12-01 13:57:36.572 UTC", "user": "worker", "dbname": "app", "session_id": "s.1",
        "line_num": 4, "error_severity": "LOG", "message": message, **more,
    }  # fmt: skip


def audited(kind: str, command: str, object_type: str, target: str, statement: str) -> dict[str, Any]:
    return line(f'AUDIT: SESSION,1,1,{kind},{command},{object_type},{target},"{statement}",<none>')


def told(*records: dict[str, Any]) -> list[tuple[str, str, str, str, int]]:
    found = entries_of(records, frozenset({"postgres"}))
    return [
        (one.verb, one.resource.removesuffix(".pg.sql"), one.namespace, one.name, one.response_code)
        for one in found
    ]


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (
            audited("READ", "SELECT", "TABLE", "sales.orders", "select 1"),
            ("get", "records", "sales", "orders", 200),
        ),
        (
            audited("WRITE", "DELETE", "TABLE", "sales.orders", "x"),
            ("delete", "records", "sales", "orders", 200),
        ),
        (
            audited("WRITE", "COPY", "TABLE", "sales.orders", "x"),
            ("create", "records", "sales", "orders", 200),
        ),
        (
            audited("WRITE", "TRUNCATE TABLE", "", "", "truncate only sales.orders"),
            ("deletecollection", "records", "sales", "orders", 200),
        ),
        (
            audited("ROLE", "GRANT", "", "", "grant select on table sales.orders to r"),
            ("create", "grants", "sales", "orders", 200),
        ),
        (
            audited("ROLE", "REVOKE", "", "", "revoke all on sales.orders from r"),
            ("delete", "grants", "sales", "orders", 200),
        ),
        (audited("ROLE", "ALTER ROLE", "", "", "alter role r superuser"), ("update", "logins", "", "r", 200)),
        (
            audited("DDL", "DROP TABLE", "TABLE", "sales.orders", "x"),
            ("delete", "tables", "sales", "orders", 200),
        ),
        (audited("DDL", "CREATE INDEX", "INDEX", "sales.i", "x"), ("create", "indexes", "sales", "i", 200)),
        (
            audited("DDL", "DROP SCHEMA", "", "", "drop schema if exists sales"),
            ("delete", "schemas", "", "sales", 200),
        ),
        (audited("MISC", "SET", "", "", "set x = 1"), ("get", "settings", "", "set", 200)),
        (line("AUDIT: SESSION,garbled"), ("update", "statements", "", "", 200)),
        (line("connection authorized: user=worker"), ("get", "databases", "", "app", 200)),
    ],
    ids=str,
)
def test_a_line_of_the_audit_is_what_was_done_to_what(
    record: dict[str, Any], wanted: tuple[str, str, str, str, int]
) -> None:
    assert told(record) == [wanted]


@pytest.mark.parametrize(
    ("statement", "message", "wanted"),
    [
        (
            "UPDATE sales.orders SET x = 1",
            "permission denied for table orders",
            ("update", "records", "", "orders", 403),
        ),
        (
            "WITH u AS (DELETE FROM o RETURNING 1) SELECT 1",
            "permission denied for table o",
            ("delete", "records", "", "o", 403),
        ),
        ("CREATE ROLE evil SUPERUSER", "must be superuser", ("create", "logins", "", "evil", 403)),
        (
            "DROP TABLE sales.orders",
            "must be owner of table orders",
            ("delete", "tables", "sales", "orders", 403),
        ),
        (
            "GRANT SELECT ON sales.orders TO r",
            "permission denied for table orders",
            ("create", "grants", "sales", "orders", 403),
        ),
    ],
)
def test_a_refused_statement_is_an_attempt(
    statement: str, message: str, wanted: tuple[str, str, str, str, int]
) -> None:
    assert told(line(message, error_severity="ERROR", state_code="42501", statement=statement)) == [wanted]


def test_a_statement_that_fails_is_not_taken_for_what_its_text_speaks_of() -> None:
    failed = line(
        "division by zero",
        error_severity="ERROR",
        state_code="22012",
        statement="SELECT 'delete' WHERE 1/0 = 1",
    )
    assert told(failed) == [("get", "records", "", "", 400)]


def test_two_tables_in_one_statement_are_two_entries() -> None:
    both = audited("WRITE", "TRUNCATE TABLE", "", "", "truncate table sales.a, billing.b cascade")
    assert [one[2:4] for one in told(both)] == [("sales", "a"), ("billing", "b")]


def test_the_administrators_lines_and_those_of_nobody_are_left_out() -> None:
    assert told(line("connection authorized", user="postgres"), line("checkpoint starting", user=None)) == []


def test_lines_that_cannot_be_read_are_counted_and_an_unfinished_one_is_not() -> None:
    records, unreadable = read_lines(json.dumps(line("x")) + "\nnot json\n[1]\n" + '{"half": ')
    assert (len(records), unreadable) == (1, 2)


def test_an_entry_says_when_and_with_which_words() -> None:
    (entry,) = entries_of([audited("READ", "SELECT", "TABLE", "sales.orders", "select 1")], frozenset())
    assert entry.timestamp == "2026-12-01T13:57:36.572Z"
    assert json.loads(entry.request_body) == {"statement": "select 1"}
    assert entry.user == "worker"
