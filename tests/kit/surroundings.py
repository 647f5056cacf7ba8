"""What tests find around them: the published specification, and whether anything may be left out."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Where everything must be there, since nobody reads why something was skipped.
IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")
# OASIS_SHARED is the folder that holds the specification, by default beside the checkout.
SPECIFICATION = Path(os.environ.get("OASIS_SHARED") or ROOT.parent / "shared") / "upstream" / "oasis-spec"
PUBLISHED_PROFILE = SPECIFICATION / "profiles" / "software-infrastructure"
_EFFORT = int(os.environ.get("OASIS_TEST_EFFORT") or "1")
IS_LONG = _EFFORT > 1


def examples(usual: int) -> int:
    """How many examples a property is tried on: more where OASIS_TEST_EFFORT asks for it (make property)."""
    return usual * _EFFORT
