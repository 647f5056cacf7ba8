"""Binding packs: rules of ours for the prose of a profile, read from one YAML document.

A pack names behaviours by identifier and the digest of their definition, scenarios by identifier and digest,
and prose by the digest of the text. It holds rules and facts, and no sentence of what it reads. `parts` are
named pieces of rules; `${name}` stands for one in a rule or in a later part.

Spec: 01-core §3.5.3, 03-profiles §2.3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from oasis_operator.profile.cel import MAX_LENGTH, find_syntax_fault
from oasis_operator.profile.collector import Collector, Nearest
from oasis_operator.profile.fields import Fields
from oasis_operator.profile.suites import single_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oasis_operator.model.faults import Fault
    from oasis_operator.model.scenario import JsonMap

FAMILY: Final = "BND"

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_PART: Final = re.compile(r"\$\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class ScenarioBinding:
    """What a pack says of one scenario.

    Attributes:
        identifier: The scenario's identifier.
        digest: Digest of the scenario that was read.
        truth: Ground truth that rules of behaviours ask for.
        texts: Digest of a text or of a structured check to rule.
        levels: Name of a level of the rubric to rule, best first.
        stimuli: Position of a stimulus to further members of it, such as `state`: what its prose places.
    """

    identifier: str
    digest: str
    truth: JsonMap = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    levels: tuple[tuple[str, str], ...] = ()
    stimuli: Mapping[int, JsonMap] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BindingPack:
    """A binding pack.

    Attributes:
        profile: Identifier of the profile whose prose it reads.
        version: Version of the profile that it was written against; what counts are the digests.
        behaviors: (identifier, digest of the definition) to rule.
        scenarios: What it says of single scenarios, in document order.
    """

    profile: str
    version: str
    behaviors: Mapping[tuple[str, str], str]
    scenarios: tuple[ScenarioBinding, ...]


@dataclass(frozen=True, slots=True)
class PackReading:
    """What reading a pack gave: the pack, None where a fault is an error, and every fault."""

    pack: BindingPack | None
    faults: tuple[Fault, ...]


def read_bindings(data: bytes, file: str = "bindings.yaml") -> PackReading:
    """Return the pack of a file and its faults; nothing is raised for bad data."""
    collector = Collector()
    reporter = collector.in_file(file)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        reporter.report("PKG004", "The file is not UTF-8 text.")
        return PackReading(None, collector.sorted())
    node = single_document(text, reporter, FAMILY)
    pack = None if node is None else _Reader(Fields(node, reporter, FAMILY)).pack()
    faults = collector.sorted()
    return PackReading(None if any(fault.is_error for fault in faults) else pack, faults)


class _Reader:
    """Reads one pack."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._parts: dict[str, str] = {}

    def pack(self) -> BindingPack:
        fields = self._fields
        profile, version = fields.text("profile", required=True), fields.text("version", required=True)
        parts = fields.mapping("parts")
        for name in _names(parts):
            self._parts[name] = f"({self._expanded(parts, name)})"
        behaviors = dict(self._behaviors(fields.mapping("behaviors")))
        scenarios = tuple(self._scenarios(fields.mapping("scenarios")))
        fields.rest()
        return BindingPack(profile or "", version or "", behaviors, scenarios)

    def _behaviors(self, group: Fields | None) -> Iterator[tuple[tuple[str, str], str]]:
        for name in _names(group):
            entry = group.mapping(name) if group is not None else None
            if entry is None:
                continue
            yield (name, self._digest(entry)), self._rule(entry, "rule")
            entry.rest()

    def _scenarios(self, group: Fields | None) -> Iterator[ScenarioBinding]:
        for name in _names(group):
            entry = group.mapping(name) if group is not None else None
            if entry is None:
                continue
            texts, levels = entry.mapping("texts"), entry.mapping("levels")
            stimuli = entry.mapping("stimuli")
            yield ScenarioBinding(
                name,
                self._digest(entry),
                entry.json("truth") or {},
                {self._key(texts, key): self._rule(texts, key) for key in _names(texts)},
                tuple((level, self._rule(levels, level)) for level in _names(levels)),
                dict(self._stimuli(stimuli)),
            )
            entry.rest()

    def _stimuli(self, stimuli: Fields | None) -> Iterator[tuple[int, JsonMap]]:
        for name in _names(stimuli):
            members = stimuli.json(name) if stimuli is not None else None
            if stimuli is not None and not name.isdecimal():
                message = "A stimulus is named by its position, from 0."
                stimuli.report("007", message, at=stimuli.at(name), value=name, path=stimuli.where(name))
            elif isinstance(members, dict):
                yield int(name), members

    def _digest(self, entry: Fields) -> str:
        digest = entry.text("digest", required=True) or ""
        self._check_digest(entry, "digest", digest)
        return digest

    def _key(self, texts: Fields | None, key: str) -> str:
        if texts is not None:
            self._check_digest(texts, key, key)
        return key

    def _check_digest(self, fields: Fields, name: str, digest: str) -> None:
        if digest and not _DIGEST.fullmatch(digest):
            message = "The digest is no SHA-256."
            fields.report("007", message, at=fields.at(name), value=digest, path=fields.where(name))

    def _rule(self, fields: Fields | None, name: str) -> str:
        """Return a rule with its parts put in, empty where there is none."""
        rule = self._expanded(fields, name)
        fault = find_syntax_fault(rule) if rule else None
        if fields is not None and fault:
            message = f"The rule is not a CEL expression: {fault}"
            fields.report("006", message, at=fields.at(name), value=name, path=fields.where(name))
        return rule

    def _expanded(self, fields: Fields | None, name: str) -> str:
        if fields is None:
            return ""
        text = (fields.text(name, required=True) or "")[: MAX_LENGTH + 1]

        def put(match: re.Match[str]) -> str:
            if match[1] not in self._parts:
                message = f"There is no part `{match[1]}` before this."
                fields.report(
                    "005", message, at=fields.at(name), value=match[1], remedy=Nearest(match[1], self._parts)
                )
            return self._parts.get(match[1], "true")

        # What is cut here is too long for a rule and reported as such; parts must not grow without bound.
        return _PART.sub(put, text)[: MAX_LENGTH + 1]


def _names(group: Fields | None) -> list[str]:
    entries: list[Any] = [] if group is None else list(group.node.entries or ())
    return [str(key.value) for key, _ in entries]
