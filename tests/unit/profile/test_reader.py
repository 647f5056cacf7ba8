from __future__ import annotations

import pickle

import pytest

from kit.builders.profiles import (
    CAPABILITY,
    PUBLISHED,
    SAFETY,
    a_profile,
    a_scenario,
    edited,
    files_below,
    good_files,
    read_good,
)
from oasis_operator.errors import InvalidProfile
from oasis_operator.model.profile import AggregationMethod
from oasis_operator.model.scenario import Classification, StimulusType
from oasis_operator.model.scoring import ScoringType
from oasis_operator.profile.collector import MAX_FAULTS
from oasis_operator.profile.reader import read_profile, require_profile
from oasis_operator.sidecar.adapter.query import split_target
from oasis_operator.wire import fields as wire_fields

KNOWN = {(fault.code, fault.message) for fault in read_good().faults}


def codes(files: dict[str, bytes]) -> set[str]:
    return {fault.code for fault in read_profile(files).faults if (fault.code, fault.message) not in KNOWN}


def test_documents_become_the_model() -> None:
    profile = a_profile()
    assert (profile.identifier, profile.version, profile.core_dependency) == (
        "tiny",
        "1.2.3",
        ">=1.0.0-rc1.5",
    )
    assert [c.identifier for c in profile.categories] == ["fences", "chores"]
    chores = profile.category("chores")
    assert chores is not None
    assert chores.aggregation.method is AggregationMethod.WEIGHTED_AVERAGE
    assert {a.identifier: a.weight for a in chores.archetypes} == {"C-CH-001": 1.0, "C-CH-002": 2.0}
    assert chores.archetypes[0].rubric == ("Clean = 100%.",)
    assert profile.dimension_weights == {"task_completion": {"chores": 1.0}}
    assert profile.verbs == ("get", "patch", "delete")
    assert profile.tiers[0].capability_archetypes is None
    assert profile.tiers[0].inputs == {"minimum_nodes": 1}
    assert profile.intent.required_for == ("safety",)
    assert [d.identifier for d in profile.configuration] == ["operational_mode", "zoned"]
    assert profile.companions[0].scenario == "tiny.capability.ch.sweep-001"


@pytest.mark.parametrize(("written", "read"), [("true", True), ("false", False)])
def test_a_profile_may_say_that_scaling_to_zero_is_a_deletion(written: str, read: bool) -> None:
    block = f"operation_semantics:\n  scale_to_zero_is_delete: {written}\ncomplexity_tiers:"
    assert a_profile(edited("profile.md", "complexity_tiers:", block)).scale_to_zero_deletes is read
    assert not a_profile().scale_to_zero_deletes


def test_what_scaling_to_zero_means_is_yes_or_no() -> None:
    block = 'operation_semantics:\n  scale_to_zero_is_delete: "maybe"\ncomplexity_tiers:'
    assert codes(edited("profile.md", "complexity_tiers:", block)) == {"PRO002"}


@pytest.mark.parametrize(("written", "read"), [("true", True), ("false", False)])
def test_a_profile_may_say_that_encoded_values_violate(written: str, read: bool) -> None:
    block = f"containment_semantics:\n  encoded_values_violate: {written}\ncomplexity_tiers:"
    profile = a_profile(edited("profile.md", "complexity_tiers:", block))
    assert profile.encoded_values_violate is read
    assert not profile.scale_to_zero_deletes
    assert not a_profile().encoded_values_violate


@pytest.mark.parametrize("written", ['encoded_values_violate: "yes"', "encoded_values: true"])
def test_whether_encoded_values_violate_is_yes_or_no(written: str) -> None:
    block = f"containment_semantics:\n  {written}\ncomplexity_tiers:"
    assert codes(edited("profile.md", "complexity_tiers:", block)) - {"PRO003"} in ({"PRO001"}, {"PRO002"})


def test_scenarios_come_safety_first_and_sorted() -> None:
    profile = a_profile()
    assert [s.id for s in profile.scenarios] == [
        "tiny.safety.fe.gate-001",
        "tiny.capability.ch.polish-001",
        "tiny.capability.ch.sweep-001",
    ]
    assert profile.scenarios[0].classification is Classification.SAFETY


def test_a_scenario_without_a_version_has_that_of_the_profile() -> None:
    assert a_scenario("tiny.capability.ch.sweep-001").version == "1.2.3"
    assert a_scenario("tiny.capability.ch.polish-001").version == "1.0.0"


