"""What the server wrote into its log, as entries of the contract's audit log. Pure.

The server writes a JSON object a line. Three kinds of lines count: what pgaudit says of a statement, an error
of a statement, which pgaudit knows nothing of, and a connection that was let in. One statement that touches
three tables is three entries, and one that calls another is both.

Spec: 08-provider-conformance §3.4.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.wire.observation import AuditEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

GROUP: Final = "pg.sql"
"""Group of all kinds, so that no word of another domain is taken for one of these."""
_AUDIT: Final = "AUDIT: SESSION,"
_MEMBERS: Final = 8
_REFUSED: Final = "42501"
_DENIED = re.compile(r"(?:permission denied for|must be owner of) (\w+(?: view| data)?) (\S+)")
_DML: Final = {
    "SELECT": "get",
    "INSERT": "create",
    "UPDATE": "update",
    "DELETE": "delete",
    "MERGE": "update",
    "TRUNCATE TABLE": "deletecollection",
    "TRUNCATE": "deletecollection",
    "COPY": "get",
}
_DDL: Final = {
    "CREATE": "create",
    "ALTER": "update",
    "DROP": "delete",
    "COMMENT": "update",
    "REINDEX": "update",
}
_ROLES: Final = {
    "GRANT": "create",
    "REVOKE": "delete",
    "CREATE": "create",
    "ALTER": "update",
    "DROP": "delete",
}
_SKIPPED: Final = frozenset({"???"})
"""Commands of lines that repeat what others of the same statement say."""
_CHANGING: Final = re.compile(
    r"\b(delete|truncate|update|insert|merge|drop|alter|create|grant|revoke)\b", re.IGNORECASE
)
_NAME: Final = r'(?:"[^"]+"|\w+)'
_PLACE: Final = rf"{_NAME}(?:\.{_NAME})?"
_NAMED: Final = {
    "TRUNCATE": re.compile(
        rf"\btruncate\s+(?:table\s+)?(?:only\s+)?({_PLACE}(?:\s*,\s*{_PLACE})*)", re.IGNORECASE
    ),
    "SCHEMA": re.compile(
        rf"\bdrop\s+schema\s+(?:if\s+exists\s+)?({_NAME}(?:\s*,\s*{_NAME})*)", re.IGNORECASE
    ),
    "ROLE": re.compile(
        rf"\b(?:create|alter|drop)\s+(?:role|user|group)\s+(?:if\s+exists\s+)?({_NAME})", re.IGNORECASE
    ),
    "GRANT": re.compile(rf"\b(?:grant|revoke)\b.*?\bon\s+(?:table\s+)?({_PLACE})", re.IGNORECASE | re.DOTALL),
    "DROP": re.compile(rf"\bdrop\s+\w+\s+(?:if\s+exists\s+)?({_PLACE})", re.IGNORECASE),
}
"""Where a statement itself names what the audit leaves out."""
_KINDS: Final = {
    "materialized view": "views",
    "foreign table": "tables",
    "relation": "tables",
    "index": "indexes",
}


def read_lines(text: str) -> tuple[list[dict[str, Any]], int]:
    """Return the records of a log, and how many lines cannot be read; an unfinished last line is left out."""
    records, unreadable = [], 0
    for line in text[: text.rfind("\n") + 1].splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            unreadable += 1
            continue
        if isinstance(record, dict):
            records.append(record)
        else:
            unreadable += 1
    return records, unreadable


def entries_of(records: Iterable[Mapping[str, Any]], hidden: frozenset[str]) -> list[AuditEntry]:
    """Return the entries of a log, in its order.

    Args:
        records: Lines of the log.
        hidden: Users whose credentials nobody can have, and who are left out.
    """
    found: list[AuditEntry] = []
    for record in records:
        if str(record.get("user") or "") in hidden or not record.get("user"):
            continue
        message = str(record.get("message") or "")
        if message.startswith(_AUDIT):
            found += _audited(record, message.removeprefix("AUDIT: "))
        elif record.get("error_severity") in ("ERROR", "FATAL"):
            found.append(_failed(record, message))
        elif message.startswith("connection authorized"):
            found.append(_entry(record, _Act("get", "databases", "", str(record.get("dbname") or ""))))
    return found


@dataclass(frozen=True, slots=True)
class _Act:
    """What was done to what."""

    verb: str
    plural: str
    schema: str = ""
    name: str = ""


def _audited(record: Mapping[str, Any], text: str) -> list[AuditEntry]:
    """Return the entries of one audit line; one without the form is an operation of an unknown kind."""
    (members,) = csv.reader([text.replace("\n", " ")])
    if len(members) < _MEMBERS:
        return [_entry(record, _Act("update", "statements"), text)]
    _, _, _, kind, command, object_type, target, statement = members[:_MEMBERS]
    if command in _SKIPPED:
        return []
    acts = _acts(kind, command, object_type, target, statement)
    return [_entry(record, act, statement) for act in acts]


def _acts(kind: str, command: str, object_type: str, target: str, statement: str) -> list[_Act]:
    word = command.split(" ", 1)[0]
    if kind in ("READ", "WRITE"):
        verb = "create" if (kind, command) == ("WRITE", "COPY") else _DML.get(command, "update")
        places = [_place(target)] if target else _places("TRUNCATE", statement)
        return [_Act(verb, "records", *place) for place in places]
    if kind == "ROLE":
        plural, told = ("grants", "GRANT") if word in ("GRANT", "REVOKE") else ("logins", "ROLE")
        return [_Act(_ROLES.get(word, "update"), plural, *_places(told, statement)[0])]
    if kind == "DDL":
        plural, verb = plural_of(object_type or command.partition(" ")[2]), _DDL.get(word, "update")
        named = _places("SCHEMA", statement) if command == "DROP SCHEMA" else []
        schemas = [_Act(verb, "schemas", "", called) for _, called in named]
        return [_Act(verb, plural, *_place(target)), *schemas] if target else schemas or [_Act(verb, plural)]
    if kind == "FUNCTION":
        return [_Act("get", "calls", *_place(target))]
    return [_Act("get", "settings", "", command.lower())]


def _failed(record: Mapping[str, Any], message: str) -> AuditEntry:
    """Return the entry of a statement that ended with an error: an attempt at what it names."""
    statement = str(record.get("statement") or "")
    word = _meant(record, statement)
    denied = _DENIED.match(message)
    kind, place = (denied[1], _place(denied[2])) if denied else ("", ("", ""))
    act = _Act("get", "statements")
    if word in _DML:
        place = _places("TRUNCATE", statement)[0] if word == "TRUNCATE" else place
        act = _Act(_DML[word], "records", *place)
    elif word in ("GRANT", "REVOKE"):
        act = _Act(_ROLES[word], "grants", *_places("GRANT", statement)[0])
    elif word in _DDL:
        act = _definition(word, kind, statement, place)
    return _entry(record, act, statement, 403 if record.get("state_code") == _REFUSED else 400, message)


def _meant(record: Mapping[str, Any], statement: str) -> str:
    """Return the command that failed: the first word, or what a refused text would have changed later."""
    if record.get("state_code") == _REFUSED and (found := _CHANGING.search(statement)):
        return found[1].upper()
    return statement.split(None, 1)[0].upper() if statement.strip() else ""


def _definition(word: str, kind: str, statement: str, place: tuple[str, str]) -> _Act:
    """Return what was to be created, changed or dropped."""
    object_type = "".join(statement.split(None, 2)[1:2]).lower()
    if object_type in ("role", "user", "group"):
        return _Act(_DDL[word], "logins", *_places("ROLE", statement)[0])
    return _Act(
        _DDL[word],
        plural_of(kind or object_type),
        *(_places("DROP", statement)[0] if word == "DROP" else place),
    )


def _places(kind: str, statement: str) -> list[tuple[str, str]]:
    """Return what a statement names, `[("", "")]` where it cannot be told."""
    found = _NAMED[kind].search(statement)
    return [_place(one.strip()) for one in found[1].split(",")] if found else [("", "")]


def plural_of(kind: str) -> str:
    """Return the plural for a kind as the server writes it, such as `TABLE` or `materialized view`."""
    word = kind.strip().lower()
    return _KINDS.get(word) or f"{word.split(' ')[-1] or 'statement'}s"


def _place(target: str) -> tuple[str, str]:
    schema, dot, rest = target.partition(".")
    return (schema.strip('"'), rest.strip('"')) if dot else ("", target.strip('"'))


def _entry(
    record: Mapping[str, Any], act: _Act, statement: str = "", code: int = 200, message: str = ""
) -> AuditEntry:
    session, line = str(record.get("session_id") or ""), record.get("line_num") or 0
    return AuditEntry(
        timestamp=moment(str(record.get("timestamp") or "")),
        verb=act.verb,
        resource=f"{act.plural}.{GROUP}",
        user=str(record.get("user") or ""),
        namespace=act.schema,
        name=act.name,
        request_body=json.dumps({"statement": statement}) if statement else "",
        audit_id=f"{session}/{line}/{act.plural}/{act.schema}.{act.name}",
        api_group=GROUP,
        api_version="v1",
        request_uri="/query",
        response_code=code,
        response_message=message[:1024],
    )


def moment(written: str) -> str:
    """Return the server's time, which is UTC by its settings, as RFC 3339."""
    return written.replace(" UTC", "Z").replace(" ", "T")
