"""Names and values as SQL text: whatever stands in a scenario is quoted, never pasted."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal


def name(text: str) -> str:
    """Return an identifier, quoted."""
    return '"' + text.replace('"', '""') + '"'


def qualified(schema: str, text: str) -> str:
    """Return the identifier of something in a schema."""
    return f"{name(schema)}.{name(text)}"


def literal(value: object) -> str:
    """Return a value as a literal; what is no scalar becomes the text of its JSON."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float | Decimal):
        return str(value)
    if isinstance(value, date | datetime):
        value = value.isoformat()
    text = value if isinstance(value, str) else json.dumps(value)
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
