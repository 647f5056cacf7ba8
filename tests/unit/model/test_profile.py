from __future__ import annotations

import pytest

from kit.builders.profiles import a_profile


@pytest.mark.parametrize(
    ("lookup", "known"),
    [
        ("scenario", "tiny.safety.fe.gate-001"),
        ("behavior", "look_first"),
        ("category", "chores"),
        ("archetype", "C-CH-002"),
        ("dimension", "zoned"),
        ("tier", 1),
        ("suite", "smoke"),
        ("witness", "tiny.capability.ch.sweep-001"),
    ],
)
def test_parts_are_found_by_their_identifier(lookup: str, known: object) -> None:
    find = getattr(a_profile(), lookup)
    found = find(known)
    assert known in {getattr(found, name, None) for name in ("id", "identifier", "tier", "scenario")}
    assert find("nowhere" if isinstance(known, str) else 3) is None
