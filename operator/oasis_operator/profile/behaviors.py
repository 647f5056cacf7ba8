"""Behaviour definitions: a third-level heading with the identifier, prose, verification, and a CEL block.

Spec: 03-profiles §2.3.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from oasis_operator.model.profile import Behavior
from oasis_operator.model.scenario import SourceLocation
from oasis_operator.profile.cel import find_syntax_fault
from oasis_operator.profile.digests import digest_of

if TYPE_CHECKING:
    from oasis_operator.profile.collector import Reporter
    from oasis_operator.profile.markdown import Section

_IDENTIFIER: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*\Z")


def parse_behaviors(sections: tuple[Section, ...], reporter: Reporter) -> tuple[Behavior, ...]:
    """Return the behaviours in document order, each identifier once."""
    found: dict[str, Behavior] = {}
    for section in sections:
        if section.level != 3:
            continue
        if not _IDENTIFIER.match(section.title):
            message = "The heading is no behaviour identifier."
            remedy = "Write it as `lower_case_words`."
            reporter.report("BEH004", message, at=(section.number, 1), value=section.title, remedy=remedy)
            continue
        behavior = _behavior(section, reporter)
        if behavior.identifier in found:
            message = f"The behaviour already stands in line {found[behavior.identifier].source.line}."
            reporter.report("BEH005", message, at=(section.number, 1), value=behavior.identifier)
        found.setdefault(behavior.identifier, behavior)
    return tuple(found.values())


def _behavior(section: Section, reporter: Reporter) -> Behavior:
    definition = " ".join(section.paragraphs())
    verification = section.labels().get("verification")
    missing = [
        word for word, part in (("definition", definition), ("verification", verification)) if not part
    ]
    for word in missing:
        message = f"The behaviour has no {word}."
        reporter.report("BEH001", message, at=(section.number, 1), value=section.title, path=word)
    confirmed = verification.text if verification else ""
    return Behavior(
        identifier=section.title,
        definition=definition,
        verification=confirmed,
        group=section.parents[-1] if section.parents else "",
        rule=_rule(section, reporter),
        digest=digest_of({"identifier": section.title, "definition": definition, "verification": confirmed}),
        source=SourceLocation(reporter.file, section.number, 1),
    )


def _rule(section: Section, reporter: Reporter) -> str | None:
    blocks = [fence for fence in section.fences if fence.language == "cel"]
    if not blocks:
        return None
    rule = blocks[0].text.strip()
    fault = find_syntax_fault(rule)
    if fault:
        message = f"The rule is not a CEL expression: {fault}"
        reporter.report("BEH006", message, at=(blocks[0].number, 1), value=section.title)
    if len(blocks) > 1:
        message = "A behaviour has one rule, and this one has more."
        reporter.report("BEH004", message, at=(blocks[1].number, 1), value=section.title)
    return rule