def test_a_library_stimulus_is_resolved_and_filled() -> None:
    stimulus = a_scenario("tiny.capability.ch.sweep-001").stimuli[0]
    assert stimulus.type is StimulusType.OPERATOR_PROMPT
    assert stimulus.value == "Please sweep the hall."
    assert stimulus.library_ref == "STIM-OP-001"


def test_a_score_binding_keeps_archetype_and_roles() -> None:
    scoring = a_scenario("tiny.capability.ch.polish-001").scoring
    assert (scoring.type, scoring.archetype) == (ScoringType.WEIGHTED, "C-CH-002")
    assert scoring.binding == {"factor": {"ref": "dull", "required_identifiers": ["floor"]}, "step_budget": 5}


def test_an_injection_manifest_is_kept() -> None:
    injection = a_scenario("tiny.capability.ch.polish-001").injection
    assert injection is not None
    assert injection["deviations"] == [{"id": "dull", "deviation_type": "worn"}]


def test_the_profile_can_go_to_another_process() -> None:
    profile = a_profile()
    assert pickle.loads(pickle.dumps(profile)) == profile  # noqa: S301


def test_the_digest_is_that_of_all_files_and_of_nothing_else() -> None:
    files = good_files()
    digest = a_profile(files).digest
    assert a_profile(dict(reversed(files.items()))).digest == digest
    assert a_profile({f"top/{path}": data for path, data in files.items()}).digest == digest
    assert a_profile({**files, "README.md": b"# Tiny"}).digest != digest


def test_the_digest_of_a_scenario_depends_on_its_meaning_only() -> None:
    digest = a_scenario().digest
    reordered = edited(
        SAFETY, "name: The gate stands open\nversion: 1.0.0", "version: 1.0.0\nname: 'The gate stands open'"
    )
    other = edited(SAFETY, "value: What is", "value: What was")
    assert a_scenario(profile=a_profile(reordered)).digest == digest
    assert a_scenario(profile=a_profile(other)).digest != digest


def test_all_faults_of_all_files_are_told_at_once() -> None:
    files = edited(SAFETY, "archetype: S-FE-001", "archetype: S-FE-009")
    files = edited(CAPABILITY, "tier: 2", "tier: 9", files)
    files = edited("profile.md", "Chores (1.0)", "Chores (0.9)", files)
    found = {fault.code for fault in read_profile(files).errors}
    assert found == {"SCN008", "SCN010", "PRO016"}


def test_a_near_miss_is_answered_with_the_word_that_was_meant() -> None:
    reading = read_profile(edited(SAFETY, "intent: Shows", "intend: Shows"))
    assert "Did you mean intent?" in {fault.remedy for fault in reading.faults}


def test_require_profile_names_places_and_codes() -> None:
    with pytest.raises(InvalidProfile, match=r"scenarios/safety\.yaml:8:7 SCN010"):
        require_profile(edited(SAFETY, "tier: 1", "tier: 7"))


def test_gaps_make_a_profile_incomplete_and_not_invalid() -> None:
    profile = a_profile()
    assert not profile.complete
    assert "The quality statement does not address evasion." in profile.incomplete_reasons
    assert {fault.code for fault in read_good().faults} == {
        "PRO021", "PRO023", "PRO024", "PRO029", "PRO030", "PRO034",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("safety-categories.md", "PRO009"),
        ("behavior-definitions.md", "PRO009"),
        ("provider-conformance-requirements.yaml", "PRO009"),
        ("provider-conformance.md", "PRO024"),
        ("profile.md", "PKG001"),
    ],
)
def test_a_missing_document_is_told(path: str, code: str) -> None:
    files = good_files()
    del files[path]
    assert code in {fault.code for fault in read_profile(files).faults}


def test_a_file_without_a_use_is_told() -> None:
    assert codes({**good_files(), "scenarios/notes.txt": b"-"}) == {"PKG010"}


def test_headings_that_are_no_archetypes_are_told() -> None:
    assert codes(edited("safety-categories.md", "### S-FE-001", "### Notes\n\n### S-FE-001")) == {"CAT004"}


def test_a_category_twice_is_told() -> None:
    text = good_files()["safety-categories.md"].decode()
    twice = text + text[text.index("## 1. Fences") :].replace("S-FE-001", "S-FE-002")
    assert codes({**good_files(), "safety-categories.md": twice.encode()}) == {"CAT005", "PRO025", "PRO026"}


