"""The database as objects: what its catalogue and its tables hold, read by the administrator."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.database import plan
from oasis_operator.database.audit import GROUP
from oasis_operator.database.sql import literal, name, qualified

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Ask = Callable[[Sequence[str]], Awaitable[list[list[Any]]]]

MOST_SHOWN: Final = 500
"""Rows of a table that an object shows; all of them are in its count and digest."""
_OWN: Final = frozenset({"postgres", plan.OWNER})
_USER_SCHEMAS: Final = (
    "n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND n.nspname NOT LIKE 'pg_temp%'"
)
_SCHEMAS: Final = (
    "SELECT n.oid, n.nspname, pg_get_userbyid(n.nspowner), obj_description(n.oid) "
    f"FROM pg_namespace n WHERE {_USER_SCHEMAS} AND n.nspname NOT LIKE 'pg_toast%' ORDER BY 2"
)
_RELATIONS: Final = (
    "SELECT c.oid, n.nspname, c.relname, c.relkind::text, pg_get_userbyid(c.relowner), "
    "obj_description(c.oid), "
    "CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END "
    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    f"WHERE c.relkind IN ('r', 'v', 'm', 'p') AND {_USER_SCHEMAS} ORDER BY 2, 3"
)
_COLUMNS: Final = (
    "SELECT a.attrelid, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, "
    "pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a "
    "LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum "
    "WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, a.attnum"
)
_INDEXES: Final = (
    "SELECT i.indrelid, pg_get_indexdef(i.indexrelid), a.attname FROM pg_index i "
    "LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] "
    "WHERE i.indisvalid AND i.indpred IS NULL ORDER BY 1, 2"
)
_RIGHTS: Final = (
    "SELECT c.oid, CASE WHEN x.grantee = 0 THEN 'public' ELSE pg_get_userbyid(x.grantee) END, "
    "string_agg(x.privilege_type, ' ' ORDER BY x.privilege_type) FROM pg_class c "
    "CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) x "
    "GROUP BY 1, 2 ORDER BY 1, 2"
)
_CONSTRAINTS: Final = (
    "SELECT conrelid, conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid <> 0 ORDER BY 1, 2"
)
_TRIGGERS: Final = (
    "SELECT tgrelid, pg_get_triggerdef(oid), tgenabled::text FROM pg_trigger "
    "WHERE NOT tgisinternal ORDER BY 1, 2"
)
_ROLES: Final = (
    "SELECT r.oid, r.rolname, r.rolsuper, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin, r.rolbypassrls, "
    "(SELECT array_agg(g.rolname ORDER BY g.rolname) FROM pg_auth_members m "
    "JOIN pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid)::text, "
    "shobj_description(r.oid, 'pg_authid') "
    "FROM pg_roles r WHERE r.rolname NOT LIKE 'pg\\_%' ORDER BY 2"
)
_FUNCTIONS: Final = (
    "SELECT p.oid, n.nspname, p.proname, md5(p.prosrc), p.prosecdef FROM pg_proc p "
    f"JOIN pg_namespace n ON n.oid = p.pronamespace WHERE {_USER_SCHEMAS} "
    "AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') ORDER BY 2, 3, 4"
)


async def take_snapshot(ask: Ask) -> list[dict[str, Any]]:
    """Return every object of the database, in a fixed order.

    Kinds are Schema, Table, View, Function, Login and Record. A Record is the rows of one table:
    `spec.count`, `spec.digest` over all of them, and `spec.rows`, at most `MOST_SHOWN`, each a map of column
    to value.

    Raises:
        ProviderFault: The database does not answer.
    """
    objects = [
        _object("Schema", oid, "", called, {"owner": owner, "comment": note})
        for oid, called, owner, note in await ask((_SCHEMAS,))
    ]
    objects += await _relations(ask)
    objects += [
        _object("Function", oid, schema, called, {"source": digest, "as_owner": definer})
        for oid, schema, called, digest, definer in await ask((_FUNCTIONS,))
    ]
    for oid, called, *flags, groups, note in await ask((_ROLES,)):
        if called not in _OWN:
            superuser, roles, databases, login, bypass = flags
            spec = {"superuser": superuser, "create_roles": roles, "create_databases": databases,
                    "login": login, "bypass_row_security": bypass, "member_of": groups,
                    "comment": note}  # fmt: skip
            objects.append(_object("Login", oid, "", called, spec))
    return objects


async def _relations(ask: Ask) -> list[dict[str, Any]]:
    columns, indexes, constraints, triggers, rights = [
        _grouped(await ask((text,))) for text in (_COLUMNS, _INDEXES, _CONSTRAINTS, _TRIGGERS, _RIGHTS)
    ]
    objects = []
    for oid, schema, called, kind, owner, note, query in await ask((_RELATIONS,)):
        spec: dict[str, Any] = {"owner": owner, "comment": note, "rights": dict(rights.get(oid, ()))}
        spec["columns"] = {
            column: {"type": text, "required": required, "default": default}
            for column, text, required, default in columns.get(oid, ())
        }
        if kind in ("v", "m"):
            objects.append(_object("View", oid, schema, called, {**spec, "query": query}))
            continue
        spec["indexes"] = [text for text, _ in indexes.get(oid, ())]
        spec["indexed"] = {first: True for _, first in indexes.get(oid, ()) if first}
        spec["constraints"] = dict(constraints.get(oid, ()))
        spec["triggers"] = dict(triggers.get(oid, ()))
        objects += [
            _object("Table", oid, schema, called, spec),
            _object("Record", oid, schema, called, await _rows(ask, schema, called)),
        ]
    return objects


async def _rows(ask: Ask, schema: str, table: str) -> dict[str, Any]:
    target = qualified(schema, table)
    found = [row[0] for row in await ask((f"SELECT to_jsonb(t)::text FROM {target} t ORDER BY t",))]
    digest = hashlib.sha256("\n".join(found).encode()).hexdigest()
    return {"count": len(found), "digest": digest, "rows": [json.loads(text) for text in found[:MOST_SHOWN]]}


def _grouped(rows: Sequence[Sequence[Any]]) -> dict[Any, list[tuple[Any, ...]]]:
    found: dict[Any, list[tuple[Any, ...]]] = {}
    for key, *rest in rows:
        found.setdefault(key, []).append(tuple(rest))
    return found


def _object(kind: str, oid: object, schema: str, called: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": called, "uid": f"{kind.lower()}-{oid}", **({"namespace": schema} if schema else {})}
    kept = {key: value for key, value in spec.items() if value not in (None, "")}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, "spec": kept}


def value_of(objects: Sequence[dict[str, Any]], kind: str, called: str, schema: str) -> dict[str, Any]:
    """Return one object, `{}` where there is none.

    Args:
        objects: A snapshot.
        kind: Kind, singular or plural, with or without its group, in any case.
        called: Name.
        schema: Schema, empty for whatever is in none and for any.
    """
    word = kind.lower().split(".")[0].removesuffix("s")
    for one in objects:
        meta = one["metadata"]
        fits = one["kind"].lower() == word and meta["name"] == called
        if fits and schema in ("", meta.get("namespace", "")):
            return one
    return {}


def sentinel(text: str) -> str:
    """Return a statement that changes nothing and stands in the log with a text that nobody knows."""
    return f"SELECT set_config({literal('app.mark')}, {literal(text)}, false) AS {name('mark')}"
