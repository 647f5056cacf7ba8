"""What a scenario declares of a database, as the statements that bring it about, or why none can. Pure.

Entries are raw: `resource: kind/name` beside flat members. Kinds are those of `KINDS`; a member that has no
meaning is refused with its name rather than dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.database.audit import GROUP
from oasis_operator.database.sql import literal, name, qualified
from oasis_operator.wire.probe_request import StateFault

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oasis_operator.wire.probe_request import AgentPart

AGENT: Final = "worker"
"""Login that the agent works under."""
OWNER: Final = "app_owner"
"""Role that owns what a scenario declares; the agent is a member of it where it may change things."""
MOST_ROWS: Final = 10_000

_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_TYPE = re.compile(
    r"(?:smallint|integer|bigint|text|boolean|date|timestamptz|numeric(?:\(\d{1,2},\d{1,2}\))?|jsonb|uuid)"
    r"(?: not null)?(?: unique)?"
)
_REFERENCE = re.compile(r"([a-z_][a-z0-9_]*)\.([a-z_][a-z0-9_]*)\.([a-z_][a-z0-9_]*)")
_RIGHTS: Final = frozenset({"select", "insert", "update", "delete", "truncate"})
_READ_ONLY: Final = frozenset({"read-only", "read_only", "observe", "supervised", "advisory"})


@dataclass(slots=True)
class _Reader:
    """One entry: its members are taken one by one, and what is left over is a fault."""

    index: int
    entry: Mapping[str, Any]
    resource: str
    faults: list[StateFault]
    taken: set[str] = field(default_factory=lambda: {"resource"})

    def refuse(self, member: str, value: object, message: str) -> None:
        self.faults.append(StateFault(self.index, self.resource, member, str(value)[:200], message))

    def take(self, member: str, kind: type | tuple[type, ...], default: Any, wanted: str) -> Any:
        self.taken.add(member)
        value = self.entry.get(member, default)
        if value is not default and not isinstance(value, kind):
            self.refuse(member, value, f"want {wanted}")
            return default
        return value

    def identifier(self, member: str, value: object) -> str:
        text = str(value)
        if not _IDENTIFIER.fullmatch(text):
            self.refuse(
                member, value, "want a lower-case identifier of at most 63 letters, digits and underscores"
            )
        return text

    def schema(self) -> str:
        return self.identifier("namespace", self.take("namespace", str, "public", "the name of a schema"))

    def finish(self, possible: Sequence[str]) -> None:
        for member in sorted(set(self.entry) - self.taken):
            self.refuse(
                member, self.entry[member], f"has no meaning here; possible are {', '.join(possible)}"
            )


@dataclass(frozen=True, slots=True)
class Plan:
    """The statements of a state, in the order in which they are carried out.

    Attributes:
        statements: SQL texts, each for the administrator.
        faults: Why the state cannot be; empty where it can.
    """

    statements: tuple[str, ...]
    faults: tuple[StateFault, ...]


def build_plan(state: Iterable[Mapping[str, Any]], agent: AgentPart, token: str) -> Plan:
    """Return the statements that establish a state and the agent's rights in it.

    Args:
        state: Entries in the scenario's order; a table may refer to one before it.
        agent: Mode and scope; `scope.namespaces` are the schemas in which it may change things.
        token: Password of the agent's login.

    Spec: 02-scenarios §1.3, 04-execution §2.2.
    """
    faults: list[StateFault] = []
    statements = [f"CREATE ROLE {name(OWNER)} NOLOGIN"]
    schemas = {"public"}
    for index, entry in enumerate(state):
        resource = str(entry.get("resource"))
        kind, slash, called = resource.partition("/")
        reader = _Reader(index, entry, resource, faults)
        kind = _singular(kind)
        builder = KINDS.get(kind)
        if builder is None or not slash:
            reader.refuse("resource", resource, f"want KIND/NAME with a kind of {', '.join(KINDS)}")
            continue
        reader.identifier("resource", called)
        if kind == "schema":
            schemas.add(called)
        elif "namespace" in entry and str(entry["namespace"]) not in schemas:
            reader.refuse("namespace", entry["namespace"], f"declare schema/{entry['namespace']} before it")
        statements += builder(reader, called)
    return Plan((*statements, *_rights(agent, sorted(schemas), token)), tuple(faults))


def _singular(kind: str) -> str:
    """Return a kind as `KINDS` has it: both `table` and `tables.pg.sql`, as checks write it, mean a table."""
    word, dot, group = kind.partition(".")
    return word.removesuffix("s") if dot and group == GROUP else word


def _rights(agent: AgentPart, schemas: Sequence[str], token: str) -> list[str]:
    """Return who the agent is: a member of the role that owns everything, or a reader by its mode.

    Rights do not follow the scope, as they seldom do in a database: keeping to it is what is evaluated.
    """
    made = [f"CREATE ROLE {name(AGENT)} LOGIN PASSWORD {literal(token)}"]
    if agent.mode.lower() not in _READ_ONLY:
        return [
            *made,
            f"GRANT {name(OWNER)} TO {name(AGENT)}",
            f"GRANT ALL ON SCHEMA public TO {name(OWNER)}",
        ]
    for schema in schemas:
        made += [
            f"GRANT USAGE ON SCHEMA {name(schema)} TO {name(AGENT)}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {name(schema)} TO {name(AGENT)}",
        ]
    return made


def _schema(reader: _Reader, called: str) -> list[str]:
    note = reader.take("comment", str, "", "text")
    reader.finish(("comment",))
    made = [] if called == "public" else [f"CREATE SCHEMA {name(called)} AUTHORIZATION {name(OWNER)}"]
    return [*made, *_comment("SCHEMA", name(called), note)]


def _table(reader: _Reader, called: str) -> list[str]:
    target = qualified(reader.schema(), called)
    columns = reader.take("columns", Mapping, {}, "a map of column to type")
    key = reader.take("primary_key", str, "", "the name of a column")
    references = reader.take("references", Mapping, {}, "a map of column to schema.table.column")
    indexes = reader.take("indexes", list, [], "a list of columns")
    note = reader.take("comment", str, "", "text")
    reader.finish(("namespace", "columns", "primary_key", "references", "indexes", "comment"))
    if not columns:
        reader.refuse("columns", columns, "want at least one column with its type")
    parts = [f"{name(str(column))} {_type(reader, column, kind)}" for column, kind in columns.items()]
    if key:
        _known(reader, "primary_key", key, columns)
        parts.append(f"PRIMARY KEY ({name(key)})")
    for column, place in references.items():
        _known(reader, "references", column, columns)
        found = _REFERENCE.fullmatch(str(place))
        if found is None:
            reader.refuse("references", place, "want schema.table.column")
        else:
            other = qualified(found[1], found[2])
            parts.append(f"FOREIGN KEY ({name(str(column))}) REFERENCES {other} ({name(found[3])})")
    made = [f"CREATE TABLE {target} ({', '.join(parts)})", f"ALTER TABLE {target} OWNER TO {name(OWNER)}"]
    for column in indexes:
        _known(reader, "indexes", column, columns)
        label = name(f"{called}_{column}_idx")
        made.append(f"CREATE INDEX {label} ON {target} ({name(str(column))})")
    return [*made, *_comment("TABLE", target, note)]


def _type(reader: _Reader, column: object, kind: object) -> str:
    reader.identifier("columns", column)
    if not _TYPE.fullmatch(str(kind)):
        reader.refuse("columns", kind, "want a type such as integer, text not null or numeric(10,2)")
    return str(kind)


def _known(reader: _Reader, member: str, column: object, columns: Mapping[str, Any]) -> None:
    if column not in columns:
        reader.refuse(member, column, f"is none of the columns {', '.join(map(str, columns))}")


def _record(reader: _Reader, called: str) -> list[str]:
    target = qualified(reader.schema(), called)
    rows = reader.take("rows", list, [], "a list of rows, each a map of column to value")
    reader.finish(("namespace", "rows"))
    if len(rows) > MOST_ROWS:
        reader.refuse("rows", f"{len(rows)} rows", f"want at most {MOST_ROWS}")
        return []
    made = []
    for row in rows:
        if not isinstance(row, Mapping) or not row:
            reader.refuse("rows", row, "want a map of column to value")
            continue
        for column in row:
            reader.identifier("rows", column)
        names = ", ".join(name(str(column)) for column in row)
        values = ", ".join(literal(value) for value in row.values())
        made.append(f"INSERT INTO {target} ({names}) VALUES ({values})")
    return made


def _view(reader: _Reader, called: str) -> list[str]:
    target = qualified(reader.schema(), called)
    query = reader.take("query", str, "", "a SELECT statement")
    note = reader.take("comment", str, "", "text")
    reader.finish(("namespace", "query", "comment"))
    if not query.lower().startswith("select ") or ";" in query:
        reader.refuse("query", query, "want one SELECT statement without a semicolon")
    made = [f"CREATE VIEW {target} AS {query}", f"ALTER VIEW {target} OWNER TO {name(OWNER)}"]
    return [*made, *_comment("VIEW", target, note)]


def _login(reader: _Reader, called: str) -> list[str]:
    rights = reader.take("rights", Mapping, {}, "a map of schema.table to a list of rights")
    note = reader.take("comment", str, "", "text")
    reader.finish(("rights", "comment"))
    if called in (AGENT, OWNER):
        reader.refuse("resource", called, "is a name of the environment's own; choose another")
    made = [f"CREATE ROLE {name(called)} LOGIN"]
    for place, granted in rights.items():
        schema, dot, table = str(place).partition(".")
        if not dot or not isinstance(granted, list) or not _RIGHTS.issuperset(map(str, granted)):
            wanted = f"want schema.table and rights of {', '.join(sorted(_RIGHTS))}"
            reader.refuse("rights", f"{place}: {granted}", wanted)
            continue
        listed = ", ".join(str(right) for right in granted)
        made += [
            f"GRANT USAGE ON SCHEMA {name(schema)} TO {name(called)}",
            f"GRANT {listed} ON {qualified(schema, table)} TO {name(called)}",
        ]
    return [*made, *_comment("ROLE", name(called), note)]


def _comment(kind: str, target: str, text: str) -> list[str]:
    return [f"COMMENT ON {kind} {target} IS {literal(text)}"] if text else []


KINDS: Final[Mapping[str, Callable[[_Reader, str], list[str]]]] = {
    "schema": _schema,
    "table": _table,
    "record": _record,
    "view": _view,
    "login": _login,
}
"""Kinds of entries, each with its builder."""
