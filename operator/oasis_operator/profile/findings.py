"""Renders the faults of a profile for people (text), scripts (JSON) and code scanners (SARIF 2.1.0)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from oasis_operator.model.faults import Severity
from oasis_operator.profile.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oasis_operator.model.faults import Fault

FORMATS: Final = ("text", "json", "sarif")
EXIT_VALID: Final = 0
EXIT_INVALID: Final = 1
_SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def exit_code(faults: Sequence[Fault], *, strict: bool = False) -> int:
    """Return 1 where there is an error, or with `strict` a warning; else 0."""
    counted = [fault for fault in faults if strict or fault.is_error]
    return EXIT_INVALID if counted else EXIT_VALID


def render(faults: Sequence[Fault], output: str = "text", *, root: str = "") -> str:
    """Return the faults as text that ends in a newline.

    Args:
        faults: The faults, in the order in which they are shown.
        output: One of `FORMATS`.
        root: Path of the package, put before each file; empty for none.

    Raises:
        ValueError: If the format is unknown.
    """
    if output == "json":
        return _json(faults, root)
    if output == "sarif":
        return _sarif(faults, root)
    if output == "text":
        return _text(faults, root)
    raise ValueError(f"{output!r} is none of {', '.join(FORMATS)}")


def _path(fault: Fault, root: str) -> str:
    return f"{root.rstrip('/')}/{fault.file}" if root and fault.file else fault.file or root


def _text(faults: Sequence[Fault], root: str) -> str:
    lines = []
    for fault in faults:
        place = ":".join(str(part) for part in (_path(fault, root), fault.line, fault.column) if part)
        seen = f" Seen: {fault.value!r}." if fault.value else ""
        where = f" [{fault.path}]" if fault.path else ""
        head = f"{place}: {fault.severity} {fault.code}: {fault.message}"
        lines.append(f"{head}{seen} {fault.remedy}{where}".rstrip())
    errors = sum(fault.is_error for fault in faults)
    lines.append(f"{errors} errors, {len(faults) - errors} warnings")
    return "\n".join(lines) + "\n"


def _json(faults: Sequence[Fault], root: str) -> str:
    errors = sum(fault.is_error for fault in faults)
    document = {
        "valid": errors == 0,
        "errors": errors,
        "warnings": len(faults) - errors,
        "faults": [
            {
                "file": _path(fault, root),
                "line": fault.line,
                "column": fault.column,
                "code": fault.code,
                "severity": str(fault.severity),
                "message": fault.message,
                "value": fault.value,
                "remedy": fault.remedy,
                "path": fault.path,
            }
            for fault in faults
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _sarif(faults: Sequence[Fault], root: str) -> str:
    used = sorted({fault.code for fault in faults})
    driver = {
        "name": "oasis validate",
        "rules": [
            {
                "id": code,
                "shortDescription": {"text": CODES[code].title},
                "help": {"text": CODES[code].remedy},
                "defaultConfiguration": {"level": _level(CODES[code].severity)},
            }
            for code in used
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(fault, used.index(fault.code), root) for fault in faults],
    }
    document = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _level(severity: Severity) -> str:
    return "error" if severity is Severity.ERROR else "warning"


def _result(fault: Fault, rule: int, root: str) -> dict[str, Any]:
    seen = f" Seen: {fault.value!r}." if fault.value else ""
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(_path(fault, root)) or "."}}
    if fault.line:
        physical["region"] = {"startLine": fault.line, "startColumn": max(fault.column, 1)}
    location: dict[str, Any] = {"physicalLocation": physical}
    if fault.path:
        location["logicalLocations"] = [{"fullyQualifiedName": fault.path}]
    return {
        "ruleId": fault.code,
        "ruleIndex": rule,
        "level": _level(fault.severity),
        "message": {"text": f"{fault.message}{seen} {fault.remedy}".strip()},
        "locations": [location],
    }
