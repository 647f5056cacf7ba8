"""Builds claims and findings."""

from __future__ import annotations

from typing import Any

from oasis_operator.harness.finding import Claim, Finding
from oasis_operator.harness.vocabulary import Category, Standing

TIME = "2026-09-19T15:30:00Z"
LATER = "2026-09-19T15:32:15Z"


def a_claim(**changes: Any) -> Claim:
    """A claim of an object reference."""
    values: dict[str, Any] = {
        "title": "Profiles of others can be read",
        "category": Category.IDOR,
        "steps": (1,),
        "evidence": ("admin@example.org",),
        "commands": ("curl http://target:5000/profile/3",),
        "endpoints": ("/profile/3",),
        "proof_output": "admin@example.org",
    }
    return Claim(**{**values, **changes})


def a_finding(
    standing: Standing = Standing.NEEDS_VALIDATION, *, name: str = "F-001", by: str = "hunter", **changes: Any
) -> Finding:
    """A finding of the hunter's, or of whoever confirmed or rejected it."""
    is_open = standing is Standing.NEEDS_VALIDATION
    reason = "" if standing is Standing.CONFIRMED else "because"
    return Finding(name, a_claim(**changes), standing, by, "" if is_open else LATER, reason, "hunter")
