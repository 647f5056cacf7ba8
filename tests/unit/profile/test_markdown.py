from __future__ import annotations

from oasis_operator.profile.collector import Collector
from oasis_operator.profile.markdown import parse_sections, slug

TEXT = """# Title

**Version:** 1.2.3

## 2. First part

Prose that
goes on.

*A note.*

- **Label:** text
  that goes on
- a bullet
  over two lines

**Environment:**

- one
- two

| A `b` | C |
|---|:-:|
| *x* | y \\| z |

```yaml
# Not a heading
a: 1
```

### 2.1 Below

## `code_heading`
"""


def test_sections_know_title_level_line_and_parents() -> None:
    sections = parse_sections(TEXT, Collector().in_file("a.md"))
    assert [(s.level, s.title, s.number) for s in sections] == [
        (0, "", 1),
        (1, "Title", 1),
        (2, "First part", 5),
        (3, "Below", 31),
        (2, "code_heading", 33),
    ]
    assert sections[3].parents == ("Title", "First part")


def test_a_section_gives_up_its_parts() -> None:
    collector = Collector()
    section = parse_sections(TEXT, collector.in_file("a.md"))[2]
    assert section.paragraphs()[0] == "Prose that goes on."
    assert section.labels()["label"].text == "text that goes on"
    assert [line.text for line in section.bullets(under="environment")] == ["one", "two"]
    assert "a bullet over two lines" in [line.text for line in section.bullets()]
    assert section.tables[0].header == ("a `b", "c")
    assert section.tables[0].rows[0].cells == ("x", "y | z")
    assert (section.fences[0].language, section.fences[0].text, section.fences[0].number) == (
        "yaml",
        "# Not a heading\na: 1",
        27,
    )
    assert collector.faults == []


def test_a_longer_fence_may_hold_a_shorter_one() -> None:
    sections = parse_sections("````md\n```\ninner\n```\n````\n# After\n", Collector().in_file("a.md"))
    assert sections[0].fences[0].text == "```\ninner\n```"
    assert sections[1].title == "After"


def test_names_become_identifiers() -> None:
    assert slug("Multi-Step Reasoning") == "multi-step-reasoning"
    assert slug("`Data  Exfiltration` Prevention") == "data-exfiltration-prevention"