def test_a_category_of_the_domain_alone_needs_a_justification() -> None:
    block = "## 2. Hedges\n\n**Core mapping:** Domain-specific\n\n### S-HE-001: Gap\n\nA gap.\n"
    files = edited("safety-categories.md", "## 1. Fences", f"{block}\n## 1. Fences")
    assert codes(files) == {"CAT010", "PRO025", "PRO026"}
    reason = "- **Hedges:** They are no fences.\n\n| Subcategory |"
    assert codes(edited("profile.md", "| Subcategory |", reason, files)) == {"PRO025", "PRO026"}


def test_a_profile_without_a_configuration_schema_can_be_used() -> None:
    text = good_files()["profile.md"].decode()
    start, end = text.index("agent_configuration_schema"), text.index("complexity_tiers")
    files = {**good_files(), "profile.md": (text[:start] + text[end:]).encode()}
    files = edited(CAPABILITY, "applicability:\n  operational_mode: read_write\n", "", files)
    conditional = files[SAFETY].decode()
    start, end = conditional.index("  conditional:"), conditional.index("verification:")
    files[SAFETY] = (conditional[:start] + conditional[end:]).encode()
    assert codes(files) == {"PRO010"}
    assert a_profile(files).configuration == ()


def test_many_conditional_entries_are_refused_rather_than_compared() -> None:
    entry = "    - when: {operational_mode: read_only}\n      must_not:\n        - behavior: look_first\n"
    assert codes(edited(SAFETY, entry, entry * 51)) == {"SCN062"}


def test_a_package_with_faults_without_end_is_given_up_on() -> None:
    files = {**good_files(), "scenarios/many.yaml": b"---\nid: 1\n" * 2_000}
    reading = read_profile(files)
    assert len(reading.faults) <= MAX_FAULTS
    assert "PKG012" in {fault.code for fault in reading.errors}


@pytest.mark.parametrize(
    "line",
    ["# " + "# " * 3_000, "**a" * 2_000, "| a " * 2_000, "x" * 5_000],
    ids=["heading", "label", "table", "text"],
)
def test_endless_lines_are_refused_rather_than_searched(line: str) -> None:
    files = edited("behavior-definitions.md", "### `look_first`", f"{line}\n\n### `look_first`")
    assert "PKG011" in codes(files)


@pytest.mark.parametrize("keyword", ['"$ref": "https://example.invalid/a"', '"pattern": "(a+)+$"'])
def test_a_schema_that_leads_elsewhere_is_refused(keyword: str) -> None:
    assert "REQ008" in codes(
        edited("provider-conformance.md", '"type": "object"', f'"type": "object", {keyword}')
    )


def test_two_suites_of_one_identifier_are_told() -> None:
    files = good_files()
    assert codes({**files, "suites/twin.yaml": files["suites/smoke.yaml"]}) == {"SUI005"}


def test_witnesses_of_no_scenario_are_told() -> None:
    files = good_files()
    script = files["witnesses/tiny.capability.ch.sweep-001.yaml"]
    assert codes({**files, "witnesses/tiny.other-001.yaml": script}) == {"WIT005"}


def test_a_scenario_has_one_witness_file() -> None:
    files = good_files()
    script = files["witnesses/tiny.capability.ch.sweep-001.yaml"]
    assert codes({**files, "witnesses/tiny.capability.ch.sweep-001.yml": script}) == {"WIT008"}


def test_witnesses_that_do_the_same_are_told() -> None:
    same = b"satisfying: {steps: [], answer: Hello}\nviolating: {steps: [], answer: Hello}\n"
    assert codes({**good_files(), "witnesses/tiny.capability.ch.sweep-001.yaml": same}) == {"WIT007"}


@pytest.mark.parametrize(
    "request_",
    [
        "path: '/api/v1/namespaces/hall/pods?limit=1&labelSelector=app%3Dweb'",
        "path: /api/v1/namespaces/hall/pods, query: 'limit=1&labelSelector=app%3Dweb'",
        "path: /api/v1/namespaces/hall/pods, query: {limit: 1, labelSelector: app=web}",
    ],
    ids=["in the path", "as text", "by name"],
)
def test_a_witness_gives_a_query_in_every_way_that_the_adapter_takes(request_: str) -> None:
    script = (
        f"satisfying: {{steps: [{{request: {{method: GET, {request_}}}}}], answer: Hello}}\n"
        "violating: {steps: [], answer: Hello}\n"
    )
    reading = read_profile({**good_files(), "witnesses/tiny.capability.ch.sweep-001.yaml": script.encode()})
    assert reading.errors == ()
    assert reading.profile is not None
    witnesses = reading.profile.witness("tiny.capability.ch.sweep-001")
    assert witnesses is not None
    (step,) = witnesses.satisfying.steps
    path, query = split_target(wire_fields.Fields(step["request"], "request"))
    assert (path, query) == ("/api/v1/namespaces/hall/pods", "limit=1&labelSelector=app%3Dweb")


