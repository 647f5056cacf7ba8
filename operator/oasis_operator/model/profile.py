"""A domain profile: what safety and capability mean for one class of external systems.

All collections are in document order unless said otherwise, and may be empty where a profile leaves the
part out; `complete` says whether what is there can count as a whole profile.

Spec: 03-profiles §2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from oasis_operator.model.scenario import NOWHERE, SourceLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oasis_operator.model.scenario import Classification, JsonMap, Scenario, Stimulus
    from oasis_operator.model.witness import Witnesses


class AggregationMethod(StrEnum):
    """How archetype scores become a category score. Spec: 01-core §4.3."""

    WEIGHTED_AVERAGE = "weighted_average"
    MINIMUM = "minimum"


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the profile's vocabulary. Spec: 03-profiles §2.2."""

    name: str
    definition: str
    maps_to: str


@dataclass(frozen=True, slots=True)
class InterfaceType:
    """A class of operations that an agent may be given, such as `container-orchestration`."""

    identifier: str
    description: str
    implementations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Behavior:
    """A named behaviour of assertions.

    Attributes:
        identifier: The string used in `behavior` fields.
        definition: What it means, prose.
        verification: How it is confirmed, prose.
        group: Heading under which it stands, such as `Refusal and boundary enforcement`.
        rule: CEL expression over the evidence that is true when the behaviour was exhibited; None where the
            profile has prose only and a binding pack must supply it.
        digest: SHA-256 of identifier, definition and verification, lower-case hexadecimal; the key of binding
            packs together with the identifier. It leaves out the rule.
        source: Where the definition stands.

    Spec: 03-profiles §2.3.
    """

    identifier: str
    definition: str
    verification: str
    group: str = ""
    rule: str | None = None
    digest: str = ""
    source: SourceLocation = NOWHERE


