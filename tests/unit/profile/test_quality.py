"""What of a profile's quality a machine can see."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from kit.builders.profiles import SAFETY, a_profile, edited, good_files
from oasis_operator.model.profile import ProviderRequirement
from oasis_operator.model.scenario import Quality
from oasis_operator.profile.collector import Collector
from oasis_operator.profile.completeness import check_completeness
from oasis_operator.profile.markdown import parse_sections
from oasis_operator.profile.quality import GUIDE_PARTS, analyse, check_contract, check_guide, check_quality
from oasis_operator.profile.reader import read_profile

if TYPE_CHECKING:
    from oasis_operator.model.profile import Profile
    from oasis_operator.profile.markdown import Section

GUIDE = "# Guide\n" + "".join(f"\n## 1. {part.title()}\n\nText.\n" for part in GUIDE_PARTS)
CONTRACT = """# Contract

### 3.1 roof

**Type:** boolean
**Valid values:** true
**Failure modes.** It rains in.
**Verification method.** Look up.
"""
ROOF = ProviderRequirement("roof", "boolean", True, True)
MET, UNMET = {"requirements": {"roof": True}}, {"unmet_requirements": [{"requirement": "roof"}]}
EVEN = dict.fromkeys(("plausibility", "detection_complexity", "contextual_embedding"), "low")


def sections(text: str, collector: Collector) -> tuple[Section, ...]:
    return parse_sections(text, collector.in_file("x.md"))


def guide_gaps(text: str) -> list[str]:
    collector = Collector()
    reasons = check_guide(sections(text, collector), collector.in_file("x.md"))
    assert [fault.message for fault in collector.faults] == list(reasons)
    assert {fault.code for fault in collector.faults} <= {"PRO028"}
    return list(reasons)


def test_a_guide_with_all_its_parts_has_no_gap() -> None:
    assert guide_gaps(GUIDE) == []
    assert guide_gaps(GUIDE.replace("Precondition To", "Precondition-to")) == []


@pytest.mark.parametrize("part", GUIDE_PARTS)
def test_each_part_of_a_guide_is_missed(part: str) -> None:
    assert guide_gaps(GUIDE.replace(part.title(), "Something Else")) == [
        f"The provider guide has no section on {part}."
    ]


def contract_faults(text: str, *examples: Any) -> list[tuple[str, str]]:
    collector = Collector()
    main = sections("# Roofs\n\nThe contract is provider-conformance.md.\n", collector)
    check_contract(sections(text, collector), main, [ROOF], examples, collector.in_file("x.md"))
    return [(fault.code, fault.message) for fault in collector.faults]


def test_a_contract_that_says_everything_has_no_gap() -> None:
    assert contract_faults(CONTRACT, MET, UNMET) == []


@pytest.mark.parametrize(
    ("label", "what"),
    [("Type", "its type"), ("Valid values", "its valid values"), ("Failure modes", "its failure mode"),
     ("Verification method", "how it is verified")],
)  # fmt: skip
def test_what_a_contract_leaves_unsaid_of_a_key_is_named(label: str, what: str) -> None:
    (found,) = contract_faults(CONTRACT.replace(f"**{label}", "**Something"), MET, UNMET)
    assert found == ("PRO029", f"The contract does not say of roof {what}.")


def test_a_key_without_a_section_is_unexplained() -> None:
    (found,) = contract_faults(CONTRACT.replace("roof", "floor"), MET, UNMET)
    assert found[0] == "PRO029"


def test_both_worked_examples_are_asked_for() -> None:
    assert [code for code, _ in contract_faults(CONTRACT)] == ["PRO030", "PRO030"]
    (found,) = contract_faults(CONTRACT, MET)
    assert "non-conformant" in found[1]


def test_the_metadata_must_point_to_the_contract() -> None:
    collector = Collector()
    check_contract(sections(CONTRACT, collector), (), [ROOF], (MET, UNMET), collector.in_file("x.md"))
    assert [fault.code for fault in collector.faults] == ["PRO034"]


def with_qualities(*qualities: Quality) -> Profile:
    profile = a_profile()
    first = profile.scenarios[0]
    mine = [replace(first, id=f"tiny.safety.fe.gate-00{n}", quality=one) for n, one in enumerate(qualities)]
    return replace(profile, scenarios=(*mine, *profile.scenarios[1:]))


def codes_of(profile: Profile, main: str = "# Tiny\n") -> list[tuple[str, str]]:
    collector = Collector()
    check_quality(profile, sections(main, collector), collector)
    return [(fault.code, fault.value) for fault in collector.faults]


def test_scenarios_of_a_category_that_share_an_attack_surface_are_told() -> None:
    one, two = Quality(attack_surface="log"), Quality(attack_surface="label")
    assert ("PRO031", "log") in codes_of(with_qualities(one, one, two))
    assert "PRO031" not in dict(codes_of(with_qualities(one, two)))


def test_scenarios_that_are_all_equally_difficult_are_told() -> None:
    even, harder = Quality(difficulty=EVEN), Quality(difficulty={**EVEN, "plausibility": "high"})
    assert ("PRO032", "fences") in codes_of(with_qualities(even, even))
    assert "PRO032" not in dict(codes_of(with_qualities(even, harder)))
    assert "PRO032" not in dict(codes_of(with_qualities(even)))


RESERVED = (
    "# Tiny\n\n## Reserved scenarios\n\nThe number is 1, the rotation yearly, the distribution by mail.\n"
)


def test_reserved_scenarios_are_declared_in_the_metadata() -> None:
    profile = a_profile(edited(SAFETY, "tier: 1\n", "tier: 1\nreserved: true\n"))
    assert profile.scenarios[0].extra["reserved"] is True
    assert "PRO033" in dict(codes_of(profile))
    assert "PRO033" not in dict(codes_of(profile, RESERVED))
    assert "PRO033" in dict(codes_of(profile, RESERVED.replace("rotation", "change")))
    assert "PRO033" not in dict(codes_of(a_profile()))


def test_a_reservation_that_is_no_yes_or_no_is_an_error_and_discloses_nothing() -> None:
    reading = read_profile(edited(SAFETY, "tier: 1\n", 'tier: 1\nreserved: "yes"\n'))
    assert reading.profile is None
    assert "SCN002" in {fault.code for fault in reading.errors}


def test_the_analysis_tells_counts_and_judges_nothing() -> None:
    profile = with_qualities(Quality(attack_surface="log", difficulty=EVEN), Quality(attack_surface="log"))
    found = analyse(replace(profile, companions=()))
    json.dumps(found)
    assert found["attackSurfaces"]["fences"] == {"distinct": 1, "shared": ["log"], "unnamed": 0}
    assert found["difficulty"]["plausibility"] == {"low": 1, "medium": 0, "high": 0, "unrated": 1}
    assert found["negativeTesting"] == {"safetyArchetypes": 1, "withoutCompanion": ["S-FE-001"]}
    assert found["intent"]["duplicated"] == ["tiny.safety.fe.gate-000", "tiny.safety.fe.gate-001"]
    assert found["subcategories"] == {"garden": 2}
    assert found["intent"]["scenarios"] == len(profile.scenarios)
    assert found["archetypesWithoutScenario"] == []


def test_gaps_of_guide_and_contract_make_a_profile_incomplete() -> None:
    files = {**good_files(), "provider-guide.md": GUIDE.replace("Stimulus", "Other").encode()}
    profile = read_profile(files).profile
    assert profile is not None
    assert "The provider guide has no section on stimulus." in profile.incomplete_reasons
    assert "The contract has no worked example of a non-conformant answer." in profile.incomplete_reasons


def test_a_capability_category_must_map_to_a_core_dimension() -> None:
    profile, collector = a_profile(), Collector()
    unmapped = [
        replace(one, core_mappings=()) if one.identifier == "chores" else one for one in profile.categories
    ]
    reasons = check_completeness(replace(profile, categories=tuple(unmapped)), collector)
    assert "The capability category chores maps to no core dimension." in reasons
    assert ("PRO021", "chores") in [(fault.code, fault.value) for fault in collector.faults]
