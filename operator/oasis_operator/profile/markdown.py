"""The little Markdown that profiles use: headings, tables, labelled lines, bullets, code blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oasis_operator.profile.collector import Reporter

MAX_LINE: Final = 4_000
"""Characters of a line; longer ones are left out with a fault, since no table or paragraph needs them."""

_HEADING: Final = re.compile(r"(#{1,6})\s+(?=\S)(.*)\Z")
_FENCE: Final = re.compile(r"\s{0,3}(```+|~~~+)\s*([\w-]*)")
_LABEL: Final = re.compile(r"(?:[-*]\s+)?\*\*([^*]+?):?\*\*:?\s*(.*)\Z")
_NUMBERING: Final = re.compile(r"^\d+(?:\.\d+)*\.?\s+")
_RULE_CELL: Final = re.compile(r":?-+:?\Z")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text and its number, counted from 1."""

    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Row:
    """A table row: its cells without mark-up characters around them, and its line."""

    cells: tuple[str, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table: lower-case header cells and rows, each as wide as the header."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Fence:
    """A code block: its language, lower-case, its text, and the line of its first line of text."""

    language: str
    text: str
    number: int


@dataclass(slots=True)
class Section:
    """A heading and what stands under it, up to the next heading.

    Attributes:
        level: Depth of the heading, 1-6; 0 for what stands before the first one.
        title: Heading without numbering and mark-up.
        number: Line of the heading.
        parents: Titles of the headings above it, outermost first.
        lines: Text lines, code blocks and tables left out.
        tables: Tables.
        fences: Code blocks.
    """

    level: int
    title: str
    number: int
    parents: tuple[str, ...] = ()
    lines: list[Line] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)

    def labels(self) -> dict[str, Line]:
        """Return labelled lines, `**Label:** text`, by lower-case label; texts end at a blank line."""
        found: dict[str, Line] = {}
        texts: dict[str, list[str]] = {}
        is_new, open_label = False, ""
        for line in self.lines:
            text = line.text.strip()
            match = _LABEL.match(text)
            if match:
                open_label = match.group(1).strip().lower()
                is_new = open_label not in found
                if is_new:
                    found[open_label], texts[open_label] = line, [match.group(2).strip()]
            elif not text or text.startswith(("- ", "* ")):
                is_new = False
            elif is_new:
                texts[open_label].append(text)
        return {label: Line(" ".join(texts[label]).strip(), line.number) for label, line in found.items()}

    def bullets(self, *, under: str | None = None) -> tuple[Line, ...]:
        """Return bullet points; with `under` only those below that label, without letter case."""
        found: list[tuple[list[str], int]] = []
        is_open = under is None
        for line in self.lines:
            text = line.text.strip()
            label = _LABEL.match(text)
            if label and under is not None and not text.startswith(("- ", "* ")):
                is_open = label.group(1).strip().lower() == under
            elif is_open and text.startswith(("- ", "* ")):
                found.append(([text[2:].strip()], line.number))
            elif is_open and found and line.text.startswith("  ") and text:
                found[-1][0].append(text)
        return tuple(Line(" ".join(words), number) for words, number in found)

    def paragraphs(self) -> tuple[str, ...]:
        """Return the paragraphs before the first label, notes in italics, bullets and rules left out."""
        found: list[list[str]] = [[]]
        for line in self.lines:
            text = line.text.strip()
            if _LABEL.match(text) and not text.startswith(("- ", "* ")):
                break
            if not text:
                found.append([])
            elif not text.startswith(("- ", "* ", "---")):
                found[-1].append(text)
        joined = (" ".join(words) for words in found if words)
        return tuple(text for text in joined if not (text.startswith("*") and text.endswith("*")))


def unmark(text: str) -> str:
    """Return text without surrounding emphasis and code marks."""
    return text.strip().strip("*`_").strip()


def slug(text: str) -> str:
    """Return a name as an identifier: lower-case words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", unmark(text).lower()).strip("-")


def parse_sections(text: str, reporter: Reporter) -> tuple[Section, ...]:
    """Return the sections of a document, in order; the first is what stands before the first heading."""
    sections = [Section(0, "", 1)]
    trail: list[tuple[int, str]] = []
    lines = _numbered(text, reporter)
    for line in lines:
        fence = _FENCE.match(line.text)
        heading = _HEADING.match(line.text)
        if fence:
            sections[-1].fences.append(_fence(line, fence, lines, reporter))
        elif heading:
            level, title = (
                len(heading.group(1)),
                unmark(_NUMBERING.sub("", heading.group(2).rstrip().rstrip("#"))),
            )
            trail = [entry for entry in trail if entry[0] < level]
            sections.append(Section(level, title, line.number, tuple(name for _, name in trail)))
            trail.append((level, title))
        else:
            sections[-1].lines.append(line)
    for section in sections:
        _lift_tables(section, reporter)
    return tuple(sections)


def _numbered(text: str, reporter: Reporter) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MAX_LINE:
            reporter.report("PKG011", f"The line has more than {MAX_LINE} characters.", at=(number, 1))
        else:
            yield Line(line, number)


def _fence(opening: Line, match: re.Match[str], lines: Iterator[Line], reporter: Reporter) -> Fence:
    body: list[str] = []
    mark = match.group(1)
    for line in lines:
        if line.text.strip().startswith(mark) and not line.text.strip().strip(mark[0]):
            return Fence(match.group(2).lower(), "\n".join(body), opening.number + 1)
        body.append(line.text)
    reporter.report("PRO020", "A code block is never closed.", at=(opening.number, 1), value=opening.text)
    return Fence(match.group(2).lower(), "\n".join(body), opening.number + 1)


def _lift_tables(section: Section, reporter: Reporter) -> None:
    """Move the tables out of a section's lines."""
    kept: list[Line] = []
    rows: list[Line] = []
    for line in [*section.lines, Line("", 0)]:
        if line.text.lstrip().startswith("|"):
            rows.append(line)
            continue
        if rows:
            table = _table(rows, reporter)
            section.tables.extend([table] if table else [])
            rows = []
        kept.append(line)
    section.lines = kept[:-1]


def _table(lines: list[Line], reporter: Reporter) -> Table | None:
    cells = [_cells(line.text) for line in lines]
    if len(lines) < 2 or not all(_RULE_CELL.match(cell) for cell in cells[1]):
        reporter.report("PRO014", "A table has no rule under its header.", at=(lines[0].number, 1))
        return None
    rows = []
    for line, row in zip(lines[2:], cells[2:], strict=True):
        if len(row) == len(cells[0]):
            rows.append(Row(row, line.number))
        else:
            message = f"A row has {len(row)} cells where the header has {len(cells[0])}."
            reporter.report("PRO014", message, at=(line.number, 1), value=line.text)
    return Table(tuple(cell.lower() for cell in cells[0]), tuple(rows), lines[0].number)


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return tuple(unmark(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", inner))
