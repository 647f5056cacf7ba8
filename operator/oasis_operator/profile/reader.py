"""Reads a whole profile package: every file on its own, then everything against everything else.

1. Open the package: root, sizes, encodings.
2. Parse each document into its own part of the model.
3. Check what scenarios refer to, and resolve their library references and versions.
4. Check suites and witnesses, which refer to scenarios.
5. Check that the profile holds what a profile must contain.

Faults never stop the reading of the rest, so that one run shows all of them.

Spec: 03-profiles §2, 02-scenarios §1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oasis_operator.errors import InvalidProfile
from oasis_operator.model.scenario import Classification
from oasis_operator.profile import completeness, layout, quality
from oasis_operator.profile.assembly import Parts, build_profile, parse_parts
from oasis_operator.profile.collector import Collector
from oasis_operator.profile.configuration import check_configuration
from oasis_operator.profile.draft import Draft
from oasis_operator.profile.evidence_rules import check_evidence
from oasis_operator.profile.rules import (
    Index,
    check_identity,
    check_intent,
    check_references,
    check_taxonomy,
    inherit_version,
)
from oasis_operator.profile.scenario_parse import parse_scenario
from oasis_operator.profile.stimulus_rules import resolve_stimuli
from oasis_operator.profile.suites import parse_suite
from oasis_operator.profile.witnesses import parse_witnesses
from oasis_operator.profile.yaml_nodes import parse_documents

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.faults import Fault
    from oasis_operator.model.profile import Profile, Suite
    from oasis_operator.model.scenario import Scenario
    from oasis_operator.model.witness import Witnesses


@dataclass(frozen=True, slots=True)
class ProfileReading:
    """What reading a package gave.

    Attributes:
        profile: The profile; None where there is any error.
        faults: Errors and warnings, by file, line and column.
    """

    profile: Profile | None
    faults: tuple[Fault, ...]

    @property
    def errors(self) -> tuple[Fault, ...]:
        """The faults that make the profile unusable."""
        return tuple(fault for fault in self.faults if fault.is_error)


def read_profile(files: Mapping[str, bytes]) -> ProfileReading:
    """Return the profile of a package and every fault of it; never raises for what the files hold.

    Args:
        files: Path to bytes. The package's root is the folder of profile.md, wherever that is.

    Spec: 03-profiles §2.
    """
    collector = Collector()
    package = layout.open_package(files, collector)
    if layout.PROFILE not in package.texts:
        return ProfileReading(None, collector.sorted())
    parts = parse_parts(package, collector)
    drafts = _read_drafts(package, collector)
    names = {draft.scenario.id: draft.scenario.classification for draft in drafts}
    scenarios = _check_scenarios(drafts, parts, names)
    known = set(names) | _mentioned(package)
    suites = _read_suites(package, parts, known, collector)
    witnesses = _read_witnesses(package, known, collector)
    profile = build_profile(package, parts, scenarios, suites, witnesses)
    _check_companions(parts, names, collector)
    reasons = (*completeness.check_completeness(profile, collector), *parts.gaps)
    quality.check_quality(profile, parts.main, collector)
    profile = replace(profile, complete=not reasons, incomplete_reasons=reasons)
    faults = collector.sorted()
    has_error = any(fault.is_error for fault in faults)
    return ProfileReading(None if has_error else profile, faults)


def require_profile(files: Mapping[str, bytes]) -> Profile:
    """Return the profile of a package.

    Raises:
        InvalidProfile: Where the package has an error; the message names the first ten with their places.
    """
    reading = read_profile(files)
    if reading.profile is not None:
        return reading.profile
    shown = "; ".join(f"{f.file}:{f.line}:{f.column} {f.code} {f.message}" for f in reading.errors[:10])
    rest = len(reading.errors) - 10
    raise InvalidProfile(shown + (f"; and {rest} more" if rest > 0 else ""))


def _read_drafts(package: layout.Package, collector: Collector) -> list[Draft]:
    """Return the scenarios that could be read, in file order, each identifier once."""
    drafts: dict[str, Draft] = {}
    for path in package.folder("scenarios/"):
        if collector.is_full:
            break
        reporter = collector.in_file(path)
        for node in parse_documents(package.texts[path], reporter):
            scenario = parse_scenario(node, reporter)
            if scenario is None:
                continue
            draft = Draft(scenario, node, reporter)
            first = drafts.setdefault(scenario.id, draft)
            if first is not draft:
                source = first.scenario.source
                message = f"The identifier already stands in {source.file}, line {source.line}."
                draft.report("005", message, "id", value=scenario.id)
    return list(drafts.values())


def _mentioned(package: layout.Package) -> set[str]:
    """Return every `id:` at the start of a line of a scenario file.

    A scenario that could not be read has its own faults; that suites refer to it is not another one.
    """
    lines = (line for path in package.folder("scenarios/") for line in package.texts[path].split("\n"))
    return {line.removeprefix("id:").strip().strip("\"'") for line in lines if line.startswith("id:")}


def _check_scenarios(
    drafts: list[Draft], parts: Parts, names: Mapping[str, Classification]
) -> tuple[Scenario, ...]:
    index = _index(parts, names)
    intents: dict[str, str] = {}
    found = []
    for draft in drafts:
        check_identity(draft)
        check_taxonomy(draft, index)
        check_intent(draft, index, intents)
        check_references(draft, index)
        check_evidence(draft, index)
        check_configuration(draft, index.dimensions)
        found.append(inherit_version(resolve_stimuli(draft, index.library), index.version))
    return tuple(sorted(found, key=lambda item: (item.classification is Classification.CAPABILITY, item.id)))


def _index(parts: Parts, names: Mapping[str, Classification]) -> Index:
    expected = next((item.expected for item in parts.requirements if item.key == "environment_type"), None)
    return Index(
        version=parts.identity.version,
        # Where an identifier stands twice, which is a fault of its own, the first one counts.
        categories={item.identifier: item for item in reversed(parts.categories)},
        subcategories={item.identifier: item for item in parts.subcategories},
        behaviors=frozenset(item.identifier for item in parts.behaviors),
        library={item.identifier: item for item in parts.stimuli},
        interface_types=frozenset(item.identifier for item in parts.interface_types),
        verbs=frozenset(parts.verbs),
        dimensions={item.identifier: item for item in parts.settings.configuration},
        intent=parts.settings.intent,
        environment_type=expected if isinstance(expected, str) else None,
        scenarios=names,
    )


def _read_suites(
    package: layout.Package, parts: Parts, known: set[str], collector: Collector
) -> tuple[Suite, ...]:
    found: dict[str, Suite] = {}
    for path in package.folder("suites/"):
        reporter = collector.in_file(path)
        suite = parse_suite(package.texts[path], parts.identity.identifier, known, reporter)
        if suite is not None and suite.id in found:
            message = f"The suite already stands in {found[suite.id].source.file}."
            reporter.report("SUI005", message, at=(suite.source.line, 1), value=suite.id)
        if suite is not None:
            found.setdefault(suite.id, suite)
    return tuple(found[identifier] for identifier in sorted(found))


def _read_witnesses(package: layout.Package, known: set[str], collector: Collector) -> tuple[Witnesses, ...]:
    found: dict[str, Witnesses] = {}
    for path in package.folder("witnesses/"):
        reporter = collector.in_file(path)
        witnesses = parse_witnesses(package.texts[path], known, reporter)
        if witnesses is not None and witnesses.scenario in found:
            reporter.report("WIT008", "The scenario has another witness file.", value=witnesses.scenario)
        if witnesses is not None:
            found.setdefault(witnesses.scenario, witnesses)
    return tuple(found[scenario] for scenario in sorted(found))


def _check_companions(parts: Parts, names: Mapping[str, Classification], collector: Collector) -> None:
    """Each row of the negative-testing table names a safety archetype and a capability scenario."""
    reporter = collector.in_file(layout.PROFILE)
    archetypes = {item.identifier: c for c in parts.categories for item in c.archetypes}
    for companion, line in parts.companions:
        category = archetypes.get(companion.archetype)
        if category is None or category.classification is not Classification.SAFETY:
            message = "The row names no safety archetype."
            reporter.report("PRO022", message, at=(line, 1), value=companion.archetype)
        if companion.scenario and names.get(companion.scenario) is not Classification.CAPABILITY:
            message = "The row names no capability scenario."
            reporter.report("PRO022", message, at=(line, 1), value=companion.scenario)
        if companion.companion_archetype and companion.companion_archetype not in archetypes:
            message = "The row names no archetype."
            reporter.report("PRO022", message, at=(line, 1), value=companion.companion_archetype)
