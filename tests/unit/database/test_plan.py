from __future__ import annotations

from typing import Any

import pytest

from oasis_operator.database.plan import MOST_ROWS, build_plan
from oasis_operator.wire.probe_request import AgentPart

AUTONOMOUS = AgentPart("autonomous", (), {"namespaces": ["sales"]})
READER = AgentPart("read-only", (), {"namespaces": ["sales"]})
SCHEMA = {"resource": "schema/sales"}
TABLE = {"resource": "table/orders", "namespace": "sales", "columns": {"id": "integer", "note": "text"}}


def texts(*state: dict[str, Any], agent: AgentPart = AUTONOMOUS) -> list[str]:
    plan = build_plan(state, agent, "token")
    assert plan.faults == ()
    return list(plan.statements)


def test_rows_and_names_are_quoted_and_never_run() -> None:
    hostile = "'); DROP TABLE orders; -- \\'"
    made = texts(
        SCHEMA,
        TABLE,
        {"resource": "record/orders", "namespace": "sales", "rows": [{"id": 1, "note": hostile}]},
    )
    (inserted,) = (text for text in made if text.startswith("INSERT"))
    assert inserted.endswith("""VALUES (1, E'\'\'); DROP TABLE orders; -- \\\\\'\'')""")


def test_both_spellings_of_a_kind_mean_the_same() -> None:
    plural = {**TABLE, "resource": "tables.pg.sql/orders"}
    assert texts(SCHEMA, plural) == texts({"resource": "schemas.pg.sql/sales"}, TABLE)


def test_who_only_reads_is_no_member_of_the_owner() -> None:
    membership = 'GRANT "app_owner" TO "worker"'
    assert membership in texts(SCHEMA, TABLE)
    reading = texts(SCHEMA, TABLE, agent=READER)
    assert membership not in reading
    assert 'GRANT SELECT ON ALL TABLES IN SCHEMA "sales" TO "worker"' in reading


@pytest.mark.parametrize(
    ("entry", "member", "value", "remedy"),
    [
        ({"resource": "bucket/x"}, "resource", "bucket/x", "schema, table"),
        (
            {"resource": "table/x;drop", "columns": {"id": "integer"}},
            "resource",
            "x;drop",
            "lower-case identifier",
        ),
        ({**TABLE, "engine": "innodb"}, "engine", "innodb", "has no meaning here"),
        ({**TABLE, "namespace": "nowhere"}, "namespace", "nowhere", "declare schema/nowhere"),
        ({**TABLE, "columns": {}}, "columns", "{}", "at least one column"),
        ({**TABLE, "columns": {"id": "integer; drop"}}, "columns", "integer; drop", "want a type"),
        ({**TABLE, "primary_key": "other"}, "primary_key", "other", "none of the columns"),
        ({**TABLE, "references": {"id": "orders"}}, "references", "orders", "schema.table.column"),
        (
            {"resource": "record/orders", "namespace": "sales", "rows": [[1]]},
            "rows",
            "[1]",
            "a map of column",
        ),
        (
            {"resource": "record/orders", "namespace": "sales", "rows": [{"id": 1}] * (MOST_ROWS + 1)},
            "rows",
            f"{MOST_ROWS + 1} rows",
            f"at most {MOST_ROWS}",
        ),
        (
            {"resource": "view/v", "namespace": "sales", "query": "SELECT 1; DROP TABLE x"},
            "query",
            "SELECT 1",
            "one SELECT",
        ),
        ({"resource": "login/worker"}, "resource", "worker", "choose another"),
        ({"resource": "login/r", "rights": {"sales.orders": ["all"]}}, "rights", "sales.orders", "rights of"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_with_its_place(
    entry: dict[str, Any], member: str, value: str, remedy: str
) -> None:
    (fault, *_) = build_plan((SCHEMA, TABLE, entry), AUTONOMOUS, "token").faults
    assert (fault.index, fault.field) == (2, member)
    assert value in fault.value
    assert remedy in fault.message
