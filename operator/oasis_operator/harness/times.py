"""RFC 3339 times in harness documents, read for comparing."""

from __future__ import annotations

import re
from datetime import datetime

from oasis_operator.harness import vocabulary


def read_time(text: object) -> datetime | None:
    """Return the time, or None where the text is none: of another form, or a day that no calendar has."""
    if not isinstance(text, str) or not re.fullmatch(vocabulary.TIME_PATTERN[1:-1], text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
