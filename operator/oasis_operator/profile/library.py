"""The stimulus library: a third-level heading `ID: name` with one YAML block.

Spec: 03-profiles §2.10.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from oasis_operator.model.profile import InterfaceType, LibraryStimulus
from oasis_operator.model.scenario import SPOKEN, SourceLocation, Stimulus, StimulusType
from oasis_operator.profile.fields import Fields
from oasis_operator.profile.variants import read_variants
from oasis_operator.profile.yaml_nodes import Kind, parse_documents

if TYPE_CHECKING:
    from oasis_operator.profile.collector import Reporter
    from oasis_operator.profile.markdown import Section

FAMILY = "STI"
_HEADING: Final = re.compile(r"([A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d+)\s*:\s*(.+)\Z")
_UNQUOTED: Final = re.compile(r"(\s*\w+:\s+)(\{[A-Za-z_]\w*\}.*)\Z")
PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def parse_library(sections: tuple[Section, ...], reporter: Reporter) -> tuple[LibraryStimulus, ...]:
    """Return the library's stimuli in document order, each identifier once."""
    found: dict[str, LibraryStimulus] = {}
    for section in sections:
        match = _HEADING.match(section.title)
        if match is None:
            continue
        identifier, name = match.groups()
        stimulus = _stimulus(section, identifier, reporter)
        if identifier in found:
            message = f"The stimulus already stands in line {found[identifier].source.line}."
            reporter.report("STI005", message, at=(section.number, 1), value=identifier)
        elif stimulus is not None:
            source = SourceLocation(reporter.file, section.number, 1)
            placeholders = placeholders_of(stimulus)
            found[identifier] = LibraryStimulus(identifier, name.strip(), stimulus, placeholders, source)
    return tuple(found.values())


def placeholders_of(stimulus: Stimulus) -> tuple[str, ...]:
    """Return the names of the placeholders in a stimulus, sorted."""
    texts = (stimulus.value, stimulus.description, stimulus.target, *stimulus.variants)
    return tuple(sorted({name for text in texts if text for name in PLACEHOLDER.findall(text)}))


def _stimulus(section: Section, identifier: str, reporter: Reporter) -> Stimulus | None:
    blocks = [fence for fence in section.fences if fence.language in ("yaml", "yml")]
    if not blocks:
        message = "The stimulus has no YAML block."
        reporter.report("STI001", message, at=(section.number, 1), value=identifier)
        return None
    text = _quote_placeholders(blocks[0].text, blocks[0].number, reporter)
    nodes = parse_documents(text, reporter, line_offset=blocks[0].number - 1)
    if len(nodes) != 1 or nodes[0].kind is not Kind.MAPPING:
        message = "The YAML block should hold one mapping."
        reporter.report("STI002", message, at=(blocks[0].number, 1), value=identifier)
        return None
    fields = Fields(nodes[0], reporter, FAMILY)
    kind = fields.choice("type", StimulusType, required=True)
    is_spoken = kind in SPOKEN
    value = fields.text("value", required=is_spoken)
    description = fields.text("description", required=kind is not None and not is_spoken)
    target, timing = fields.text("target"), fields.text("timing")
    variants = read_variants(fields, kind, "007")
    extra = fields.rest()
    if kind is None:
        return None
    return Stimulus(kind, value, description, target, timing, variants=variants, extra=extra)


def _quote_placeholders(text: str, number: int, reporter: Reporter) -> str:
    """Return a block with values such as `target: {name}/logs` quoted, which YAML would read as mappings."""
    lines = []
    for offset, line in enumerate(text.split("\n")):
        match = _UNQUOTED.match(line.rstrip())
        if match is None:
            lines.append(line)
            continue
        at, value = (number + offset, len(match.group(1)) + 1), match.group(2)
        message = "A value that starts with a placeholder is not quoted."
        reporter.report("STI006", message, at=at, value=value)
        lines.append(match.group(1) + json.dumps(value, ensure_ascii=False))
    return "\n".join(lines)


def parse_interface_types(sections: tuple[Section, ...]) -> tuple[InterfaceType, ...]:
    """Return the rows of the table headed `Type identifier`."""
    found = []
    for table in (table for section in sections for table in section.tables):
        if table.header[0] == "type identifier" and len(table.header) >= 2:
            for row in table.rows:
                examples = row.cells[2].split(",") if len(row.cells) > 2 else []
                names = tuple(name.strip() for name in examples if name.strip())
                found.append(InterfaceType(row.cells[0], row.cells[1], names))
    return tuple(found)


def parse_words(sections: tuple[Section, ...], header: str) -> tuple[str, ...]:
    """Return the first column of the tables whose first header cell is `header`, lower-case."""
    tables = (table for section in sections for table in section.tables)
    return tuple(row.cells[0] for table in tables if table.header[0] == header for row in table.rows)
