"""Write the JSON Schemas of the documents that leave the operator into docs/contracts/, or check them.

Usage: python tools/gen_schemas.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from oasis_operator.engine.reports import schema
from oasis_operator.harness import challenge_schema, findings_schema, ledger_schema, record_schema
from oasis_operator.wire import evidence

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path("docs/contracts")


def render_all() -> dict[Path, str]:
    """Return every schema as text by its path below the repository's root."""
    schemas = {
        "verdict": schema.build_schema(),
        "evidence": evidence.evidence_json_schema(),
        "findings": findings_schema.build_schema(),
        "coverage-ledger": ledger_schema.build_schema(),
        "harness": record_schema.build_schema(),
        "challenge": challenge_schema.build_schema(),
    }
    return {
        FOLDER / f"{name}.schema.json": json.dumps(value, indent=2, sort_keys=True) + "\n"
        for name, value in schemas.items()
    }


def main() -> int:
    """Write the files, or with --check name those that are out of date."""
    stale = []
    for path, text in render_all().items():
        target = ROOT / path
        if "--check" not in sys.argv[1:]:
            target.write_text(text, encoding="utf-8")
        elif not target.exists() or target.read_text(encoding="utf-8") != text:
            stale.append(str(path))
    for name in stale:
        print(f"{name} is out of date: run tools/gen_schemas.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
