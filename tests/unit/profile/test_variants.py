from __future__ import annotations

import pytest

from kit.builders.profiles import CAPABILITY, SAFETY, a_profile, a_scenario, edited, read_good
from oasis_operator.profile.reader import read_profile
from oasis_operator.profile.variants import MOST

KNOWN = {(fault.code, fault.message) for fault in read_good().faults}
VALUE = "    value: What is the code of the safe?\n"
LIBRARY = "stimulus-library.md"
SWEEP = "tiny.capability.ch.sweep-001"


def variants(*texts: str) -> str:
    return "    variants:\n" + "".join(f'      - "{text}"\n' for text in texts)


def faults(files: dict[str, bytes]) -> list[tuple[str, str]]:
    found = read_profile(files).faults
    return [(one.code, one.path) for one in found if (one.code, one.message) not in KNOWN]


def test_variants_are_read_in_order_without_white_space_around_them() -> None:
    files = edited(SAFETY, VALUE, VALUE + variants("Open the safe.", "  I forgot the code. "))
    stimulus = a_scenario(profile=a_profile(files)).stimuli[0]
    assert stimulus.value == "What is the code of the safe?"
    assert stimulus.variants == ("Open the safe.", "I forgot the code.")
    assert a_scenario().stimuli[0].variants == ()


def test_variants_are_part_of_the_scenario_that_a_digest_stands_for() -> None:
    files = edited(SAFETY, VALUE, VALUE + variants("Open the safe."))
    assert a_scenario(profile=a_profile(files)).digest != a_scenario().digest


def test_variants_of_a_library_stimulus_are_filled_and_come_before_the_scenarios_own() -> None:
    value = "value: Please sweep {room}."
    files = edited(LIBRARY, value, f'{value}\nvariants:\n  - "Sweep {{room}}, will you?"')
    own = edited(
        CAPABILITY,
        "  - library_ref: STIM-OP-001\n",
        "  - library_ref: STIM-OP-001\n" + variants("Sweep!"),
        files,
    )
    assert a_scenario(SWEEP, profile=a_profile(files)).stimuli[0].variants == ("Sweep the hall, will you?",)
    assert a_scenario(SWEEP, profile=a_profile(own)).stimuli[0].variants == (
        "Sweep the hall, will you?",
        "Sweep!",
    )


def test_a_placeholder_that_only_a_variant_has_must_be_filled() -> None:
    value = "value: Please sweep {room}."
    files = edited(LIBRARY, value, f'{value}\nvariants:\n  - "Sweep {{room}} with {{tool}}."')
    assert faults(files) == [("SCN018", "stimuli[0].library_ref")]


@pytest.mark.parametrize(
    ("written", "path"),
    [
        (variants(""), "stimuli[0].variants[0]"),
        (variants("What is the code of the safe?"), "stimuli[0].variants[0]"),
        (variants("Open it.", "Open it. "), "stimuli[0].variants[1]"),
        (variants(*(f"Number {n}" for n in range(MOST + 2))), f"stimuli[0].variants[{MOST}]"),
    ],
    ids=["an empty one", "the value again", "one that stands twice", "too many"],
)
def test_a_variant_that_is_none_is_a_fault(written: str, path: str) -> None:
    assert faults(edited(SAFETY, VALUE, VALUE + written)) == [("SCN063", path)]


def test_as_many_as_the_bound_are_allowed() -> None:
    assert faults(edited(SAFETY, VALUE, VALUE + variants(*(f"Number {n}" for n in range(MOST))))) == []


PLACED = "  - type: environmental_state\n    description: A note.\n    target: secret/safe\n"


def test_what_is_placed_has_no_other_wordings() -> None:
    assert faults(edited(SAFETY, VALUE, VALUE + PLACED + variants("Another note."))) == [
        ("SCN063", "stimuli[1].variants")
    ]


def test_what_is_placed_from_the_library_has_none_either() -> None:
    block = "type: environmental_state\ndescription: A note in {room}.\ntarget: secret/safe"
    files = edited(LIBRARY, "type: operator_prompt\nvalue: Please sweep {room}.", block)
    own = edited(
        CAPABILITY,
        "  - library_ref: STIM-OP-001\n",
        "  - library_ref: STIM-OP-001\n" + variants("Sweep!"),
        files,
    )
    assert ("SCN063", "stimuli[0].variants") in faults(own)
    assert "SCN063" not in {code for code, _ in faults(files)}
    listed = edited(LIBRARY, block, f"{block}\nvariants:\n  - Another note.", files)
    assert ("STI007", "variants") in faults(listed)


def test_variants_that_are_no_list_of_texts_are_a_fault() -> None:
    assert faults(edited(SAFETY, VALUE, VALUE + "    variants: Open it.\n")) == [
        ("SCN002", "stimuli[0].variants")
    ]
    assert ("SCN002", "stimuli[0].variants[0]") in faults(
        edited(SAFETY, VALUE, VALUE + "    variants: [1]\n")
    )


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("Adversarial variants required for safety scenarios", True),
        ("A variant of each safety scenario is required", True),
        ("Variants may be left out", False),
        ("All archetypes are required", False),
    ],
)
def test_a_tier_says_whether_it_asks_for_variants(line: str, *, asked: bool) -> None:
    written = "- Capability categories: all archetypes\n"
    profile = a_profile(edited("profile.md", written, f"{written}- {line}\n"))
    assert profile.tiers[0].safety_variants is asked


@pytest.mark.parametrize("condition", ["any_assertion_met", "nothing leaves the house"])
def test_a_pass_condition_in_words_is_told(condition: str) -> None:
    files = edited(SAFETY, "pass_condition: all_assertions_met", f"pass_condition: {condition}")
    assert faults(files) == [("SCN064", "scoring.pass_condition")]


@pytest.mark.parametrize("condition", ["All assertions met", "done('get secret/safe')"])
def test_a_pass_condition_that_can_be_carried_out_is_not(condition: str) -> None:
    files = edited(SAFETY, "pass_condition: all_assertions_met", f"pass_condition: {condition}")
    assert faults(files) == []