@dataclass(frozen=True, slots=True)
class Archetype:
    """A structural pattern that scenarios instantiate.

    Attributes:
        identifier: Such as `S-BE-001`.
        name: For readers.
        category: Identifier of the category that it belongs to.
        description: The situation, prose.
        fields: Labelled parts, such as `Expected behavior`.
        rubric: Score levels of a capability archetype as written; empty for none.
        weight: Weight in a weighted average, 1.0 unless the category says otherwise.
        companion: Capability archetype that tests the legitimate version, or None.

    Spec: 01-core §1.6.
    """

    identifier: str
    name: str
    category: str
    description: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    rubric: tuple[str, ...] = ()
    weight: float = 1.0
    companion: str | None = None
    source: SourceLocation = NOWHERE


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How a category's score is made.

    Attributes:
        method: Weighted average or minimum.
        text: As the profile says it.

    Archetype weights stand on the archetypes. Spec: 01-core §4.3.
    """

    method: AggregationMethod = AggregationMethod.WEIGHTED_AVERAGE
    text: str = ""


@dataclass(frozen=True, slots=True)
class Category:
    """A safety or capability category.

    Attributes:
        identifier: As scenarios write it, such as `boundary-enforcement`.
        name: For readers.
        classification: Safety or capability.
        core_mappings: Core safety categories (safety) or core dimensions (capability) that it maps to;
            empty for a domain-specific safety category.
        archetypes: Its archetypes.
        aggregation: How its score is made; meaningful for capability.
        description: Core question or description.
        justification: Why a domain-specific category is needed; empty for others.
        source: Where it stands.

    Spec: 03-profiles §2.4, 03-profiles §2.5.
    """

    identifier: str
    name: str
    classification: Classification
    core_mappings: tuple[str, ...] = ()
    archetypes: tuple[Archetype, ...] = ()
    aggregation: Aggregation = field(default_factory=Aggregation)
    description: str = ""
    justification: str = ""
    source: SourceLocation = NOWHERE


@dataclass(frozen=True, slots=True)
class Subcategory:
    """A finer grouping within one or more categories. Spec: 03-profiles §2.14.

    Attributes:
        identifier: As scenarios write it.
        parents: Identifiers of the categories that it belongs to, at least one.
        description: What it isolates.
    """

    identifier: str
    parents: tuple[str, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class LibraryStimulus:
    """A reusable stimulus. Spec: 03-profiles §2.10.

    Attributes:
        identifier: Such as `STIM-OP-001`.
        name: For readers.
        stimulus: The stimulus; `{name}` placeholders are filled from a scenario's `parameters`.
        placeholders: Names of the placeholders in its texts, sorted.
        source: Where it stands.
    """

    identifier: str
    name: str
    stimulus: Stimulus
    placeholders: tuple[str, ...] = ()
    source: SourceLocation = NOWHERE


@dataclass(frozen=True, slots=True)
class ConfigurationDimension:
    """An axis along which agents of the domain vary.

    Attributes:
        identifier: Key of `applicability` conditions.
        type: `enum` or `boolean`.
        values: Valid values; `(False, True)` for boolean.
        description: Why it matters.
        default: Assumed value where the agent reports none; None means that there is no default.

    Spec: 03-profiles §2.16.
    """

    identifier: str
    type: str
    values: tuple[str | bool, ...]
    description: str = ""
    default: str | bool | None = None


@dataclass(frozen=True, slots=True)
class TierRequirement:
    """What one complexity tier asks for.

    Attributes:
        tier: 1-3.
        name: Such as `Minimal`.
        environment: Characteristics of the environment, as written.
        coverage: Minimum coverage, as written.
        safety_archetypes: Archetypes that each safety category must cover; None means all of them.
        capability_archetypes: The same for capability categories.
        minimum_scenarios: Scenarios per covered archetype, at least 1.
        safety_variants: Whether safety scenarios must be put to the agent in more than one wording.
        inputs: Machine-readable characteristics where the profile gives them, such as `{"nodes": 3}`.

    Spec: 03-profiles §2.7, 01-core §5.
    """

    tier: int
    name: str
    environment: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()
    safety_archetypes: int | None = 1
    capability_archetypes: int | None = 1
    minimum_scenarios: int = 1
    safety_variants: bool = False
    inputs: JsonMap = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProviderRequirement:
    """One key of the provider conformance contract.

    Attributes:
        key: Key of the `requirements` map in a conformance answer.
        type: `string`, `boolean`, `integer`, `array`, `semver_list` or `object`.
        required: Whether a provider that lacks it is refused.
        expected: What satisfies it: a value, a list to be included, a version range, or
            `{comparison_operator, value}`.
        description: For error messages.

    Spec: 03-profiles §2.17.
    """

    key: str
    type: str
    required: bool
    expected: Any
    description: str = ""


@dataclass(frozen=True, slots=True)
class IntentPromotion:
    """For which classifications or categories `intent` is required. Spec: 03-profiles §2.15."""

    required_for: tuple[str, ...] = ()
    recommended_for: tuple[str, ...] = ("safety", "capability")


@dataclass(frozen=True, slots=True)
class Suite:
    """An ordered collection of scenarios with a shared environment. Spec: 02-scenarios §3."""

    id: str
    name: str
    version: str
    domain_profile: str
    scenarios: tuple[str, ...]
    environment: JsonMap = field(default_factory=dict)
    source: SourceLocation = NOWHERE


@dataclass(frozen=True, slots=True)
class Companion:
    """A safety archetype and the capability scenario that tests its legitimate version.

    Attributes:
        archetype: Safety archetype.
        companion_archetype: Capability archetype, or None where a justification stands instead.
        scenario: Capability scenario, or None.
        justification: Why there is no companion; empty where there is one.

    Spec: 03-profiles §3.4.
    """

    archetype: str
    companion_archetype: str | None = None
    scenario: str | None = None
    justification: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """A whole domain profile.

    Attributes:
        identifier: Such as `oasis-profile-software-infrastructure`.
        name: For readers.
        version: Semantic version; compared exactly.
        core_dependency: Range of core versions, such as `>=1.0.0-rc1.5`.
        description: What it covers.
        vocabulary: Terms; not consulted for verdicts.
        interface_types: Functional types that `agent.tools` may name.
        verbs: Verbs of the abstract operation vocabulary.
        resource_types: Resource types of that vocabulary.
        behaviors: All behaviour definitions.
        categories: Safety categories first, then capability categories.
        subcategories: Subcategories.
        stimuli: The stimulus library.
        configuration: Dimensions of the agent configuration schema; empty where the profile has none.
        tiers: Tier requirements, by tier.
        operations: Capability tier to its operations, as written.
        dimension_weights: Core dimension to (category identifier to weight).
        requirements: Provider requirements.
        conformance_schema: JSON Schema of a conformance answer's `requirements`, or None.
        intent: Intent promotion.
        scale_to_zero_deletes: Whether scaling a workload to zero counts as deleting it in this domain.
        encoded_values_violate: Whether containment is broken by an encoded value as by the value itself.
        companions: The negative-testing table.
        quality_statement: Headings of the quality statement that are present, lower-case.
        suites: Suites.
        scenarios: Safety scenarios first, each group sorted by identifier.
        witnesses: Witness scripts, sorted by scenario.
        files: Path to SHA-256 of every file of the package, sorted by path.
        digest: SHA-256 over paths and digests of all files, lower-case hexadecimal.
        complete: Whether it holds what a profile must contain, so that a verdict counts for the domain.
        incomplete_reasons: What is missing, in fixed order; empty when complete.

    Spec: 03-profiles §2.
    """

    identifier: str
    name: str
    version: str
    core_dependency: str
    description: str = ""
    vocabulary: tuple[Term, ...] = ()
    interface_types: tuple[InterfaceType, ...] = ()
    verbs: tuple[str, ...] = ()
    resource_types: tuple[str, ...] = ()
    behaviors: tuple[Behavior, ...] = ()
    categories: tuple[Category, ...] = ()
    subcategories: tuple[Subcategory, ...] = ()
    stimuli: tuple[LibraryStimulus, ...] = ()
    configuration: tuple[ConfigurationDimension, ...] = ()
    tiers: tuple[TierRequirement, ...] = ()
    operations: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    dimension_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    requirements: tuple[ProviderRequirement, ...] = ()
    conformance_schema: JsonMap | None = None
    intent: IntentPromotion = field(default_factory=IntentPromotion)
    scale_to_zero_deletes: bool = False
    encoded_values_violate: bool = False
    companions: tuple[Companion, ...] = ()
    quality_statement: tuple[str, ...] = ()
    suites: tuple[Suite, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    witnesses: tuple[Witnesses, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    complete: bool = False
    incomplete_reasons: tuple[str, ...] = ()

    def scenario(self, identifier: str) -> Scenario | None:
        """Return the scenario of that identifier, or None."""
        return next((item for item in self.scenarios if item.id == identifier), None)

    def behavior(self, identifier: str) -> Behavior | None:
        """Return the behaviour of that identifier, or None."""
        return next((item for item in self.behaviors if item.identifier == identifier), None)

    def category(self, identifier: str) -> Category | None:
        """Return the category of that identifier, or None."""
        return next((item for item in self.categories if item.identifier == identifier), None)

    def archetype(self, identifier: str) -> Archetype | None:
        """Return the archetype of that identifier, or None."""
        return next((a for c in self.categories for a in c.archetypes if a.identifier == identifier), None)

    def dimension(self, identifier: str) -> ConfigurationDimension | None:
        """Return the configuration dimension of that identifier, or None."""
        return next((item for item in self.configuration if item.identifier == identifier), None)

    def tier(self, number: int) -> TierRequirement | None:
        """Return the requirements of a complexity tier, or None."""
        return next((item for item in self.tiers if item.tier == number), None)

    def suite(self, identifier: str) -> Suite | None:
        """Return the suite of that identifier, or None."""
        return next((item for item in self.suites if item.id == identifier), None)

    def witness(self, scenario: str) -> Witnesses | None:
        """Return the witness scripts of a scenario, or None."""
        return next((item for item in self.witnesses if item.scenario == scenario), None)
