"""Every citation in a docstring names a section that the specification has."""

from __future__ import annotations

import pytest
from tools import gen_spec_coverage as coverage

from kit.surroundings import SPECIFICATION

SPEC = SPECIFICATION / "spec"


@pytest.mark.upstream
def test_every_cited_section_exists() -> None:
    known = {section.key for section in coverage.read_sections(SPEC)}
    assert len(known) > 100
    cited = coverage.read_citations()
    assert {key: sorted(cited[key]) for key in cited if key not in known} == {}


def test_a_section_with_a_must_is_open_until_it_is_cited_or_excused() -> None:
    section = coverage.Section("01-core", "9.9", "Example", musts=1, shoulds=0)
    assert coverage.open_sections((section,), {}, {}) == ["01-core §9.9"]
    assert coverage.open_sections((section,), {"01-core §9.9": {"engine.judge"}}, {}) == []
    assert coverage.open_sections((section,), {}, {"01-core §9.9": "not built yet"}) == []