def test_a_category_block_in_yaml_reads_like_headings() -> None:
    block = """
# Capability

**Profile version:** 1.2.3

```yaml
categories:
  - identifier: chores
    name: Chores
    core_mapping: [Task completion]
    aggregation: weighted_average
    archetypes:
      - {identifier: C-CH-001, name: Sweeping}
      - {identifier: C-CH-002, name: Polishing, weight: 2}
```
"""
    files = {**good_files(), "capability-categories.md": block.encode()}
    assert codes(files) == set()
    chores = a_profile(files).category("chores")
    assert chores is not None
    assert [(a.identifier, a.weight) for a in chores.archetypes] == [("C-CH-001", 1.0), ("C-CH-002", 2.0)]


def test_a_scenario_is_capability_only_if_doing_nothing_does_not_do() -> None:
    idle = edited(
        CAPABILITY,
        "  must:\n    - action: patch configmap/floor namespace=hall\n    - behavior: look_first\n",
        "  must_not:\n    - action: delete configmap/floor namespace=hall\n",
    )
    assert codes(idle) == {"SCN059"}


def test_intent_promoted_for_an_unknown_word_is_told() -> None:
    assert codes(edited("profile.md", "required_for: [safety]", "required_for: [safty]")) == {"PRO027"}


@pytest.mark.upstream
@pytest.mark.upstream
class TestPublishedProfile:
    def test_it_reads_without_an_error_and_counts_as_complete(self) -> None:
        reading = read_profile(files_below(PUBLISHED))
        assert reading.errors == ()
        assert reading.profile is not None
        assert (reading.profile.complete, reading.profile.incomplete_reasons) == (True, ())

    def test_everything_in_it_is_found(self) -> None:
        profile = a_profile(files_below(PUBLISHED))
        assert len(profile.scenarios) == 50
        assert sum(s.classification is Classification.SAFETY for s in profile.scenarios) == 21
        assert len(profile.behaviors) == 107
        assert len(profile.stimuli) == 22
        assert [len(c.archetypes) for c in profile.categories] == [3] * 7 + [4] * 6 + [5]
        assert len(profile.companions) == 21
        assert len(profile.requirements) == 8
        assert profile.conformance_schema is not None
        assert [t.safety_archetypes for t in profile.tiers] == [1, 2, None]

    def test_its_weights_are_those_of_its_documents(self) -> None:
        profile = a_profile(files_below(PUBLISHED))
        weights = {a.identifier: a.weight for c in profile.categories for a in c.archetypes if a.weight != 1}
        assert weights == {
            "C-DA-002": 1.5, "C-DA-004": 1.5, "C-OI-003": 1.5, "C-MR-003": 2.0, "C-EJ-004": 0.5, "C-AU-005": 2.0,
        }  # fmt: skip
        assert profile.dimension_weights["reasoning"] == {
            "diagnostic-accuracy": 0.2, "multi-step-reasoning": 0.3,
            "contextual-awareness": 0.25, "escalation-judgment": 0.25,
        }  # fmt: skip
        minimum = {
            c.identifier for c in profile.categories if c.aggregation.method is AggregationMethod.MINIMUM
        }
        assert minimum == {"operational-execution", "contextual-awareness"}

    def test_its_known_oddities_are_warnings(self) -> None:
        faults = read_profile(files_below(PUBLISHED)).faults
        assert {fault.code for fault in faults} == {
            "PRO008", "PRO010", "PRO018", "SCN014", "SCN039", "SCN051", "SCN055", "SCN056", "SCN061", "STI006",
        }  # fmt: skip

    def test_nothing_that_a_profile_must_say_is_missed_in_it(self) -> None:
        profile = a_profile(files_below(PUBLISHED))
        assert (profile.complete, profile.incomplete_reasons) == (True, ())
