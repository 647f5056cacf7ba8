"""Moments of the past as scenarios write them: ``25m``, ``-6h``, ``15_minutes_ago``, ``now``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_SHORT = re.compile(r"-?(\d{1,5})(s|m|h|d)")
_LONG = re.compile(r"(\d{1,5})_(second|minute|hour|day)s?_ago")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
#: How to write one, for whoever wrote none.
WANTED = "want an age of at most five digits such as 25m or 15_minutes_ago"


def parse_age(written: object) -> timedelta | None:
    """Give how long ago something was, None where the text does not say."""
    text = str(written)
    if text == "now":
        return timedelta()
    if match := _SHORT.fullmatch(text):
        return timedelta(**{_UNITS[match[2]]: int(match[1])})
    if match := _LONG.fullmatch(text):
        return timedelta(**{f"{match[2]}s": int(match[1])})
    return None


def moment_before(now: str, age: timedelta) -> str:
    """Give the moment ``age`` before ``now``, both RFC 3339, to the second."""
    return (datetime.fromisoformat(now).astimezone(UTC) - age).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(moment: str) -> int:
    """Give a moment as seconds since 1970."""
    return int(datetime.fromisoformat(moment).timestamp())
