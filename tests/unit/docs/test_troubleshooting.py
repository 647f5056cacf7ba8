"""Every condition reason has its entry in the troubleshooting page, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from oasis_operator.api.conditions import Reason

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "troubleshooting.md").read_text()
ROWS = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)


def test_every_reason_in_code_has_exactly_one_entry_in_the_order_of_the_code() -> None:
    assert [name for name, _, _ in ROWS] == [reason.value for reason in Reason]


def test_every_entry_says_what_it_means_and_what_to_do() -> None:
    assert [
        name for name, meaning, remedy in ROWS if not (meaning.endswith(".") and remedy.endswith("."))
    ] == []


def test_every_link_of_the_page_leads_to_a_file() -> None:
    targets = re.findall(r"\]\(([^)#]+)", PAGE)
    assert targets
    assert [target for target in targets if not (DOCS / target).is_file()] == []
