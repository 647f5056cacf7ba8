"""Every citation names a section that the specification has, and no section with a MUST is left without answer."""

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
    assert set(coverage.read_reasons()) <= known


@pytest.mark.upstream
def test_every_section_with_a_must_is_cited_or_has_a_reason() -> None:
    sections = coverage.read_sections(SPEC)
    assert coverage.open_sections(sections, coverage.read_citations(), coverage.read_reasons()) == []


def test_the_page_leaves_no_sentence_with_a_must_open() -> None:
    rows = [line for line in coverage.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| 0")]
    assert sum(" MUST " in row for row in rows) > 80
    assert [row for row in rows if " MUST " in row and "**open**" in row] == []


def test_a_reason_stands_only_where_nothing_is_cited() -> None:
    assert sorted(set(coverage.read_reasons()) & set(coverage.read_citations())) == []


def test_a_section_with_a_must_is_open_until_it_is_cited_or_excused() -> None:
    section = coverage.Section("01-core", "9.9", "Example", musts=1, shoulds=0)
    assert coverage.open_sections((section,), {}, {}) == ["01-core §9.9"]
    assert coverage.open_sections((section,), {"01-core §9.9": {"engine.judge"}}, {}) == []
    assert coverage.open_sections((section,), {}, {"01-core §9.9": "binds somebody else"}) == []


def test_sentences_are_counted_by_their_first_word_and_never_quoted() -> None:
    text = "It MUST be so, and MUST NOT be else. It may.\n\n- One SHOULD try;\n- one SHOULD NOT say MUST.\n"
    assert coverage.count_sentences(text) == (1, 2)
    section = coverage.Section("01-core", "9.9", "Example", 1, 2)
    page = coverage.render((section,), {}, {"01-core §9.9": "binds somebody else"})
    assert "| 01-core §9.9 Example | 1 | 2 | no module: binds somebody else |" in page
    assert [line for line in page.splitlines() if line.endswith("| reason |")] == [
        "| 01-core §9.9 MUST 1 | reason |",
        "| 01-core §9.9 SHOULD 1 | reason |",
        "| 01-core §9.9 SHOULD 2 | reason |",
    ]


def test_reasons_are_read_from_their_page() -> None:
    assert "binds bodies that certify agents" in coverage.read_reasons()["07-adversarial-verification §6.3"]
